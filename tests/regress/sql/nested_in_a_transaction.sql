-- Inside a transaction: savepoints, exception blocks, functions, triggers, many calls at once.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;
INSERT INTO account VALUES (1, 1000), (2, 50);

-- The whole transaction rolled back: nothing happened, the key is free.
BEGIN;
SELECT debit_once(1, 'k', 100);
SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 7);
ROLLBACK;
SELECT * FROM t.store();

-- A savepoint rolled back before, around and after a call.
BEGIN;
SAVEPOINT a;
SELECT debit_once(1, 'k', 100);
SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 7);
ROLLBACK TO a;
SELECT * FROM t.store();
SELECT debit_once(1, 'k', 200);
SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 8);
SAVEPOINT b;
SELECT debit_once(1, 'k', 200);
SELECT debit_once(1, 'k2', 1);
ROLLBACK TO b;
SELECT debit_once(1, 'k', 200);
RELEASE a;
COMMIT;
SELECT debit_once(1, 'k', 200);
SELECT a.code, a.reason FROM t.attempt($$SELECT debit_once(1, 'k', 100)$$) AS a;
SELECT replayed FROM debit_request(1, 'k2', 1);
SELECT * FROM t.store();
-- Nested savepoints, released and rolled back.
BEGIN;
SAVEPOINT a;
SAVEPOINT b;
SELECT debit_once(1, 'k3', 1);
RELEASE b;
SAVEPOINT c;
SELECT debit_once(1, 'k4', 1);
RELEASE c;
ROLLBACK TO a;
SELECT replayed FROM debit_request(1, 'k3', 1);
COMMIT;
SELECT replayed FROM debit_request(1, 'k3', 1);
SELECT replayed FROM debit_request(1, 'k4', 1);
SELECT * FROM t.store();

-- An exception block catches a refusal; the key is free and the retry may succeed.
DO $$
DECLARE reply jsonb;
BEGIN
    FOR i IN 1..3 LOOP
        BEGIN
            reply := debit_once(2, 'patient', 120);
            RAISE NOTICE 'attempt %: %', i, reply;
            EXIT;
        EXCEPTION WHEN raise_exception THEN
            RAISE NOTICE 'attempt %: %', i, SQLERRM;
            UPDATE account SET balance = balance + 50 WHERE account_id = 2;
        END;
    END LOOP;
    RAISE NOTICE 'retry: %', debit_once(2, 'patient', 120);
END $$;
SELECT * FROM t.store();
-- A mismatch that is caught leaves the transaction usable and the record as it was.
DO $$
BEGIN
    PERFORM debit_once(2, 'patient', 121);
EXCEPTION WHEN invalid_parameter_value THEN
    RAISE NOTICE '% %', SQLERRM, debit_once(2, 'patient', 120);
END $$;

-- From a function, SQL and PL/pgSQL, with the application's own row in the same transaction.
CREATE TABLE purchase (id text PRIMARY KEY, reply jsonb);
CREATE FUNCTION buy(id text, price bigint) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE reply jsonb := debit_once(1, 'buy ' || id, price);
BEGIN
    INSERT INTO purchase VALUES (id, reply) ON CONFLICT DO NOTHING;
    RETURN reply;
END $$;
CREATE FUNCTION buy_twice(id text) RETURNS SETOF jsonb LANGUAGE sql AS $$
    SELECT buy(id, 5);
    SELECT buy(id, 5)
$$;
SELECT buy('book', 5);
SELECT buy('book', 5);
SELECT buy_twice('pen');
TABLE purchase;
-- From a trigger of the application's own.
CREATE TABLE orders (id int PRIMARY KEY, price bigint);
CREATE FUNCTION pay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM debit_once(1, 'order ' || NEW.id, NEW.price);
    RETURN NEW;
END $$;
CREATE TRIGGER pay BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION pay();
INSERT INTO orders VALUES (1, 10), (2, 20), (3, 30);
INSERT INTO orders VALUES (4, 40) ON CONFLICT DO NOTHING;
INSERT INTO orders VALUES (4, 40) ON CONFLICT DO NOTHING;
INSERT INTO orders VALUES (5, 50000);
SELECT count(*) FROM orders;
SELECT * FROM t.store();

-- In a CTE, a sub-select, a CASE, a LATERAL join, a cursor, a prepared statement.
WITH d AS (SELECT debit_once(1, 'cte', 1) AS reply) SELECT reply FROM d;
SELECT (SELECT debit_once(1, 'cte', 1)) = (SELECT debit_once(1, 'cte', 1)) AS same;
SELECT CASE WHEN false THEN debit_once(1, 'never', 1) END;
SELECT i, r.replayed, r.response
  FROM generate_series(1, 3) AS i, debit_request(1, 'lateral', i - i + 1) AS r;
SELECT state FROM debit_request(1, 'never fetched', 1) LIMIT 0;
BEGIN;
DECLARE c CURSOR FOR SELECT debit_once(1, 'cursor ' || i, 1) FROM generate_series(1, 10) AS i;
FETCH 2 FROM c;
FETCH 1 FROM c;
CLOSE c;
COMMIT;
PREPARE pay AS SELECT debit_once($1, $2, $3);
EXECUTE pay(1, 'prepared', 1);
EXECUTE pay(1, 'prepared', 1);
DO $$
BEGIN
    FOR i IN 1..20 LOOP
        EXECUTE format('EXECUTE pay(1, %L, 1)', 'prepared ' || i % 10);
    END LOOP;
END $$;
SELECT debit_once($1, $2, $3) \bind 1 'extended' 1 \g
SELECT debit_once($1, $2, $3) \bind 1 'extended' 1 \g
SELECT count(*) FROM request_result WHERE request_key LIKE 'prepared%';

-- Many calls in one statement, the same key among them: one effect a key.
SELECT i, debit_once(1, 'many ' || i % 3, 1) FROM generate_series(1, 7) AS i ORDER BY i;
SELECT count(DISTINCT r.response) AS replies, count(*) FILTER (WHERE NOT r.replayed) AS executed
  FROM generate_series(1, 500) AS i, debit_request(1, 'batch ' || i % 50, 1) AS r;
SELECT count(consume_once('s', lpad((100 + i % 50)::text, 32, '0')::uuid, 1, 1)) AS accepted
  FROM generate_series(1, 500) AS i;
-- One bad call in a statement takes the others with it.
SELECT a.code FROM t.attempt(
    $$SELECT count(debit_once(1, 'doomed ' || i, 5 - i)) FROM generate_series(1, 5) AS i$$) AS a;
SELECT count(*) FROM request_result WHERE request_key LIKE 'doomed%';
SELECT * FROM t.store();

-- Each call in a transaction of its own, from a DO block that commits.
DO $$
BEGIN
    FOR i IN 1..4 LOOP
        PERFORM debit_once(1, 'committed ' || i / 2, 1);
        COMMIT;
    END LOOP;
    PERFORM debit_once(1, 'rolled back', 1);
    ROLLBACK;
    PERFORM debit_once(1, 'committed 0', 1);
END $$;
SELECT request_key FROM request_result
 WHERE request_key LIKE 'committed%' OR request_key = 'rolled back' ORDER BY request_key;

-- The account itself made and debited in one transaction.
BEGIN;
INSERT INTO account VALUES (3, 10);
SELECT debit_once(3, 'k', 4);
UPDATE account SET balance = balance + 1 WHERE account_id = 3;
SELECT debit_once(3, 'k2', 4);
SELECT debit_once(3, 'k', 4);
COMMIT;
SELECT * FROM t.store();
