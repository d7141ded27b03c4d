-- A function of the application's own runs once for a key; a retry gets the first reply.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\set helper :regress '/sql/helpers/effects.psql'
\i :helper
CREATE EXTENSION idempotency;
\pset null '(null)'

SELECT state, replayed, response, http_status, sqlstate, message, detail, hint,
       completed_at >= created_at AS ends_after_it_began
  FROM run_once('shop', 'pay:v1', 'k', '{"amount": 5}', 'pay(jsonb)');
SELECT state, replayed, response, http_status, sqlstate, message, detail, hint,
       completed_at >= created_at AS ends_after_it_began
  FROM run_once('shop', 'pay:v1', 'k', '{"amount": 5}', 'pay(jsonb)');
-- The same intention, written in another way.
SELECT replayed, response FROM run_once('shop', 'pay:v1', 'k', '{ "amount" : 5.0 }', 'pay(jsonb)');
-- The effect and the status are no part of the identity: the key alone decides.
SELECT replayed, response, http_status
  FROM run_once('shop', 'pay:v1', 'k', '{"amount": 5}', 'pay(jsonb)', 201);
CREATE FUNCTION other(jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '"other"'::jsonb $$;
SELECT replayed, response FROM run_once('shop', 'pay:v1', 'k', '{"amount": 5}', 'other(jsonb)');
SELECT replayed, response
  FROM run_sql_once('shop', 'pay:v1', 'k', '{"amount": 5}', $$SELECT '"other"'::jsonb$$);
SELECT amount, made_by FROM payment;
SELECT * FROM t.kept();

-- The times of a replay are the first call's.
SELECT created_at AS first_created, completed_at AS first_completed
  FROM run_once('shop', 'pay:v1', 'times', '{"amount": 1}', 'pay(jsonb)') \gset
SELECT pg_sleep(0.01);
SELECT created_at = :'first_created' AS same_creation, completed_at = :'first_completed' AS same_completion
  FROM run_once('shop', 'pay:v1', 'times', '{"amount": 1}', 'pay(jsonb)');
SELECT created_at = :'first_created' AS same_creation, completed_at = :'first_completed' AS same_completion
  FROM idempotency_record WHERE request_key = 'times';

-- k1, k2, k1 again: the first reply of k1, not today's.
CREATE FUNCTION how_many(jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pay($1);
    RETURN jsonb_build_object('payments', (SELECT count(*) FROM payment));
END $$;
SELECT response FROM run_once('shop', 'count:v1', 'k1', '{"amount": 1}', 'how_many(jsonb)');
SELECT response FROM run_once('shop', 'count:v1', 'k2', '{"amount": 1}', 'how_many(jsonb)');
SELECT response FROM run_once('shop', 'count:v1', 'k1', '{"amount": 1}', 'how_many(jsonb)');

-- Scope, operation and version are each part of the identity.
SELECT n, o.* FROM (VALUES
    (1, 'shop', 'pay:v1', 'k'), (2, 'shop2', 'pay:v1', 'k'), (3, 'shop', 'pay:v2', 'k'),
    (4, 'shop', 'pay2:v1', 'k'), (5, 'shop', 'pay:v1', 'K'), (6, 'Shop', 'pay:v1', 'k'),
    (7, 'shop', 'pay:v1', 'k '), (8, 'pay:v1', 'pay:v1', 'k'), (9, 'shop', 'pay:v01', 'k')) AS v (n, s, o, k),
    LATERAL (SELECT replayed, response FROM run_once(s, o, k, '{"amount": 5}', 'pay(jsonb)')) AS o
 ORDER BY n;

-- Another request under the key: refused, nothing done.
SELECT count(*) AS payments FROM payment;
SELECT a.result, a.code, a.reason, a.message, a.detail, a.hint
  FROM t.attempt($$SELECT state FROM run_once('shop', 'pay:v1', 'k', '{"amount": 6, "x": [1]}', 'pay(jsonb)')$$) AS a;
SELECT a.code, a.reason, a.detail
  FROM t.attempt($$SELECT state FROM run_sql_once('shop', 'pay:v1', 'k', '[]', 'SELECT 1')$$) AS a;
SELECT a.code, a.reason, a.detail
  FROM t.attempt($$SELECT state FROM run_once('shop', 'pay:v1', 'k', 'null', 'pay(jsonb)')$$) AS a;
SELECT count(*) AS payments FROM payment;

-- Rolled back: the key is free, for another request too.
BEGIN;
SELECT replayed, response FROM run_once('shop', 'pay:v1', 'free', '{"amount": 1}', 'pay(jsonb)');
SELECT replayed, response FROM run_once('shop', 'pay:v1', 'free', '{"amount": 1}', 'pay(jsonb)');
ROLLBACK;
SELECT replayed, response FROM run_once('shop', 'pay:v1', 'free', '{"amount": 2}', 'pay(jsonb)');

-- An effect that fails takes the key with it, and its error passes through whole.
SELECT a.result, a.code, a.message, a.detail, a.hint
  FROM t.attempt($$SELECT state FROM run_once('shop', 'pay:v1', 'fails', '{"amount": 1, "raise": "P0001"}', 'pay(jsonb)')$$) AS a;
SELECT count(*) FROM find_request('shop', 'pay:v1', 'fails');
SELECT replayed, response FROM run_once('shop', 'pay:v1', 'fails', '{"amount": 2}', 'pay(jsonb)');

-- An effect that answers NULL: JSON's null, once.
CREATE FUNCTION nothing(jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pay($1);
    RETURN NULL;
END $$;
SELECT state, replayed, response, jsonb_typeof(response)
  FROM run_once('shop', 'nothing:v1', 'k', '{"amount": 1}', 'nothing(jsonb)');
SELECT state, replayed, response, jsonb_typeof(response)
  FROM run_once('shop', 'nothing:v1', 'k', '{"amount": 1}', 'nothing(jsonb)');
-- Replies of every kind, from a variable, a constant and a table.
SELECT n, f.replayed, f.response = reply AS right_reply, r.replayed, r.response = reply AS right_replay
  FROM (VALUES (1, '0'::jsonb), (2, '"text"'), (3, 'true'), (4, 'null'), (5, '[]'), (6, '{}'),
               (7, '[1, [2, {"a": []}]]'), (8, '1e400'), (9, '12345678901234567890.000000000000000001'),
               (10, '{"": {"": ""}}'), (11, jsonb_build_object('long', repeat('long ', 100000)))) AS v (n, reply),
       run_once('shop', 'reply:v1', n::text, jsonb_build_object('reply', reply), 'pay(jsonb)') AS f,
       run_once('shop', 'reply:v1', n::text, jsonb_build_object('reply', reply), 'pay(jsonb)') AS r
 ORDER BY n;
