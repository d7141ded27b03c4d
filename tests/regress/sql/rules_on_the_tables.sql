-- A DBA's rules on the extension's tables are honoured: what they do besides is done, with the
-- owner's rights, and what they suppress is told.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE ROLE idempotency_test_owner;
CREATE ROLE idempotency_test_app;
GRANT CREATE ON SCHEMA public TO idempotency_test_owner;
SELECT current_database() AS here \gset
GRANT CREATE ON DATABASE :"here" TO idempotency_test_owner;
GRANT USAGE ON SCHEMA t TO PUBLIC;
SET ROLE idempotency_test_owner;
CREATE EXTENSION idempotency;
INSERT INTO account VALUES (1, 1000);
SELECT grant_idempotency('idempotency_test_app', 'use', scopes => '{1}');
CREATE TABLE seen (what text, who text, balance bigint);
CREATE RULE also AS ON UPDATE TO account
    DO ALSO INSERT INTO seen VALUES ('update of account', current_user, NEW.balance);
SET ROLE idempotency_test_app;
SELECT debit_once(1, 'k', 100);
SELECT debit_once(1, 'k', 100);
SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50);
SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50) IS NULL AS again;
RESET ROLE;
SELECT what, who, balance FROM seen ORDER BY balance;
SELECT * FROM t.store();
-- One whose action reads something.
SET ROLE idempotency_test_owner;
CREATE OR REPLACE RULE also AS ON UPDATE TO account
    DO ALSO INSERT INTO seen SELECT 'a select', current_user, NEW.balance WHERE NEW.balance > 0;
SET ROLE idempotency_test_app;
SELECT result, code FROM t.attempt($$SELECT debit_once(1, 'k3', 100)$$);
SELECT result, code FROM t.attempt($$SELECT consume_once('s', '00000000-0000-0000-0000-000000000003', 1, 50)$$);
RESET ROLE;
SELECT what, who, balance FROM seen WHERE what = 'a select' ORDER BY balance;
SET ROLE idempotency_test_owner;
CREATE OR REPLACE RULE also AS ON UPDATE TO account DO INSTEAD NOTHING;
SET ROLE idempotency_test_app;
SELECT code IS NOT NULL AS refused FROM t.attempt($$SELECT debit_once(1, 'k2', 100)$$);
SELECT debit_once(1, 'k', 100);
SET ROLE idempotency_test_owner;
DROP RULE also ON account;
SET ROLE idempotency_test_app;
SELECT debit_once(1, 'k2', 100);
RESET ROLE;
SELECT * FROM t.store();
SET ROLE idempotency_test_owner;
DROP EXTENSION idempotency;
RESET ROLE;
DROP OWNED BY idempotency_test_owner, idempotency_test_app CASCADE;
DROP ROLE idempotency_test_owner, idempotency_test_app;
