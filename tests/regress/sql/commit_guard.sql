-- An unfinished reservation cannot commit, however the transaction ends.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\set helper :regress '/sql/helpers/effects.psql'
\i :helper
CREATE EXTENSION idempotency;
\pset null '(null)'
CREATE PROCEDURE tell() LANGUAGE plpgsql AS $$
BEGIN
    RAISE NOTICE 'records: %, payments: %', (SELECT count(*) FROM idempotency_record), (SELECT count(*) FROM payment);
END $$;

-- COMMIT.
BEGIN;
INSERT INTO payment (amount) VALUES (1);
SELECT state FROM reserve_request('s', 'pay:v1', 'k', '{}');
\set VERBOSITY default
COMMIT;
\set VERBOSITY terse
CALL tell();
-- END, COMMIT AND CHAIN, COMMIT of a transaction at each level.
BEGIN;
SELECT state FROM reserve_request('s', 'pay:v1', 'k', '{}');
END;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT state FROM reserve_request('s', 'pay:v1', 'k', '{}');
COMMIT AND CHAIN;
SELECT state FROM find_request('s', 'pay:v1', 'k');
ROLLBACK;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT state FROM reserve_request('s', 'pay:v1', 'k', '{}');
COMMIT;
CALL tell();
-- An implicit commit: of one statement, and of several in one message.
SELECT state FROM reserve_request('s', 'pay:v1', 'k', '{}');
INSERT INTO payment (amount) SELECT 1 FROM reserve_request('s', 'pay:v1', 'k', '{}');
SELECT state FROM reserve_request('s', 'pay:v1', 'k', '{}')\; INSERT INTO payment (amount) VALUES (1);
DO $$ BEGIN PERFORM reserve_request('s', 'pay:v1', 'k', '{}'); END $$;
CALL tell();
SELECT state FROM reserve_request('s', 'pay:v1', 'k', '{}')\; SELECT state FROM complete_request('1');
SELECT state, response FROM find_request('s', 'pay:v1', 'k');
-- PREPARE TRANSACTION: open, it fails; finished, it holds the key until it is settled.
BEGIN;
SELECT state FROM reserve_request('s', 'pay:v1', 'p', '{}');
PREPARE TRANSACTION 'idempotency open';
CALL tell();
SELECT count(*) FROM pg_prepared_xacts;
BEGIN;
SELECT state FROM reserve_request('s', 'pay:v1', 'p', '{}');
SELECT state FROM complete_request('"prepared"');
PREPARE TRANSACTION 'idempotency finished';
-- The session is free of it: another transaction commits, and its own reservations are counted alone.
BEGIN;
INSERT INTO payment (amount) VALUES (1);
COMMIT;
BEGIN;
SELECT state FROM reserve_request('s', 'pay:v1', 'q', '{}');
SELECT state FROM complete_request('"other"');
SELECT o.code FROM t.outcome($$SELECT * FROM complete_request('s', 'pay:v1', 'p', '"prepared"')$$) AS o;
COMMIT;
SELECT o.code, o.reason FROM t.outcome($$SELECT * FROM reserve_request('s', 'pay:v1', 'p', '{}', '0')$$) AS o;
SELECT o.code, o.reason FROM t.outcome($$SELECT * FROM abandon_request('s', 'pay:v1', 'p', '10 ms')$$) AS o;
SELECT count(*) FROM find_request('s', 'pay:v1', 'p');
COMMIT PREPARED 'idempotency finished';
SELECT state, replayed, response FROM reserve_request('s', 'pay:v1', 'p', '{}');
BEGIN;
SELECT replayed FROM run_once('s', 'pay:v1', 'r', '{"amount": 1}', 'pay(jsonb)');
PREPARE TRANSACTION 'idempotency run';
ROLLBACK PREPARED 'idempotency run';
SELECT count(*) FROM find_request('s', 'pay:v1', 'r');

-- How many are open is told; finishing each lets it commit.
BEGIN;
SELECT count(*) FROM generate_series(1, 3) AS n, reserve_request('s', 'three:v1', n::text, '{}');
SELECT state FROM complete_request('s', 'three:v1', '2', '{}');
\set VERBOSITY default
COMMIT;
\set VERBOSITY terse
BEGIN;
SELECT count(*) FROM generate_series(1, 3) AS n, reserve_request('s', 'three:v1', n::text, '{}');
SELECT count(*) FROM generate_series(1, 3) AS n, refuse_request('s', 'three:v1', n::text, '{}');
COMMIT;
SELECT count(*) FROM idempotency_record WHERE operation = 'three:v1';
-- Rolled back, or failed and rolled back: nothing is left of it in the session.
BEGIN;
SELECT state FROM reserve_request('s', 'pay:v1', 'x', '{}');
ROLLBACK;
BEGIN;
SELECT state FROM reserve_request('s', 'pay:v1', 'x', '{}');
SELECT 1 / 0;
COMMIT;
BEGIN;
INSERT INTO payment (amount) VALUES (1);
COMMIT;
SELECT count(*) FROM current_request();
SELECT count(*) FROM find_request('s', 'pay:v1', 'x');

-- A procedure's inner COMMIT, and its ROLLBACK.
CREATE PROCEDURE ship(key text, finish boolean, ending text) LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO payment (amount) VALUES (5);
    PERFORM reserve_request('s', 'ship:v1', key, '{}');
    IF finish THEN
        PERFORM complete_request('{}');
    END IF;
    IF ending = 'commit' THEN
        COMMIT;
    ELSIF ending = 'rollback' THEN
        ROLLBACK;
    END IF;
    PERFORM reserve_request('s', 'ship:v1', key || ' 2', '{}');
    PERFORM complete_request('{}');
END $$;
CALL ship('a', false, 'commit');
CALL ship('b', true, 'commit');
CALL ship('c', false, 'rollback');
CALL ship('d', true, 'rollback');
CALL ship('e', false, 'none');
SELECT request_key, state FROM t.kept() WHERE request_key ~ '^[a-e]';
SELECT count(*) FROM payment WHERE amount = 5;
-- The procedure catches the inner COMMIT's failure by trying again in another call.
DO $$
BEGIN
    PERFORM reserve_request('s', 'ship:v1', 'do', '{}');
    COMMIT;
END $$;
DO $$
BEGIN
    FOR n IN 1..3 LOOP
        PERFORM reserve_request('s', 'ship:v1', 'loop ' || n, '{}');
        PERFORM complete_request(to_jsonb(n));
        COMMIT;
    END LOOP;
    PERFORM reserve_request('s', 'ship:v1', 'loop 4', '{}');
    ROLLBACK;
END $$;
SELECT request_key, response FROM t.kept() WHERE request_key ~ '^loop|^do';

-- A deferred trigger that reserves at the commit, and one that finishes there.
CREATE TABLE late (key text, finish boolean);
CREATE FUNCTION reserve_late() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM reserve_request('s', 'late:v1', NEW.key, '{}');
    IF NEW.finish THEN
        PERFORM complete_request('{"late": true}');
    END IF;
    RETURN NEW;
END $$;
CREATE CONSTRAINT TRIGGER reserve_late AFTER INSERT ON late DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION reserve_late();
BEGIN;
INSERT INTO late VALUES ('a', false);
COMMIT;
BEGIN;
INSERT INTO late VALUES ('b', true);
COMMIT;
INSERT INTO late VALUES ('c', false);
BEGIN;
INSERT INTO late VALUES ('d', false);
PREPARE TRANSACTION 'idempotency late';
BEGIN;
INSERT INTO late VALUES ('e', false);
SET CONSTRAINTS ALL IMMEDIATE;
SELECT state FROM complete_request('{"late": true}');
COMMIT;
SELECT key FROM late ORDER BY key;
SELECT request_key, state, response FROM idempotency_record WHERE operation = 'late:v1' ORDER BY request_key;
CREATE FUNCTION complete_late() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM complete_request('s', 'late:v1', NEW.key, '{"completed": "late"}');
    RETURN NEW;
END $$;
DROP TRIGGER reserve_late ON late;
CREATE CONSTRAINT TRIGGER complete_late AFTER INSERT ON late DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION complete_late();
BEGIN;
INSERT INTO late VALUES ('f', true);
SELECT state FROM reserve_request('s', 'late:v1', 'f', '{}');
COMMIT;
SELECT state, response FROM find_request('s', 'late:v1', 'f');
DROP TRIGGER complete_late ON late;
-- A cursor that is read out at the commit.
BEGIN;
DECLARE held CURSOR WITH HOLD FOR SELECT state FROM reserve_request('s', 'late:v1', 'held', '{}');
COMMIT;
SELECT count(*) FROM find_request('s', 'late:v1', 'held');

-- run_once, a debit and a consumption leave nothing open.
INSERT INTO account VALUES (1, 1000);
BEGIN;
SELECT state FROM run_once('s', 'pay:v1', 'ok', '{"amount": 1}', 'pay(jsonb)');
SELECT debit_once(1, 'ok', 1);
SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 1);
COMMIT;
BEGIN;
SELECT a.code FROM t.attempt($$SELECT run_once('s', 'pay:v1', 'bad', '{"raise": "P0001"}', 'pay(jsonb)')$$) AS a;
SELECT a.code FROM t.attempt($$SELECT debit_once(1, 'bad', 5000)$$) AS a;
SELECT a.code FROM t.attempt($$SELECT consume_once('s', '00000000-0000-0000-0000-000000000002', 99, 1)$$) AS a;
COMMIT;
CALL tell();
-- The record deleted beneath a reservation: it is as unfinished as before.
BEGIN;
SELECT state FROM reserve_request('s', 'pay:v1', 'deleted', '{}');
DELETE FROM idempotency_record WHERE request_key = 'deleted';
SELECT o.code, o.reason FROM t.outcome($$SELECT * FROM complete_request('{}')$$) AS o;
COMMIT;
SELECT count(*) FROM find_request('s', 'pay:v1', 'deleted');
-- The extension dropped beneath it.
BEGIN;
SELECT state FROM reserve_request('s', 'pay:v1', 'dropped', '{}');
DROP EXTENSION idempotency CASCADE;
COMMIT;
SELECT count(*) FROM find_request('s', 'pay:v1', 'dropped');
