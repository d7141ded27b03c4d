\set account random(1, :accounts)
UPDATE bare.account SET balance = balance - :amount WHERE account_id = :account RETURNING balance;
