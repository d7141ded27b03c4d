-- A key reused with another amount is refused and changes nothing.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;
INSERT INTO account VALUES (1, 1000);

SELECT debit_once(1, 'checkout-42', 100);

SELECT statement, a.code, a.reason, a.message
  FROM (VALUES (1, $$SELECT debit_once(1, 'checkout-42', 101)$$),
               (2, $$SELECT debit_once(1, 'checkout-42', 99)$$),
               (3, $$SELECT debit_once(1, 'checkout-42', 1000000)$$),
               (4, $$SELECT debit_once(1, 'checkout-42', 9223372036854775807)$$),
               (5, $$SELECT state FROM debit_request(1, 'checkout-42', 101)$$)) AS v (n, statement),
       t.attempt(statement) AS a
 ORDER BY n;

-- Whole: what differs is named by its path, what to do stands in the hint.
\x on
SELECT code, reason, message, detail, hint
  FROM t.attempt($$SELECT debit_once(1, 'checkout-42', 101)$$);
\x off

-- The first request is still answered.
SELECT debit_once(1, 'checkout-42', 100);
SELECT * FROM t.store();

-- Bad arguments are found before the key is looked at.
SELECT a.code, a.reason, a.message
  FROM t.attempt($$SELECT debit_once(1, 'checkout-42', -100)$$) AS a;
