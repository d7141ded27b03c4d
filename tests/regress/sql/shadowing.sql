-- Objects of other people's on the search_path, temporary ones above all, change nothing.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;
\pset null '(null)'
INSERT INTO account VALUES (1, 1000), (2, 10);

-- A schema before everything else, with what the extension could reach for by a bare name.
CREATE SCHEMA trap;
CREATE FUNCTION trap.sprung() RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'a shadow was called';
END $$;
CREATE FUNCTION trap.cmp_text(text, text) RETURNS boolean LANGUAGE sql AS 'SELECT trap.sprung()';
CREATE FUNCTION trap.cmp_uuid(uuid, uuid) RETURNS boolean LANGUAGE sql AS 'SELECT trap.sprung()';
CREATE FUNCTION trap.cmp_jsonb(jsonb, jsonb) RETURNS boolean LANGUAGE sql
    AS 'SELECT trap.sprung()';
CREATE FUNCTION trap.cmp_bigint(bigint, bigint) RETURNS boolean LANGUAGE sql
    AS 'SELECT trap.sprung()';
CREATE FUNCTION trap.cmp_int(int, int) RETURNS boolean LANGUAGE sql AS 'SELECT trap.sprung()';
CREATE FUNCTION trap.sum_bigint(bigint, bigint) RETURNS bigint LANGUAGE sql
    AS 'SELECT 0::bigint WHERE trap.sprung()';
CREATE OPERATOR trap.= (LEFTARG = text, RIGHTARG = text, FUNCTION = trap.cmp_text);
CREATE OPERATOR trap.<> (LEFTARG = text, RIGHTARG = text, FUNCTION = trap.cmp_text);
CREATE OPERATOR trap.= (LEFTARG = uuid, RIGHTARG = uuid, FUNCTION = trap.cmp_uuid);
CREATE OPERATOR trap.= (LEFTARG = jsonb, RIGHTARG = jsonb, FUNCTION = trap.cmp_jsonb);
CREATE OPERATOR trap.<> (LEFTARG = jsonb, RIGHTARG = jsonb, FUNCTION = trap.cmp_jsonb);
CREATE OPERATOR trap.= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = trap.cmp_bigint);
CREATE OPERATOR trap.<> (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = trap.cmp_bigint);
CREATE OPERATOR trap.< (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = trap.cmp_bigint);
CREATE OPERATOR trap.>= (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = trap.cmp_bigint);
CREATE OPERATOR trap.- (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = trap.sum_bigint);
CREATE OPERATOR trap.+ (LEFTARG = bigint, RIGHTARG = bigint, FUNCTION = trap.sum_bigint);
CREATE OPERATOR trap.= (LEFTARG = int, RIGHTARG = int, FUNCTION = trap.cmp_int);
CREATE FUNCTION trap.clock_timestamp() RETURNS timestamptz LANGUAGE sql
    AS 'SELECT NULL::timestamptz WHERE trap.sprung()';
CREATE FUNCTION trap.now() RETURNS timestamptz LANGUAGE sql
    AS 'SELECT NULL::timestamptz WHERE trap.sprung()';
CREATE FUNCTION trap.jsonb_build_object(text, bigint) RETURNS jsonb LANGUAGE sql
    AS 'SELECT NULL::jsonb WHERE trap.sprung()';
CREATE FUNCTION trap.to_jsonb(bigint) RETURNS jsonb LANGUAGE sql
    AS 'SELECT NULL::jsonb WHERE trap.sprung()';
CREATE FUNCTION trap.octet_length(text) RETURNS int LANGUAGE sql AS 'SELECT 0';
CREATE FUNCTION trap.debit_once(bigint, text, bigint) RETURNS jsonb LANGUAGE sql
    AS 'SELECT NULL::jsonb WHERE trap.sprung()';
CREATE FUNCTION trap.debit_request(bigint, text, bigint) RETURNS jsonb LANGUAGE sql
    AS 'SELECT NULL::jsonb WHERE trap.sprung()';
CREATE TYPE trap.jsonb AS (shadow int);
CREATE DOMAIN trap.text AS pg_catalog.text CHECK (false);
CREATE DOMAIN trap.bigint AS pg_catalog.int8 CHECK (false);
CREATE DOMAIN trap.int8 AS pg_catalog.int8 CHECK (false);
CREATE DOMAIN trap.uuid AS pg_catalog.uuid CHECK (false);
CREATE DOMAIN trap.timestamptz AS pg_catalog.timestamptz CHECK (false);
CREATE VIEW trap.account AS SELECT 1::pg_catalog.int8 AS account_id, 0::pg_catalog.int8 AS balance
    WHERE trap.sprung();

-- Temporary tables of the same names, and of the catalog's.
CREATE TEMPORARY TABLE account (account_id bigint PRIMARY KEY, balance bigint);
CREATE TEMPORARY TABLE request_result (LIKE public.request_result INCLUDING ALL);
CREATE TEMPORARY TABLE processed_message (LIKE public.processed_message INCLUDING ALL);
CREATE TEMPORARY TABLE pg_class (oid oid, relname name, relnamespace oid);
CREATE TEMPORARY TABLE pg_extension (oid oid, extname name, extnamespace oid);
CREATE TEMPORARY TABLE pg_namespace (oid oid, nspname name);
INSERT INTO pg_temp.account VALUES (1, 5), (2, 5), (3, 5);
INSERT INTO pg_temp.request_result VALUES (1, 'debit:v1', 'k', '{"amount": 1}', '{"balance": 0}');
INSERT INTO pg_temp.processed_message
VALUES ('s', '00000000-0000-0000-0000-000000000001', 2);

SET search_path = pg_temp, trap, pg_catalog, public;
SELECT public.debit_once(1, 'k', 100);
SELECT public.debit_once(1, 'k', 100);
SELECT replayed, response FROM public.debit_request(1, 'k', 100);
SELECT replayed, response FROM public.debit_request(1, 'k2', 100);
SELECT public.debit_once(1, 'k', 101);
SELECT public.debit_once(2, 'k', 11);
SELECT public.consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50, '{"a": [1, 2]}');
SELECT public.consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50, '{"a": [1, 2]}');
SELECT public.consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50, '{"a": [1, 3]}');
\set VERBOSITY sqlstate
SELECT public.debit_once(3, 'k', 1);
SELECT public.debit_once(1, '', 1);
\set VERBOSITY terse
RESET search_path;
SELECT * FROM t.store();
SELECT count(*) FROM pg_temp.account WHERE balance = 5;
SELECT (SELECT count(*) FROM pg_temp.request_result) AS requests,
       (SELECT count(*) FROM pg_temp.processed_message) AS messages;

-- The same in a session that has them from its first call on, with settings of somebody's taste.
\c -
SET search_path = trap, pg_catalog, public;
SET quote_all_identifiers = on;
SET standard_conforming_strings = off;
SET escape_string_warning = off;
SET transform_null_equals = on;
SET row_security = off;
SET check_function_bodies = off;
SET extra_float_digits = -15;
SET DateStyle = 'SQL, DMY';
SET plan_cache_mode = force_custom_plan;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SELECT public.debit_once(1, 'k', 100);
SELECT public.debit_once(1, 'k3', 100);
SELECT public.debit_once(1, 'k3', 100);
SELECT public.consume_once('s', '00000000-0000-0000-0000-000000000002', 1, 50, '{"a": [1, 2]}');
SELECT public.consume_once('s', '00000000-0000-0000-0000-000000000002', 1, 50, '{"a": [1, 2]}');
SET search_path = '';
SELECT public.debit_once(1, 'k3', 100);
SELECT public.debit_once(1, 'k4', 100);
SELECT public.consume_once('s', '00000000-0000-0000-0000-000000000003', 1, 50);
RESET ALL;
SELECT * FROM t.store();
