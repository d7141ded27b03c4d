-- A savepoint rolled back forgets the reservations made after it and opens again those finished after it.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\set helper :regress '/sql/helpers/effects.psql'
\i :helper
CREATE EXTENSION idempotency;
\pset null '(null)'
CREATE FUNCTION r(key text) RETURNS text LANGUAGE sql AS $$ SELECT state FROM reserve_request('s', 'ship:v1', key, '{}') $$;
CREATE FUNCTION c(key text) RETURNS text LANGUAGE sql AS $$ SELECT state FROM complete_request('s', 'ship:v1', key, '{}') $$;

-- Made after it, rolled back: forgotten, and free to be made again.
BEGIN;
SAVEPOINT a;
SELECT r('made after');
ROLLBACK TO a;
SELECT count(*) FROM find_request('s', 'ship:v1', 'made after');
COMMIT;
BEGIN;
SAVEPOINT a;
SELECT r('made again');
ROLLBACK TO a;
SELECT r('made again');
COMMIT;
BEGIN;
SAVEPOINT a;
SELECT r('made again');
ROLLBACK TO a;
SELECT r('made again');
SELECT c('made again');
COMMIT;
-- Made and finished after it, rolled back: forgotten.
BEGIN;
SAVEPOINT a;
SELECT r('both after');
SELECT c('both after');
ROLLBACK TO a;
SELECT o.code FROM t.outcome($$SELECT * FROM complete_request('s', 'ship:v1', 'both after', '{}')$$) AS o;
COMMIT;
-- Made before it, finished after it, rolled back: open again.
BEGIN;
SELECT r('finished after');
SAVEPOINT a;
SELECT c('finished after');
ROLLBACK TO a;
SELECT state FROM find_request('s', 'ship:v1', 'finished after');
COMMIT;
BEGIN;
SELECT r('finished after');
SAVEPOINT a;
SELECT c('finished after');
ROLLBACK TO a;
SELECT state FROM refuse_request('s', 'ship:v1', 'finished after', '"second thought"');
COMMIT;
SELECT state, response FROM find_request('s', 'ship:v1', 'finished after');
-- Made and finished before it: untouched.
BEGIN;
SELECT r('before');
SELECT c('before');
SAVEPOINT a;
SELECT r('x');
ROLLBACK TO a;
SELECT o.state, o.replayed FROM t.outcome($$SELECT * FROM complete_request('s', 'ship:v1', 'before', '{}')$$) AS o;
COMMIT;
-- Released: as if made in the surrounding level.
BEGIN;
SAVEPOINT a;
SELECT r('released');
RELEASE a;
COMMIT;
BEGIN;
SAVEPOINT a;
SELECT r('released');
RELEASE a;
SELECT c('released');
COMMIT;
BEGIN;
SAVEPOINT a;
SAVEPOINT b;
SELECT r('released then rolled back');
RELEASE b;
ROLLBACK TO a;
COMMIT;
BEGIN;
SELECT r('finished two levels down');
SAVEPOINT a;
SAVEPOINT b;
SELECT c('finished two levels down');
RELEASE b;
ROLLBACK TO a;
COMMIT;
BEGIN;
SELECT r('finished two levels down');
SAVEPOINT a;
SAVEPOINT b;
SELECT c('finished two levels down');
RELEASE b;
RELEASE a;
COMMIT;
-- A savepoint that is rolled back to again and again, and one of the same name.
BEGIN;
SELECT r('again and again');
SAVEPOINT a;
SELECT c('again and again');
ROLLBACK TO a;
SELECT c('again and again');
ROLLBACK TO a;
SELECT c('again and again');
ROLLBACK TO a;
COMMIT;
BEGIN;
SELECT r('same name');
SAVEPOINT a;
SELECT c('same name');
SAVEPOINT a;
SELECT r('same name 2');
ROLLBACK TO a;
COMMIT;
-- Finished, opened again and finished in turns, at three levels.
BEGIN;
SELECT r('in turns');
SAVEPOINT a;
SELECT c('in turns');
SAVEPOINT b;
SELECT r('in turns 2');
SAVEPOINT c;
SELECT c('in turns 2');
ROLLBACK TO c;
SELECT o.code, o.reason FROM t.outcome($$SELECT * FROM reserve_request('s', 'ship:v1', 'in turns', '{"other": 1}')$$) AS o;
ROLLBACK TO b;
SELECT o.state FROM t.outcome($$SELECT * FROM reserve_request('s', 'ship:v1', 'in turns', '{}')$$) AS o;
ROLLBACK TO a;
SELECT o.state FROM t.outcome($$SELECT * FROM reserve_request('s', 'ship:v1', 'in turns', '{}')$$) AS o;
SELECT o.state FROM t.outcome($$SELECT * FROM complete_request('{"at": "last"}')$$) AS o;
COMMIT;
SELECT state, response FROM find_request('s', 'ship:v1', 'in turns');
SELECT count(*) FROM find_request('s', 'ship:v1', 'in turns 2');
-- After an error: the savepoint saves what was before it.
BEGIN;
SELECT r('error');
SAVEPOINT a;
SELECT c('error');
SELECT 1 / 0;
ROLLBACK TO a;
SELECT o.state FROM t.outcome($$SELECT * FROM complete_request('{"after": "error"}')$$) AS o;
COMMIT;
SELECT state, response FROM find_request('s', 'ship:v1', 'error');
-- The failed commit's own savepoints.
BEGIN;
SAVEPOINT a;
SELECT r('fails');
COMMIT;
BEGIN;
SELECT count(*) FROM current_request();
SELECT r('works');
SELECT c('works');
COMMIT;

-- Exceptions handled in PL/pgSQL are savepoints too.
CREATE PROCEDURE tell() LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE 'open: %', coalesce((SELECT request_key FROM current_request()), '(none)');
END $$;
DO $$
BEGIN
    PERFORM r('plpgsql 1');
    BEGIN
        PERFORM c('plpgsql 1');
        PERFORM r('plpgsql 2');
        RAISE EXCEPTION 'handled';
    EXCEPTION WHEN raise_exception THEN
        CALL tell();
        PERFORM c('plpgsql 1');
    END;
    CALL tell();
END $$;
DO $$
BEGIN
    BEGIN
        PERFORM r('plpgsql 3');
    EXCEPTION WHEN raise_exception THEN
        NULL;
    END;
    CALL tell();
END $$;
DO $$
BEGIN
    BEGIN
        PERFORM r('plpgsql 4');
        BEGIN
            PERFORM c('plpgsql 4');
            PERFORM 1 / 0;
        EXCEPTION WHEN division_by_zero THEN
            CALL tell();
            RAISE EXCEPTION 'outer';
        END;
    EXCEPTION WHEN raise_exception THEN
        CALL tell();
    END;
END $$;
DO $$
BEGIN
    FOR n IN 1..100 LOOP
        BEGIN
            PERFORM r('plpgsql loop ' || n);
            IF n % 3 = 0 THEN
                RAISE EXCEPTION 'skipped';
            END IF;
            PERFORM c('plpgsql loop ' || n);
            IF n % 3 = 1 THEN
                RAISE EXCEPTION 'skipped';
            END IF;
        EXCEPTION WHEN raise_exception THEN
            NULL;
        END;
    END LOOP;
END $$;
SELECT count(*) FROM idempotency_record WHERE request_key LIKE 'plpgsql loop %';
-- Within an effect, and a contract that undoes a refused one.
CREATE FUNCTION reserves(request jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    PERFORM r(request ->> 'made');
    PERFORM c(request ->> 'finished');
    IF request ? 'raise' THEN
        RAISE EXCEPTION 'refused';
    END IF;
    RETURN '{}';
END $$;
SELECT define_operation('saves:v1', save_refusals => true);
BEGIN;
SELECT r('effect 1');
SELECT state FROM run_once('s', 'saves:v1', '1', '{"made": "effect 2", "finished": "effect 1", "raise": 1}', 'reserves(jsonb)');
SELECT request_key FROM current_request();
SELECT state FROM run_once('s', 'saves:v1', '2', '{"made": "effect 2", "finished": "effect 1"}', 'reserves(jsonb)');
SELECT request_key FROM current_request();
SELECT c('effect 2');
COMMIT;
SELECT request_key, state FROM t.kept() WHERE request_key LIKE 'effect %';
-- Reserved, deleted by the table's owner, reserved anew deeper down: every one of them must be finished.
BEGIN;
SELECT r('anew');
SELECT c('anew');
SAVEPOINT a;
DELETE FROM idempotency_record WHERE request_key = 'anew';
SELECT r('anew');
SELECT c('anew');
ROLLBACK TO a;
COMMIT;
SELECT state FROM find_request('s', 'ship:v1', 'anew');
BEGIN;
SELECT r('anew 2');
SAVEPOINT a;
SELECT c('anew 2');
DELETE FROM idempotency_record WHERE request_key = 'anew 2';
SELECT r('anew 2');
SELECT c('anew 2');
ROLLBACK TO a;
COMMIT;
SELECT count(*) FROM find_request('s', 'ship:v1', 'anew 2');
SELECT request_key, state FROM t.kept() WHERE state NOT IN ('completed', 'refused');
