\set account random(1, :accounts)
SELECT effect.take(jsonb_build_object('account_id', :account::bigint, 'amount', :amount::bigint));
