-- A definer function of the owner's, called by anybody with a search_path of his own, around a trigger
-- of the owner's that names things without a schema: the caller's things are not found. The owner's
-- own call is plain SQL of his, and finds what is on his own path.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
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
CREATE TABLE bank.proof (what text, who text);
GRANT INSERT ON bank.proof TO PUBLIC;
CREATE FUNCTION bank.careless() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM note(NEW.balance);
    RETURN NEW;
END $$;
CREATE TRIGGER careless AFTER UPDATE ON bank.account FOR EACH ROW EXECUTE FUNCTION bank.careless();
CREATE FUNCTION bank.pay(key text) RETURNS jsonb LANGUAGE sql SECURITY DEFINER
    AS 'SELECT bank.debit_once(1, key, 1)';
CREATE FUNCTION bank.note(bigint) RETURNS void LANGUAGE sql
    AS 'INSERT INTO bank.proof VALUES (''the owner''''s note'', current_user)';
SET ROLE idempotency_test_app;
CREATE SCHEMA app;
GRANT USAGE ON SCHEMA app TO PUBLIC;
CREATE FUNCTION app.note(bigint) RETURNS void LANGUAGE sql
    AS 'INSERT INTO bank.proof VALUES (''a note of the caller''''s'', current_user)';
SET search_path = app, public;
SELECT code, message FROM t.attempt($$SELECT bank.pay('definer')$$);
SET ROLE idempotency_test_owner;
SET search_path = bank, public;
SELECT bank.debit_once(1, 'his own', 1);
RESET search_path;
RESET ROLE;
TABLE bank.proof;
SET ROLE idempotency_test_owner;
DROP EXTENSION idempotency;
RESET ROLE;
DROP OWNED BY idempotency_test_owner, idempotency_test_app CASCADE;
DROP ROLE idempotency_test_owner, idempotency_test_app;
