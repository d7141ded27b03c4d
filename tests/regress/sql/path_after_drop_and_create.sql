-- Dropped and created again in one session, in another schema, or moved beneath it, the extension finds
-- its tables anew, and its way to them.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;
SET idempotency.table_access = 'auto';
-- Calls each door twice in a schema, and tells which ways the first and the second took.
CREATE FUNCTION t.calls(schema text, key text, OUT debit jsonb, OUT consume bigint, OUT run jsonb, OUT first text, OUT again text)
LANGUAGE plpgsql AS $$
DECLARE
    n int;
    ways text[];
    way text;
BEGIN
    FOR n IN 1..2 LOOP
        EXECUTE format('SELECT %1$I.debit_once(1, $1, 10)', schema) INTO debit USING key;
        EXECUTE format('SELECT %1$I.idempotency_latest_access()', schema) INTO way;
        ways := ways || way;
        EXECUTE format('SELECT %1$I.consume_once(''s'', $1, 1, 5)', schema) INTO consume USING md5(key)::uuid;
        EXECUTE format('SELECT %1$I.idempotency_latest_access()', schema) INTO way;
        ways := ways || way;
        EXECUTE format('SELECT response FROM %1$I.run_sql_once(''s'', ''test:v1'', $1, ''{}'', ''SELECT 7'')', schema) INTO run USING key;
        EXECUTE format('SELECT %1$I.idempotency_latest_access()', schema) INTO way;
        ways := ways || way;
    END LOOP;
    first := array_to_string(ways[1:3], ' ');
    again := array_to_string(ways[4:6], ' ');
END $$;
INSERT INTO account VALUES (1, 1000);
SELECT * FROM t.calls('public', 'k');
DROP EXTENSION idempotency;
CREATE EXTENSION idempotency;
INSERT INTO account VALUES (1, 500);
SELECT * FROM t.calls('public', 'k');
DROP EXTENSION idempotency;
CREATE SCHEMA bank;
CREATE EXTENSION idempotency SCHEMA bank;
INSERT INTO bank.account VALUES (1, 300);
SELECT * FROM t.calls('bank', 'k');
-- A schema's new name; a table of the old name in the old place is somebody else's.
ALTER SCHEMA bank RENAME TO shop;
CREATE SCHEMA bank;
CREATE TABLE bank.account (account_id bigint PRIMARY KEY, balance bigint);
INSERT INTO bank.account VALUES (1, 1);
SELECT * FROM t.calls('shop', 'k2');
TABLE bank.account;
SELECT DISTINCT access, reason FROM shop.idempotency_table_access();
-- Dropped and created within one transaction, used in between, and all of it undone.
BEGIN;
SELECT debit FROM t.calls('shop', 'k3');
SAVEPOINT s;
DROP EXTENSION idempotency;
CREATE EXTENSION idempotency SCHEMA shop;
INSERT INTO shop.account VALUES (1, 70);
SELECT * FROM t.calls('shop', 'k3');
ROLLBACK TO s;
SELECT * FROM t.calls('shop', 'k4');
DROP EXTENSION idempotency;
CREATE EXTENSION idempotency SCHEMA public;
INSERT INTO public.account VALUES (1, 60);
SELECT * FROM t.calls('public', 'k3');
ROLLBACK;
SELECT * FROM t.calls('shop', 'k3');
SELECT * FROM t.store('shop');
-- Tables of another owner.
CREATE ROLE idempotency_test_owner;
GRANT USAGE ON SCHEMA shop TO idempotency_test_owner;
ALTER TABLE shop.account OWNER TO idempotency_test_owner;
ALTER TABLE shop.request_result OWNER TO idempotency_test_owner;
SELECT result, code FROM t.attempt($$SELECT shop.debit_once(1, 'k8', 10)$$);
SELECT shop.idempotency_latest_access();
-- Who may not do to his own table what SQL would do, does not do it directly.
REVOKE UPDATE ON shop.account FROM idempotency_test_owner;
SELECT * FROM shop.idempotency_table_access() WHERE table_name IN ('account', 'request_result');
SELECT result, code FROM t.attempt($$SELECT shop.debit_once(1, 'k9', 10)$$);
GRANT UPDATE ON shop.account TO idempotency_test_owner;
REVOKE INSERT ON shop.request_result FROM idempotency_test_owner;
SELECT result, code FROM t.attempt($$SELECT shop.debit_once(1, 'k9', 10)$$);
SELECT result, code FROM t.attempt($$SELECT shop.debit_once(1, 'k8', 10)$$);
GRANT INSERT ON shop.request_result TO idempotency_test_owner;
SELECT result, code FROM t.attempt($$SELECT shop.debit_once(1, 'k9', 10)$$);
SELECT shop.idempotency_latest_access();
SELECT * FROM t.store('shop');
DROP EXTENSION idempotency;
DROP OWNED BY idempotency_test_owner;
DROP ROLE idempotency_test_owner;
