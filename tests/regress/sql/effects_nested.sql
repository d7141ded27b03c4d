-- Effects that call the extension: other keys work at any nesting, the same key fails at once.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\set helper :regress '/sql/helpers/effects.psql'
\i :helper
CREATE EXTENSION idempotency;
\pset null '(null)'
INSERT INTO account VALUES (1, 1000), (2, 1000);

CREATE FUNCTION order_it(request jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    paid jsonb := (SELECT response FROM run_once('shop', 'pay:v1', request ->> 'key', request, 'pay(jsonb)'));
    debited jsonb := debit_once(1, request ->> 'key', 10);
    credited bigint := consume_once('shop', lpad(request ->> 'key', 32, '0')::uuid, 2, 3);
BEGIN
    RETURN jsonb_build_object('paid', paid, 'debited', debited, 'credited', credited);
END $$;
SELECT replayed, response FROM run_once('shop', 'order:v1', '1', '{"key": "1", "amount": 5}', 'order_it(jsonb)');
SELECT replayed, response FROM run_once('shop', 'order:v1', '1', '{"key": "1", "amount": 5}', 'order_it(jsonb)');
-- The inner keys are keys like any other.
SELECT replayed, response FROM run_once('shop', 'pay:v1', '1', '{"key": "1", "amount": 5}', 'pay(jsonb)');
SELECT replayed, response FROM debit_request(1, '1', 10);
-- Another order with the inner keys of the first: they are replayed within it.
SELECT replayed, response FROM run_once('shop', 'order:v1', '2', '{"key": "1", "amount": 5}', 'order_it(jsonb)');
-- An inner mismatch undoes the outer call.
SELECT o.code, o.reason FROM t.outcome($$SELECT * FROM run_once('shop', 'order:v1', '3', '{"key": "1", "amount": 6}', 'order_it(jsonb)')$$) AS o;
SELECT * FROM t.store();
SELECT request_key, state, response FROM t.kept();

-- The outer effect fails after the inner calls: all of it is undone.
CREATE FUNCTION order_and_fail(request jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    PERFORM order_it(request);
    RAISE EXCEPTION 'failed';
END $$;
SELECT o.code, o.message FROM t.outcome($$SELECT * FROM run_once('shop', 'order:v1', '4', '{"key": "4", "amount": 6}', 'order_and_fail(jsonb)')$$) AS o;
SELECT * FROM t.store();
SELECT count(*) FROM idempotency_record;
SELECT replayed FROM run_once('shop', 'order:v1', '4', '{"key": "4", "amount": 6}', 'order_it(jsonb)');

-- The inner call fails, and the outer effect goes on without it.
CREATE FUNCTION order_or_else(request jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    BEGIN
        PERFORM run_once('shop', 'pay:v1', 'else', request || '{"raise": "P0001"}', 'pay(jsonb)');
    EXCEPTION WHEN raise_exception THEN
        PERFORM run_once('shop', 'pay:v1', 'else', request, 'pay(jsonb)');
    END;
    RETURN (SELECT to_jsonb(r) FROM current_request() AS r);
END $$;
SELECT replayed, response FROM run_once('shop', 'order:v1', 'else', '{"amount": 8}', 'order_or_else(jsonb)');
SELECT count(*) FROM payment WHERE amount = 8;

-- Twenty deep.
CREATE FUNCTION deeper(request jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    depth int := (request ->> 'depth')::int;
BEGIN
    IF depth = 20 THEN
        RETURN jsonb_build_array(depth);
    END IF;
    RETURN jsonb_build_array(depth) || (SELECT response FROM run_once('shop', 'deep:v1', (depth + 1)::text,
                        jsonb_build_object('depth', depth + 1), 'deeper(jsonb)'))
                 || (SELECT to_jsonb(request_key) FROM current_request());
END $$;
SELECT replayed, response FROM run_once('shop', 'deep:v1', '1', '{"depth": 1}', 'deeper(jsonb)');
SELECT replayed, response FROM run_once('shop', 'deep:v1', '18', '{"depth": 18}', 'deeper(jsonb)');
SELECT count(*) FROM idempotency_record WHERE operation = 'deep:v1';

-- The same key within its own effect: 55000 at once, by every door that could wait or run.
CREATE FUNCTION calls(request jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pay('{"amount": 1000}');
    EXECUTE request ->> 'call';
    RETURN '"called"';
END $$;
SET statement_timeout = '10s';
SELECT call, o.code, o.reason, o.message FROM (VALUES
    (1, $$SELECT run_once('s', 'own:v1', 'k', '{}', 'pay(jsonb)')$$),
    (2, $$SELECT run_once('s', 'own:v1', 'k', '{}', 'calls(jsonb)', 200, '0')$$),
    (3, $$SELECT run_sql_once('s', 'own:v1', 'k', '{}', 'SELECT 1')$$),
    (4, $$SELECT reserve_request('s', 'own:v1', 'k', '{}')$$),
    (5, $$SELECT reserve_request('s', 'own:v1', 'k', '{}', '1 s')$$),
    (6, $$SELECT complete_request('s', 'own:v1', 'k', '{}')$$),
    (7, $$SELECT complete_request('{}')$$),
    (8, $$SELECT refuse_request('s', 'own:v1', 'k', '{}')$$),
    (9, $$SELECT abandon_request('s', 'own:v1', 'k')$$)) AS v (n, call),
       t.outcome(format($$SELECT * FROM run_once('s', 'own:v1', 'k', %L, 'calls(jsonb)')$$,
                        jsonb_build_object('call', call))) AS o
 ORDER BY n;
-- With another key's effect between the two.
SELECT o.code, o.reason
  FROM t.outcome(format($$SELECT * FROM run_once('s', 'own:v1', 'k', %L, 'calls(jsonb)')$$,
           jsonb_build_object('call', format($$SELECT run_once('s', 'between:v1', 'k', %L, 'calls(jsonb)')$$,
               jsonb_build_object('call', $$SELECT run_once('s', 'own:v1', 'k', '{}', 'pay(jsonb)')$$))))) AS o;
SELECT count(*) FROM payment WHERE amount = 1000;
SELECT count(*) FROM find_request('s', 'own:v1', 'k');
-- Caught by the effect, it may go on; find_request only reads.
CREATE FUNCTION catches(request jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    found text := (SELECT state FROM find_request('s', 'own:v1', 'caught'));
BEGIN
    BEGIN
        PERFORM run_once('s', 'own:v1', 'caught', request, 'pay(jsonb)');
    EXCEPTION WHEN object_not_in_prerequisite_state THEN
        RETURN jsonb_build_object('caught', SQLSTATE, 'found', found);
    END;
    RETURN '"not refused"';
END $$;
SELECT state, replayed, response FROM run_once('s', 'own:v1', 'caught', '{}', 'catches(jsonb)');
SELECT state, replayed, response FROM run_once('s', 'own:v1', 'caught', '{}', 'catches(jsonb)');
-- By a trigger on the effect's table.
CREATE FUNCTION again() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM run_once('s', 'own:v1', 'trigger', '{"amount": 5000}', 'pay(jsonb)');
    RETURN NEW;
END $$;
CREATE TRIGGER again AFTER INSERT ON payment FOR EACH ROW WHEN (NEW.amount = 5000) EXECUTE FUNCTION again();
SELECT o.code, o.reason FROM t.outcome($$SELECT * FROM run_once('s', 'own:v1', 'trigger', '{"amount": 5000}', 'pay(jsonb)')$$) AS o;
SELECT o.code, o.reason FROM t.outcome($$SELECT * FROM run_sql_once('s', 'own:v1', 'trigger', '{"amount": 5000}',
    'INSERT INTO payment (amount) VALUES (5000)')$$) AS o;
DROP TRIGGER again ON payment;
-- A debit and a consumption, by a trigger on account.
CREATE FUNCTION debit_again() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    PERFORM debit_once(1, 'own', 5);
    RETURN NEW;
END $$;
CREATE FUNCTION consume_again() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    PERFORM consume_once('s', '00000000-0000-0000-0000-0000000000bb', 1, 5);
    RETURN NEW;
END $$;
CREATE TRIGGER debit_again AFTER UPDATE ON account FOR EACH ROW EXECUTE FUNCTION debit_again();
SELECT a.code, a.reason FROM t.attempt($$SELECT debit_once(1, 'own', 5)$$) AS a;
SELECT a.code, a.reason FROM t.attempt($$SELECT debit_once(1, 'own', 6)$$) AS a;
DROP TRIGGER debit_again ON account;
CREATE FUNCTION ask_again() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    RAISE NOTICE 'found: %', (SELECT state FROM find_request('1', 'debit:v1', 'own'));
    PERFORM abandon_request('1', 'debit:v1', 'own');
    RETURN NEW;
END $$;
CREATE TRIGGER ask_again AFTER UPDATE ON account FOR EACH ROW EXECUTE FUNCTION ask_again();
SELECT a.code, a.reason FROM t.attempt($$SELECT debit_once(1, 'own', 5)$$) AS a;
DROP TRIGGER ask_again ON account;
CREATE TRIGGER consume_again BEFORE UPDATE ON account FOR EACH ROW EXECUTE FUNCTION consume_again();
SELECT a.code, a.reason FROM t.attempt($$SELECT consume_once('s', '00000000-0000-0000-0000-0000000000bb', 1, 5)$$) AS a;
SELECT a.code, a.reason FROM t.attempt($$SELECT consume_once('s', '00000000-0000-0000-0000-0000000000bb', 1, 6)$$) AS a;
DROP TRIGGER consume_again ON account;
SELECT * FROM t.store();
SELECT debit_once(1, 'own', 5);
SELECT consume_once('s', '00000000-0000-0000-0000-0000000000bb', 1, 5);

-- Many keys in one statement and in one transaction; each call stands for itself.
CREATE FUNCTION is_one(jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '1'::jsonb $$;
BEGIN;
SELECT count(*) FILTER (WHERE NOT o.replayed) AS performed, count(*) FILTER (WHERE o.replayed) AS replayed
  FROM generate_series(1, 500) AS n, run_once('s', 'many:v1', (n % 250)::text, to_jsonb(n % 250), 'is_one(jsonb)') AS o;
SAVEPOINT a;
SELECT count(*) FILTER (WHERE NOT o.replayed) AS performed, count(*) FILTER (WHERE o.replayed) AS replayed
  FROM generate_series(200, 299) AS n, run_once('s', 'many:v1', n::text, to_jsonb(n), 'is_one(jsonb)') AS o;
ROLLBACK TO a;
COMMIT;
SELECT count(*) FROM idempotency_record WHERE operation = 'many:v1';
