\set account random(1, :accounts)
\set key random(1000000000000000000, 9000000000000000000)
SELECT by_hand.debit_once(:account, :key, :amount);
