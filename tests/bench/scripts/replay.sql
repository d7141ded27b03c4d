\set account random(1, :accounts)
SELECT debit_once(:account, :seeded, :amount);
