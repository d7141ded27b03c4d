-- Every kind of bad input to the general functions has its SQLSTATE and reason, and stores nothing.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\set helper :regress '/sql/helpers/effects.psql'
\i :helper
CREATE EXTENSION idempotency;
\pset null '(null)'
INSERT INTO account VALUES (1, 1000);
-- Each function with one bad part of the identity.
CREATE TABLE call (n int, form text);
INSERT INTO call VALUES
    (1, $$SELECT * FROM run_once(%s, %s, %s, '{}', 'pay(jsonb)')$$),
    (2, $$SELECT * FROM run_sql_once(%s, %s, %s, '{}', 'SELECT pay($1)')$$),
    (3, $$SELECT * FROM reserve_request(%s, %s, %s, '{}')$$),
    (4, $$SELECT * FROM complete_request(%s, %s, %s, '{}')$$),
    (5, $$SELECT * FROM refuse_request(%s, %s, %s, '{}')$$),
    (6, $$SELECT * FROM find_request(%s, %s, %s)$$),
    (7, $$SELECT * FROM abandon_request(%s, %s, %s)$$);
CREATE TABLE bad (n int, what text, scope text, operation text, key text);
INSERT INTO bad VALUES
    (1, 'no scope', NULL, 'pay:v1', 'k'), (2, 'empty scope', '', 'pay:v1', 'k'), (3, 'blank scope', '  ', 'pay:v1', 'k'),
    (4, 'tab as scope', E'\t\n', 'pay:v1', 'k'), (5, 'long scope', repeat('s', 256), 'pay:v1', 'k'),
    (11, 'no operation', 's', NULL, 'k'), (12, 'empty operation', 's', '', 'k'), (13, 'blank operation', 's', ' ', 'k'),
    (14, 'no version', 's', 'pay', 'k'), (15, 'no number', 's', 'pay:v', 'k'), (16, 'upper case', 's', 'Pay:v1', 'k'),
    (17, 'no name', 's', ':v1', 'k'), (18, 'dash first', 's', '-pay:v1', 'k'), (19, 'blank within', 's', 'p ay:v1', 'k'),
    (20, 'more after it', 's', 'pay:v1 ', 'k'), (21, 'line feed after it', 's', E'pay:v1\n', 'k'), (22, 'two colons', 's', 'a:b:v1', 'k'),
    (23, 'no ASCII', 's', 'zählen:v1', 'k'), (24, 'long operation', 's', repeat('o', 253) || ':v1', 'k'),
    (25, 'full-width digit', 's', U&'pay:v\FF11', 'k'), (26, 'scope and operation swapped', 'pay:v1', 's', 'k'),
    (31, 'no key', 's', 'pay:v1', NULL), (32, 'empty key', 's', 'pay:v1', ''), (33, 'long key', 's', 'pay:v1', repeat('k', 256)),
    (41, 'nothing at all', NULL, NULL, NULL);
SELECT bad.n, what, count(*) AS refused, count(DISTINCT o.message) AS messages, min(o.message) AS message
  FROM bad, call, t.outcome(format(form, quote_nullable(scope), quote_nullable(operation), quote_nullable(key))) AS o
 WHERE o.code = '22023' AND o.reason = 'idempotency_invalid_argument'
 GROUP BY bad.n, what ORDER BY bad.n;
-- DETAIL has the reason, HINT says what to do, and nothing is echoed.
SELECT count(*), bool_and(strpos(a.detail, a.reason) > 0) AS reason_in_detail, bool_and(a.hint <> '') AS hinted,
       bool_or(concat(a.message, a.detail, a.hint) ~ 'sss|ooo|kkk') AS echoes
  FROM bad, call, t.attempt(format(form, quote_nullable(scope), quote_nullable(operation), quote_nullable(key))) AS a;

-- Other arguments.
SELECT n, o.code, o.reason, o.message FROM (VALUES
    (1, $$SELECT * FROM run_once('s', 'pay:v1', 'k', NULL, 'pay(jsonb)')$$),
    (2, $$SELECT * FROM run_once('s', 'pay:v1', 'k', '{}', NULL)$$),
    (3, $$SELECT * FROM run_once('s', 'pay:v1', 'k', '{}', 'pay(jsonb)', NULL)$$),
    (4, $$SELECT * FROM run_once('s', 'pay:v1', 'k', '{}', 'pay(jsonb)', 99)$$),
    (5, $$SELECT * FROM run_once('s', 'pay:v1', 'k', '{}', 'pay(jsonb)', 600)$$),
    (6, $$SELECT * FROM run_once('s', 'pay:v1', 'k', '{}', 'pay(jsonb)', 200, '-1 second')$$),
    (7, $$SELECT * FROM run_once('s', 'pay:v1', 'k', '{}', 'pay(jsonb)', 200, '1 day -25 hours')$$),
    (11, $$SELECT * FROM run_sql_once('s', 'pay:v1', 'k', NULL, 'SELECT 1')$$),
    (12, $$SELECT * FROM run_sql_once('s', 'pay:v1', 'k', '{}', NULL)$$),
    (13, $$SELECT * FROM run_sql_once('s', 'pay:v1', 'k', '{}', '')$$),
    (14, $$SELECT * FROM run_sql_once('s', 'pay:v1', 'k', '{}', 'SELECT 1', 1000)$$),
    (21, $$SELECT * FROM reserve_request('s', 'pay:v1', 'k', NULL)$$),
    (22, $$SELECT * FROM reserve_request('s', 'pay:v1', 'k', '{}', '-1')$$),
    (31, $$SELECT * FROM complete_request('s', 'pay:v1', 'k', NULL)$$),
    (32, $$SELECT * FROM complete_request('s', 'pay:v1', 'k', '{}', NULL)$$),
    (33, $$SELECT * FROM complete_request('s', 'pay:v1', 'k', '{}', 99)$$),
    (34, $$SELECT * FROM refuse_request('s', 'pay:v1', 'k', '{}', 600)$$),
    (35, $$SELECT * FROM refuse_request('s', 'pay:v1', 'k', NULL)$$),
    (41, $$SELECT * FROM abandon_request('s', 'pay:v1', 'k', '-1 month')$$)) AS v (n, statement),
    t.outcome(statement) AS o ORDER BY n;
-- A bad reply leaves the reservation open, to be finished well.
BEGIN;
SELECT state FROM reserve_request('s', 'pay:v1', 'open', '{}');
SELECT n, o.code, o.reason FROM (VALUES
    (1, $$SELECT * FROM complete_request(NULL)$$), (2, $$SELECT * FROM complete_request('{}', 99)$$),
    (3, $$SELECT * FROM complete_request('{}', NULL)$$), (4, $$SELECT * FROM refuse_request('s', 'pay:v1', 'open', '{}', 0)$$),
    (5, $$SELECT * FROM complete_request('s', 'pay:v1', 'open', NULL)$$)) AS v (n, statement),
    t.outcome(statement) AS o ORDER BY n;
SELECT state FROM complete_request('{}');
COMMIT;

-- The built-in operations have functions of their own.
SELECT n, o.state, o.code, o.reason, o.message FROM (VALUES
    (1, $$SELECT * FROM run_once('1', 'debit:v1', 'k', '{"amount": 1}', 'pay(jsonb)')$$),
    (2, $$SELECT * FROM run_sql_once('1', 'debit:v1', 'k', '{"amount": 1}', 'SELECT 1')$$),
    (3, $$SELECT * FROM reserve_request('1', 'debit:v1', 'k', '{"amount": 1}')$$),
    (4, $$SELECT * FROM complete_request('1', 'debit:v1', 'k', '{"amount": 1}')$$),
    (5, $$SELECT * FROM refuse_request('1', 'debit:v1', 'k', '{"amount": 1}')$$),
    (6, $$SELECT * FROM find_request('not an account', 'debit:v1', 'k')$$),
    (7, $$SELECT * FROM find_request('01', 'debit:v1', 'k')$$),
    (8, $$SELECT * FROM find_request('+1', 'debit:v1', 'k')$$),
    (9, $$SELECT * FROM find_request(' 1', 'debit:v1', 'k')$$),
    (10, $$SELECT * FROM find_request('9223372036854775808', 'debit:v1', 'k')$$),
    (11, $$SELECT * FROM abandon_request('x', 'debit:v1', 'k')$$),
    (12, $$SELECT * FROM abandon_request('99', 'debit:v1', 'k')$$),
    (13, $$SELECT * FROM find_request('99', 'debit:v1', 'k')$$),
    (14, $$SELECT * FROM find_request('-9223372036854775808', 'debit:v1', 'k')$$)) AS v (n, statement),
    t.outcome(statement) AS o ORDER BY n;
SELECT count(*) AS payments FROM payment;
SELECT request_key FROM t.kept();
SELECT * FROM t.store();
-- A request with what jsonb cannot hold never comes as far as an effect.
SELECT a.code FROM t.attempt($$SELECT run_once('s', 'pay:v1', 'k', '{"a": "\u0000"}', 'pay(jsonb)')$$) AS a;
SELECT a.code FROM t.attempt($$SELECT run_once('s', 'pay:v1', 'k', '{"a": "\ud800"}', 'pay(jsonb)')$$) AS a;
SELECT a.code FROM t.attempt($$SELECT run_once('s', 'pay:v1', 'k', '{"a": 1', 'pay(jsonb)')$$) AS a;
SELECT count(*) AS payments FROM payment;
-- The longest and oddest that is allowed.
SELECT n, o.state FROM (VALUES
    (1, repeat('s', 255), 'pay:v1', repeat('k', 255)), (2, 'ß', '0:v0', ' '), (3, ' s ', 'a.b-c_d:v00', E'\t'),
    (4, '*', 'pay:v1', '''"\'), (5, 'pay:v1', 'pay:v1', 'pay:v1'), (6, U&'\00A0', 'pay:v1', U&'\200b')) AS v (n, s, o, k),
    run_once(s, o, k, '{"amount": 1}', 'pay(jsonb)') AS o ORDER BY n;
