-- Errors that are not business refusals are never stored, whatever the contract saves.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\set helper :regress '/sql/helpers/effects.psql'
\i :helper
CREATE EXTENSION idempotency;
\pset null '(null)'
-- All that can be listed is listed.
SELECT define_operation('pay:v1', save_refusals => true, refusal_sqlstates => '{P0001,P0002,22012,23505,23514,42501,22023,55000}');
CREATE FUNCTION kept_after(sqlstate text, OUT code text, OUT message text, OUT detail text, OUT hint text, OUT kept bigint)
LANGUAGE plpgsql AS $$
BEGIN
    BEGIN
        PERFORM run_once('shop', 'pay:v1', sqlstate, jsonb_build_object('amount', 1, 'raise', sqlstate), 'pay(jsonb)');
    EXCEPTION WHEN OTHERS OR query_canceled OR assert_failure THEN
        GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, message = MESSAGE_TEXT,
            detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT;
    END;
    kept := (SELECT count(*) FROM find_request('shop', 'pay:v1', sqlstate));
END $$;
SELECT what, k.* FROM (VALUES
    (1, 'serialization failure', '40001'), (2, 'deadlock', '40P01'), (3, 'integrity at rollback', '40002'),
    (4, 'unknown completion', '40003'), (5, 'lock timeout', '55P03'), (6, 'cancel', '57014'),
    (7, 'shutdown', '57P01'), (8, 'crash', '57P02'), (9, 'out of space', '53100'), (10, 'out of memory', '53200'),
    (11, 'too many connections', '53300'), (12, 'connection', '08006'), (13, 'input and output', '58030'),
    (14, 'internal', 'XX000'), (15, 'data corrupted', 'XX001'), (16, 'read-only', '25006'),
    (17, 'program limit', '54000'), (18, 'stack depth', '54001'), (19, 'assertion', 'P0004'),
    (20, 'not listed', '22003')) AS v (n, what, raised),
       kept_after(raised) AS k
 ORDER BY n;
SELECT count(*) AS payments FROM payment;
SELECT count(*) FROM idempotency_record;

-- None of them can be listed either.
SELECT raised, a.code, a.reason, a.message
  FROM (VALUES (1, '40001'), (2, '40P01'), (3, '55P03'), (4, '57014'), (5, '57P01'), (6, '53100'), (7, '08006'),
               (8, '58030'), (9, 'XX000'), (10, '25006'), (11, '00000'), (12, '01000'), (13, '02000')) AS v (n, raised),
       t.attempt(format($$SELECT alter_operation('pay:v1', refusal_sqlstates => ARRAY['P0001', %L])$$, raised)) AS a
 ORDER BY n;

-- The real ones. A statement timeout in the middle of the effect:
CREATE FUNCTION sleeps(request jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pay('{"amount": 1}');
    PERFORM pg_sleep(30);
    RETURN '1';
END $$;
\set VERBOSITY sqlstate
SET statement_timeout = '200ms';
SELECT state FROM run_once('shop', 'pay:v1', 'slow', '{}', 'sleeps(jsonb)');
RESET statement_timeout;
SELECT count(*) FROM find_request('shop', 'pay:v1', 'slow');
-- The caller cancels itself; a file is missing; the recursion has no end.
SELECT state FROM run_sql_once('shop', 'pay:v1', 'cancelled', '{}',
    $$DO 'BEGIN PERFORM pg_cancel_backend(pg_backend_pid()); PERFORM pg_sleep(30); END'$$);
SELECT state FROM run_sql_once('shop', 'pay:v1', 'file', '{}', $$SELECT pg_read_file('/no/such/file')$$);
CREATE FUNCTION endless(request jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN RETURN endless(request); END $$;
SELECT state FROM run_once('shop', 'pay:v1', 'endless', '{}', 'endless(jsonb)');
-- A first call where nothing can be written.
BEGIN READ ONLY;
SELECT state FROM run_once('shop', 'pay:v1', 'read only', '{}', 'pay(jsonb)');
ROLLBACK;
-- The effect's own attempt to make its transaction read-only.
CREATE FUNCTION reads_only(request jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    SET LOCAL transaction_read_only = on;
    RETURN pay(request);
END $$;
SELECT state FROM run_once('shop', 'pay:v1', 'reads only', '{}', 'reads_only(jsonb)');
\set VERBOSITY terse
SELECT count(*) AS payments FROM payment;
SELECT count(*) FROM idempotency_record;
-- Each key is as free as ever.
SELECT o.state, o.replayed, count(*) FROM unnest('{40001,57014,53100,slow,cancelled,file,endless,read only,reads only}'::text[]) AS k,
       run_once('shop', 'pay:v1', k, '{"amount": 2}', 'pay(jsonb)') AS o GROUP BY o.state, o.replayed;
-- A refusal that is found at the commit only: the whole transaction fails, and its keys with it.
CREATE TABLE parent (id int PRIMARY KEY);
CREATE TABLE child (id int REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
SELECT state FROM run_sql_once('shop', 'pay:v1', 'deferred', '{}', 'INSERT INTO child VALUES (1)');
SELECT count(*) FROM find_request('shop', 'pay:v1', 'deferred');
