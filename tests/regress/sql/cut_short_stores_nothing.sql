-- An effect that is cut short by a timeout or a full disk stores nothing and frees its key.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;
INSERT INTO account VALUES (1, 1000);
CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM pg_sleep(30); RETURN NEW; END';
CREATE TRIGGER dawdle BEFORE UPDATE ON account FOR EACH ROW EXECUTE FUNCTION dawdle();

SET statement_timeout = '100ms';
SELECT debit_once(1, 'k', 100);
\echo :LAST_ERROR_SQLSTATE
SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50);
\echo :LAST_ERROR_SQLSTATE
-- Within a block that catches it, the transaction goes on.
BEGIN;
SAVEPOINT a;
SELECT debit_once(1, 'k', 100);
\echo :LAST_ERROR_SQLSTATE
ROLLBACK TO a;
SELECT * FROM t.store();
COMMIT;
RESET statement_timeout;
SELECT * FROM t.store();
DROP TRIGGER dawdle ON account;

CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE disk_full USING MESSAGE = 'could not extend file', HINT = 'Check free disk space.';
END $$;
CREATE TRIGGER full_disk AFTER UPDATE ON account FOR EACH ROW EXECUTE FUNCTION full_disk();
SELECT a.code, a.message, a.hint FROM t.attempt($$SELECT debit_once(1, 'k', 100)$$) AS a;
SELECT a.code, a.message, a.hint
  FROM t.attempt($$SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50)$$) AS a;
DROP TRIGGER full_disk ON account;
SELECT * FROM t.store();

SELECT debit_once(1, 'k', 100);
SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50);
SELECT * FROM t.store();
