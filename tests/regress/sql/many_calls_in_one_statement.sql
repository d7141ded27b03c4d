-- Many calls in one statement, in nested savepoints and in PL/pgSQL exception blocks; and replies that
-- stay exact while the balance moves by other hands in the same transaction.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;
\pset null '(null)'
INSERT INTO account VALUES (1, 100000), (2, 5), (3, 0);
-- Each of many calls sees what those before it have done.
SELECT count(*), count(DISTINCT reply), min((reply ->> 'balance')::int), max((reply ->> 'balance')::int)
  FROM (SELECT debit_once(1, 'k' || n, 1) AS reply FROM generate_series(1, 5000) AS n) AS r;
SELECT count(*), count(DISTINCT reply), min((reply ->> 'balance')::int), max((reply ->> 'balance')::int)
  FROM (SELECT debit_once(1, 'k' || n, 1) AS reply FROM generate_series(1, 5000) AS n) AS r;
SELECT bool_and(response = jsonb_build_object('balance', 100000 - substr(request_key, 2)::int)) AS each_exact FROM request_result;
-- The same key over and over in one statement: one effect.
SELECT DISTINCT debit_once(1, 'same', 1) FROM generate_series(1, 1000) AS n;
SELECT count(consume_once('s', md5('same')::uuid, 1, 1)) FROM generate_series(1, 1000) AS n;
SELECT replayed, count(*) FROM generate_series(1, 1000) AS n, debit_request(1, left('same 2' || n, 6), 1) GROUP BY replayed ORDER BY replayed;
SELECT replayed, count(*) FROM generate_series(1, 1000) AS n, run_sql_once('s', 'test:v1', left('same' || n, 4), '{}', 'SELECT 7') GROUP BY replayed ORDER BY replayed;
-- Doors mixed in one row: debit, credit, debit.
SELECT n, debit_once(1, 'a' || n, 10) ->> 'balance' AS first, consume_once('mixed', md5(n::text)::uuid, 1, 3) AS second,
       debit_once(1, 'b' || n, 1) ->> 'balance' AS third FROM generate_series(1, 4) AS n;
-- In a WITH, a CASE, an aggregate, an INSERT's source and an UPDATE's condition.
WITH first AS MATERIALIZED (SELECT debit_once(1, 'with', 1) AS reply), again AS MATERIALIZED (SELECT debit_once(1, 'with', 1) AS reply FROM first)
SELECT first.reply = again.reply AS equal FROM first, again;
CREATE TABLE replies (key text, reply jsonb);
INSERT INTO replies SELECT key, debit_once(1, key, 1) FROM unnest('{i1,i2,i1,i3,i2}'::text[]) AS key;
SELECT key, count(*), count(DISTINCT reply) FROM replies GROUP BY key ORDER BY key;
UPDATE replies SET reply = debit_once(1, key, 1) WHERE debit_once(1, key, 1) = reply;
SELECT key, count(*), count(DISTINCT reply) FROM replies GROUP BY key ORDER BY key;
-- One that fails undoes the statement as a whole.
SELECT count(debit_once(2, 'f' || n, 1)) FROM generate_series(1, 6) AS n;
SELECT count(*) FROM request_result WHERE account_id = 2;
SELECT count(debit_once(2, 'f' || n, 1)) FROM generate_series(1, 5) AS n;

-- PL/pgSQL exception blocks: each a savepoint of its own; those that fail leave nothing.
CREATE FUNCTION t.each(calls int) RETURNS TABLE (outcome text, calls_of_it bigint) LANGUAGE plpgsql AS $$
DECLARE
    outcomes text[];
BEGIN
    FOR n IN 1..calls LOOP
        BEGIN
            PERFORM debit_once(1, 'e' || n, 2);
            IF n % 3 = 0 THEN
                RAISE EXCEPTION USING ERRCODE = 'P0002';
            ELSIF n % 3 = 1 THEN
                BEGIN
                    PERFORM debit_once(1, 'e' || n, 3);
                EXCEPTION WHEN invalid_parameter_value THEN
                    PERFORM debit_once(1, 'inner ' || n, 1);
                END;
            END IF;
            outcomes := array_append(outcomes, 'done');
        EXCEPTION WHEN OTHERS THEN
            outcomes := array_append(outcomes, SQLSTATE);
        END;
    END LOOP;
    RETURN QUERY SELECT o, count(*) FROM unnest(outcomes) AS o GROUP BY o ORDER BY o;
END $$;
SELECT balance FROM account WHERE account_id = 1 \gset before_
SELECT * FROM t.each(300);
SELECT count(*) FILTER (WHERE request_key ~ '^e') AS done, count(*) FILTER (WHERE request_key ~ '^inner') AS inner
  FROM request_result WHERE request_key ~ '^(e|inner )[0-9]+$';
SELECT :before_balance - balance AS taken FROM account WHERE account_id = 1;
SELECT * FROM t.each(300);
SELECT :before_balance - balance AS taken FROM account WHERE account_id = 1;

-- Savepoints: what is rolled back is free again, what is released stays, however deep.
BEGIN;
SELECT debit_once(1, 's1', 1) - 'balance' AS called;
SAVEPOINT a;
SELECT debit_once(1, 's2', 1) - 'balance' AS called;
SAVEPOINT b;
SELECT debit_once(1, 's3', 1) - 'balance' AS called;
RELEASE b;
SAVEPOINT c;
SELECT debit_once(1, 's4', 1) - 'balance' AS called;
ROLLBACK TO c;
SELECT replayed FROM debit_request(1, 's2', 1);
SELECT replayed FROM debit_request(1, 's3', 1);
SELECT replayed FROM debit_request(1, 's4', 1);
ROLLBACK TO a;
SELECT replayed FROM debit_request(1, 's1', 1);
SELECT replayed FROM debit_request(1, 's2', 1);
SELECT replayed FROM debit_request(1, 's2', 1);
COMMIT;
SELECT string_agg(request_key, ' ' ORDER BY request_key) FROM request_result WHERE request_key ~ '^s[0-9]$';

-- The balance moves by other hands between calls, and within one statement: a reply tells what its own
-- debit left, and keeps telling it.
CREATE FUNCTION t.move(amount bigint) RETURNS bigint LANGUAGE sql VOLATILE AS
    'UPDATE account SET balance = balance + amount WHERE account_id = 3 RETURNING balance';
BEGIN;
SELECT t.move(100);
SELECT debit_once(3, 'm1', 10);
SELECT t.move(7);
SELECT debit_once(3, 'm2', 10);
SELECT debit_once(3, 'm1', 10) AS first, t.move(-50) AS moved, debit_once(3, 'm3', 10) AS second, t.move(1000) AS again, debit_once(3, 'm4', 10) AS third;
SAVEPOINT s;
SELECT t.move(5000), debit_once(3, 'm5', 10);
ROLLBACK TO s;
SELECT debit_once(3, 'm5', 10), consume_once('s', md5('m5')::uuid, 3, 1), debit_once(3, 'm6', 10);
DELETE FROM request_result WHERE request_key = 'm5';
SELECT debit_once(3, 'm5', 10);
COMMIT;
-- Also where a WITH moves it, or makes the account, or the record.
WITH w AS (UPDATE account SET balance = balance + 1 WHERE account_id = 3 RETURNING account_id)
SELECT debit_once(account_id, 'm7', 10) FROM w;
WITH w AS (UPDATE account SET balance = balance + 1 WHERE account_id = 3 RETURNING account_id)
SELECT consume_once('s', md5('m7')::uuid, account_id, 10) FROM w;
WITH w AS (INSERT INTO account VALUES (4, 100) RETURNING account_id)
SELECT debit_once(account_id, 'm1', 10), debit_once(account_id, 'm2', 10) FROM w;
WITH w AS (INSERT INTO request_result VALUES (4, 'debit:v1', 'm3', '{"amount": 10}', '{"balance": 7}') RETURNING account_id)
SELECT debit_once(account_id, 'm3', 10) FROM w;
WITH w AS (DELETE FROM request_result WHERE account_id = 4 AND request_key = 'm3' RETURNING account_id)
SELECT debit_once(account_id, 'm3', 10) FROM w;
WITH w AS (INSERT INTO idempotency_record (scope, operation, request_key, state, request, response, http_status, completed_at)
           VALUES ('s', 'test:v1', 'with', 'completed', '{}', '8', 200, now()) RETURNING request_key)
SELECT state, replayed, response FROM w, run_sql_once('s', 'test:v1', request_key, '{}', 'SELECT 7');
SELECT request_key, response, debit_once(3, request_key, 10) = response AS replayed FROM request_result WHERE account_id = 3 ORDER BY created_at;
TABLE account ORDER BY account_id;
-- An effect moves the balance that a debit inside of it takes from, before and after.
CREATE FUNCTION t.effect(request jsonb) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_array(t.move(1), debit_once(3, 'in effect', 2), t.move(1), debit_once(3, 'in effect', 2))
$$;
SELECT response FROM run_once('s', 'test:v1', 'effect', '{}', 't.effect(jsonb)');
SELECT response FROM run_once('s', 'test:v1', 'effect', '{}', 't.effect(jsonb)');
-- A cursor that is open over the account while it is debited sees what it saw.
BEGIN;
DECLARE over CURSOR FOR SELECT balance FROM account WHERE account_id = 3;
SELECT debit_once(3, 'cursor', 5);
FETCH over;
SELECT debit_once(3, 'cursor 2', 5);
COMMIT;
-- As a prepared statement, by a plan that is kept.
PREPARE debit(text) AS SELECT debit_once(1, $1, 1) ->> 'balance' IS NOT NULL AS replied;
EXECUTE debit('p1');
EXECUTE debit('p1');
SET plan_cache_mode = force_generic_plan;
EXECUTE debit('p1');
EXECUTE debit('p2');
RESET plan_cache_mode;
SELECT sum((request ->> 'amount')::bigint) + (SELECT balance FROM account WHERE account_id = 1)
       - (SELECT sum(amount) FROM processed_message WHERE account_id = 1) AS conserved FROM request_result WHERE account_id = 1;
