-- Which way a call takes to its tables: the direct one where they are as they were made, SQL where
-- anything has been added, and each change is noticed at the next call.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;
\pset null '(null)'
SET idempotency.table_access = 'auto';
SELECT idempotency_latest_access();
SELECT * FROM idempotency_table_access();
INSERT INTO account VALUES (1, 1000);

-- Calls each door once, for the first time, and tells which way it took.
CREATE SEQUENCE t.n;
CREATE FUNCTION t.calls(OUT debit text, OUT consume text, OUT run text) LANGUAGE plpgsql AS $$
DECLARE
    n bigint := nextval('t.n');
BEGIN
    PERFORM debit_once(1, 'k' || n, 1);
    debit := idempotency_latest_access();
    PERFORM consume_once('s', lpad(n::text, 32, '0')::uuid, 1, 1);
    consume := idempotency_latest_access();
    PERFORM FROM run_sql_once('s', 'test:v1', 'k' || n, '{}', 'SELECT 7');
    run := idempotency_latest_access();
END $$;
SELECT * FROM t.calls();
-- A replay and a look-up have a way too.
SELECT debit_once(1, 'k1', 1);
SELECT idempotency_latest_access();
SELECT replayed FROM run_sql_once('s', 'test:v1', 'k1', '{}', 'SELECT 7');
SELECT idempotency_latest_access();

-- Everything goes through SQL at the higher isolation levels, and where a superuser says so.
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT * FROM t.calls();
SELECT DISTINCT access, reason FROM idempotency_table_access();
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT * FROM t.calls();
SELECT DISTINCT access, reason FROM idempotency_table_access();
COMMIT;
BEGIN ISOLATION LEVEL READ UNCOMMITTED;
SELECT DISTINCT access, reason FROM idempotency_table_access();
COMMIT;
SET idempotency.table_access = 'spi';
SELECT * FROM t.calls();
SELECT DISTINCT access, reason FROM idempotency_table_access();
SET idempotency.table_access = 'auto';
SELECT * FROM t.calls();
BEGIN;
SET LOCAL idempotency.table_access = 'spi';
SELECT * FROM t.calls();
ROLLBACK;
SELECT * FROM t.calls();
CREATE ROLE idempotency_test_app;
SET ROLE idempotency_test_app;
\set VERBOSITY sqlstate
SET idempotency.table_access = 'spi';
SET idempotency.table_access = 'auto';
\set VERBOSITY terse
RESET ROLE;
DROP ROLE idempotency_test_app;
SET idempotency.table_access = 'never';

-- What a DBA may do to a table and how it is undone, as formats of the table's name and of a column's.
CREATE TABLE t.change (n int GENERATED ALWAYS AS IDENTITY, what text, done text, undone text);
INSERT INTO t.change (what, done, undone) VALUES
    ('row trigger', 'CREATE TRIGGER extra AFTER INSERT OR UPDATE ON %I FOR EACH ROW EXECUTE FUNCTION t.nothing()',
     'DROP TRIGGER extra ON %I'),
    ('statement trigger', 'CREATE TRIGGER extra BEFORE UPDATE ON %I EXECUTE FUNCTION t.nothing()',
     'DROP TRIGGER extra ON %I'),
    ('deferred trigger', 'CREATE CONSTRAINT TRIGGER extra AFTER UPDATE ON %I DEFERRABLE INITIALLY DEFERRED'
     ' FOR EACH ROW EXECUTE FUNCTION t.nothing()', 'DROP TRIGGER extra ON %I'),
    ('column', 'ALTER TABLE %I ADD COLUMN extra text', 'ALTER TABLE %I DROP COLUMN extra'),
    ('column with a default', 'ALTER TABLE %I ADD COLUMN extra text DEFAULT 7', 'ALTER TABLE %I DROP COLUMN extra'),
    ('column with a volatile default', 'ALTER TABLE %I ADD COLUMN extra float DEFAULT random()',
     'ALTER TABLE %I DROP COLUMN extra'),
    ('identity column', 'ALTER TABLE %I ADD COLUMN extra int GENERATED ALWAYS AS IDENTITY',
     'ALTER TABLE %I DROP COLUMN extra'),
    ('generated column', 'ALTER TABLE %I ADD COLUMN extra text GENERATED ALWAYS AS (md5(%I::text)) STORED',
     'ALTER TABLE %I DROP COLUMN extra'),
    ('CHECK', 'ALTER TABLE %I ADD CONSTRAINT extra CHECK (%I::text <> '''')', 'ALTER TABLE %I DROP CONSTRAINT extra'),
    ('CHECK that is not valid', 'ALTER TABLE %I ADD CONSTRAINT extra CHECK (%I::text <> '''') NOT VALID',
     'ALTER TABLE %I DROP CONSTRAINT extra'),
    ('foreign key', 'ALTER TABLE %I ADD COLUMN extra int REFERENCES t.parent', 'ALTER TABLE %I DROP COLUMN extra'),
    ('plain index', 'CREATE INDEX extra ON %I (%I)', 'DROP INDEX extra'),
    ('unique index', 'CREATE UNIQUE INDEX extra ON %I (%I)', 'DROP INDEX extra'),
    ('index of an expression', 'CREATE INDEX extra ON %I (md5(%I::text))', 'DROP INDEX extra'),
    ('partial index', 'CREATE INDEX extra ON %I (%2$I) WHERE %2$I IS NULL', 'DROP INDEX extra'),
    ('exclusion constraint', 'ALTER TABLE %I ADD CONSTRAINT extra EXCLUDE (%I WITH =)', 'ALTER TABLE %I DROP CONSTRAINT extra'),
    ('row security', 'ALTER TABLE %I ENABLE ROW LEVEL SECURITY', 'ALTER TABLE %I DISABLE ROW LEVEL SECURITY'),
    ('forced row security', 'ALTER TABLE %I FORCE ROW LEVEL SECURITY', 'ALTER TABLE %I NO FORCE ROW LEVEL SECURITY'),
    ('rule', 'CREATE RULE extra AS ON DELETE TO %I DO ALSO NOTHING', 'DROP RULE extra ON %I'),
    -- Of a child that is dropped the server tells nobody; the next ANALYZE does.
    ('inheritance child', 'CREATE TABLE t.child () INHERITS (%I)', 'DROP TABLE t.child; ANALYZE %I'),
    -- What changes nothing about storing a row.
    ('storage', 'ALTER TABLE %I SET (fillfactor = 50, autovacuum_enabled = off)', 'ALTER TABLE %I RESET (fillfactor, autovacuum_enabled)'),
    ('replica identity', 'ALTER TABLE %I REPLICA IDENTITY FULL', 'ALTER TABLE %I REPLICA IDENTITY DEFAULT'),
    ('statistics', 'ALTER TABLE %I ALTER COLUMN %I SET STATISTICS 500', 'ALTER TABLE %I ALTER COLUMN %I SET STATISTICS -1'),
    ('policy without row security', 'CREATE POLICY extra ON %I USING (false)', 'DROP POLICY extra ON %I'),
    ('view', 'CREATE VIEW t.child AS SELECT %2$I FROM %1$I', 'DROP VIEW t.child'),
    ('publication', 'CREATE PUBLICATION extra FOR TABLE %I', 'DROP PUBLICATION extra');
CREATE FUNCTION t.nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';
CREATE TABLE t.parent (n int PRIMARY KEY);

-- The calls that go through SQL, and why.
CREATE FUNCTION t.ways(OUT through_sql text, OUT reason text) LANGUAGE plpgsql AS $$
BEGIN
    SELECT concat_ws(' ', CASE WHEN debit <> 'direct' THEN 'debit' END, CASE WHEN consume <> 'direct' THEN 'consume' END,
                     CASE WHEN run <> 'direct' THEN 'run' END) INTO through_sql FROM t.calls();
    SELECT string_agg(concat_ws(' ', w.table_name, w.reason), ', ') INTO reason
      FROM idempotency_table_access() AS w WHERE w.access <> 'direct';
END $$;
CREATE TABLE t.found (n int, changed text, through_sql text, reason text, afterwards text);
CREATE PROCEDURE t.change_each(in_one_transaction boolean) LANGUAGE plpgsql AS $$
DECLARE
    change record;
    name text[];
    done record;
    undone record;
BEGIN
    FOR change IN SELECT * FROM t.change ORDER BY n LOOP
        FOREACH name SLICE 1 IN ARRAY ARRAY[['account', 'account_id'], ['request_result', 'request_key'],
            ['processed_message', 'message_id'], ['idempotency_record', 'request_key']] LOOP
            EXECUTE format(change.done, name[1], name[2]);
            IF NOT in_one_transaction THEN COMMIT; END IF;
            SELECT * INTO done FROM t.ways();
            EXECUTE format(change.undone, name[1], name[2]);
            IF NOT in_one_transaction THEN COMMIT; END IF;
            SELECT * INTO undone FROM t.ways();
            INSERT INTO t.found VALUES (change.n, name[1], done.through_sql,
                regexp_replace(done.reason, '^' || name[1] || ' ', ''), concat(undone.through_sql, undone.reason));
        END LOOP;
    END LOOP;
END $$;
CREATE VIEW t.told AS
    SELECT what, string_agg(DISTINCT concat_ws(', ', reason, nullif(afterwards, '')), '; ') AS reason,
           count(*) AS tables, count(*) FILTER (WHERE through_sql = CASE changed WHEN 'account' THEN 'debit consume'
               WHEN 'request_result' THEN 'debit' WHEN 'processed_message' THEN 'consume' ELSE 'run' END) AS through_sql,
           count(*) FILTER (WHERE through_sql = '') AS direct
      FROM t.found JOIN t.change USING (n) GROUP BY n, what ORDER BY n;
SET client_min_messages = error;
CALL t.change_each(false);
TABLE t.told;
TRUNCATE t.found;
-- Once more within one transaction; but a table that was written to in it takes no change that waits
-- for deferred triggers.
DELETE FROM t.change WHERE what = 'deferred trigger';
BEGIN;
CALL t.change_each(true);
TABLE t.told;
ROLLBACK;
RESET client_min_messages;
SELECT * FROM t.ways();

-- A change that is rolled back, as a whole or to a savepoint.
BEGIN;
SAVEPOINT s;
ALTER TABLE account ADD COLUMN extra text;
SELECT * FROM t.ways();
ROLLBACK TO s;
SELECT * FROM t.ways();
COMMIT;
-- The kind of a table, and types, defaults and constraints that are not as they were.
ALTER TABLE idempotency_record SET UNLOGGED;
SELECT * FROM t.ways();
ALTER TABLE idempotency_record SET LOGGED;
CREATE DOMAIN amount AS bigint;
ALTER TABLE account ALTER COLUMN balance TYPE amount;
SELECT * FROM t.ways();
ALTER TABLE account ALTER COLUMN balance TYPE bigint;
ALTER TABLE processed_message ALTER COLUMN subscriber TYPE text COLLATE "POSIX";
SELECT * FROM t.ways();
ALTER TABLE processed_message ALTER COLUMN subscriber TYPE text COLLATE "C";
ALTER TABLE processed_message ALTER COLUMN amount SET NOT NULL;
SELECT * FROM t.ways();
ALTER TABLE processed_message ALTER COLUMN amount DROP NOT NULL;
ALTER TABLE processed_message ALTER COLUMN amount SET DEFAULT 7;
SELECT * FROM t.ways();
ALTER TABLE processed_message ALTER COLUMN amount SET DEFAULT NULL;
ALTER TABLE request_result ALTER CONSTRAINT request_result_account_id_fkey DEFERRABLE INITIALLY DEFERRED;
SELECT * FROM t.ways();
ALTER TABLE request_result ALTER CONSTRAINT request_result_account_id_fkey NOT DEFERRABLE;
ALTER TABLE request_result DROP CONSTRAINT request_result_account_id_fkey;
SELECT * FROM t.ways();
ALTER TABLE request_result ADD CONSTRAINT request_result_account_id_fkey FOREIGN KEY (account_id) REFERENCES account;
SELECT * FROM t.ways();

-- Somebody's foreign key to a table only looks at keys, which no call changes.
CREATE TABLE t.about (account_id bigint REFERENCES account ON UPDATE CASCADE,
    scope text, operation text, request_key text,
    FOREIGN KEY (scope, operation, request_key) REFERENCES idempotency_record DEFERRABLE INITIALLY DEFERRED);
INSERT INTO t.about VALUES (1, 's', 'test:v1', 'k1');
SELECT * FROM t.ways();
-- One of accounts to each other is a trigger on the table that is referred from.
ALTER TABLE account ADD COLUMN parent bigint REFERENCES account;
SELECT * FROM t.ways();
ALTER TABLE account DROP COLUMN parent;
SELECT * FROM t.ways();
SELECT balances, balances = '1=' || 1000 - requests + messages AS each_once FROM t.store();
