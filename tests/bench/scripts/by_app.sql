\set account random(1, :accounts)
\set key random(1000000000000000000, 9000000000000000000)
BEGIN;
INSERT INTO by_app.request_result (account_id, operation, request_key, request, response) VALUES (:account, :operation, :key, jsonb_build_object('amount', :amount::bigint), 'null') ON CONFLICT DO NOTHING;
UPDATE by_app.account SET balance = balance - :amount WHERE account_id = :account RETURNING balance \gset
UPDATE by_app.request_result SET response = jsonb_build_object('balance', :balance::bigint) WHERE account_id = :account AND operation = :operation AND request_key = :key;
COMMIT;
