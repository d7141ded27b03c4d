\set account random(1, :accounts)
\set key random(1000000000000000000, 9000000000000000000)
SELECT replayed, response FROM run_sql_once(:account, :operation, :key, jsonb_build_object('account_id', :account::bigint, 'amount', :amount::bigint), 'UPDATE effect.account SET balance = balance - ($1 ->> ''amount'')::bigint WHERE account_id = ($1 ->> ''account_id'')::bigint RETURNING jsonb_build_object(''balance'', balance)');
