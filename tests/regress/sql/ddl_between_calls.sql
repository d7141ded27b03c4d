-- DDL between two calls of one session: each call is right.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;
INSERT INTO account VALUES (1, 1000);
CREATE PROCEDURE t.calls(n int) LANGUAGE plpgsql AS $$
DECLARE
    expected bigint := (SELECT balance FROM account WHERE account_id = 1) - 1;
    id uuid := lpad(n::text, 32, '0')::uuid;
    replied jsonb;
BEGIN
    replied := debit_once(1, 'key ' || n, 1);
    ASSERT replied = jsonb_build_object('balance', expected), 'first call: ' || replied::text;
    replied := debit_once(1, 'key ' || n, 1);
    ASSERT replied = jsonb_build_object('balance', expected), 'retry: ' || replied::text;
    replied := debit_once(1, 'key 0', 1);
    ASSERT replied = '{"balance": 999}', 'an old key: ' || replied::text;
    ASSERT consume_once('s', id, 1, 2, '{"a": 1}') = expected + 2, 'delivery';
    ASSERT consume_once('s', id, 1, 2, '{"a": 1}') IS NULL, 'redelivery';
    ASSERT (SELECT balance FROM account WHERE account_id = 1) = expected + 2, 'balance';
END $$;
-- The calls once more by a kept plan, at the top level.
PREPARE debit AS SELECT debit_once(1, 'key 0', 1);

CALL t.calls(0);
EXECUTE debit;
REINDEX TABLE request_result;
REINDEX TABLE account;
REINDEX TABLE processed_message;
CALL t.calls(1);
EXECUTE debit;
REINDEX TABLE CONCURRENTLY request_result;
REINDEX TABLE CONCURRENTLY account;
REINDEX TABLE CONCURRENTLY processed_message;
CALL t.calls(2);
VACUUM FULL account;
VACUUM FULL request_result;
VACUUM FULL processed_message;
CALL t.calls(3);
EXECUTE debit;
CLUSTER request_result USING request_result_pkey;
VACUUM (FREEZE, ANALYZE) request_result, account, processed_message;
CALL t.calls(4);

-- Columns of the DBA's own.
ALTER TABLE request_result ADD COLUMN note text DEFAULT 'none', ADD COLUMN n int;
ALTER TABLE account ADD COLUMN owner text NOT NULL DEFAULT 'nobody';
ALTER TABLE processed_message ADD COLUMN topic text DEFAULT clock_timestamp()::text;
CALL t.calls(5);
EXECUTE debit;
SELECT note, n, count(*) FROM request_result GROUP BY note, n;
SELECT owner FROM account;
ALTER TABLE request_result DROP COLUMN note, DROP COLUMN n;
ALTER TABLE account DROP COLUMN owner;
ALTER TABLE processed_message DROP COLUMN topic;
CALL t.calls(6);

-- Triggers come and go.
CREATE TABLE seen (what text);
CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN INSERT INTO seen VALUES (TG_TABLE_NAME); RETURN NEW; END';
CREATE TRIGGER see AFTER UPDATE ON account FOR EACH ROW EXECUTE FUNCTION see();
CREATE TRIGGER see AFTER INSERT ON request_result FOR EACH ROW EXECUTE FUNCTION see();
CALL t.calls(7);
EXECUTE debit;
SELECT what, count(*) FROM seen GROUP BY what ORDER BY what;
ALTER TABLE account DISABLE TRIGGER see;
DROP TRIGGER see ON request_result;
CALL t.calls(8);
SELECT what, count(*) FROM seen GROUP BY what ORDER BY what;
DROP TRIGGER see ON account;

-- Constraints, indexes, storage.
ALTER TABLE account ADD CONSTRAINT not_all CHECK (balance > 900);
CALL t.calls(9);
SELECT a.code, a.reason FROM t.attempt($$SELECT debit_once(1, 'too much', 500)$$) AS a;
ALTER TABLE account DROP CONSTRAINT not_all;
CREATE INDEX account_balance ON account (balance);
CREATE INDEX request_result_time ON request_result (created_at);
ALTER TABLE account SET (fillfactor = 50);
ALTER TABLE request_result ALTER COLUMN response SET STORAGE EXTERNAL;
ALTER TABLE account REPLICA IDENTITY FULL;
CALL t.calls(10);
EXECUTE debit;
-- Another index in the primary key's place.
SET client_min_messages = warning;
CREATE UNIQUE INDEX another ON request_result (account_id, operation, request_key);
ALTER TABLE request_result DROP CONSTRAINT request_result_pkey,
    ADD CONSTRAINT request_result_pkey PRIMARY KEY USING INDEX another;
RESET client_min_messages;
CALL t.calls(11);
EXECUTE debit;

-- Emptied tables: what was kept is no longer known, and a key is new.
TRUNCATE request_result, processed_message;
SELECT debit_once(1, 'key 1', 1);
SELECT debit_once(1, 'key 1', 1);
SELECT * FROM t.store();

-- A column, a table or the key taken away: an error, nothing debited; given back, it works again.
BEGIN;
ALTER TABLE request_result DROP COLUMN response;
SELECT a.result, a.code ~ '^(42|55)' AS clear
  FROM t.attempt($$SELECT debit_once(1, 'key 1', 1)$$) AS a;
SELECT a.result, a.code ~ '^(42|55)' AS clear
  FROM t.attempt($$SELECT debit_once(1, 'key new', 1)$$) AS a;
ROLLBACK;
BEGIN;
ALTER TABLE processed_message DROP COLUMN account_id;
SELECT a.result, a.code ~ '^(42|55)' AS clear
  FROM t.attempt($$SELECT consume_once('s', '00000000-0000-0000-0000-00000000000a', 1, 5)$$) AS a;
ROLLBACK;
BEGIN;
ALTER TABLE request_result DROP CONSTRAINT request_result_pkey;
SELECT a.result, a.code ~ '^(42|55)' AS clear
  FROM t.attempt($$SELECT debit_once(1, 'key new', 1)$$) AS a;
ROLLBACK;
BEGIN;
ALTER EXTENSION idempotency DROP TABLE request_result;
DROP TABLE request_result;
SELECT a.result, a.code ~ '^(42|55)' AS clear, a.hint <> '' AS hinted
  FROM t.attempt($$SELECT debit_once(1, 'key new', 1)$$) AS a;
SELECT consume_once('s', '00000000-0000-0000-0000-00000000000b', 1, 5) - balance AS still_works
  FROM account;
ROLLBACK;
BEGIN;
ALTER EXTENSION idempotency DROP TABLE processed_message;
DROP TABLE processed_message;
SELECT a.result, a.code ~ '^(42|55)' AS clear, a.hint <> '' AS hinted
  FROM t.attempt($$SELECT consume_once('s', '00000000-0000-0000-0000-00000000000a', 1, 5)$$) AS a;
ROLLBACK;
BEGIN;
ALTER EXTENSION idempotency DROP TABLE account;
SET LOCAL client_min_messages = warning;
DROP TABLE account CASCADE;
SELECT a.result, a.code ~ '^(42|55)' AS clear, a.hint <> '' AS hinted
  FROM t.attempt($$SELECT debit_once(1, 'key new', 1)$$) AS a;
ROLLBACK;
SELECT * FROM t.store();
SELECT debit_once(1, 'key 1', 1);
SELECT debit_once(1, 'key 12', 1);
SELECT consume_once('s', '00000000-0000-0000-0000-00000000000a', 1, 5);
SELECT * FROM t.store();
