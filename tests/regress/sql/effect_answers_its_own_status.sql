-- An effect's own HTTP status: the member $http_status of its reply, which is taken out.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\set helper :regress '/sql/helpers/effects.psql'
\i :helper
CREATE EXTENSION idempotency;
\pset null '(null)'

SELECT n, f.state, f.replayed, f.response, f.http_status, r.replayed, r.response, r.http_status
  FROM (VALUES
    (1, '{"$http_status": 201, "id": 7}'::jsonb, 200),
    (2, '{"$http_status": 100}', 200),
    (3, '{"$http_status": 599, "a": {"$http_status": 1}}', 200),
    (4, '{"$http_status": 2.04e2, "id": 7}', 200),
    (5, '{"id": 7}', 202),
    (6, '{"$http_status": 409, "id": 7}', 202),
    (7, '[{"$http_status": 201}]', 200),
    (8, '"$http_status"', 200),
    (9, '{"http_status": 201, "$HTTP_STATUS": 202}', 200),
    (10, '["$http_status"]', 200)) AS v (n, reply, status),
       run_once('shop', 'pay:v1', n::text, jsonb_build_object('reply', reply), 'pay(jsonb)', status) AS f,
       run_once('shop', 'pay:v1', n::text, jsonb_build_object('reply', reply), 'pay(jsonb)') AS r
 ORDER BY n;
SELECT state, replayed, response, http_status
  FROM run_sql_once('shop', 'pay:v1', 'sql', '{}', $$SELECT '{"$http_status": 303, "to": "/x"}'::jsonb$$);
SELECT state, replayed, response, http_status
  FROM run_sql_once('shop', 'pay:v1', 'sql', '{}', $$SELECT '{"$http_status": 303, "to": "/x"}'::jsonb$$);
SELECT response, http_status FROM idempotency_record WHERE request_key = 'sql';

-- A status that is none: refused, the effect undone, nothing kept.
DELETE FROM payment;
SELECT n, o.code, o.reason, o.message FROM (VALUES
    (1, '99'), (2, '600'), (3, '0'), (4, '-200'), (5, '201.5'), (6, '1e300'), (7, '"201"'),
    (8, 'null'), (9, 'true'), (10, '[201]'), (11, '{}'), (12, '99999999999')) AS v (n, status),
       t.outcome(format($$SELECT * FROM run_once('shop', 'pay:v1', 'bad', %L, 'pay(jsonb)')$$,
            format('{"amount": 1, "reply": {"$http_status": %s}}', status))) AS o
 ORDER BY n;
SELECT count(*) AS payments FROM payment;
SELECT count(*) FROM find_request('shop', 'pay:v1', 'bad');

-- The argument's status is checked before anything is done, on a replay too.
SELECT n, o.code, o.reason, o.message FROM (VALUES
    (1, 'new', '99'), (2, 'new', '600'), (3, 'new', '-1'), (4, 'new', 'NULL'), (5, '1', '0')) AS v (n, k, status),
       t.outcome(format($$SELECT * FROM run_once('shop', 'pay:v1', %L, '{}', 'pay(jsonb)', %s)$$, k, status)) AS o
 ORDER BY n;
SELECT count(*) AS payments FROM payment;
SELECT count(*) FROM find_request('shop', 'pay:v1', 'new');

-- In complete_request and refuse_request the status is an argument, and a reply is left alone.
BEGIN;
SELECT state FROM reserve_request('shop', 'pay:v1', 'reserved', '{}');
SELECT response, http_status FROM complete_request('shop', 'pay:v1', 'reserved', '{"$http_status": 201}', 202);
COMMIT;
SELECT replayed, response, http_status FROM reserve_request('shop', 'pay:v1', 'reserved', '{}');
