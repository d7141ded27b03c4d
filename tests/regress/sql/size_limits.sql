-- Limits on key, request and response: refused before the effect, or with the effect undone.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\set helper :regress '/sql/helpers/effects.psql'
\i :helper
CREATE EXTENSION idempotency;
\pset null '(null)'
SELECT define_operation('small:v1', max_key_bytes => 5, max_request_bytes => 40, max_response_bytes => 40);
SELECT n, o.state, o.code, o.reason, o.message FROM (VALUES
    (1, '12345', '{"amount": 1}'::jsonb), (2, '123456', '{"amount": 1}'), (3, 'äöx', '{"amount": 1}'), (4, 'äöü', '{"amount": 1}'),
    (5, repeat('k', 300), '{"amount": 1}'), (6, 'k6', '{"amount": 1, "note": "a longer request"}'),
    (7, 'k7', '{"amount": 1, "reply": "0123456789012"}'), (8, 'k8', jsonb_build_object('reply', repeat('x', 1000000)))) AS v (n, key, request),
    t.outcome(format('SELECT * FROM run_once(''s'', ''small:v1'', %L, %L, ''pay(jsonb)'')', key, request)) AS o ORDER BY n;
SELECT count(*) AS payments FROM payment;
SELECT count(*) FROM idempotency_record;
-- A response over its limit undoes the effect, and the key stays free; by every door.
CREATE FUNCTION pay_and_talk(request jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pay(request);
    RETURN to_jsonb(repeat('x', (request ->> 'amount')::int));
END $$;
SELECT o.state, o.code, o.reason, o.message FROM t.outcome($$SELECT * FROM run_once('s', 'small:v1', 'long', '{"amount": 100}', 'pay_and_talk(jsonb)')$$) AS o;
SELECT o.state, o.code, o.reason, o.message FROM t.outcome($$SELECT * FROM run_sql_once('s', 'small:v1', 'long', '{"amount": 100}', 'SELECT pay_and_talk($1)')$$) AS o;
SELECT count(*) AS payments FROM payment;
SELECT count(*) FROM find_request('s', 'small:v1', 'long');
SELECT state, replayed, response FROM run_once('s', 'small:v1', 'long', '{"amount": 10}', 'pay_and_talk(jsonb)');
-- Not even as a refusal.
SELECT alter_operation('small:v1', save_refusals => true, refusal_sqlstates => '{P0001,22023}');
SELECT o.state, o.code, o.reason FROM t.outcome($$SELECT * FROM run_once('s', 'small:v1', 'long2', '{"amount": 100}', 'pay_and_talk(jsonb)')$$) AS o;
SELECT count(*) FROM find_request('s', 'small:v1', 'long2');
SELECT count(*) AS payments FROM payment;
BEGIN;
SELECT state FROM reserve_request('s', 'small:v1', 'open', '{}');
SAVEPOINT s;
SELECT o.code, o.reason FROM t.outcome(format($$SELECT * FROM complete_request(%L)$$, to_jsonb(repeat('x', 100)))) AS o;
SELECT o.code, o.reason FROM t.outcome(format($$SELECT * FROM refuse_request('s', 'small:v1', 'open', %L)$$, to_jsonb(repeat('x', 100)))) AS o;
-- It is open still.
SELECT state FROM complete_request('"short"');
COMMIT;
-- What an effect answers beside the reply does not count.
CREATE FUNCTION status(request jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '{"$http_status": 201, "a": 1}'::jsonb $$;
SELECT o.state, o.http_status FROM t.outcome($$SELECT * FROM run_once('s', 'small:v1', 'st', '{}', 'status(jsonb)')$$) AS o;
-- The default limits: 255 bytes of a key, 16 MiB of a request or response.
SELECT n, o.state, o.code, o.reason, o.message FROM (VALUES (1, 255), (2, 256), (3, 10000)) AS v (n, length),
    t.outcome(format('SELECT * FROM run_once(''s'', ''pay:v1'', %L, ''{}'', ''pay(jsonb)'')', repeat('k', length))) AS o ORDER BY n;
-- The longest of everything at once fits into the index.
SELECT define_operation(repeat('o', 252) || ':v1', max_key_bytes => 1024);
SELECT o.state, o.code FROM t.outcome(format('SELECT * FROM run_once(%L, %L, %L, ''{}'', ''pay(jsonb)'')',
    (SELECT string_agg(md5(n::text), '') FROM generate_series(1, 7) AS n) || repeat('s', 31), repeat('o', 252) || ':v1',
    (SELECT string_agg(md5(n::text), '') FROM generate_series(1, 32) AS n))) AS o;
CREATE FUNCTION body(megabytes numeric) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_agg(md5(n::text)) FROM generate_series(1, (megabytes * 1024 * 1024 / 36)::int) AS n
$$;
CREATE FUNCTION big(request jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pay(request);
    RETURN body((request ->> 'amount')::numeric);
END $$;
-- A reply of 10 MB: stored and replayed equal.
SELECT o.state, o.replayed, o.response = body(10) AS right_reply, pg_column_size(o.response) > 10000000 AS ten_megabytes
  FROM run_once('s', 'big:v1', '10', '{"amount": 10}', 'big(jsonb)') AS o;
SELECT o.state, o.replayed, o.response = body(10) AS right_reply FROM run_once('s', 'big:v1', '10', '{"amount": 10}', 'big(jsonb)') AS o;
SELECT o.state, o.response = body(10) AS right_reply FROM find_request('s', 'big:v1', '10') AS o;
SELECT o.state, o.code, o.reason, regexp_replace(o.message, '\d{8,}', '(n)') AS message
  FROM t.outcome($$SELECT * FROM run_once('s', 'big:v1', '17', '{"amount": 17}', 'big(jsonb)')$$) AS o;
SELECT count(*) FROM payment WHERE amount = 17;
-- A request of 10 MB, and what differs in one of its elements.
BEGIN;
SELECT state FROM reserve_request('s', 'big:v1', 'request', body(10));
SELECT state FROM complete_request('{}');
COMMIT;
SELECT state, replayed FROM reserve_request('s', 'big:v1', 'request', body(10));
SELECT a.code, a.detail FROM t.attempt($$SELECT reserve_request('s', 'big:v1', 'request', jsonb_set(body(10), '{1000}', '0'))$$) AS a;
SELECT a.code, a.reason, regexp_replace(a.message, '\d{8,}', '(n)') AS message FROM t.attempt($$SELECT reserve_request('s', 'big:v1', 'too big', body(17))$$) AS a;
SELECT define_operation('digest:v1', keep_request => 'digest', keep_response => 'digest', max_response_bytes => 100000000);
SELECT o.state, o.replayed, o.response = body(17) AS right_reply FROM run_once('s', 'digest:v1', '17', '{"amount": 17}', 'big(jsonb)') AS o;
SELECT o.state, o.replayed, length(o.response ->> 'sha256') AS digest FROM run_once('s', 'digest:v1', '17', '{"amount": 17}', 'big(jsonb)') AS o;
