-- An effect runs with its caller's rights, row policies, settings and search path; EXECUTE is checked.
\set VERBOSITY sqlstate
\set SHOW_CONTEXT never
CREATE EXTENSION idempotency;
CREATE ROLE cashier;
CREATE ROLE clerk;
SELECT grant_idempotency('cashier', 'use', scopes => '{*}');
SELECT grant_idempotency('clerk', 'use', scopes => '{*}');
CREATE TABLE payment (amount int, made_by text DEFAULT current_user, session_of text DEFAULT session_user);
GRANT INSERT, SELECT ON payment TO cashier;
CREATE FUNCTION pay(request jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO payment (amount) VALUES ((request ->> 'amount')::int);
    RETURN to_jsonb(current_user::text);
END $$;
REVOKE EXECUTE ON FUNCTION pay FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pay TO cashier;

-- As oneself.
SET ROLE cashier;
SELECT response FROM run_once('s', 'pay:v1', 'k', '{"amount": 1}', 'pay(jsonb)');
SELECT response FROM run_sql_once('s', 'pay:v1', 'sql', '{"amount": 1}', 'INSERT INTO payment (amount) VALUES (($1 ->> ''amount'')::int) RETURNING made_by');
-- Not what the caller may not: another table, the extension's own.
SELECT state FROM run_sql_once('s', 'pay:v1', 'x', '{}', 'DELETE FROM payment');
SELECT state FROM run_sql_once('s', 'pay:v1', 'x', '{}', 'SELECT count(*) FROM idempotency_record');
SELECT state FROM run_sql_once('s', 'pay:v1', 'x', '{}', 'UPDATE account SET balance = 0');
SELECT state FROM run_sql_once('s', 'pay:v1', 'x', '{}', 'CREATE ROLE more');
RESET ROLE;
TABLE payment;
-- No EXECUTE, no effect, no record; a retry that is answered needs none.
SET ROLE clerk;
SELECT state FROM run_once('s', 'pay:v1', 'clerk', '{"amount": 1}', 'pay(jsonb)');
SELECT replayed, response FROM run_once('s', 'pay:v1', 'k', '{"amount": 1}', 'pay(jsonb)');
RESET ROLE;
SELECT count(*) FROM find_request('s', 'pay:v1', 'clerk');
-- Whatever the session has planned before as another role, and however simple the function is.
CREATE FUNCTION simple(request jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$ SELECT request || '{"simple": true}' $$;
REVOKE EXECUTE ON FUNCTION simple FROM PUBLIC;
SELECT count(*) FROM generate_series(1, 20) AS n, run_once('s', 'simple:v1', n::text, '{}', 'simple(jsonb)');
SELECT count(*) FROM generate_series(1, 20) AS n, run_once('s', 'pay:v1', n::text, '{"amount": 1}', 'pay(jsonb)');
SET ROLE clerk;
SELECT state FROM run_once('s', 'simple:v1', 'clerk', '{}', 'simple(jsonb)');
SELECT state FROM run_once('s', 'pay:v1', 'clerk', '{"amount": 1}', 'pay(jsonb)');
RESET ROLE;
GRANT EXECUTE ON FUNCTION simple TO clerk;
SET ROLE clerk;
SELECT state FROM run_once('s', 'simple:v1', 'clerk', '{}', 'simple(jsonb)');
RESET ROLE;
REVOKE EXECUTE ON FUNCTION simple FROM clerk;
SET ROLE clerk;
SELECT state FROM run_once('s', 'simple:v1', 'clerk 2', '{}', 'simple(jsonb)');
RESET ROLE;
-- A schema that the caller may not use.
CREATE SCHEMA hidden;
CREATE FUNCTION hidden.pay(jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '"hidden"'::jsonb $$;
SELECT response FROM run_once('s', 'pay:v1', 'hidden', '{}', 'hidden.pay(jsonb)');
SELECT 'hidden.pay(jsonb)'::regprocedure::oid AS hidden \gset
SET ROLE cashier;
SELECT state FROM run_once('s', 'pay:v1', 'hidden 2', '{}', 'hidden.pay(jsonb)');
SELECT state FROM run_once('s', 'pay:v1', 'hidden 2', '{}', :hidden);
RESET ROLE;

-- SECURITY DEFINER is the effect's own affair, and the caller's rights come back.
CREATE FUNCTION as_owner(request jsonb) RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
    DELETE FROM payment WHERE amount = 1;
    RETURN to_jsonb(current_user = 'cashier');
END $$;
SET ROLE cashier;
SELECT response, current_user FROM run_once('s', 'own:v1', 'k', '{}', 'as_owner(jsonb)');
SELECT count(*) FROM payment;
-- An effect that fails in the middle of that, saved as a refusal or not.
RESET ROLE;
SELECT define_operation('saves:v1', save_refusals => true);
CREATE FUNCTION fails_as_owner(request jsonb) RETURNS jsonb LANGUAGE plpgsql SECURITY DEFINER SET work_mem = '2MB' AS $$
BEGIN
    RAISE EXCEPTION 'refused';
END $$;
SET ROLE cashier;
BEGIN;
SELECT state, current_user, current_setting('work_mem') = '2MB' AS left_behind FROM run_once('s', 'saves:v1', 'k', '{}', 'fails_as_owner(jsonb)');
SELECT current_user, current_setting('work_mem') = '2MB' AS left_behind;
SELECT state FROM run_sql_once('s', 'pay:v1', 'after', '{}', 'DELETE FROM payment');
ROLLBACK;
RESET ROLE;
-- Row policies of the caller's.
CREATE TABLE secret (owner text, word text);
INSERT INTO secret VALUES ('cashier', 'mine'), ('clerk', 'theirs');
ALTER TABLE secret ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON secret USING (owner = current_user);
GRANT SELECT ON secret TO cashier, clerk;
CREATE FUNCTION tell(request jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$ SELECT jsonb_agg(word) FROM secret $$;
SET ROLE cashier;
SELECT response FROM run_once('s', 'tell:v1', 'cashier', '{}', 'tell(jsonb)');
SELECT response FROM run_sql_once('s', 'tell:v1', 'cashier sql', '{}', 'SELECT word FROM secret');
SET ROLE clerk;
SELECT response FROM run_once('s', 'tell:v1', 'clerk', '{}', 'tell(jsonb)');
RESET ROLE;
SELECT response FROM run_once('s', 'tell:v1', 'owner', '{}', 'tell(jsonb)');
SELECT count(*) FROM generate_series(1, 20) AS n, run_once('s', 'tell:v1', n::text, '{}', 'tell(jsonb)');
SET ROLE clerk;
SELECT response FROM run_once('s', 'tell:v1', 'clerk 2', '{}', 'tell(jsonb)');
RESET ROLE;
-- The search path is the caller's for what the effect names, in every call anew.
CREATE SCHEMA one;
CREATE SCHEMA two;
CREATE FUNCTION one.name() RETURNS text LANGUAGE sql AS $$ SELECT 'one' $$;
CREATE FUNCTION two.name() RETURNS text LANGUAGE sql AS $$ SELECT 'two' $$;
CREATE FUNCTION named(request jsonb) RETURNS jsonb LANGUAGE plpgsql AS 'BEGIN RETURN to_jsonb(name()); END';
SET search_path = one, public;
SELECT response FROM run_once('s', 'path:v1', '1', '{}', 'named(jsonb)');
SELECT response FROM run_sql_once('s', 'path:v1', '2', '{}', 'SELECT name()');
SET search_path = two, public;
SELECT response FROM run_once('s', 'path:v1', '3', '{}', 'named(jsonb)');
SELECT response FROM run_sql_once('s', 'path:v1', '4', '{}', 'SELECT name()');
RESET search_path;
