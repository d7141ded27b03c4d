\set account random(1, :accounts)
SELECT by_hand.debit_once(:account, :seeded, :amount);
