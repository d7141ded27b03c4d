-- The tables belong to whoever installed; a stranger is told 42501; the owner may use and drop.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE ROLE idempotency_test_installer;
CREATE ROLE idempotency_test_stranger;
SELECT current_database() AS here \gset
GRANT CREATE ON DATABASE :"here" TO idempotency_test_installer;
GRANT USAGE ON SCHEMA t TO idempotency_test_installer, idempotency_test_stranger;

-- Trusted: the owner of a schema, with no other rights, installs.
SET ROLE idempotency_test_installer;
CREATE SCHEMA bank;
CREATE EXTENSION idempotency SCHEMA bank;
SELECT relname, pg_get_userbyid(relowner) AS owner FROM pg_class
 WHERE relnamespace = 'bank'::regnamespace
   AND relname IN ('account', 'request_result', 'processed_message')
 ORDER BY relname;
SELECT rolsuper FROM pg_roles WHERE rolname = current_user;

-- He uses it.
INSERT INTO bank.account VALUES (1, 1000);
SELECT bank.debit_once(1, 'k', 100);
SELECT bank.debit_once(1, 'k', 100);
SELECT bank.consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50);
SELECT a.code, a.reason FROM t.attempt($$SELECT bank.debit_once(1, 'k', 101)$$) AS a;
SELECT a.code, a.reason FROM t.attempt($$SELECT bank.debit_once(1, 'k2', 10000)$$) AS a;
GRANT USAGE ON SCHEMA bank TO idempotency_test_stranger;
RESET ROLE;

-- A stranger with the schema's USAGE alone: neither first call, nor replay, nor mismatch.
SET ROLE idempotency_test_stranger;
SELECT statement, a.result, a.code
  FROM (VALUES
    (1, $$SELECT bank.debit_once(1, 'k', 100)$$),
    (2, $$SELECT bank.debit_once(1, 'k', 101)$$),
    (3, $$SELECT bank.debit_once(1, 'k3', 100)$$),
    (4, $$SELECT replayed FROM bank.debit_request(1, 'k', 100)$$),
    (5, $$SELECT bank.consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50)$$),
    (6, $$SELECT response FROM bank.request_result$$),
    (7, $$SELECT balance FROM bank.account$$)) AS v (n, statement),
       t.attempt(statement) AS a
 ORDER BY n;
RESET ROLE;
SELECT * FROM t.store('bank');

-- A trigger of the installer's runs with the installer's rights, whoever calls.
SET ROLE idempotency_test_installer;
CREATE TABLE bank.caller (who text);
CREATE FUNCTION bank.note() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN INSERT INTO bank.caller VALUES (current_user); RETURN NEW; END';
CREATE TRIGGER note AFTER INSERT ON bank.request_result FOR EACH ROW EXECUTE FUNCTION bank.note();
RESET ROLE;
SELECT bank.debit_once(1, 'k4', 100);
SELECT who FROM bank.caller;

SET ROLE idempotency_test_installer;
DROP TABLE bank.caller;
DROP EXTENSION idempotency;
DROP FUNCTION bank.note;
DROP SCHEMA bank;
RESET ROLE;
DROP OWNED BY idempotency_test_installer, idempotency_test_stranger;
DROP ROLE idempotency_test_installer, idempotency_test_stranger;
