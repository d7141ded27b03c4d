-- A first call debits; every retry gets the first reply and changes nothing.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;
INSERT INTO account VALUES (1, 1000), (2, 500);

SELECT debit_once(1, 'checkout-42', 100);
SELECT debit_once(1, 'checkout-42', 100);
SELECT debit_once(account_id => 1, request_key => 'checkout-42', amount => 100);
SELECT * FROM t.store();

-- What is kept: the identity, the normalised request, the reply, the time.
SELECT account_id, operation, request_key, request, response,
       created_at <= clock_timestamp() AS created_before_now
  FROM request_result;

-- debit_request is the same operation, and says whether it was replayed.
SELECT * FROM debit_request(1, 'checkout-42', 100) \gdesc
SELECT state, replayed, response, http_status, sqlstate, message, detail, hint
  FROM debit_request(1, 'checkout-42', 100);
SELECT state, replayed, response, http_status, num_nulls(sqlstate, message, detail, hint),
       created_at, completed_at
  FROM debit_request(1, 'checkout-43', 50) \gset first_
\echo :first_state :first_replayed :first_response :first_http_status :first_num_nulls
SELECT replayed, response,
       created_at = :'first_created_at' AS same_created_at,
       completed_at = :'first_completed_at' AS same_completed_at,
       completed_at >= created_at AS completed_after_created
  FROM debit_request(1, 'checkout-43', 50);
SELECT debit_once(1, 'checkout-43', 50);

-- The first reply is kept, however the balance moves: k1, k2, k1 again.
SELECT debit_once(1, 'k1', 10);
SELECT debit_once(1, 'k2', 10);
SELECT debit_once(1, 'k1', 10);
UPDATE account SET balance = 7 WHERE account_id = 1;
SELECT debit_once(1, 'k1', 10);
SELECT debit_once(1, 'k2', 10);

-- The key belongs to the account: the same one on another account is another request.
SELECT debit_once(2, 'k1', 10);
SELECT debit_once(2, 'k1', 10);
SELECT * FROM t.store();
