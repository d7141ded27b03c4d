\set account random(1, :accounts)
SELECT response FROM request_result WHERE account_id = :account AND operation = :operation AND request_key = :seeded;
