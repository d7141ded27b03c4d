-- What the owner of the tables, who is no superuser, can attach to them runs with his rights, never
-- with those of a superuser who calls; what he changes about them is noticed.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\pset null '(null)'
CREATE ROLE idempotency_test_owner;
CREATE ROLE idempotency_test_app;
SELECT current_database() AS here \gset
GRANT CREATE ON DATABASE :"here" TO idempotency_test_owner;
GRANT USAGE ON SCHEMA t TO PUBLIC;
SET ROLE idempotency_test_owner;
CREATE SCHEMA bank;
CREATE EXTENSION idempotency SCHEMA bank;
GRANT USAGE ON SCHEMA bank TO PUBLIC;
INSERT INTO bank.account VALUES (1, 1000);
CREATE TABLE bank.proof (what text, who text, super boolean);
GRANT INSERT ON bank.proof TO PUBLIC;
CREATE FUNCTION bank.evil(what text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO bank.proof VALUES (what, current_user,
        (SELECT rolsuper FROM pg_roles WHERE rolname = current_user));
    RETURN true;
END $$;
-- Another one for where the planner or an index wants it so.
CREATE FUNCTION bank.evil_immutable(n bigint) RETURNS bigint LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF current_setting('is_superuser') = 'on' AND current_user <> 'idempotency_test_owner' THEN
        RAISE EXCEPTION 'an index expression runs as %', current_user;
    END IF;
    RETURN n;
END $$;
CREATE FUNCTION bank.evil_trigger() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM bank.evil(concat_ws(' ', TG_WHEN, TG_OP, TG_TABLE_NAME));
    RETURN NEW;
END $$;
RESET ROLE;
CREATE FUNCTION t.by_a_superuser(n int) RETURNS TABLE (call text, result text, code text)
LANGUAGE plpgsql AS $$
DECLARE statement text;
BEGIN
    FOREACH statement IN ARRAY ARRAY[
        'SELECT (bank.debit_once(1, %L, 1) IS NOT NULL)::text',
        'SELECT (bank.consume_once(%L, gen_random_uuid(), 1, 1) IS NOT NULL)::text',
        'SELECT state FROM bank.run_sql_once(''m'', ''test:v1'', %L, ''{}'', ''SELECT current_user'')',
        'SELECT state FROM bank.find_request(''m'', ''test:v1'', %L)',
        'SELECT state FROM bank.abandon_request(''m'', ''test:v2'', %L)',
        'SELECT (count(*) > 0)::text FROM bank.idempotency_operations WHERE operation <> %L']
    LOOP
        call := split_part(split_part(statement, 'bank.', 2), '(', 1);
        SELECT a.result, a.code INTO result, code FROM t.attempt(format(statement, 'key ' || n)) AS a;
        RETURN NEXT;
    END LOOP;
END $$;

-- Triggers, on each table, before and after, of rows and statements.
SET ROLE idempotency_test_owner;
CREATE TRIGGER evil_1 BEFORE INSERT OR UPDATE ON bank.account FOR EACH ROW EXECUTE FUNCTION bank.evil_trigger();
CREATE TRIGGER evil_2 AFTER INSERT OR UPDATE ON bank.account FOR EACH STATEMENT EXECUTE FUNCTION bank.evil_trigger();
CREATE TRIGGER evil_1 BEFORE INSERT OR UPDATE ON bank.request_result FOR EACH ROW EXECUTE FUNCTION bank.evil_trigger();
CREATE TRIGGER evil_2 AFTER INSERT OR UPDATE ON bank.request_result FOR EACH STATEMENT EXECUTE FUNCTION bank.evil_trigger();
CREATE TRIGGER evil_1 BEFORE INSERT OR UPDATE ON bank.processed_message FOR EACH ROW EXECUTE FUNCTION bank.evil_trigger();
CREATE TRIGGER evil_1 BEFORE INSERT OR UPDATE ON bank.idempotency_record FOR EACH ROW EXECUTE FUNCTION bank.evil_trigger();
CREATE TRIGGER evil_2 AFTER INSERT OR UPDATE ON bank.idempotency_record FOR EACH STATEMENT EXECUTE FUNCTION bank.evil_trigger();
RESET ROLE;
SELECT * FROM t.by_a_superuser(1);
SELECT DISTINCT what, who, super FROM bank.proof ORDER BY what;
SET ROLE idempotency_test_owner;
SELECT format('DROP TRIGGER %I ON %s', tgname, tgrelid::regclass) FROM pg_trigger WHERE tgname LIKE 'evil%' \gexec
TRUNCATE bank.proof;

-- A default, a check, a domain, an index expression and predicate, forced policies.
CREATE DOMAIN bank.amount AS bigint CHECK (bank.evil('domain') AND VALUE >= 0);
ALTER TABLE bank.idempotency_record ADD note boolean DEFAULT bank.evil('default');
ALTER TABLE bank.request_result ADD CONSTRAINT evil CHECK (bank.evil('check')) NOT VALID;
ALTER TABLE bank.processed_message ADD note bank.amount DEFAULT 1;
CREATE INDEX evil ON bank.account (bank.evil_immutable(balance)) WHERE bank.evil_immutable(balance) >= 0;
ALTER TABLE bank.operation_contract ENABLE ROW LEVEL SECURITY;
ALTER TABLE bank.operation_contract FORCE ROW LEVEL SECURITY;
CREATE POLICY evil ON bank.operation_contract USING (bank.evil('policy of contracts'));
ALTER TABLE bank.idempotency_record ENABLE ROW LEVEL SECURITY;
ALTER TABLE bank.idempotency_record FORCE ROW LEVEL SECURITY;
CREATE POLICY evil ON bank.idempotency_record USING (bank.evil('policy of records'));
SELECT bank.define_operation('test:v1');
TRUNCATE bank.proof;
RESET ROLE;
SELECT * FROM t.by_a_superuser(2);
SELECT DISTINCT what, who, super FROM bank.proof ORDER BY what;
REINDEX TABLE bank.account;
VACUUM bank.account;
SET ROLE idempotency_test_owner;
DROP EXTENSION idempotency;
TRUNCATE bank.proof;

-- What would outlive the call and run later, in the name of a superuser: refused.
CREATE EXTENSION idempotency SCHEMA bank;
INSERT INTO bank.account VALUES (1, 1000);
CREATE FUNCTION bank.leave() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE TG_ARGV[0];
    RETURN NEW;
END $$;
CREATE TRIGGER leave AFTER UPDATE ON bank.account FOR EACH ROW
    EXECUTE FUNCTION bank.leave('DECLARE trap CURSOR WITH HOLD FOR SELECT bank.evil(''cursor'')');
RESET ROLE;
SELECT code, message FROM t.attempt($$SELECT bank.debit_once(1, 'k', 1)$$);
SET ROLE idempotency_test_owner;
CREATE OR REPLACE TRIGGER leave AFTER UPDATE ON bank.account FOR EACH ROW
    EXECUTE FUNCTION bank.leave('CREATE TEMPORARY TABLE left_behind (n int)');
RESET ROLE;
SELECT code, message FROM t.attempt($$SELECT bank.debit_once(1, 'k', 1)$$);
SET ROLE idempotency_test_owner;
CREATE OR REPLACE TRIGGER leave AFTER UPDATE ON bank.account FOR EACH ROW
    EXECUTE FUNCTION bank.leave('SET SESSION AUTHORIZATION DEFAULT');
RESET ROLE;
SELECT code FROM t.attempt($$SELECT bank.debit_once(1, 'k', 1)$$);
SET ROLE idempotency_test_owner;
CREATE OR REPLACE TRIGGER leave AFTER UPDATE ON bank.account FOR EACH ROW EXECUTE FUNCTION bank.leave('RESET ROLE');
RESET ROLE;
SELECT code FROM t.attempt($$SELECT bank.debit_once(1, 'k', 1)$$);
SET ROLE idempotency_test_owner;
DROP TRIGGER leave ON bank.account;
CREATE CONSTRAINT TRIGGER deferred AFTER UPDATE ON bank.account DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION bank.evil_trigger();
RESET ROLE;
SELECT code, message FROM t.attempt($$SELECT bank.debit_once(1, 'k', 1)$$);
SET ROLE idempotency_test_owner;
DROP TRIGGER deferred ON bank.account;
-- A setting that a trigger leaves does not stay.
CREATE TRIGGER leave AFTER UPDATE ON bank.account FOR EACH ROW
    EXECUTE FUNCTION bank.leave('SELECT set_config(''search_path'', ''bank'', false), set_config(''app.tenant_id'', ''2'', false)');
RESET ROLE;
SELECT bank.debit_once(1, 'settings', 1);
SELECT current_setting('search_path') AS search_path, current_setting('app.tenant_id', true) AS tenant;
TABLE bank.proof;
SET ROLE idempotency_test_owner;
DROP TRIGGER leave ON bank.account;

-- Triggers on grants and contracts: only the owner himself writes those.
CREATE TRIGGER evil AFTER INSERT ON bank.idempotency_grant FOR EACH ROW EXECUTE FUNCTION bank.evil_trigger();
CREATE TRIGGER evil AFTER INSERT ON bank.operation_contract FOR EACH ROW EXECUTE FUNCTION bank.evil_trigger();
RESET ROLE;
SELECT code FROM t.attempt($$SELECT bank.grant_idempotency('idempotency_test_app', 'use', scopes => '{1}')$$);
SELECT code FROM t.attempt($$SELECT bank.define_operation('x:v1')$$);
SELECT code FROM t.attempt($$SELECT bank.alter_operation('x:v1', key_required => true)$$);
SELECT code FROM t.attempt($$SELECT bank.drop_operation('x:v1')$$);
SET ROLE idempotency_test_owner;
SELECT bank.grant_idempotency('idempotency_test_app', 'use', scopes => '{1}'), bank.define_operation('x:v1');
RESET ROLE;
TABLE bank.proof;

-- The functions are not his: he can neither replace nor move them, nor make them another's.
SET ROLE idempotency_test_owner;
CREATE SCHEMA bait;
SELECT n, code
  FROM (VALUES (1, 'CREATE OR REPLACE FUNCTION bank.debit_once(account_id bigint, request_key text, amount bigint) RETURNS jsonb LANGUAGE sql AS ''SELECT NULL::jsonb'''),
               (2, 'ALTER FUNCTION bank.debit_once SET SCHEMA bait'),
               (3, 'ALTER FUNCTION bank.debit_once SECURITY DEFINER'),
               (4, 'ALTER FUNCTION bank.grant_idempotency RESET search_path'),
               (5, 'CREATE OR REPLACE FUNCTION bank.idempotency_check_contract() RETURNS trigger LANGUAGE plpgsql AS ''BEGIN RETURN NEW; END'''),
               (6, 'CREATE OR REPLACE VIEW bank.idempotency_operations AS SELECT 1 AS one'),
               (7, 'ALTER VIEW bank.idempotency_operations SET SCHEMA bait'),
               (8, 'ALTER EXTENSION idempotency SET SCHEMA bait')) AS v (n, statement),
       t.attempt(statement)
 ORDER BY n;

-- A table that only has the name is nobody's to use: neither one beside the functions, nor a view,
-- nor one that has been taken out of the extension.
-- (A session that lives hears of this with the table's next change.)
ALTER EXTENSION idempotency DROP TABLE bank.account;
ALTER TABLE bank.account ALTER balance SET STATISTICS 100;
SELECT code, message FROM t.attempt($$SELECT bank.debit_once(1, 'k', 1)$$);
ALTER EXTENSION idempotency ADD TABLE bank.account;
ALTER TABLE bank.account ALTER balance SET STATISTICS 101;
SELECT bank.debit_once(1, 'added again', 1);
ALTER TABLE bank.idempotency_record RENAME TO moved;
CREATE VIEW bank.idempotency_record AS SELECT * FROM bank.moved;
SELECT code, message FROM t.attempt($$SELECT state FROM bank.run_sql_once('m', 'x:v1', 'k', '{}', 'SELECT 1')$$);
DROP VIEW bank.idempotency_record;
ALTER TABLE bank.moved RENAME TO idempotency_record;
SELECT code, result FROM t.attempt($$SELECT state FROM bank.run_sql_once('m', 'x:v1', 'k', '{}', 'SELECT 1')$$);

-- A column of another type is refused before a byte of it is read; the session lives on.
SELECT bank.debit_once(1, 'types', 1);
ALTER TABLE bank.account DROP CONSTRAINT account_balance_check;
ALTER TABLE bank.account ALTER balance TYPE numeric;
SELECT code, message FROM t.attempt($$SELECT bank.debit_once(1, 'types 2', 1)$$);
ALTER TABLE bank.account ALTER balance TYPE text;
SELECT code IS NOT NULL AS refused FROM t.attempt($$SELECT bank.debit_once(1, 'types 2', 1)$$);
ALTER TABLE bank.account ALTER balance TYPE bigint USING balance::bigint;
ALTER TABLE bank.request_result ALTER response TYPE text;
SELECT code, message FROM t.attempt($$SELECT bank.debit_once(1, 'types', 1)$$);
ALTER TABLE bank.request_result ALTER response TYPE jsonb USING response::jsonb;
ALTER TABLE bank.request_result ALTER created_at TYPE text, ALTER created_at DROP DEFAULT;
SELECT code, message FROM t.attempt($$SELECT bank.debit_once(1, 'types', 1)$$);
ALTER TABLE bank.request_result ALTER created_at TYPE timestamptz USING created_at::timestamptz;
ALTER TABLE bank.idempotency_grant ALTER access TYPE varchar(9);
SELECT code IS NOT NULL AS refused FROM t.attempt($$SELECT bank.debit_once(1, 'types', 1)$$);
SET ROLE idempotency_test_app;
SELECT code, message FROM t.attempt($$SELECT bank.debit_once(1, 'types', 1)$$);
SET ROLE idempotency_test_owner;
ALTER TABLE bank.idempotency_grant ALTER access TYPE text COLLATE "C";
SET ROLE idempotency_test_app;
SELECT bank.debit_once(1, 'types', 1);
RESET ROLE;
SELECT bank.debit_once(1, 'types', 1);

SET ROLE idempotency_test_owner;
DROP EXTENSION idempotency;
RESET ROLE;
DROP OWNED BY idempotency_test_owner, idempotency_test_app CASCADE;
DROP ROLE idempotency_test_owner, idempotency_test_app;
