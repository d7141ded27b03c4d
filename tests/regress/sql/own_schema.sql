-- The extension lives in the schema it was given, and fails whole where a name is taken.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE SCHEMA bank;
CREATE EXTENSION idempotency SCHEMA bank;
SELECT c.relname, n.nspname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
 WHERE c.relname IN ('account', 'request_result', 'processed_message') ORDER BY c.relname;
SELECT count(*) AS outside_of_bank
  FROM pg_depend AS d
  JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
  LEFT JOIN pg_class AS c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid
  LEFT JOIN pg_proc AS p ON d.classid = 'pg_proc'::regclass AND p.oid = d.objid
 WHERE e.extname = 'idempotency' AND d.deptype = 'e'
   AND COALESCE(c.relnamespace, p.pronamespace) <> 'bank'::regnamespace;
INSERT INTO bank.account VALUES (1, 1000);

-- Its schema need not be on the search_path.
SELECT bank.debit_once(1, 'k', 100);
SELECT bank.debit_once(1, 'k', 100);
SELECT replayed, response FROM bank.debit_request(1, 'k', 100);
SELECT bank.consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50);
SELECT bank.consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50) IS NULL AS again;
SELECT a.code, a.reason FROM t.attempt($$SELECT bank.debit_once(2, 'k', 100)$$) AS a;
SELECT a.code, a.reason FROM t.attempt($$SELECT bank.debit_once(1, 'k', 101)$$) AS a;
SELECT * FROM t.store('bank');
-- Nor is public's account, which came later, taken for its own.
CREATE TABLE public.account (account_id bigint PRIMARY KEY, balance bigint);
INSERT INTO public.account VALUES (1, 5);
SELECT bank.debit_once(1, 'k2', 100);
TABLE public.account;
SELECT * FROM t.store('bank');
-- Not relocatable.
ALTER EXTENSION idempotency SET SCHEMA public;
\echo :LAST_ERROR_SQLSTATE
DROP EXTENSION idempotency;
TABLE public.account;

-- A schema whose name needs quotes.
CREATE SCHEMA "Bank; x";
CREATE EXTENSION idempotency SCHEMA "Bank; x";
INSERT INTO "Bank; x".account VALUES (1, 1000);
SELECT "Bank; x".debit_once(1, 'k', 100);
SELECT "Bank; x".debit_once(1, 'k', 100);
SELECT "Bank; x".consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50);
SELECT * FROM t.store('Bank; x');
DROP EXTENSION idempotency;

-- A name that is taken: CREATE EXTENSION fails, adopts nothing and leaves nothing.
CREATE FUNCTION leftovers() RETURNS TABLE (extensions bigint, relations text, functions text)
LANGUAGE sql AS $$
    SELECT (SELECT count(*) FROM pg_extension WHERE extname = 'idempotency'),
           (SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class
             WHERE relname IN ('account', 'request_result', 'processed_message')),
           (SELECT string_agg(proname, ' ' ORDER BY proname) FROM pg_proc
             WHERE proname IN ('debit_once', 'debit_request', 'consume_once'))
$$;
CREATE EXTENSION idempotency;
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM leftovers();
DROP TABLE account;
\set VERBOSITY sqlstate
CREATE TABLE request_result (account_id bigint);
CREATE EXTENSION idempotency;
SELECT * FROM leftovers();
DROP TABLE request_result;
CREATE VIEW processed_message AS SELECT 1 AS one;
CREATE EXTENSION idempotency;
SELECT * FROM leftovers();
DROP VIEW processed_message;
CREATE FUNCTION debit_once(bigint, text, bigint) RETURNS jsonb LANGUAGE sql AS 'SELECT NULL::jsonb';
CREATE EXTENSION idempotency;
SELECT * FROM leftovers();
DROP FUNCTION debit_once;
CREATE FUNCTION consume_once(text, uuid, bigint, bigint, jsonb) RETURNS bigint LANGUAGE sql
    AS 'SELECT 1::bigint';
CREATE EXTENSION idempotency;
SELECT * FROM leftovers();
DROP FUNCTION consume_once;
CREATE TYPE account AS ENUM ('planted');
CREATE EXTENSION idempotency;
SELECT * FROM leftovers();
DROP TYPE account;
-- With nothing in the way it works.
CREATE EXTENSION idempotency;
SELECT * FROM leftovers();
