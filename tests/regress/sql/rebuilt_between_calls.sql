-- Tables and indexes that are rebuilt between calls, and within one transaction with them: each call
-- is right, and takes the same way as before.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;
INSERT INTO account SELECT n, 1000 FROM generate_series(1, 50) AS n;
SET idempotency.table_access = 'auto';
CREATE SEQUENCE t.n;
CREATE FUNCTION t.pay(request jsonb) RETURNS jsonb LANGUAGE sql AS
    'UPDATE account SET balance = balance - 3 WHERE account_id = 1 RETURNING to_jsonb(balance)';
-- First calls, their retries, and retries of the very first.
CREATE FUNCTION t.calls() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    n bigint := nextval('t.n');
    before bigint := (SELECT balance FROM account WHERE account_id = 1);
    id uuid := lpad(n::text, 32, '0')::uuid;
    ways text[];
    state text;
BEGIN
    FOR round IN 1..2 LOOP
        ASSERT debit_once(1, 'k' || n, 1) = jsonb_build_object('balance', before - 1), 'debit';
        ways := ways || idempotency_latest_access();
        ASSERT consume_once('s', id, 1, 2, '{"a": 1}') IS NOT DISTINCT FROM CASE round WHEN 1 THEN before + 1 END, 'consume';
        ways := ways || idempotency_latest_access();
        ASSERT (SELECT response = to_jsonb(before - 2) AND replayed = (round = 2) FROM run_once('s', 'pay:v1', 'k' || n, '{}', 't.pay(jsonb)')), 'run';
        ways := ways || idempotency_latest_access();
    END LOOP;
    ASSERT debit_once(1, 'k1', 1) = '{"balance": 999}', 'old debit';
    ASSERT consume_once('s', lpad('1', 32, '0')::uuid, 1, 2, '{"a": 1}') IS NULL, 'old message';
    ASSERT (SELECT response = '998' FROM run_once('s', 'pay:v1', 'k1', '{}', 't.pay(jsonb)')), 'old run';
    ASSERT (SELECT balance FROM account WHERE account_id = 1) = before - 2, 'balance';
    RETURN (SELECT string_agg(DISTINCT w, ' ') FROM unnest(ways) AS w);
END $$;
SELECT t.calls();
-- Outside of a transaction.
REINDEX TABLE account;
REINDEX TABLE request_result;
REINDEX TABLE processed_message;
REINDEX TABLE idempotency_record;
SELECT t.calls();
REINDEX TABLE CONCURRENTLY account;
REINDEX TABLE CONCURRENTLY request_result;
REINDEX TABLE CONCURRENTLY processed_message;
REINDEX TABLE CONCURRENTLY idempotency_record;
SELECT t.calls();
REINDEX INDEX CONCURRENTLY idempotency_record_unfinished_idx;
SELECT t.calls();
VACUUM FULL account;
SELECT t.calls();
VACUUM FULL request_result, processed_message, idempotency_record;
SELECT t.calls();
CLUSTER account USING account_pkey;
CLUSTER request_result USING request_result_pkey;
CLUSTER processed_message USING processed_message_pkey;
CLUSTER idempotency_record USING idempotency_record_pkey;
SELECT t.calls();
CLUSTER;
SELECT t.calls();
VACUUM (FREEZE, ANALYZE) account, request_result, processed_message, idempotency_record;
SELECT t.calls();
ALTER TABLE account SET (fillfactor = 50);
ALTER TABLE request_result ALTER COLUMN request SET STORAGE EXTERNAL;
ALTER TABLE idempotency_record REPLICA IDENTITY FULL;
ALTER TABLE processed_message SET WITHOUT CLUSTER;
SELECT t.calls();
-- Rewritten under the same columns.
ALTER TABLE account ALTER COLUMN balance TYPE bigint USING balance + 0;
ALTER TABLE request_result ALTER COLUMN request_key TYPE text COLLATE "C" USING request_key || '';
SELECT t.calls();
ALTER TABLE idempotency_record SET UNLOGGED;
ALTER TABLE idempotency_record SET LOGGED;
SELECT t.calls();
-- The primary key over another index, and made anew.
SET client_min_messages = error;
CREATE UNIQUE INDEX another ON processed_message (subscriber, message_id);
ALTER TABLE processed_message DROP CONSTRAINT processed_message_pkey,
    ADD CONSTRAINT processed_message_pkey PRIMARY KEY USING INDEX another;
ALTER TABLE idempotency_record DROP CONSTRAINT idempotency_record_pkey,
    ADD CONSTRAINT idempotency_record_pkey PRIMARY KEY (scope, operation, request_key);
RESET client_min_messages;
SELECT t.calls();
-- Columns of the key in another order are not what was made, and still a key.
ALTER TABLE request_result DROP CONSTRAINT request_result_pkey,
    ADD CONSTRAINT request_result_pkey PRIMARY KEY (request_key, operation, account_id);
SELECT t.calls();
ALTER TABLE request_result DROP CONSTRAINT request_result_pkey,
    ADD CONSTRAINT request_result_pkey PRIMARY KEY (account_id, operation, request_key);
SELECT t.calls();

-- Within one transaction with calls, whose rows are not committed yet.
BEGIN;
SELECT t.calls();
REINDEX TABLE account;
REINDEX TABLE request_result;
SELECT t.calls();
REINDEX TABLE processed_message;
REINDEX TABLE idempotency_record;
SELECT t.calls();
CLUSTER account USING account_pkey;
CLUSTER request_result USING request_result_pkey;
CLUSTER processed_message USING processed_message_pkey;
CLUSTER idempotency_record USING idempotency_record_pkey;
SELECT t.calls();
SAVEPOINT s;
ALTER TABLE account ALTER COLUMN balance TYPE bigint USING balance + 1000;
SELECT t.calls();
ROLLBACK TO s;
SELECT t.calls();
-- The key made anew, over rows that are not committed yet.
ALTER TABLE request_result DROP CONSTRAINT request_result_pkey,
    ADD CONSTRAINT request_result_pkey PRIMARY KEY (account_id, operation, request_key);
SELECT t.calls();
COMMIT;
SELECT t.calls();
-- And rolled back.
BEGIN;
SELECT t.calls();
CLUSTER account USING account_pkey;
CLUSTER idempotency_record USING idempotency_record_pkey;
SELECT t.calls();
ROLLBACK;
SELECT t.calls();

-- An effect that changes the table of its own record: the reply is stored where it now belongs.
CREATE TABLE seen (n bigint GENERATED ALWAYS AS IDENTITY, state text);
CREATE FUNCTION t.see() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO seen (state) VALUES (coalesce(to_jsonb(NEW) ->> 'state', TG_TABLE_NAME));
    RETURN NEW;
END $$;
CREATE FUNCTION t.change(request jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE request #>> '{}';
    RETURN to_jsonb(debit_once(1, request #>> '{}', 1) IS NOT NULL);
END $$;
CREATE FUNCTION t.changes(command text) RETURNS text LANGUAGE sql AS $$
    SELECT concat_ws(' ', r.state, r.replayed, r.response) FROM run_once('s', 'change:v1', md5(command), to_jsonb(command), 't.change(jsonb)') AS r
$$;
SELECT t.changes('CLUSTER idempotency_record USING idempotency_record_pkey');
SELECT t.changes('REINDEX TABLE idempotency_record');
SELECT t.changes('ALTER TABLE idempotency_record ADD COLUMN extra text DEFAULT ''x''');
SELECT t.changes('ALTER TABLE idempotency_record DROP COLUMN extra');
SELECT t.changes('CREATE TRIGGER see AFTER UPDATE ON idempotency_record FOR EACH ROW EXECUTE FUNCTION t.see()');
SELECT t.changes('DROP TRIGGER see ON idempotency_record');
SELECT t.changes('CREATE TRIGGER see BEFORE UPDATE ON account FOR EACH ROW EXECUTE FUNCTION t.see()');
SELECT t.calls();
SELECT t.changes('ALTER TABLE request_result ADD COLUMN extra int');
SELECT t.calls();
SELECT t.changes('ALTER TABLE request_result DROP COLUMN extra');
SELECT t.changes('DROP TRIGGER see ON account');
SELECT t.calls();
SELECT state, count(*) FROM seen GROUP BY state ORDER BY state;
SELECT * FROM (SELECT count(*) FROM request_result) AS r, (SELECT count(DISTINCT debit_once(1, request_key, 1)) FROM request_result) AS again;
