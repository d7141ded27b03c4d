\set account random(1, :accounts)
\set key random(1000000000000000000, 9000000000000000000)
SELECT replayed, response FROM run_once(:account, :operation, :key, jsonb_build_object('account_id', :account::bigint, 'amount', :amount::bigint), 'effect.take(jsonb)');
