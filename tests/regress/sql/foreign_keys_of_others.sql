-- An account that is made and used in one transaction, and foreign keys that others have put on the
-- extension's tables: they are checked as for any statement, at once or at the commit.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;
\pset null '(null)'
-- Somebody's table refers to accounts.
CREATE TABLE invoice (n int PRIMARY KEY, account_id bigint NOT NULL REFERENCES account DEFERRABLE INITIALLY DEFERRED);
BEGIN;
INSERT INTO invoice VALUES (1, 1);
SELECT code, reason FROM t.attempt($$SELECT debit_once(1, 'k', 100)$$);
INSERT INTO account VALUES (1, 1000);
SELECT debit_once(1, 'k', 100);
SELECT consume_once('s', md5('k')::uuid, 1, 5);
SELECT debit_once(1, 'k', 100);
COMMIT;
BEGIN;
INSERT INTO account VALUES (2, 1000);
SELECT debit_once(2, 'k', 100);
INSERT INTO invoice VALUES (2, 2);
SELECT debit_once(2, 'k2', 100);
SET CONSTRAINTS ALL IMMEDIATE;
SELECT debit_once(2, 'k3', 100);
COMMIT;
-- One that is not kept fails at the commit, whatever was debited meanwhile.
BEGIN;
INSERT INTO invoice VALUES (3, 3);
SELECT debit_once(1, 'k3', 100);
COMMIT;
SELECT * FROM t.store();
-- An account that is debited and then deleted in the transaction that made it.
BEGIN;
INSERT INTO account VALUES (4, 1000);
SELECT debit_once(4, 'k', 100);
SAVEPOINT s;
DELETE FROM account WHERE account_id = 4;
ROLLBACK TO s;
DELETE FROM request_result WHERE account_id = 4;
DELETE FROM account WHERE account_id = 4;
SELECT code, reason FROM t.attempt($$SELECT debit_once(4, 'k', 100)$$);
COMMIT;
BEGIN;
INSERT INTO account VALUES (4, 1000);
DELETE FROM account WHERE account_id = 4;
INSERT INTO account VALUES (4, 10);
SELECT debit_once(4, 'k', 1);
UPDATE account SET account_id = 5 WHERE account_id = 2;
ROLLBACK;
-- One that gets another number after its debit.
BEGIN;
INSERT INTO account VALUES (6, 1000);
UPDATE account SET account_id = 7 WHERE account_id = 6;
SELECT code, reason FROM t.attempt($$SELECT debit_once(6, 'k', 1)$$);
SELECT debit_once(7, 'k', 1);
SAVEPOINT s;
UPDATE account SET account_id = 6 WHERE account_id = 7;
ROLLBACK TO s;
COMMIT;

-- An account refers to somebody's table: checked at the commit, also where a debit has replaced the
-- row that was inserted.
CREATE TABLE owner (owner_id int PRIMARY KEY);
ALTER TABLE account ADD COLUMN owner_id int REFERENCES owner DEFERRABLE INITIALLY DEFERRED;
BEGIN;
INSERT INTO account VALUES (8, 1000, 1);
SELECT debit_once(8, 'k', 100);
COMMIT;
BEGIN;
INSERT INTO account VALUES (8, 1000, 1);
SELECT debit_once(8, 'k', 100);
INSERT INTO owner VALUES (1);
COMMIT;
-- The constraint is added after the row, in the same transaction.
ALTER TABLE account DROP COLUMN owner_id;
BEGIN;
INSERT INTO account VALUES (9, 1000);
SELECT debit_once(9, 'k', 100);
ALTER TABLE account ADD COLUMN owner_id int DEFAULT 2;
ALTER TABLE account ADD CONSTRAINT owned FOREIGN KEY (owner_id) REFERENCES owner DEFERRABLE INITIALLY DEFERRED NOT VALID;
SELECT debit_once(9, 'k2', 100);
COMMIT;
SELECT * FROM t.store();

-- Somebody's table refers to records.
CREATE TABLE receipt (scope text, operation text, request_key text,
    FOREIGN KEY (scope, operation, request_key) REFERENCES idempotency_record DEFERRABLE INITIALLY DEFERRED);
CREATE TABLE slip (account_id bigint, operation text, request_key text,
    FOREIGN KEY (account_id, operation, request_key) REFERENCES request_result);
BEGIN;
INSERT INTO receipt VALUES ('s', 'test:v1', 'k');
SELECT state FROM run_sql_once('s', 'test:v1', 'k', '{}', 'INSERT INTO receipt VALUES (''s'', ''test:v1'', ''k'') RETURNING 7');
COMMIT;
BEGIN;
INSERT INTO receipt VALUES ('s', 'test:v1', 'k2');
COMMIT;
-- In its own effect, the record is there to be referred to.
ALTER TABLE receipt ALTER CONSTRAINT receipt_scope_operation_request_key_fkey NOT DEFERRABLE;
SELECT state FROM run_sql_once('s', 'test:v1', 'k3', '{}', 'INSERT INTO receipt VALUES (''s'', ''test:v1'', ''k3'') RETURNING 7');
SELECT code FROM t.attempt($$SELECT state FROM run_sql_once('s', 'test:v1', 'k4', '{}', 'INSERT INTO receipt VALUES (''s'', ''test:v1'', ''other'') RETURNING 7')$$);
SELECT debit_once(1, 'slip', 1);
INSERT INTO slip VALUES (1, 'debit:v1', 'slip');
SELECT debit_once(1, 'slip', 1);
DELETE FROM request_result WHERE request_key = 'slip';
SELECT count(*) FROM receipt;
-- ON UPDATE and ON DELETE of others do nothing where no key changes.
CREATE TABLE cascade (account_id bigint REFERENCES account ON UPDATE CASCADE ON DELETE CASCADE, n int);
CREATE TABLE cascaded (what text);
CREATE FUNCTION t.cascaded() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO cascaded VALUES (TG_OP); RETURN NEW; END';
CREATE TRIGGER cascaded AFTER UPDATE OR DELETE ON cascade FOR EACH ROW EXECUTE FUNCTION t.cascaded();
INSERT INTO cascade VALUES (1, 1);
SELECT debit_once(1, 'cascade', 1);
SELECT count(*) FROM cascaded;
SELECT * FROM t.store();
