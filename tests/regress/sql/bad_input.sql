-- Every kind of bad input has its SQLSTATE and reason, and stores nothing.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;
INSERT INTO account VALUES (1, 1000), (2, 9223372036854775807);

-- Missing or empty key, missing or non-positive amount: one SQLSTATE, one message.
SELECT statement, a.result, a.code, a.reason, a.message,
       strpos(a.detail, a.reason) > 0 AS reason_in_detail, a.hint <> '' AS hinted
  FROM (VALUES
    (1, $$SELECT debit_once(1, NULL, 100)$$),
    (2, $$SELECT debit_once(1, '', 100)$$),
    (3, $$SELECT debit_once(1, 'k', NULL)$$),
    (4, $$SELECT debit_once(1, 'k', 0)$$),
    (5, $$SELECT debit_once(1, 'k', -1)$$),
    (6, $$SELECT debit_once(1, 'k', -9223372036854775808)$$),
    (7, $$SELECT debit_once(1, NULL, NULL)$$),
    (8, $$SELECT debit_once(99, '', 0)$$),
    (11, $$SELECT state FROM debit_request(1, NULL, 100)$$),
    (12, $$SELECT state FROM debit_request(1, '', 100)$$),
    (13, $$SELECT state FROM debit_request(1, 'k', NULL)$$),
    (14, $$SELECT state FROM debit_request(1, 'k', 0)$$),
    (15, $$SELECT state FROM debit_request(1, 'k', -1)$$),
    (21, $$SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, NULL)$$),
    (22, $$SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 0)$$),
    (23, $$SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, -1)$$),
    (24, $$SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1,
                               -9223372036854775808, '{}')$$)) AS v (n, statement),
       t.attempt(statement) AS a
 ORDER BY n;

-- Other missing or unusable arguments, each told in its own words.
SELECT statement, a.result, a.code, a.reason,
       strpos(a.detail, a.reason) > 0 AS reason_in_detail, a.hint <> '' AS hinted
  FROM (VALUES
    (1, $$SELECT debit_once(NULL, 'k', 100)$$),
    (2, $$SELECT debit_once(NULL, NULL, NULL)$$),
    (3, $$SELECT state FROM debit_request(NULL, 'k', 100)$$),
    (4, $$SELECT consume_once(NULL, '00000000-0000-0000-0000-000000000001', 1, 50)$$),
    (5, $$SELECT consume_once('', '00000000-0000-0000-0000-000000000001', 1, 50)$$),
    (6, $$SELECT consume_once('s', NULL, 1, 50)$$),
    (7, $$SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', NULL, 50)$$),
    (8, $$SELECT consume_once(NULL, NULL, NULL, NULL, NULL)$$)) AS v (n, statement),
       t.attempt(statement) AS a
 ORDER BY n;

-- Too long by one byte; the message says what the limit is and does not echo the key.
SELECT what, a.result, a.code, a.reason,
       a.message ~ '\mbytes\M' AND a.message ~ '\m255\M' AS tells_limit,
       concat(a.message, a.detail, a.hint) ~ 'xxx' AS echoes_key
  FROM (VALUES
    (1, 'debit_once, 256 bytes', format('SELECT debit_once(1, %L, 100)', repeat('x', 256))),
    (2, 'debit_request, 256 bytes',
        format('SELECT state FROM debit_request(1, %L, 100)', repeat('x', 256))),
    (3, 'debit_once, a megabyte', format('SELECT debit_once(1, %L, 100)', repeat('x', 1048576))),
    (4, 'consume_once, subscriber of 256 bytes',
        format('SELECT consume_once(%L, %L, 1, 50)', repeat('x', 256),
               '00000000-0000-0000-0000-000000000001'))) AS v (n, what, statement),
       t.attempt(statement) AS a
 ORDER BY n;

-- No such account: the foreign key's own name.
SELECT statement, a.result, a.code, a.reason
  FROM (VALUES
    (1, $$SELECT debit_once(99, 'k', 100)$$),
    (2, $$SELECT state FROM debit_request(99, 'k', 100)$$),
    (3, $$SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 99, 50)$$),
    (4, $$SELECT debit_once(-1, 'k', 100)$$)) AS v (n, statement),
       t.attempt(statement) AS a
 ORDER BY n;

-- A balance that would overflow.
SELECT statement, a.result, a.code
  FROM (VALUES
    (1, $$SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 2, 1)$$),
    (2, $$SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1,
                              9223372036854775807)$$)) AS v (n, statement),
       t.attempt(statement) AS a
 ORDER BY n;

SELECT * FROM t.store();

-- None of it used the keys up.
SELECT debit_once(1, 'k', 100);
SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50);
SELECT * FROM t.store();
