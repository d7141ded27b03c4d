-- A call in a prepared transaction: the key is taken until it is committed or rolled back.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;
INSERT INTO account VALUES (1, 1000), (2, 1000);

BEGIN;
SELECT debit_once(1, 'k', 100);
SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50);
PREPARE TRANSACTION 'idempotency prepared';
-- Nobody sees it yet, and nobody else may execute. The caller's own lock_timeout stays itself.
SELECT * FROM t.store();
SET lock_timeout = '100ms';
\set VERBOSITY sqlstate
SELECT debit_once(1, 'k', 100);
SELECT debit_once(1, 'k', 101);
SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50);
\set VERBOSITY terse
-- Other keys of other accounts are free.
SELECT debit_once(2, 'k', 100);
RESET lock_timeout;
COMMIT PREPARED 'idempotency prepared';
SELECT debit_once(1, 'k', 100);
SELECT replayed FROM debit_request(1, 'k', 100);
SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50) IS NULL AS again;
SELECT a.code, a.reason FROM t.attempt($$SELECT debit_once(1, 'k', 101)$$) AS a;
SELECT * FROM t.store();

-- Rolled back: as if it had never been.
BEGIN;
SELECT debit_once(1, 'k2', 100);
SELECT consume_once('s', '00000000-0000-0000-0000-000000000002', 1, 50);
PREPARE TRANSACTION 'idempotency prepared';
ROLLBACK PREPARED 'idempotency prepared';
SELECT * FROM t.store();
SELECT debit_once(1, 'k2', 7);
SELECT consume_once('s', '00000000-0000-0000-0000-000000000002', 1, 8);

-- A savepoint rolled back within, and a replay within.
BEGIN;
SELECT debit_once(1, 'k', 100);
SAVEPOINT a;
SELECT debit_once(1, 'k3', 1);
ROLLBACK TO a;
SELECT debit_once(1, 'k4', 1);
PREPARE TRANSACTION 'idempotency prepared';
COMMIT PREPARED 'idempotency prepared';
SELECT replayed FROM debit_request(1, 'k3', 1);
SELECT replayed FROM debit_request(1, 'k4', 1);
-- The session goes on as before.
SELECT debit_once(1, 'k5', 1);
SELECT * FROM t.store();
