-- A set-based consumer that fills processed_message by hand lives beside consume_once.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;
\pset null '(null)'
INSERT INTO account VALUES (1, 100), (2, 0);
CREATE TABLE incoming (message_id uuid, account_id bigint, amount bigint);
INSERT INTO incoming VALUES
    ('00000000-0000-0000-0000-000000000001', 1, 10),
    ('00000000-0000-0000-0000-000000000002', 1, 20),
    ('00000000-0000-0000-0000-000000000003', 2, 30);

-- One message of the batch came by consume_once before.
SELECT consume_once('billing', '00000000-0000-0000-0000-000000000002', 1, 20);

PREPARE consume_batch AS
WITH accepted AS (
    INSERT INTO processed_message
    SELECT 'billing', message_id, account_id FROM incoming
    ON CONFLICT DO NOTHING
    RETURNING message_id, account_id),
credit AS (
    SELECT a.account_id, sum(i.amount)::bigint AS amount
      FROM accepted AS a JOIN incoming AS i USING (message_id)
     GROUP BY a.account_id),
applied AS (
    UPDATE account AS a SET balance = a.balance + c.amount
      FROM credit AS c WHERE c.account_id = a.account_id
    RETURNING a.account_id, c.amount, a.balance)
SELECT * FROM applied ORDER BY account_id;
EXECUTE consume_batch;
EXECUTE consume_batch;
SELECT * FROM t.store();

-- The same with the columns named.
INSERT INTO processed_message (subscriber, message_id, account_id)
VALUES ('billing', '00000000-0000-0000-0000-000000000004', 2) ON CONFLICT DO NOTHING;

-- Afterwards each of these ids is a redelivery.
SELECT consume_once('billing', '00000000-0000-0000-0000-000000000001', 1, 10);
SELECT consume_once('billing', '00000000-0000-0000-0000-000000000002', 1, 20);
SELECT consume_once('billing', '00000000-0000-0000-0000-000000000003', 2, 30);
SELECT consume_once('billing', '00000000-0000-0000-0000-000000000003', 2, 30, '{"kept": "no"}');
SELECT consume_once('billing', '00000000-0000-0000-0000-000000000004', 2, 40);
SELECT a.code, a.reason, substring(a.detail FROM 'Differing paths: .*') AS paths
  FROM t.attempt($$SELECT consume_once('billing', '00000000-0000-0000-0000-000000000003',
                                       1, 30)$$) AS a;
-- Another subscriber has not seen them.
SELECT consume_once('audit', '00000000-0000-0000-0000-000000000003', 2, 30);
SELECT * FROM t.store();
