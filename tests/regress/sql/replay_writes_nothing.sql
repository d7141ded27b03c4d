-- A replay writes nothing and works where nothing can be written; a first call there is refused.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;
\pset null '(null)'
INSERT INTO account VALUES (1, 1000);
SELECT debit_once(1, 'k', 100);
SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50, '{"a": 1}');

-- Every row version as it is now, with whatever locks it.
CREATE VIEW versions AS
    SELECT 'account' AS "table", ctid AS place, xmin::text AS creator, xmax::text AS locker
      FROM account
    UNION ALL SELECT 'request_result', ctid, xmin::text, xmax::text FROM request_result
    UNION ALL SELECT 'processed_message', ctid, xmin::text, xmax::text FROM processed_message;
CREATE TABLE before AS TABLE versions;

-- No transaction id: not by either store, nor by a savepoint around, nor by a refused mismatch.
BEGIN;
SELECT debit_once(1, 'k', 100);
SELECT pg_current_xact_id_if_assigned();
SELECT replayed, response FROM debit_request(1, 'k', 100);
SELECT pg_current_xact_id_if_assigned();
SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50, '{"a": 1}');
SELECT pg_current_xact_id_if_assigned();
SAVEPOINT s;
SELECT debit_once(1, 'k', 100);
RELEASE s;
SELECT pg_current_xact_id_if_assigned();
SELECT a.code FROM t.attempt($$SELECT debit_once(1, 'k', 101)$$) AS a;
SELECT pg_current_xact_id_if_assigned();
COMMIT;
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT debit_once(1, 'k', 100);
SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50, '{"a": 1}');
SELECT pg_current_xact_id_if_assigned();
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT debit_once(1, 'k', 100);
SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50, '{"a": 1}');
SELECT pg_current_xact_id_if_assigned();
COMMIT;
-- No new row version, no lock on an old one.
SELECT count(*) FROM before;
SELECT "table" FROM (TABLE versions EXCEPT TABLE before) AS changed;

-- The first call, in contrast.
BEGIN;
SELECT debit_once(1, 'other', 100);
SELECT pg_current_xact_id_if_assigned() IS NOT NULL AS assigned;
ROLLBACK;


-- Read-only transactions.
\set VERBOSITY sqlstate
BEGIN READ ONLY;
SELECT debit_once(1, 'k', 100);
SELECT replayed, response FROM debit_request(1, 'k', 100);
SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50, '{"a": 1}');
COMMIT;
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
SELECT debit_once(1, 'k', 100);
SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50, '{"a": 1}');
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE;
SELECT debit_once(1, 'k', 100);
SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50, '{"a": 1}');
COMMIT;
BEGIN READ ONLY;
SELECT debit_once(1, 'first', 100);
ROLLBACK;
BEGIN READ ONLY;
SELECT * FROM debit_request(1, 'first', 100);
ROLLBACK;
BEGIN READ ONLY;
SELECT consume_once('s', '00000000-0000-0000-0000-000000000002', 1, 50);
ROLLBACK;
BEGIN READ ONLY;
SELECT a.code FROM t.attempt($$SELECT debit_once(1, 'first', 100)$$) AS a;
SELECT a.code FROM t.attempt($$SELECT debit_once(1, 'k', 101)$$) AS a;
SELECT a.code FROM t.attempt($$SELECT debit_once(1, '', 101)$$) AS a;
SELECT debit_once(1, 'k', 100);
COMMIT;
SET default_transaction_read_only = on;
SELECT debit_once(1, 'k', 100);
SELECT debit_once(1, 'first', 100);
RESET default_transaction_read_only;
SELECT * FROM t.store();
SELECT debit_once(1, 'first', 100);
SELECT * FROM t.store();
