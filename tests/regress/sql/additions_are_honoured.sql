-- What a DBA adds to the extension's tables is honoured, by every door and on both ways to the tables.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;
\pset null '(null)'
INSERT INTO account VALUES (1, 1000), (2, 100);
-- Calls each door for the first time under a key, then again; the second answers what the first did.
CREATE FUNCTION t.calls(key text, amount bigint DEFAULT 10, OUT debit text, OUT consume text, OUT run text, OUT again text)
LANGUAGE plpgsql AS $$
DECLARE
    statement text;
    first text;
    a record;
BEGIN
    FOREACH statement IN ARRAY ARRAY[format('SELECT debit_once(1, %L, %s)', key, amount),
        format('SELECT consume_once(%L, %L, 1, 5)', key, md5(key)::uuid),
        format('SELECT state FROM run_sql_once(%L, ''test:v1'', %L, jsonb_build_object(''n'', %s), ''SELECT 7'')', 's', key, amount)] LOOP
        SELECT * INTO a FROM t.attempt(statement);
        first := concat_ws(' ', a.result, a.code, a.reason);
        debit := coalesce(debit, first);
        IF statement ~ 'consume' THEN consume := first; END IF;
        IF statement ~ 'run' THEN run := first; END IF;
        SELECT * INTO a FROM t.attempt(statement);
        again := concat_ws(', ', again, CASE WHEN first = concat_ws(' ', a.result, a.code, a.reason) THEN 'same'
            WHEN statement ~ 'consume' AND a.result IS NULL AND a.code IS NULL THEN 'nothing' ELSE 'OTHER' END);
    END LOOP;
END $$;
SELECT * FROM t.calls('plain');

-- A user trigger fires exactly once a row that is stored, in the record tables too.
CREATE TABLE fired (what text, old text, new text);
CREATE FUNCTION t.fire() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO fired VALUES (concat_ws(' ', TG_TABLE_NAME, TG_WHEN, TG_OP),
        coalesce(to_jsonb(OLD) ->> 'balance', to_jsonb(OLD) ->> 'state'), coalesce(to_jsonb(NEW) ->> 'balance', to_jsonb(NEW) ->> 'state'));
    RETURN NEW;
END $$;
CREATE TRIGGER after_row AFTER INSERT OR UPDATE OR DELETE ON account FOR EACH ROW EXECUTE FUNCTION t.fire();
SELECT * FROM t.calls('trigger of account');
SELECT what, old, new, count(*) FROM fired GROUP BY what, old, new ORDER BY what, old DESC;
TRUNCATE fired;
CREATE TRIGGER before_row BEFORE INSERT OR DELETE ON request_result FOR EACH ROW EXECUTE FUNCTION t.fire();
CREATE TRIGGER before_row BEFORE INSERT OR DELETE ON processed_message FOR EACH ROW EXECUTE FUNCTION t.fire();
CREATE TRIGGER after_row AFTER UPDATE OR DELETE ON idempotency_record FOR EACH ROW EXECUTE FUNCTION t.fire();
CREATE CONSTRAINT TRIGGER deferred AFTER UPDATE ON account DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION t.fire();
SELECT * FROM t.calls('trigger of each');
SELECT what, old, new, count(*) FROM fired GROUP BY what, old, new ORDER BY what, old DESC;
DROP TRIGGER after_row ON account;
DROP TRIGGER deferred ON account;
DROP TRIGGER before_row ON request_result;
DROP TRIGGER before_row ON processed_message;
DROP TRIGGER after_row ON idempotency_record;
TRUNCATE fired;
-- One of the statement, with what it changed.
CREATE FUNCTION t.fire_by_statement() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO fired SELECT TG_TABLE_NAME, before.balance, after.balance FROM before JOIN after USING (account_id);
    RETURN NULL;
END $$;
CREATE TRIGGER by_statement AFTER UPDATE ON account REFERENCING OLD TABLE AS before NEW TABLE AS after
    FOR EACH STATEMENT EXECUTE FUNCTION t.fire_by_statement();
SELECT * FROM t.calls('statement trigger');
TABLE fired;
DROP TRIGGER by_statement ON account;

-- CHECK: the server's own error, and nothing is left of the call.
ALTER TABLE account ADD CONSTRAINT enough CHECK (balance > 900 OR account_id = 2);
SELECT * FROM t.calls('check of account', 100);
ALTER TABLE account DROP CONSTRAINT enough;
ALTER TABLE request_result ADD CONSTRAINT small CHECK ((request ->> 'amount')::bigint < 100) NOT VALID;
ALTER TABLE processed_message ADD CONSTRAINT subscribers CHECK (subscriber <> 'check of each') NOT VALID;
ALTER TABLE idempotency_record ADD CONSTRAINT small CHECK ((request ->> 'n')::bigint < 100) NOT VALID;
SELECT * FROM t.calls('check of each', 100);
SELECT * FROM t.calls('check of all', 99);
ALTER TABLE request_result DROP CONSTRAINT small;
ALTER TABLE processed_message DROP CONSTRAINT subscribers;
ALTER TABLE idempotency_record DROP CONSTRAINT small;
-- One of the reply, which is stored later than the key.
ALTER TABLE idempotency_record ADD CONSTRAINT reply CHECK (response IS DISTINCT FROM '7') NOT VALID;
SELECT * FROM t.calls('check of the reply');
ALTER TABLE idempotency_record DROP CONSTRAINT reply;

-- Generated columns, stored and, where the server has them, virtual.
ALTER TABLE account ADD COLUMN doubled bigint GENERATED ALWAYS AS (balance * 2) STORED;
ALTER TABLE request_result ADD COLUMN balance bigint GENERATED ALWAYS AS ((response ->> 'balance')::bigint) STORED;
ALTER TABLE processed_message ADD COLUMN doubled bigint GENERATED ALWAYS AS (amount * 2) STORED;
ALTER TABLE idempotency_record ADD COLUMN reply text GENERATED ALWAYS AS (response #>> '{}') STORED;
SELECT * FROM t.calls('stored');
SELECT doubled = 2 * balance AS right_one FROM account WHERE account_id = 1;
SELECT balance FROM request_result WHERE request_key = 'stored';
SELECT doubled FROM processed_message WHERE subscriber = 'stored';
SELECT reply FROM idempotency_record WHERE request_key = 'stored';
-- One that cannot be computed, and a unique one.
ALTER TABLE account ADD COLUMN inverse bigint GENERATED ALWAYS AS (1000 / (balance - 500)) STORED,
    ADD CONSTRAINT one_doubled UNIQUE (doubled);
SELECT balance - 500 AS to_the_pole, balance - 95 AS to_the_other FROM account WHERE account_id = 1 \gset
SELECT * FROM t.calls('pole', :to_the_pole);
SELECT * FROM t.calls('other', :to_the_other);
ALTER TABLE account DROP COLUMN doubled, DROP COLUMN inverse;
ALTER TABLE request_result DROP COLUMN balance;
ALTER TABLE processed_message DROP COLUMN doubled;
ALTER TABLE idempotency_record DROP COLUMN reply;
DO $$
DECLARE
    a record;
BEGIN
    IF current_setting('server_version_num')::int >= 180000 THEN
        EXECUTE $v$ ALTER TABLE account ADD COLUMN doubled bigint GENERATED ALWAYS AS (balance * 2) VIRTUAL,
            ADD CONSTRAINT odd CHECK (doubled <> 1234) $v$;
        EXECUTE $v$ ALTER TABLE request_result ADD COLUMN reply text GENERATED ALWAYS AS (response ->> 'balance') VIRTUAL $v$;
        SELECT * INTO a FROM t.calls('virtual');
        ASSERT a.debit ~ 'balance' AND a.again = 'same, nothing, same', a::text;
        ASSERT (SELECT doubled = 2 * balance FROM account WHERE account_id = 1), 'account';
        ASSERT (SELECT reply = response ->> 'balance' FROM request_result WHERE request_key = 'virtual'), 'request_result';
        SELECT * INTO a FROM t.attempt(format('SELECT debit_once(1, ''odd'', %s)', (SELECT balance - 617 FROM account WHERE account_id = 1)));
        ASSERT a.code = '23514' AND a.reason = 'odd', a::text;
        ALTER TABLE account DROP COLUMN doubled;
        ALTER TABLE request_result DROP COLUMN reply;
    ELSE
        PERFORM t.calls('virtual');
    END IF;
END $$;

-- A domain.
CREATE DOMAIN amount AS bigint CHECK (VALUE % 2 = 1);
SELECT balance FROM account WHERE account_id = 1 \gset
UPDATE account SET balance = 701 WHERE account_id = 1;
UPDATE account SET balance = 101 WHERE account_id = 2;
ALTER TABLE account ALTER COLUMN balance TYPE amount;
SELECT * FROM t.calls('domain', 9);
SELECT * FROM t.calls('domain', 10);
ALTER TABLE account ALTER COLUMN balance TYPE bigint;
UPDATE account SET balance = :balance WHERE account_id = 1;
CREATE DOMAIN key AS text COLLATE "C" CHECK (VALUE <> 'forbidden');
ALTER TABLE request_result ALTER COLUMN request_key TYPE key;
ALTER TABLE idempotency_record ALTER COLUMN request_key TYPE key;
SELECT * FROM t.calls('forbidden');
SELECT * FROM t.calls('allowed');
ALTER TABLE request_result ALTER COLUMN request_key TYPE text COLLATE "C";
ALTER TABLE idempotency_record ALTER COLUMN request_key TYPE text COLLATE "C";

-- A rule.
CREATE RULE also AS ON UPDATE TO account DO ALSO INSERT INTO fired VALUES ('rule', OLD.balance, NEW.balance);
TRUNCATE fired;
SELECT * FROM t.calls('rule');
SELECT what, old::bigint - new::bigint AS taken FROM fired ORDER BY taken;
DROP RULE also ON account;

-- An inheritance child: its rows are rows of the table.
CREATE TABLE special_account (PRIMARY KEY (account_id)) INHERITS (account);
INSERT INTO special_account VALUES (3, 100);
SELECT * FROM t.calls('child');
-- The foreign key of the records does not look at children.
SELECT result, code, reason FROM t.attempt($$SELECT debit_once(3, 'k', 10)$$);
TABLE special_account;
ALTER TABLE request_result DROP CONSTRAINT request_result_account_id_fkey;
SELECT result, code, reason FROM t.attempt($$SELECT debit_once(3, 'k', 10)$$);
SELECT result, code, reason FROM t.attempt($$SELECT debit_once(3, 'k', 10)$$);
TABLE special_account;
DELETE FROM request_result WHERE account_id = 3;
ALTER TABLE request_result ADD CONSTRAINT request_result_account_id_fkey FOREIGN KEY (account_id) REFERENCES account;
DROP TABLE special_account;
SELECT * FROM t.calls('no child');

-- A unique index of the DBA's own: its error passes through, and the key stays free.
CREATE UNIQUE INDEX one_balance ON account (balance);
SELECT balance - 101 AS to_the_other FROM account WHERE account_id = 1 \gset
SELECT * FROM t.calls('unique on account', :to_the_other);
DROP INDEX one_balance;
CREATE UNIQUE INDEX one_key ON request_result (lower(request_key));
CREATE UNIQUE INDEX one_subscriber ON processed_message (lower(subscriber));
CREATE UNIQUE INDEX one_key_of_any ON idempotency_record (lower(request_key));
SELECT * FROM t.calls('Unique');
SELECT * FROM t.calls('UNIQUE');
DROP INDEX one_key, one_subscriber, one_key_of_any;
SELECT * FROM t.calls('UNIQUE');
ALTER TABLE account ADD CONSTRAINT apart EXCLUDE USING btree (balance WITH =);
SELECT balance - 101 AS to_the_other FROM account WHERE account_id = 1 \gset
SELECT * FROM t.calls('excluded', :to_the_other);
ALTER TABLE account DROP CONSTRAINT apart;

-- Policies: of the record tables for nobody but their owner, of account for the caller.
CREATE ROLE idempotency_test_app;
GRANT USAGE ON SCHEMA t TO idempotency_test_app;
GRANT SELECT, UPDATE ON account TO idempotency_test_app;
SELECT grant_idempotency('idempotency_test_app', 'use', scopes => '{*}');
ALTER TABLE account ENABLE ROW LEVEL SECURITY;
CREATE POLICY seen ON account TO idempotency_test_app USING (account_id = 1);
CREATE POLICY kept ON account AS RESTRICTIVE FOR UPDATE TO idempotency_test_app USING (true) WITH CHECK (balance > 500);
ALTER TABLE request_result ENABLE ROW LEVEL SECURITY;
SET ROLE idempotency_test_app;
SELECT * FROM t.calls('policy');
SELECT result, code, reason FROM t.attempt($$SELECT debit_once(2, 'k', 1)$$);
SELECT result, code FROM t.attempt($$SELECT debit_once(1, 'policy 2', 400)$$);
RESET ROLE;
DROP POLICY seen ON account;
DROP POLICY kept ON account;
ALTER TABLE account DISABLE ROW LEVEL SECURITY;
ALTER TABLE request_result DISABLE ROW LEVEL SECURITY;
SET ROLE idempotency_test_app;
SELECT result, code, reason FROM t.attempt($$SELECT debit_once(2, 'k', 1)$$);
RESET ROLE;

-- Columns that are not where they were: extra ones, dropped ones, and the extension's own made anew
-- behind them.
ALTER TABLE account ADD COLUMN a text DEFAULT 'a', ADD COLUMN b int;
ALTER TABLE account ADD COLUMN balance_2 bigint;
UPDATE account SET balance_2 = balance;
ALTER TABLE account DROP COLUMN balance;
ALTER TABLE account RENAME COLUMN balance_2 TO balance;
ALTER TABLE account ALTER COLUMN balance SET NOT NULL, ADD CONSTRAINT account_balance_check CHECK (balance >= 0);
SELECT * FROM t.calls('moved column');
ALTER TABLE account DROP COLUMN a, DROP COLUMN b;
SELECT * FROM t.calls('dropped columns');
TABLE account ORDER BY account_id;
ALTER TABLE request_result ADD COLUMN response_2 jsonb, DROP COLUMN created_at;
UPDATE request_result SET response_2 = response;
ALTER TABLE request_result DROP COLUMN response;
ALTER TABLE request_result RENAME COLUMN response_2 TO response;
ALTER TABLE request_result ALTER COLUMN response SET NOT NULL,
    ADD COLUMN created_at timestamptz NOT NULL DEFAULT clock_timestamp();
SELECT * FROM t.calls('moved columns of the records');
SELECT result FROM t.attempt($$SELECT debit_once(1, 'plain', 10)$$);
ALTER TABLE request_result ADD COLUMN a int NOT NULL DEFAULT 7, ADD COLUMN b text DEFAULT 'b' || clock_timestamp();
ALTER TABLE processed_message ADD COLUMN a int NOT NULL DEFAULT 7;
ALTER TABLE idempotency_record ADD COLUMN a int NOT NULL DEFAULT 7;
SELECT * FROM t.calls('defaults');
SELECT a, b ~ '^b.*20[0-9][0-9]' AS b FROM request_result WHERE request_key = 'defaults';
ALTER TABLE request_result DROP COLUMN a, DROP COLUMN b;
ALTER TABLE processed_message DROP COLUMN a;
ALTER TABLE idempotency_record DROP COLUMN a;
SELECT * FROM t.calls('after defaults');
-- Pages that are as full as they may be.
ALTER TABLE account SET (fillfactor = 10);
ALTER TABLE request_result SET (fillfactor = 10);
ALTER TABLE idempotency_record SET (fillfactor = 10);
ALTER INDEX request_result_pkey SET (fillfactor = 50);
VACUUM FULL account, request_result, idempotency_record;
SELECT count(DISTINCT debit_once(1, 'full ' || n, 1)) FROM generate_series(1, 100) AS n;
SELECT count(DISTINCT debit_once(1, 'full ' || n, 1)) FROM generate_series(1, 100) AS n;
SELECT count(state) FROM generate_series(1, 100) AS n, run_sql_once('s', 'test:v1', 'full ' || n, '{}', 'SELECT 7');
SELECT count(*) FILTER (WHERE replayed) FROM generate_series(1, 100) AS n, run_sql_once('s', 'test:v1', 'full ' || n, '{}', 'SELECT 7');
SELECT count(*) <= 20 AS sparse FROM request_result WHERE (ctid::text::point)[0] = 2;
SELECT * FROM t.store();
REVOKE ALL ON account FROM idempotency_test_app;
DROP EXTENSION idempotency;
DROP OWNED BY idempotency_test_app;
DROP ROLE idempotency_test_app;
