-- An effect of the owner's that changes, locks or deletes its own record before it is finished.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\pset null '(null)'
CREATE EXTENSION idempotency;
-- Runs the request as a statement, then replies.
CREATE FUNCTION t.does(request jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE request ->> 'statement';
    RETURN '{"done": true}';
END $$;
CREATE FUNCTION t.told(key text, statement text, OUT first text, OUT again text, OUT attempt int, OUT leased boolean, OUT point text) LANGUAGE plpgsql AS $$
DECLARE
    call text := format('SELECT concat_ws('' '', state, replayed, response) FROM run_once(%L, %L, %L, %L, %L)', 's', 'own:v1', key,
                        jsonb_build_object('statement', statement), 't.does(jsonb)');
BEGIN
    SELECT COALESCE(code || ' ' || message, result) INTO first FROM t.attempt(call);
    SELECT COALESCE(code || ' ' || message, result) INTO again FROM t.attempt(call);
    SELECT r.attempt, r.lease_until IS NOT NULL, r.recovery_point INTO attempt, leased, point FROM idempotency_record AS r WHERE request_key = key;
END $$;
SELECT key, r.* FROM (VALUES
    (1, 'a lease', $$UPDATE idempotency_record SET attempt = 1, lease_until = '2026-01-03' WHERE request_key = 'a lease'$$),
    (2, 'a point', $$UPDATE idempotency_record SET recovery_point = 'half' WHERE request_key = 'a point'$$),
    (3, 'twice', $$UPDATE idempotency_record SET recovery_point = 'half' WHERE request_key = 'twice'; UPDATE idempotency_record SET recovery_point = 'more' WHERE request_key = 'twice'$$),
    (4, 'locked', $$SELECT FROM idempotency_record WHERE request_key = 'locked' FOR UPDATE$$),
    (5, 'deleted', $$DELETE FROM idempotency_record WHERE request_key = 'deleted'$$),
    (6, 'undone', $$DO 'BEGIN UPDATE idempotency_record SET recovery_point = ''half'' WHERE request_key = ''undone''; RAISE division_by_zero; EXCEPTION WHEN division_by_zero THEN END'$$),
    (7, 'in between', $$DO 'BEGIN SELECT 1 / 0; EXCEPTION WHEN division_by_zero THEN UPDATE idempotency_record SET recovery_point = ''half'' WHERE request_key = ''in between''; END'$$)) AS v (n, key, statement),
    t.told(key, statement) AS r
 ORDER BY n;
-- The same of a command.
SELECT state, replayed, response FROM run_sql_once('s', 'own:v1', 'sql', '{}', $$UPDATE idempotency_record SET recovery_point = 'half' WHERE request_key = 'sql' RETURNING state$$);
SELECT state, replayed, response FROM run_sql_once('s', 'own:v1', 'sql', '{}', 'SELECT 1');
