-- What a granted role could try in order to run something with the owner's rights, to reach another
-- table, or to change how it is judged. Each way fails or comes to nothing.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\pset null '(null)'
CREATE ROLE idempotency_test_owner;
CREATE ROLE idempotency_test_app;
CREATE ROLE idempotency_test_victim;
SELECT current_database() AS here \gset
GRANT CREATE ON DATABASE :"here" TO idempotency_test_owner, idempotency_test_app;
GRANT USAGE ON SCHEMA t TO PUBLIC;
SET ROLE idempotency_test_owner;
CREATE SCHEMA bank;
CREATE EXTENSION idempotency SCHEMA bank;
GRANT USAGE ON SCHEMA bank TO PUBLIC;
INSERT INTO bank.account VALUES (1, 1000);
SELECT bank.grant_idempotency('idempotency_test_app', 'use', scopes => '{1,m}');
CREATE TABLE bank.proof (what text, who text);
GRANT INSERT ON bank.proof TO PUBLIC;
RESET ROLE;

-- A trigger of the owner's that names things without a schema finds nothing of the caller's: not
-- through his search_path, and not through that of a definer function of his.
CREATE SCHEMA app;
GRANT ALL ON SCHEMA app TO idempotency_test_app, idempotency_test_victim;
SET ROLE idempotency_test_owner;
CREATE FUNCTION bank.careless() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM note(NEW.balance);
    RETURN NEW;
END $$;
CREATE TRIGGER careless AFTER UPDATE ON bank.account FOR EACH ROW EXECUTE FUNCTION bank.careless();
SET ROLE idempotency_test_app;
CREATE FUNCTION app.note(bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO bank.proof VALUES ('a function of the caller''s', current_user);
END $$;
CREATE FUNCTION app.pay(key text) RETURNS jsonb LANGUAGE sql SECURITY DEFINER
    AS 'SELECT bank.debit_once(1, key, 1)';
CREATE FUNCTION app.pay_with_a_path(key text) RETURNS jsonb LANGUAGE sql SECURITY DEFINER
    SET search_path = app, public AS 'SELECT bank.debit_once(1, key, 1)';
SET search_path = app, public;
SELECT code, message FROM t.attempt($$SELECT bank.debit_once(1, 'careless', 1)$$);
SET ROLE idempotency_test_victim;
SELECT code, message FROM t.attempt($$SELECT pay('careless')$$);
SELECT code, message FROM t.attempt($$SELECT pay_with_a_path('careless')$$);
RESET search_path;
-- Nor does a superuser who comes with somebody's search_path.
RESET ROLE;
SET search_path = app, public;
SELECT code, message FROM t.attempt($$SELECT bank.debit_once(1, 'careless', 1)$$);
-- The search_path is back after a call and after a failed one.
SHOW search_path;
SET ROLE idempotency_test_owner;
DROP TRIGGER careless ON bank.account;
SET ROLE idempotency_test_app;
SELECT bank.debit_once(1, 'path', 1);
SHOW search_path;
RESET search_path;
RESET ROLE;
TABLE bank.proof;

-- Known and documented: the temporary schema stays within reach of a trigger that names a table
-- without its schema, as it does of any definer function. Qualify the names in a trigger.
SET ROLE idempotency_test_owner;
CREATE TABLE bank.audit (n bigint);
CREATE FUNCTION bank.unqualified() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO audit VALUES (NEW.balance);
    RETURN NEW;
END $$;
CREATE TRIGGER unqualified AFTER UPDATE ON bank.account FOR EACH ROW EXECUTE FUNCTION bank.unqualified();
SET ROLE idempotency_test_app;
CREATE TEMPORARY TABLE audit (n bigint);
GRANT ALL ON pg_temp.audit TO PUBLIC;
SELECT bank.debit_once(1, 'temporary', 1);
SELECT count(*) AS of_the_callers FROM pg_temp.audit;
SET ROLE idempotency_test_owner;
CREATE OR REPLACE FUNCTION bank.unqualified() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO bank.audit VALUES (NEW.balance);
    RETURN NEW;
END $$;
SET ROLE idempotency_test_app;
SELECT bank.debit_once(1, 'qualified', 1);
SELECT count(*) AS of_the_callers FROM pg_temp.audit;
RESET ROLE;
SELECT count(*) AS of_the_owners FROM bank.audit;
DROP TRIGGER unqualified ON bank.account;

-- An effect that renames the schema beneath the call and puts tables of its own into the old name:
-- the call ends with an error and meets none of them. (A role that may do so has to own the schema.)
CREATE SCHEMA shop;
ALTER SCHEMA shop OWNER TO idempotency_test_app;
DROP TABLE bank.audit;
SET ROLE idempotency_test_owner;
DROP TABLE bank.proof;
DROP FUNCTION bank.careless, bank.unqualified;
DROP EXTENSION idempotency;
RESET ROLE;
CREATE EXTENSION idempotency SCHEMA shop;
CREATE TABLE proof (what text, who text, super boolean);
GRANT INSERT ON proof TO PUBLIC;
SELECT shop.grant_idempotency('idempotency_test_app', 'use', scopes => '{m}');
SET ROLE idempotency_test_app;
CREATE FUNCTION app.loot(request jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    ALTER SCHEMA shop RENAME TO old;
    CREATE SCHEMA shop;
    CREATE FUNCTION shop.evil() RETURNS trigger LANGUAGE plpgsql AS $f$
    BEGIN
        INSERT INTO public.proof VALUES ('trigger', current_user,
            (SELECT rolsuper FROM pg_roles WHERE rolname = current_user));
        RETURN NEW;
    END $f$;
    CREATE TABLE shop.idempotency_record (scope text, operation text, request_key text, state text,
        response jsonb, http_status int, sqlstate text, message text, detail text, hint text,
        completed_at timestamptz, created_at timestamptz DEFAULT now());
    INSERT INTO shop.idempotency_record (scope, operation, request_key, state)
    VALUES ('m', 'loot:v1', 'k', 'pending');
    CREATE TRIGGER evil BEFORE UPDATE ON shop.idempotency_record
        FOR EACH ROW EXECUTE FUNCTION shop.evil();
    RETURN '{}';
END $$;
SELECT result, code, message FROM t.attempt($$SELECT state FROM shop.run_once('m', 'loot:v1', 'k', '{}', 'app.loot(jsonb)')$$);
RESET ROLE;
TABLE proof;
SELECT nspname FROM pg_namespace WHERE nspname IN ('shop', 'old');
SELECT request_key, state FROM shop.idempotency_record;

-- Moving one of the tables away during an effect comes to an error as well.
CREATE FUNCTION app.move(request jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    ALTER TABLE shop.idempotency_record RENAME TO away;
    CREATE TABLE shop.idempotency_record (LIKE shop.away INCLUDING ALL);
    RETURN '{}';
END $$;
SELECT code, message FROM t.attempt($$SELECT state FROM shop.run_once('m', 'move:v1', 'k', '{}', 'app.move(jsonb)')$$);
SELECT to_regclass('shop.away') AS away, count(*) FROM shop.idempotency_record;

-- Settings. A superuser's are not his to set, neither for the session, the transaction, himself, a
-- function, nor before the library is there; names with the extension's prefix are not his to make.
SET ROLE idempotency_test_app;
SET idempotency.table_access = 'spi';
\echo :LAST_ERROR_SQLSTATE
SET idempotency.unknown_operations = 'allow';
SELECT set_config('idempotency.unknown_operations', 'allow', true);
ALTER ROLE idempotency_test_app SET idempotency.unknown_operations = 'allow';
\echo :LAST_ERROR_SQLSTATE
CREATE FUNCTION app.allowing() RETURNS text LANGUAGE sql SET idempotency.unknown_operations = 'allow' AS 'SELECT ''''';
SET idempotency.access = 'all';
\echo :LAST_ERROR_SQLSTATE
RESET ROLE;
SET idempotency.unknown_operations = 'refuse';
SET ROLE idempotency_test_app;
RESET idempotency.unknown_operations;
SELECT code, message FROM t.attempt($$SELECT state FROM shop.run_sql_once('m', 'never:v1', 'k', '{}', 'SELECT 1')$$);
RESET ROLE;
RESET idempotency.unknown_operations;
-- His own waiting is his.
SET ROLE idempotency_test_app;
SET idempotency.wait_timeout = '1s';
SHOW idempotency.wait_timeout;
\set VERBOSITY sqlstate
SET idempotency.wait_timeout = -2;
\set VERBOSITY terse
RESET idempotency.wait_timeout;
RESET ROLE;

-- Signals from outside: no catalog view, statistics or plan shows a key, request or reply.
SELECT shop.grant_idempotency('idempotency_test_victim', 'use', scopes => '{v}');
GRANT USAGE ON SCHEMA shop TO idempotency_test_victim;
SET ROLE idempotency_test_victim;
SELECT state FROM shop.run_sql_once('v', 'secret:v1', 'key-of-the-victim', '{"card": 4111}', 'SELECT 4111');
RESET ROLE;
ANALYZE shop.idempotency_record;
SET ROLE idempotency_test_app;
SELECT count(*) AS of_statistics FROM pg_stats WHERE schemaname = 'shop';
SELECT code FROM t.attempt($$EXPLAIN SELECT * FROM shop.idempotency_record WHERE request_key = 'k'$$);
EXPLAIN (COSTS OFF) SELECT * FROM shop.find_request('m', 'secret:v1', 'key-of-the-victim');
SELECT DISTINCT code, reason, message, detail
  FROM (VALUES ('key-of-the-victim', '{"card": 4111}'), ('key-of-the-victim', '{}'), ('none', '{}')) AS v (key, request),
       t.attempt(format('SELECT state FROM shop.run_sql_once(%L, %L, %L, %L, %L)', 'v', 'secret:v1', key, request, 'SELECT 1'));
-- Nor does a leaky function in a condition on the view or a table.
CREATE FUNCTION app.leak(text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$
BEGIN
    RAISE NOTICE 'leaked %', $1;
    RETURN true;
END $$;
SELECT code FROM t.attempt('SELECT operation FROM shop.idempotency_operations WHERE app.leak(operation)');
SELECT code FROM t.attempt('SELECT request_key FROM shop.idempotency_record WHERE app.leak(request_key)');

-- What he cannot do to the extension's objects.
SELECT statement, code
  FROM (VALUES (1, 'CREATE OR REPLACE FUNCTION shop.debit_once(account_id bigint, request_key text, amount bigint) RETURNS jsonb LANGUAGE sql AS ''SELECT NULL::jsonb'''),
               (2, 'ALTER FUNCTION shop.debit_once SECURITY DEFINER'),
               (3, 'ALTER FUNCTION shop.debit_once SET search_path = app'),
               (4, 'ALTER FUNCTION shop.debit_once OWNER TO idempotency_test_app'),
               (5, 'ALTER FUNCTION shop.debit_once SET SCHEMA app'),
               (6, 'DROP FUNCTION shop.debit_once'),
               (7, 'CREATE TRIGGER t BEFORE INSERT ON shop.account FOR EACH ROW EXECUTE FUNCTION app.evil()'),
               (8, 'CREATE RULE r AS ON UPDATE TO shop.account DO INSTEAD NOTHING'),
               (9, 'CREATE POLICY p ON shop.account USING (true)'),
               (10, 'CREATE INDEX ON shop.account (app.leak(balance::text))'),
               (11, 'ALTER TABLE shop.account ADD CHECK (app.leak(balance::text))'),
               (12, 'ALTER TABLE shop.account ALTER balance SET DEFAULT 7'),
               (13, 'CREATE TABLE app.child () INHERITS (shop.account)'),
               (14, 'CREATE TABLE app.other (account_id bigint REFERENCES shop.account)'),
               (15, 'ALTER EXTENSION idempotency DROP FUNCTION shop.debit_once(bigint, text, bigint)'),
               (16, 'ALTER EXTENSION idempotency ADD TABLE app.mine'),
               (17, 'ALTER EXTENSION idempotency UPDATE'),
               (18, 'COMMENT ON FUNCTION shop.debit_once IS ''x'''),
               (19, 'SELECT shop.idempotency_announce_change()'),
               (20, 'CREATE EVENT TRIGGER e ON ddl_command_start EXECUTE FUNCTION app.evil()'),
               (21, 'CREATE CAST (jsonb AS bigint) WITH FUNCTION app.cast(jsonb)'),
               (22, 'DROP EXTENSION idempotency')) AS v (n, statement),
       t.attempt(statement)
 ORDER BY n;
RESET ROLE;

DROP EXTENSION idempotency;
DROP TABLE proof;
DROP SCHEMA bank;
DROP OWNED BY idempotency_test_owner, idempotency_test_app, idempotency_test_victim CASCADE;
DROP ROLE idempotency_test_owner, idempotency_test_app, idempotency_test_victim;
