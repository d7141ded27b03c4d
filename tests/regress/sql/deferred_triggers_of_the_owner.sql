-- A deferred constraint trigger of the owner's fires at COMMIT, outside of the call. Before 18 the
-- server fires it as the session's user, since 18 as the role that queued it: the owner.
\set VERBOSITY terse
\set SHOW_CONTEXT never
CREATE ROLE idempotency_test_owner LOGIN;
CREATE ROLE idempotency_test_app LOGIN;
SELECT current_user AS superuser \gset
SELECT current_database() AS here \gset
GRANT CREATE ON DATABASE :"here" TO idempotency_test_owner;
SET ROLE idempotency_test_owner;
CREATE SCHEMA bank;
CREATE EXTENSION idempotency SCHEMA bank;
GRANT USAGE ON SCHEMA bank TO PUBLIC;
INSERT INTO bank.account VALUES (1, 1000);
SELECT bank.grant_idempotency('idempotency_test_app', 'use', scopes => '{1}');
CREATE TABLE bank.proof (who text);
GRANT INSERT ON bank.proof TO PUBLIC;
CREATE FUNCTION bank.late() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO bank.proof VALUES (current_user);
    RETURN NEW;
END $$;
CREATE CONSTRAINT TRIGGER late AFTER UPDATE ON bank.account DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION bank.late();
-- So it is refused to whoever may do something that the owner may not.
\c - idempotency_test_app
SELECT bank.debit_once(1, 'k', 100);
\echo :LAST_ERROR_SQLSTATE
\c - :superuser
SELECT bank.debit_once(1, 'k', 100);
SET ROLE idempotency_test_app;
SELECT bank.debit_once(1, 'k', 100);
RESET ROLE;
-- The owner's own call is plain SQL of his.
\c - idempotency_test_owner
SELECT bank.debit_once(1, 'k', 100);
SELECT bank.debit_once(1, 'k', 100);
\c - :superuser
TABLE bank.proof;
TRUNCATE bank.proof;
-- A caller all of whose rights the owner has: nothing can be gained from him.
GRANT idempotency_test_app TO idempotency_test_owner;
\c - idempotency_test_app
SELECT bank.debit_once(1, 'k1', 100);
\c - :superuser
SELECT count(*), bool_and(who = CASE WHEN current_setting('server_version_num')::int < 180000
                                     THEN 'idempotency_test_app' ELSE 'idempotency_test_owner' END) AS as_documented
  FROM bank.proof;
TRUNCATE bank.proof;
-- But not where a superuser acts as that caller, for whom it would fire in the end.
SET ROLE idempotency_test_app;
SELECT bank.debit_once(1, 'k3', 100);
RESET ROLE;
REVOKE idempotency_test_app FROM idempotency_test_owner;
-- Not deferred, it runs as the owner everywhere.
SET ROLE idempotency_test_owner;
TRUNCATE bank.proof;
DROP TRIGGER late ON bank.account;
CREATE CONSTRAINT TRIGGER late AFTER UPDATE ON bank.account DEFERRABLE INITIALLY IMMEDIATE
    FOR EACH ROW EXECUTE FUNCTION bank.late();
\c - idempotency_test_app
SELECT bank.debit_once(1, 'k2', 100);
\c - :superuser
TABLE bank.proof;
SET ROLE idempotency_test_owner;
DROP EXTENSION idempotency;
RESET ROLE;
DROP OWNED BY idempotency_test_owner, idempotency_test_app CASCADE;
DROP ROLE idempotency_test_owner, idempotency_test_app;
