-- A superuser's session that acts as somebody else for a while - SET LOCAL ROLE, or a definer
-- function of the application's - is still a superuser's at COMMIT: what the tables' owner could
-- leave behind for that moment, or in the temporary schema, is refused there as well.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\pset null '(null)'
CREATE ROLE idempotency_test_owner;
CREATE ROLE idempotency_test_app;
SELECT current_database() AS here \gset
GRANT CREATE ON DATABASE :"here" TO idempotency_test_owner, idempotency_test_app;
GRANT USAGE ON SCHEMA t TO PUBLIC;
SET ROLE idempotency_test_owner;
CREATE SCHEMA bank;
CREATE EXTENSION idempotency SCHEMA bank;
GRANT USAGE ON SCHEMA bank TO PUBLIC;
INSERT INTO bank.account VALUES (1, 1000);
SELECT bank.grant_idempotency('idempotency_test_app', 'use', scopes => '{*}');
CREATE TABLE bank.proof (what text, who text, super boolean);
GRANT INSERT ON bank.proof TO PUBLIC;
CREATE FUNCTION bank.evil(what text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO bank.proof VALUES (what, current_user,
        (SELECT rolsuper FROM pg_roles WHERE rolname = current_user));
    RETURN true;
END $$;
CREATE FUNCTION bank.leave() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE TG_ARGV[0];
    RETURN NEW;
END $$;
CREATE FUNCTION bank.late() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM bank.evil('deferred trigger');
    RETURN NEW;
END $$;
RESET ROLE;
CREATE SCHEMA app AUTHORIZATION idempotency_test_app;
SET ROLE idempotency_test_app;
CREATE FUNCTION app.pay(key text) RETURNS jsonb LANGUAGE sql SECURITY DEFINER
    AS 'SELECT bank.debit_once(1, key, 1)';
RESET ROLE;

-- A cursor that is read to its end at COMMIT.
SET ROLE idempotency_test_owner;
CREATE TRIGGER leave AFTER UPDATE ON bank.account FOR EACH ROW
    EXECUTE FUNCTION bank.leave('DECLARE trap CURSOR WITH HOLD FOR SELECT bank.evil(''cursor'')');
RESET ROLE;
BEGIN;
SET LOCAL ROLE idempotency_test_app;
SELECT code, message FROM t.attempt($$SELECT bank.debit_once(1, 'set local role', 1)$$);
RESET ROLE;
COMMIT;
CLOSE ALL;
SELECT code, message FROM t.attempt($$SELECT app.pay('definer function')$$);
CLOSE ALL;
BEGIN;
SET LOCAL SESSION AUTHORIZATION idempotency_test_app;
SELECT code, message FROM t.attempt($$SELECT bank.debit_once(1, 'set local session authorization', 1)$$);
RESET SESSION AUTHORIZATION;
COMMIT;
CLOSE ALL;
SELECT what, who FROM bank.proof WHERE super;

-- A temporary table with a trigger, for the session's next statement that forgets a schema.
SET ROLE idempotency_test_owner;
CREATE FUNCTION bank.found() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM bank.evil('temporary table');
    RETURN NEW;
END $$;
GRANT EXECUTE ON FUNCTION bank.found TO PUBLIC;
CREATE OR REPLACE TRIGGER leave AFTER UPDATE ON bank.account FOR EACH ROW EXECUTE FUNCTION bank.leave(
    'CREATE TEMPORARY TABLE note (n int);
     CREATE TRIGGER found BEFORE INSERT ON note FOR EACH ROW EXECUTE FUNCTION bank.found();
     GRANT ALL ON note TO PUBLIC');
RESET ROLE;
CREATE TABLE public.note (n int);
SELECT code, message FROM t.attempt($$SELECT app.pay('definer function 2')$$);
INSERT INTO note VALUES (1);
SELECT what, who FROM bank.proof WHERE super;

-- A deferred trigger.
SET ROLE idempotency_test_owner;
DROP TRIGGER leave ON bank.account;
CREATE CONSTRAINT TRIGGER late AFTER UPDATE ON bank.account DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION bank.late();
RESET ROLE;
SELECT code, message FROM t.attempt($$SELECT app.pay('definer function 3')$$);
BEGIN;
SET LOCAL ROLE idempotency_test_app;
SELECT code, message FROM t.attempt($$SELECT bank.debit_once(1, 'set local role 3', 1)$$);
RESET ROLE;
COMMIT;
SELECT what, who FROM bank.proof WHERE super;

SET ROLE idempotency_test_owner;
DROP EXTENSION idempotency;
RESET ROLE;
DROP OWNED BY idempotency_test_owner, idempotency_test_app CASCADE;
DROP ROLE idempotency_test_owner, idempotency_test_app;
