-- A debit beyond the balance is refused, stores nothing and leaves its key free.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;
INSERT INTO account VALUES (1, 100), (2, 0);

SELECT statement, a.code, a.reason, a.message,
       strpos(a.detail, a.reason) > 0 AS reason_in_detail, a.hint <> '' AS hinted,
       concat(a.detail, a.hint) ~ '[0-9]' AS tells_figures
  FROM (VALUES (1, $$SELECT debit_once(1, 'k', 101)$$),
               (2, $$SELECT state FROM debit_request(1, 'k', 101)$$),
               (3, $$SELECT debit_once(2, 'k', 1)$$),
               (4, $$SELECT debit_once(1, 'k', 9223372036854775807)$$)) AS v (n, statement),
       t.attempt(statement) AS a
 ORDER BY n;
SELECT * FROM t.store();

-- At the top level, outside any block that catches it.
SELECT debit_once(1, 'k', 101);
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM t.store();

-- The key is free: the same request once there is money, or quite another one.
UPDATE account SET balance = balance + 1 WHERE account_id = 1;
SELECT debit_once(1, 'k', 101);
SELECT debit_once(2, 'k', 1);
\echo :LAST_ERROR_SQLSTATE
UPDATE account SET balance = 5 WHERE account_id = 2;
SELECT debit_once(2, 'k', 2);

-- To the last unit, and not beyond.
SELECT debit_once(2, 'k2', 3);
SELECT debit_once(2, 'k3', 1);
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM t.store();
