-- Objects of a weak role that stand where the extension wants to be created: CREATE EXTENSION fails,
-- adopts nothing, runs nothing of theirs, and leaves them as they were.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE ROLE idempotency_test_weak;
CREATE ROLE idempotency_test_installer;
SELECT current_database() AS here \gset
GRANT CREATE ON DATABASE :"here" TO idempotency_test_installer;
GRANT CREATE ON SCHEMA public TO idempotency_test_weak, idempotency_test_installer;
GRANT USAGE ON SCHEMA t TO PUBLIC;
CREATE TABLE t.sprung (what text, who text);
GRANT INSERT ON t.sprung TO PUBLIC;

-- Plants, tries to install as a superuser and as the owner of the database would, and takes it out.
CREATE FUNCTION t.planted(plant text, uproot text) RETURNS TABLE (as_a text, code text, members bigint)
LANGUAGE plpgsql AS $$
BEGIN
    SET LOCAL ROLE idempotency_test_weak;
    EXECUTE plant;
    FOREACH as_a IN ARRAY ARRAY['superuser', 'installer'] LOOP
        EXECUTE format('SET LOCAL ROLE %s', CASE as_a WHEN 'installer' THEN 'idempotency_test_installer' ELSE 'NONE' END);
        code := 'installed';
        BEGIN
            CREATE EXTENSION idempotency SCHEMA public;
            SELECT count(*) INTO members FROM pg_depend AS d JOIN pg_extension AS e
                ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
             WHERE e.extname = 'idempotency' AND d.deptype = 'e' AND d.classid <> 'pg_type'::regclass;
            RAISE EXCEPTION USING ERRCODE = 'ZZZZZ';
        EXCEPTION WHEN SQLSTATE 'ZZZZZ' THEN
            NULL;
        WHEN OTHERS THEN
            code := SQLSTATE;
            SELECT count(*) INTO members FROM pg_depend AS d
             WHERE d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
               AND d.refobjid = (SELECT oid FROM pg_extension WHERE extname = 'idempotency');
        END;
        RETURN NEXT;
    END LOOP;
    SET LOCAL ROLE idempotency_test_weak;
    EXECUTE uproot;
    SET LOCAL ROLE NONE;
END $$;
-- With nothing in the way both may.
SELECT as_a, code, members > 0 AS has_members FROM t.planted('SELECT 1', 'SELECT 1');

-- What has a name that is wanted: 42P07, 42710 or 42723, and nothing is a member of anything.
SELECT n, p.as_a, p.code, p.members
  FROM (VALUES
    (1, 'CREATE TABLE account (account_id bigint PRIMARY KEY, balance bigint NOT NULL CHECK (balance >= 0))', 'DROP TABLE account'),
    (2, 'CREATE TABLE request_result (account_id bigint)', 'DROP TABLE request_result'),
    (3, 'CREATE VIEW idempotency_record AS SELECT 1 AS one', 'DROP VIEW idempotency_record'),
    (4, 'CREATE SEQUENCE idempotency_grant', 'DROP SEQUENCE idempotency_grant'),
    (5, 'CREATE MATERIALIZED VIEW operation_contract AS SELECT 1 AS one', 'DROP MATERIALIZED VIEW operation_contract'),
    (6, 'CREATE TABLE account_pkey ()', 'DROP TABLE account_pkey'),
    (7, 'CREATE TABLE idempotency_operations ()', 'DROP TABLE idempotency_operations'),
    (8, 'CREATE TYPE processed_message AS (one int)', 'DROP TYPE processed_message'),
    (9, 'CREATE DOMAIN idempotency_record AS text', 'DROP DOMAIN idempotency_record'),
    (10, 'CREATE FUNCTION debit_once(bigint, text, bigint) RETURNS jsonb LANGUAGE sql AS ''SELECT NULL::jsonb''', 'DROP FUNCTION debit_once'),
    (11, 'CREATE FUNCTION grant_idempotency(regrole, text, text[], text) RETURNS void LANGUAGE sql AS ''''', 'DROP FUNCTION grant_idempotency'),
    (12, 'CREATE FUNCTION idempotency_announce_change() RETURNS trigger LANGUAGE plpgsql AS ''BEGIN RETURN NEW; END''', 'DROP FUNCTION idempotency_announce_change'),
    (13, 'CREATE FUNCTION idempotency_require_owner() RETURNS void LANGUAGE sql AS ''''', 'DROP FUNCTION idempotency_require_owner'),
    (14, 'CREATE FUNCTION idempotency_privilege(OUT access text, OUT privilege text) RETURNS SETOF record LANGUAGE sql AS ''SELECT ''''use'''', ''''ALL ON DATABASE postgres''''''', 'DROP FUNCTION idempotency_privilege'),
    (15, 'CREATE PROCEDURE current_request() LANGUAGE sql AS ''''', 'DROP PROCEDURE current_request'))
       AS v (n, plant, uproot), t.planted(plant, uproot) AS p
 ORDER BY n, as_a DESC;

-- What overloads a name or shadows a function, an operator, a type or a cast of the catalog's does
-- not stand in the way, and none of it is called, while installing or later.
SET ROLE idempotency_test_weak;
CREATE FUNCTION sprung(what text) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO t.sprung VALUES (what, current_user);
    RETURN true;
END $$;
CREATE FUNCTION debit_once(int, unknown text, int) RETURNS jsonb LANGUAGE sql AS 'SELECT NULL::jsonb WHERE sprung(''debit_once'')';
CREATE FUNCTION idempotency_require_owner(int) RETURNS void LANGUAGE sql AS 'SELECT sprung(''require_owner'')::text::void';
CREATE FUNCTION pg_extension_config_dump(text, text) RETURNS void LANGUAGE plpgsql AS 'BEGIN PERFORM sprung(''config_dump''); END';
CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE plpgsql AS 'BEGIN PERFORM sprung(''clock''); RETURN now(); END';
CREATE FUNCTION eq(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT sprung(''text ='')';
CREATE FUNCTION ge(bigint, int) RETURNS boolean LANGUAGE sql AS 'SELECT sprung(''bigint >='')';
CREATE FUNCTION octet_length(text) RETURNS int LANGUAGE sql AS 'SELECT sprung(''octet_length'')::int';
CREATE FUNCTION format(text, anyelement) RETURNS text LANGUAGE plpgsql AS 'BEGIN PERFORM sprung(''format''); RETURN $1; END';
CREATE OPERATOR = (LEFTARG = text, RIGHTARG = text, FUNCTION = eq);
CREATE OPERATOR >= (LEFTARG = bigint, RIGHTARG = int, FUNCTION = ge);
CREATE DOMAIN jsonb AS pg_catalog.jsonb CHECK (sprung('jsonb'));
CREATE DOMAIN regrole AS pg_catalog.regrole CHECK (sprung('regrole'));
RESET ROLE;
SET search_path = public, pg_catalog;
CREATE EXTENSION idempotency;
SELECT p.oid::regprocedure FROM pg_catalog.pg_proc AS p JOIN pg_catalog.pg_depend AS d ON d.objid OPERATOR(pg_catalog.=) p.oid
 WHERE d.deptype OPERATOR(pg_catalog.=) 'e'::"char" AND p.proowner OPERATOR(pg_catalog.=) 'idempotency_test_weak'::pg_catalog.regrole;
SELECT DISTINCT a.atttypid::pg_catalog.regtype FROM pg_catalog.pg_attribute AS a
  JOIN pg_catalog.pg_type AS y ON y.oid OPERATOR(pg_catalog.=) a.atttypid
 WHERE a.attrelid OPERATOR(pg_catalog.=) ANY (ARRAY['account', 'request_result', 'idempotency_record', 'idempotency_grant', 'operation_contract']::pg_catalog.regclass[])
   AND y.typowner OPERATOR(pg_catalog.=) 'idempotency_test_weak'::pg_catalog.regrole;
INSERT INTO account VALUES (1, 1000);
SELECT public.debit_once(1::bigint, 'k', 100::bigint);
SELECT public.debit_once(1::bigint, 'k', 100::bigint);
SELECT state FROM run_sql_once('s', 'test:v1', 'k', '{}', 'SELECT 1');
SELECT grant_idempotency('idempotency_test_weak', 'use', scopes => '{1}');
SELECT define_operation('test:v2', max_key_bytes => 10);
SELECT revoke_idempotency('idempotency_test_weak');
RESET search_path;
TABLE t.sprung;
DROP EXTENSION idempotency;
DROP OWNED BY idempotency_test_weak;

-- A schema of a weak role: its owner may rename it and plant, but not by a name that is taken; what
-- he plants later is met by nobody.
GRANT CREATE ON DATABASE :"here" TO idempotency_test_weak;
SET ROLE idempotency_test_weak;
CREATE SCHEMA bank;
GRANT ALL ON SCHEMA bank TO idempotency_test_installer;
SET ROLE idempotency_test_installer;
CREATE EXTENSION idempotency SCHEMA bank;
INSERT INTO bank.account VALUES (1, 1000);
SELECT bank.debit_once(1, 'k', 100);
SET ROLE idempotency_test_weak;
SELECT code FROM t.attempt('DROP TABLE bank.account');
SELECT code FROM t.attempt('SELECT balance FROM bank.account');
SELECT code FROM t.attempt('CREATE TABLE bank.account ()');
ALTER SCHEMA bank RENAME TO moved;
CREATE SCHEMA bank;
CREATE TABLE bank.account (account_id bigint PRIMARY KEY, balance bigint);
GRANT ALL ON SCHEMA bank TO PUBLIC;
GRANT ALL ON bank.account TO PUBLIC;
SET ROLE idempotency_test_installer;
SELECT moved.debit_once(1, 'k', 100);
SELECT moved.debit_once(1, 'k2', 100);
SELECT code FROM t.attempt($$SELECT bank.debit_once(1, 'k', 100)$$);
DROP EXTENSION idempotency;
RESET ROLE;
SELECT count(*) FROM bank.account;
DROP OWNED BY idempotency_test_weak, idempotency_test_installer CASCADE;
DROP ROLE idempotency_test_weak, idempotency_test_installer;
