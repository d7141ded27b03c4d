-- A message is applied at its first delivery; a redelivery answers NULL and changes nothing.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;
INSERT INTO account VALUES (1, 900), (2, 0);
\pset null '(null)'
\set m1 '00000000-0000-0000-0000-000000000001'
\set m2 '00000000-0000-0000-0000-000000000002'
\set m3 '00000000-0000-0000-0000-000000000003'

SELECT consume_once('billing', :'m1', 1, 50, '{"type": "refund"}');
SELECT consume_once('billing', :'m1', 1, 50, '{"type": "refund"}');
SELECT consume_once(subscriber => 'billing', message_id => :'m1', account_id => 1, amount => 50,
                    message => '{"type": "refund"}');
SELECT * FROM t.store();
SELECT subscriber, message_id, account_id, amount, message,
       processed_at <= clock_timestamp() AS processed_before_now
  FROM processed_message;

-- Without a message.
SELECT consume_once('billing', :'m2', 2, 5);
SELECT consume_once('billing', :'m2', 2, 5);
SELECT consume_once('billing', :'m2', 2, 5, NULL);

-- A redelivery stays one when the balance has moved since.
UPDATE account SET balance = 0 WHERE account_id = 1;
SELECT consume_once('billing', :'m1', 1, 50, '{"type": "refund"}');

-- Each subscriber has its own inbox.
SELECT consume_once('audit', :'m1', 1, 50, '{"type": "refund"}');
SELECT consume_once('audit', :'m1', 1, 50, '{"type": "refund"}');
SELECT consume_once('audit', :'m3', 2, 7);
SELECT * FROM t.store();

-- The same id with another account, amount or message is refused.
SELECT differs, a.result, a.code, a.reason, a.message,
       substring(a.detail FROM 'Differing paths: .*') AS paths
  FROM (VALUES
    (1, 'account', $$SELECT consume_once('billing', '%s', 2, 50, '{"type": "refund"}')$$),
    (2, 'amount', $$SELECT consume_once('billing', '%s', 1, 51, '{"type": "refund"}')$$),
    (3, 'message', $$SELECT consume_once('billing', '%s', 1, 50, '{"type": "fee"}')$$),
    (4, 'message missing', $$SELECT consume_once('billing', '%s', 1, 50)$$),
    (5, 'all', $$SELECT consume_once('billing', '%s', 2, 51, '{"type": "fee"}')$$),
    (6, 'unknown account', $$SELECT consume_once('billing', '%s', 99, 50, '{"type": "refund"}')$$)
    ) AS v (n, differs, statement),
       t.attempt(format(statement, :'m1')) AS a
 ORDER BY n;
SELECT a.result, a.code, a.reason, substring(a.detail FROM 'Differing paths: .*') AS paths
  FROM t.attempt(format($$SELECT consume_once('billing', '%s', 2, 5, '{}')$$, :'m2')) AS a;
SELECT * FROM t.store();

-- A failed first delivery leaves nothing behind and can be delivered again.
SELECT a.code FROM t.attempt(
    $$SELECT consume_once('billing', '00000000-0000-0000-0000-000000000009', 99, 50)$$) AS a;
INSERT INTO account VALUES (99, 0);
SELECT consume_once('billing', '00000000-0000-0000-0000-000000000009', 99, 50);
SELECT consume_once('billing', '00000000-0000-0000-0000-000000000009', 99, 50);
SELECT * FROM t.store();
