-- Triggers of the DBA's own fire once a call, and what they change is what the reply says.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;
INSERT INTO account VALUES (1, 1000), (2, 0);
CREATE TABLE journal (n bigint GENERATED ALWAYS AS IDENTITY, event text);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO journal (event)
    VALUES (concat_ws(' ', TG_TABLE_NAME, TG_WHEN, TG_OP,
        (to_jsonb(OLD) ->> 'balance') || ' -> ' || (to_jsonb(NEW) ->> 'balance')));
    RETURN NEW;
END $$;
CREATE TRIGGER note_account AFTER UPDATE ON account FOR EACH ROW EXECUTE FUNCTION note();
CREATE TRIGGER note_record AFTER INSERT ON request_result FOR EACH ROW EXECUTE FUNCTION note();
CREATE TRIGGER note_message AFTER INSERT ON processed_message FOR EACH ROW EXECUTE FUNCTION note();

SELECT debit_once(1, 'k', 100);
SELECT debit_once(1, 'k', 100);
SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 2, 5);
SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 2, 5) IS NULL AS redelivery;
SELECT a.code FROM t.attempt($$SELECT debit_once(2, 'k', 100)$$) AS a;
SELECT event, count(*) FROM journal GROUP BY event ORDER BY event;

-- A trigger that changes the balance: the reply tells what the account holds.
CREATE FUNCTION take_a_fee() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.balance := NEW.balance - 1;
    RETURN NEW;
END $$;
CREATE TRIGGER a_fee BEFORE UPDATE ON account FOR EACH ROW EXECUTE FUNCTION take_a_fee();
SELECT debit_once(1, 'k2', 100);
SELECT debit_once(1, 'k2', 100);
SELECT consume_once('s', '00000000-0000-0000-0000-000000000002', 2, 5);
SELECT * FROM t.store();
DROP TRIGGER a_fee ON account;

-- A trigger on account that debits another account, under a key of its own.
CREATE FUNCTION debit_the_house() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM debit_once(2, 'house ' || NEW.balance, 1);
    RETURN NEW;
END $$;
CREATE TRIGGER house AFTER UPDATE ON account FOR EACH ROW WHEN (NEW.account_id = 1)
    EXECUTE FUNCTION debit_the_house();
SELECT debit_once(1, 'k3', 100);
SELECT debit_once(1, 'k3', 100);
SELECT * FROM t.store();
-- The inner call is refused: the outer one is undone with it.
UPDATE account SET balance = 0 WHERE account_id = 2;
SELECT a.code, a.reason FROM t.attempt($$SELECT debit_once(1, 'k4', 100)$$) AS a;
SELECT * FROM t.store();
DROP TRIGGER house ON account;
SELECT debit_once(1, 'k4', 100);

-- The same key inside its own effect: refused at once, and the outer call with it.
CREATE FUNCTION call_again() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM debit_once(1, 'k5', 100);
    PERFORM consume_once('s', '00000000-0000-0000-0000-000000000005', 1, 5);
    RETURN NEW;
END $$;
CREATE TRIGGER again AFTER UPDATE ON account FOR EACH ROW EXECUTE FUNCTION call_again();
SELECT a.result, a.code, a.reason FROM t.attempt($$SELECT debit_once(1, 'k5', 100)$$) AS a;
SELECT a.result, a.code, a.reason
  FROM t.attempt($$SELECT consume_once('s', '00000000-0000-0000-0000-000000000005', 1, 5)$$) AS a;
DROP TRIGGER again ON account;
SELECT * FROM t.store();

-- A trigger that suppresses the effect: an error, not a reply about something that did not happen.
CREATE FUNCTION suppress() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER z_suppress BEFORE UPDATE ON account FOR EACH ROW EXECUTE FUNCTION suppress();
SELECT a.result, a.code, a.hint <> '' AS hinted
  FROM t.attempt($$SELECT debit_once(1, 'k5', 100)$$) AS a;
SELECT a.result, a.code, a.hint <> '' AS hinted
  FROM t.attempt($$SELECT consume_once('s', '00000000-0000-0000-0000-000000000005', 1, 5)$$) AS a;
DROP TRIGGER z_suppress ON account;
SELECT * FROM t.store();

-- A trigger that declines the record: nobody may execute, and nobody is answered NULL.
CREATE FUNCTION decline() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER a_decline BEFORE INSERT ON request_result FOR EACH ROW EXECUTE FUNCTION decline();
CREATE TRIGGER a_decline BEFORE INSERT ON processed_message FOR EACH ROW
    EXECUTE FUNCTION decline();
SELECT a.result, a.code FROM t.attempt($$SELECT debit_once(1, 'k5', 100)$$) AS a;
SELECT a.result, a.code FROM t.attempt($$SELECT replayed FROM debit_request(1, 'k5', 100)$$) AS a;
SELECT a.result, a.code
  FROM t.attempt($$SELECT consume_once('s', '00000000-0000-0000-0000-000000000005', 1, 5)$$) AS a;
SELECT debit_once(1, 'k4', 100);
SELECT * FROM t.store();
