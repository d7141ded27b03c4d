-- reserve_request, then complete_request or refuse_request, in one transaction.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\set helper :regress '/sql/helpers/effects.psql'
\i :helper
CREATE EXTENSION idempotency;
\pset null '(null)'

BEGIN;
SELECT state, replayed, response, http_status, sqlstate, message, detail, hint, created_at IS NOT NULL AS created, completed_at
  FROM reserve_request('shop', 'ship:v1', 'k', '{"n": 1}');
-- Again in the same transaction with an equal request: the same answer; with another, a mismatch.
SELECT state, replayed FROM reserve_request('shop', 'ship:v1', 'k', '{"n": 1.0}');
SELECT o.code, o.reason FROM t.outcome($$SELECT * FROM reserve_request('shop', 'ship:v1', 'k', '{"n": 2}')$$) AS o;
SELECT state, replayed FROM find_request('shop', 'ship:v1', 'k');
SELECT state, replayed, response, http_status, sqlstate, created_at IS NOT NULL AS created, completed_at >= created_at AS ends_after
  FROM complete_request('shop', 'ship:v1', 'k', '{"shipped": true}');
SELECT state, replayed, response, http_status FROM reserve_request('shop', 'ship:v1', 'k', '{"n": 1}');
COMMIT;
SELECT state, replayed, response, http_status FROM reserve_request('shop', 'ship:v1', 'k', '{"n": 1}');
SELECT state, replayed, response, http_status FROM run_once('shop', 'ship:v1', 'k', '{"n": 1}', 'pay(jsonb)');
SELECT o.code, o.reason FROM t.outcome($$SELECT * FROM reserve_request('shop', 'ship:v1', 'k', '{"n": 2}')$$) AS o;
-- What run_once has performed, reserve answers.
SELECT state FROM run_once('shop', 'pay:v1', 'paid', '{"amount": 1}', 'pay(jsonb)');
SELECT state, replayed, response, http_status FROM reserve_request('shop', 'pay:v1', 'paid', '{"amount": 1}');

-- All forms of finishing.
BEGIN;
SELECT state FROM reserve_request('shop', 'ship:v1', 'status', '{}');
SELECT state, response, http_status FROM complete_request('shop', 'ship:v1', 'status', '1', 201);
SELECT state FROM reserve_request('shop', 'ship:v1', 'short', '{}');
SELECT state, response, http_status FROM complete_request('2');
SELECT state FROM reserve_request('shop', 'ship:v1', 'short status', '{}');
SELECT state, response, http_status FROM complete_request('3', 202);
SELECT state FROM reserve_request('shop', 'ship:v1', 'named', '{}');
SELECT state, response, http_status FROM complete_request(response => '4', http_status => 599);
SELECT state FROM reserve_request('shop', 'ship:v1', 'refused', '{}');
SELECT state, response, http_status FROM refuse_request('shop', 'ship:v1', 'refused', '5');
SELECT state FROM reserve_request('shop', 'ship:v1', 'refused status', '{}');
SELECT state, response, http_status FROM refuse_request('shop', 'ship:v1', 'refused status', '6', 100);
SELECT state FROM reserve_request('shop', 'ship:v1', 'null', 'null');
SELECT state, response FROM complete_request('null');
COMMIT;
SELECT request_key, state, request, response, http_status FROM t.kept() WHERE request_key NOT IN ('k', 'paid');
SELECT state, replayed, response, http_status, sqlstate FROM run_once('shop', 'ship:v1', 'refused', '{}', 'pay(jsonb)');

-- Twice: the same reply is harmless, another one is refused, and so is the other way to finish.
BEGIN;
SELECT state FROM reserve_request('shop', 'ship:v1', 'twice', '{}');
SELECT state, replayed, response, http_status FROM complete_request('shop', 'ship:v1', 'twice', '{"a": 1, "b": 2}');
SELECT state, replayed, response, http_status FROM complete_request('shop', 'ship:v1', 'twice', '{"b": 2.0, "a": 1}');
SELECT o.code, o.reason FROM t.outcome($$SELECT * FROM complete_request('shop', 'ship:v1', 'twice', '{"a": 2}')$$) AS o;
SELECT o.code, o.reason FROM t.outcome($$SELECT * FROM complete_request('shop', 'ship:v1', 'twice', '{"a": 1, "b": 2}', 201)$$) AS o;
SELECT o.code, o.reason FROM t.outcome($$SELECT * FROM refuse_request('shop', 'ship:v1', 'twice', '{"a": 1, "b": 2}', 200)$$) AS o;
SELECT o.code, o.reason FROM t.outcome($$SELECT * FROM complete_request('{"a": 1, "b": 2}')$$) AS o;
COMMIT;
SELECT response, http_status FROM find_request('shop', 'ship:v1', 'twice');
BEGIN;
SELECT state FROM reserve_request('shop', 'ship:v1', 'refused twice', '{}');
SELECT state, replayed FROM refuse_request('shop', 'ship:v1', 'refused twice', '1');
SELECT state, replayed FROM refuse_request('shop', 'ship:v1', 'refused twice', '1');
SELECT o.code, o.reason FROM t.outcome($$SELECT * FROM refuse_request('shop', 'ship:v1', 'refused twice', '2')$$) AS o;
SELECT o.code, o.reason FROM t.outcome($$SELECT * FROM complete_request('shop', 'ship:v1', 'refused twice', '1', 422)$$) AS o;
COMMIT;

-- What nobody, or another transaction, has reserved.
SELECT n, o.code, o.reason FROM (VALUES
    (1, $$SELECT * FROM complete_request('shop', 'ship:v1', 'nobody', '1')$$),
    (2, $$SELECT * FROM refuse_request('shop', 'ship:v1', 'nobody', '1')$$),
    (3, $$SELECT * FROM complete_request('shop', 'ship:v1', 'k', '{"shipped": true}')$$),
    (4, $$SELECT * FROM complete_request('shop', 'ship:v1', 'k', '{"shipped": false}')$$),
    (5, $$SELECT * FROM refuse_request('shop', 'ship:v1', 'refused', '5')$$),
    (6, $$SELECT * FROM complete_request('shop', 'pay:v1', 'paid', '{"paid": 1}')$$)) AS v (n, statement),
    t.outcome(statement) AS o ORDER BY n;
BEGIN;
SELECT replayed FROM run_once('shop', 'pay:v1', 'own', '{"amount": 1}', 'pay(jsonb)');
SELECT o.code, o.reason FROM t.outcome($$SELECT * FROM complete_request('shop', 'pay:v1', 'own', '{"paid": 1}')$$) AS o;
-- A replay is no reservation.
SELECT state FROM reserve_request('shop', 'ship:v1', 'k', '{"n": 1}');
SELECT o.code, o.reason FROM t.outcome($$SELECT * FROM complete_request('{}')$$) AS o;
COMMIT;
-- The short form: exactly one must be open.
BEGIN;
SELECT o.code, o.reason, o.message FROM t.outcome($$SELECT * FROM complete_request('{}')$$) AS o;
SELECT a.detail, a.hint FROM t.attempt($$SELECT complete_request('{}')$$) AS a;
SELECT state FROM reserve_request('shop', 'ship:v1', 'one', '{}');
SELECT state FROM reserve_request('shop', 'ship:v1', 'two', '{}');
SELECT a.code, a.reason, a.detail, a.hint FROM t.attempt($$SELECT complete_request('{}')$$) AS a;
SELECT state, response FROM complete_request('shop', 'ship:v1', 'one', '"one"');
SELECT state, response FROM complete_request('"two"');
SELECT o.code FROM t.outcome($$SELECT * FROM complete_request('{}')$$) AS o;
COMMIT;
SELECT request_key, response FROM t.kept() WHERE request_key IN ('one', 'two');
-- A reservation within an effect belongs to the transaction; the short form means it, not the effect.
CREATE FUNCTION reserves(request jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    PERFORM reserve_request('shop', 'ship:v1', request ->> 'key', '{}');
    IF request ? 'reply' THEN
        PERFORM complete_request(request -> 'reply');
    END IF;
    RETURN '"ran"';
END $$;
SELECT state, response FROM run_once('shop', 'order:v1', 'reserves', '{"key": "within", "reply": 1}', 'reserves(jsonb)');
SELECT state, response FROM find_request('shop', 'ship:v1', 'within');
BEGIN;
SELECT state FROM run_once('shop', 'order:v1', 'leaves open', '{"key": "left"}', 'reserves(jsonb)');
SELECT state FROM find_request('shop', 'ship:v1', 'left');
SELECT state FROM complete_request('2');
COMMIT;
SELECT state, response FROM find_request('shop', 'ship:v1', 'left');
-- run_once on a key that this transaction has reserved: at once, and the reservation stays.
BEGIN;
SELECT state FROM reserve_request('shop', 'pay:v1', 'both', '{"amount": 1}');
SELECT o.code, o.reason FROM t.outcome($$SELECT * FROM run_once('shop', 'pay:v1', 'both', '{"amount": 1}', 'pay(jsonb)')$$) AS o;
SELECT o.code, o.reason FROM t.outcome($$SELECT * FROM run_once('shop', 'pay:v1', 'both', '{"amount": 2}', 'pay(jsonb)')$$) AS o;
SELECT o.code, o.reason FROM t.outcome($$SELECT * FROM abandon_request('shop', 'pay:v1', 'both')$$) AS o;
SELECT state FROM complete_request('1');
SELECT replayed, response FROM run_once('shop', 'pay:v1', 'both', '{"amount": 1}', 'pay(jsonb)');
COMMIT;
-- Many at once, finished in another order.
BEGIN;
SELECT count(*) FROM generate_series(1, 1000) AS n, reserve_request('shop', 'many:v1', n::text, to_jsonb(n)) AS r WHERE r.state = 'acquired';
SELECT count(*) FROM generate_series(1000, 1, -1) AS n, complete_request('shop', 'many:v1', n::text, to_jsonb(-n)) AS r WHERE r.state = 'completed';
COMMIT;
SELECT count(*) FROM generate_series(1, 1000) AS n, reserve_request('shop', 'many:v1', n::text, to_jsonb(n)) AS r WHERE r.response = to_jsonb(-n);

-- The savepoint recipe: the effect is undone, the refusal kept.
BEGIN;
SELECT state FROM reserve_request('shop', 'pay:v1', 'recipe', '{"amount": 3}');
SAVEPOINT effect;
INSERT INTO payment (amount) VALUES (333);
ROLLBACK TO SAVEPOINT effect;
SELECT state FROM refuse_request('shop', 'pay:v1', 'recipe', '{"error": "no funds"}');
COMMIT;
SELECT count(*) FROM payment WHERE amount = 333;
SELECT state, replayed, response, http_status FROM reserve_request('shop', 'pay:v1', 'recipe', '{"amount": 3}');
