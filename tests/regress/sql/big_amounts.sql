-- Amounts at the edges of bigint, debited and delivered.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;
INSERT INTO account VALUES (1, 9223372036854775807), (2, 0), (3, 9223372036854775806);

SELECT statement, a.result, a.code, a.reason
  FROM (VALUES
    (1, $$SELECT debit_once(1, 'a', -9223372036854775808)$$),
    (2, $$SELECT debit_once(1, 'a', -1)$$),
    (3, $$SELECT debit_once(1, 'a', 0)$$),
    (4, $$SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 1)$$),
    (5, $$SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 3, 2)$$),
    (6, $$SELECT debit_once(2, 'a', 9223372036854775807)$$),
    (7, $$SELECT debit_once(3, 'a', 9223372036854775807)$$),
    (8, $$SELECT debit_once(1, 'a', 9223372036854775808)$$)) AS v (n, statement),
       t.attempt(statement) AS a
 ORDER BY n;
SELECT * FROM t.store();

-- All of it at once, and back.
SELECT debit_once(1, 'a', 9223372036854775807);
SELECT debit_once(1, 'a', 9223372036854775807);
SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 2, 9223372036854775807);
SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 2, 9223372036854775807) IS NULL
    AS again;
SELECT consume_once('s', '00000000-0000-0000-0000-000000000002', 3, 1);
SELECT * FROM t.store();
SELECT request, response FROM request_result;

-- 2^53 and 2^53 + 1 are one float, and two amounts.
SELECT debit_once(2, 'b', 9007199254740992);
SELECT a.code, a.reason FROM t.attempt($$SELECT debit_once(2, 'b', 9007199254740993)$$) AS a;
SELECT debit_once(2, 'b', 9007199254740992);
SELECT a.code, a.reason FROM t.attempt(
    $$SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 2, 9223372036854775806)$$)
    AS a;

-- The ends of account ids.
INSERT INTO account VALUES (9223372036854775807, 10), (-9223372036854775808, 10), (0, 10);
SELECT debit_once(9223372036854775807, 'k', 1);
SELECT debit_once(-9223372036854775808, 'k', 2);
SELECT debit_once(0, 'k', 3);
SELECT debit_once(9223372036854775807, 'k', 1);
SELECT debit_once(-9223372036854775808, 'k', 2);
SELECT debit_once(0, 'k', 3);
SELECT * FROM t.store();
