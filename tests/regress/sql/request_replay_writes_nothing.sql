-- A replay of any operation writes nothing, and works where nothing can be written.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\set helper :regress '/sql/helpers/effects.psql'
\i :helper
CREATE EXTENSION idempotency;
\pset null '(null)'
SELECT define_operation('saves:v1', save_refusals => true);
SELECT define_operation('digest:v1', keep_request => 'digest', keep_response => 'redacted', redacted_response_paths => '{/paid}', ignored_paths => '{/trace}');
CREATE FUNCTION first_calls() RETURNS TABLE (operation text, state text, replayed boolean, response jsonb) LANGUAGE sql AS $$
    SELECT 'pay:v1', state, replayed, response FROM run_once('s', 'pay:v1', 'k', '{"amount": 1}', 'pay(jsonb)')
    UNION ALL SELECT 'sql:v1', state, replayed, response FROM run_sql_once('s', 'sql:v1', 'k', '{"amount": 1}', 'SELECT pay($1)')
    UNION ALL SELECT 'saves:v1', state, replayed, response FROM run_once('s', 'saves:v1', 'k', '{"raise": "P0001"}', 'pay(jsonb)')
    UNION ALL SELECT 'digest:v1', state, replayed, response FROM run_once('s', 'digest:v1', 'k', '{"amount": 1, "trace": 1}', 'pay(jsonb)')
$$;
SELECT * FROM first_calls();
BEGIN;
SELECT state FROM reserve_request('s', 'ship:v1', 'k', '{}');
SELECT state FROM complete_request('{}');
COMMIT;
CREATE TABLE before AS SELECT ctid AS place, xmin::text AS creator, xmax::text AS locker FROM idempotency_record;
BEGIN;
SELECT * FROM first_calls();
SELECT state, replayed FROM reserve_request('s', 'ship:v1', 'k', '{}');
SELECT state, replayed FROM reserve_request('s', 'ship:v1', 'k', '{}', '1 second');
SELECT state, replayed FROM run_once('s', 'pay:v1', 'k', '{"amount": 1}', 'pay(jsonb)', 200, '0');
SAVEPOINT a;
SELECT state, replayed FROM run_once('s', 'pay:v1', 'k', '{"amount": 1}', 'pay(jsonb)');
RELEASE a;
SELECT a.code FROM t.attempt($$SELECT run_once('s', 'pay:v1', 'k', '{"amount": 2}', 'pay(jsonb)')$$) AS a;
SELECT a.code FROM t.attempt($$SELECT run_once('s', 'digest:v1', 'k', '{"amount": 2}', 'pay(jsonb)')$$) AS a;
SELECT pg_current_xact_id_if_assigned();
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT count(*) FROM first_calls() WHERE replayed;
SELECT pg_current_xact_id_if_assigned();
COMMIT;
SELECT ctid AS place, xmin::text AS creator, xmax::text AS locker FROM idempotency_record EXCEPT TABLE before;
SELECT count(*) AS payments FROM payment;
-- A session's first call, when plans and contracts are not known yet.
\c -
\pset null '(null)'
BEGIN;
SELECT count(*) FROM first_calls() WHERE replayed;
SELECT pg_current_xact_id_if_assigned();
COMMIT;
\c -
\set VERBOSITY sqlstate
BEGIN READ ONLY;
SELECT count(*) FROM first_calls() WHERE replayed;
SELECT state, replayed FROM reserve_request('s', 'ship:v1', 'k', '{}');
SELECT state, replayed FROM abandon_request('s', 'ship:v1', 'k');
COMMIT;
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SELECT count(*) FROM first_calls() WHERE replayed;
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE;
SELECT count(*) FROM first_calls() WHERE replayed;
COMMIT;
-- A first call there is refused, by each function.
BEGIN READ ONLY;
SELECT state FROM run_once('s', 'pay:v1', 'new', '{}', 'pay(jsonb)');
ROLLBACK;
BEGIN READ ONLY;
SELECT state FROM run_sql_once('s', 'pay:v1', 'new', '{}', 'SELECT 1');
ROLLBACK;
BEGIN READ ONLY;
SELECT state FROM run_once('s', 'saves:v1', 'new', '{}', 'pay(jsonb)');
ROLLBACK;
BEGIN READ ONLY;
SELECT state FROM reserve_request('s', 'pay:v1', 'new', '{}');
ROLLBACK;
BEGIN READ ONLY;
SELECT state FROM reserve_request('s', 'pay:v1', 'new', '{}', '0');
ROLLBACK;
BEGIN READ ONLY;
SELECT state FROM abandon_request('s', 'pay:v1', 'new');
ROLLBACK;
SET default_transaction_read_only = on;
SELECT count(*) FROM first_calls() WHERE replayed;
SELECT state FROM run_once('s', 'pay:v1', 'new', '{}', 'pay(jsonb)');
RESET default_transaction_read_only;
SELECT count(*) FROM idempotency_record;
SELECT count(*) AS payments FROM payment;
-- A call without a key in a read-only transaction does what its effect may do.
SELECT define_operation('keyless:v1', key_required => false);
BEGIN READ ONLY;
SELECT state, response FROM run_sql_once('s', 'keyless:v1', NULL, '{}', 'SELECT 1');
SELECT state FROM run_once('s', 'keyless:v1', NULL, '{}', 'pay(jsonb)');
ROLLBACK;
