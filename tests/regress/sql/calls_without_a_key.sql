-- key_required => false: a call without a key is performed each time and keeps nothing.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\set helper :regress '/sql/helpers/effects.psql'
\i :helper
CREATE EXTENSION idempotency;
\pset null '(null)'
SELECT o.code, o.reason, o.message FROM t.outcome($$SELECT * FROM run_once('s', 'pay:v1', NULL, '{"amount": 1}', 'pay(jsonb)')$$) AS o;
SELECT define_operation('pay:v1', key_required => false);
SELECT state, replayed, response, http_status, created_at IS NULL AS no_creation, completed_at IS NOT NULL AS completed
  FROM run_once('s', 'pay:v1', NULL, '{"amount": 1}', 'pay(jsonb)', 201);
SELECT state, replayed, response, http_status FROM run_once('s', 'pay:v1', NULL, '{"amount": 1}', 'pay(jsonb)');
SELECT state, replayed, response FROM run_sql_once('s', 'pay:v1', NULL, '{"amount": 1}', 'SELECT pay($1)');
SELECT count(*) AS payments FROM payment;
SELECT count(*) FROM idempotency_record;
-- With a key it is a call like any other, and an empty key is not none.
SELECT state, replayed FROM run_once('s', 'pay:v1', 'k', '{"amount": 1}', 'pay(jsonb)');
SELECT state, replayed FROM run_once('s', 'pay:v1', 'k', '{"amount": 1}', 'pay(jsonb)');
SELECT o.code, o.reason, o.message FROM t.outcome($$SELECT * FROM run_once('s', 'pay:v1', '', '{"amount": 1}', 'pay(jsonb)')$$) AS o;
-- All other rules hold: scope, operation, request, limits, the effect's signature and errors.
SELECT alter_operation('pay:v1', max_request_bytes => 60, max_response_bytes => 20);
SELECT n, o.code, o.reason, o.message FROM (VALUES
    (1, $$SELECT * FROM run_once(NULL, 'pay:v1', NULL, '{}', 'pay(jsonb)')$$),
    (2, $$SELECT * FROM run_once(' ', 'pay:v1', NULL, '{}', 'pay(jsonb)')$$),
    (3, $$SELECT * FROM run_once('s', 'pay:v1', NULL, NULL, 'pay(jsonb)')$$),
    (4, $$SELECT * FROM run_once('s', 'pay:v1', NULL, '{}', NULL)$$),
    (5, $$SELECT * FROM run_once('s', 'pay:v1', NULL, '{"note": "a request that is much longer than is allowed"}', 'pay(jsonb)')$$),
    (6, $$SELECT * FROM run_once('s', 'pay:v1', NULL, '{"reply": "a reply that is too long"}', 'pay(jsonb)')$$),
    (7, $$SELECT * FROM run_once('s', 'pay:v1', NULL, '{}', 'pay(jsonb)', 99)$$),
    (8, $$SELECT * FROM run_once('s', 'pay:v1', NULL, '{}', 'lower(text)')$$),
    (9, $$SELECT * FROM run_once('s', 'pay:v1', NULL, '{"raise": "P0001"}', 'pay(jsonb)')$$)) AS v (n, statement),
    t.outcome(statement) AS o ORDER BY n;
SELECT count(*) AS payments FROM payment;
-- A refusal undoes the effect and is the answer, each time anew.
SELECT alter_operation('pay:v1', save_refusals => true, reset => '{max_request_bytes,max_response_bytes}');
SELECT state, replayed, sqlstate, message FROM run_once('s', 'pay:v1', NULL, '{"raise": "P0001"}', 'pay(jsonb)');
SELECT state, replayed, sqlstate, message FROM run_once('s', 'pay:v1', NULL, '{"raise": "P0001"}', 'pay(jsonb)');
SELECT count(*) AS payments FROM payment;
SELECT count(*) FROM idempotency_record;
-- What works on a record needs its key.
SELECT n, o.code, o.reason, o.message FROM (VALUES
    (1, $$SELECT * FROM reserve_request('s', 'pay:v1', NULL, '{}')$$),
    (2, $$SELECT * FROM complete_request('s', 'pay:v1', NULL, '{}')$$),
    (3, $$SELECT * FROM refuse_request('s', 'pay:v1', NULL, '{}')$$),
    (4, $$SELECT * FROM find_request('s', 'pay:v1', NULL)$$),
    (5, $$SELECT * FROM abandon_request('s', 'pay:v1', NULL)$$)) AS v (n, statement),
    t.outcome(statement) AS o ORDER BY n;
-- Inside such an effect there is no request at work, or the one around it.
SELECT response FROM run_sql_once('s', 'pay:v1', NULL, '{}', 'SELECT count(*) FROM current_request()');
SELECT response FROM run_sql_once('s', 'order:v1', 'outer', '{}',
    $$SELECT response FROM run_sql_once('s', 'pay:v1', NULL, '{}', 'SELECT request_key FROM current_request()')$$);
