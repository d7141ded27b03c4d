-- What a record keeps of request and response: all, redacted, a digest, nothing.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\set helper :regress '/sql/helpers/effects.psql'
\i :helper
CREATE EXTENSION idempotency;
\pset null '(null)'
CREATE FUNCTION kept(operation text, OUT request text, OUT response text) LANGUAGE sql AS $$
    SELECT r.request::text, r.response::text FROM idempotency_record AS r WHERE r.operation = kept.operation
$$;
CREATE FUNCTION verdict(operation text, request jsonb, OUT state text, OUT replayed boolean, OUT response jsonb,
    OUT code text, OUT detail text) LANGUAGE plpgsql AS $$
BEGIN
    SELECT o.state, o.replayed, o.response INTO state, replayed, response
      FROM run_once('s', operation, 'k', request, 'echo(jsonb)') AS o;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, detail = PG_EXCEPTION_DETAIL;
END $$;
CREATE FUNCTION echo(request jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT jsonb_build_object('echo', request, 'token', 'secret') $$;

SELECT define_operation('whole:v1', keep_request => 'whole', keep_response => 'whole');
SELECT define_operation('digest:v1', keep_request => 'digest', keep_response => 'digest');
SELECT define_operation('nothing:v1', keep_request => 'nothing', keep_response => 'nothing');
SELECT define_operation('redacted:v1', keep_request => 'redacted', redacted_request_paths => '{/card/number,/pins/1,/absent/x}',
    keep_response => 'redacted', redacted_response_paths => '{/token,/echo/card}');
SELECT define_operation('empty:v1', keep_request => 'redacted', redacted_request_paths => '{}',
    keep_response => 'redacted', redacted_response_paths => '{}');
SELECT operation, v.* FROM unnest('{whole:v1,redacted:v1,empty:v1,digest:v1,nothing:v1}'::text[]) WITH ORDINALITY AS o (operation, n),
       verdict(operation, '{"n": 1, "card": {"number": "4111", "name": "Ada"}, "pins": [1234, 5678]}') AS v ORDER BY n;
SELECT operation, k.request, CASE WHEN operation <> 'digest:v1' THEN k.response
                                  ELSE regexp_replace(k.response, '[0-9a-f]{64}', '(64 digits)') END AS response
  FROM unnest('{whole:v1,redacted:v1,empty:v1,digest:v1,nothing:v1}'::text[]) WITH ORDINALITY AS o (operation, n), kept(operation) AS k ORDER BY n;
-- The replay tells what is kept; every part of the request counted, the redacted and forgotten ones too.
SELECT operation, v.state, v.replayed, regexp_replace(v.response::text, '[0-9a-f]{64}', '(64 digits)') AS response, v.code
  FROM unnest('{whole:v1,redacted:v1,empty:v1,digest:v1,nothing:v1}'::text[]) WITH ORDINALITY AS o (operation, n),
       verdict(operation, '{"pins": [1234, 5678], "card": {"name": "Ada", "number": "4111"}, "n": 1.0}') AS v ORDER BY n;
SELECT operation, what, v.state, v.code, v.detail
  FROM unnest('{whole:v1,redacted:v1,empty:v1,digest:v1,nothing:v1}'::text[]) WITH ORDINALITY AS o (operation, n),
       (VALUES (1, 'another card', '{"n": 1, "card": {"number": "5222", "name": "Ada"}, "pins": [1234, 5678]}'::jsonb),
               (2, 'no card', '{"n": 1, "pins": [1234, 5678]}'),
               (3, 'another n', '{"n": 2, "card": {"number": "4111", "name": "Ada"}, "pins": [1234, 5678]}'),
               (4, 'what was kept', '{"n": 1, "card": {"number": "[redacted]", "name": "Ada"}, "pins": [1234, "[redacted]"]}')) AS w (m, what, request),
       verdict(operation, request) AS v ORDER BY n, m;
-- find_request and abandon_request tell the same as the replay.
SELECT operation, f.state, regexp_replace(f.response::text, '[0-9a-f]{64}', '(64 digits)') AS response, f.http_status,
       a.response IS NOT DISTINCT FROM f.response AS same
  FROM unnest('{whole:v1,redacted:v1,empty:v1,digest:v1,nothing:v1}'::text[]) WITH ORDINALITY AS o (operation, n),
       find_request('s', operation, 'k') AS f, abandon_request('s', operation, 'k') AS a ORDER BY n;
-- Nothing of a secret stands anywhere in the tables.
SELECT operation, r.whole_row ~ '4111' AS card, r.whole_row ~ '5678' AS pin, r.whole_row ~ '"secret"' AS token
  FROM (SELECT operation, idempotency_record::text AS whole_row FROM idempotency_record) AS r ORDER BY operation;
-- Equal requests and replies under two keys, two scopes, two operations: digests that tell nothing.
SELECT define_operation('digest:v2', keep_request => 'digest', keep_response => 'digest');
SELECT count(*) FROM (VALUES ('s', 'digest:v1', 'k2'), ('s2', 'digest:v1', 'k'), ('s', 'digest:v2', 'k'), ('s', 'digest:v1', 'k3')) AS v (s, o, k),
       run_once(s, o, k, '{"n": 1}', 'echo(jsonb)');
SELECT count(*) AS records, count(DISTINCT comparison ->> 'digest') AS request_digests, count(DISTINCT response) AS response_digests
  FROM idempotency_record WHERE operation LIKE 'digest:%';
-- Reserved and completed: the same, within the transaction and after it.
BEGIN;
SELECT state FROM reserve_request('s', 'redacted:v1', 'reserved', '{"card": {"number": "4111"}}');
SELECT state FROM reserve_request('s', 'redacted:v1', 'reserved', '{"card": {"number": "4111"}}');
SELECT o.code FROM t.outcome($$SELECT * FROM reserve_request('s', 'redacted:v1', 'reserved', '{"card": {"number": "5222"}}')$$) AS o;
SELECT response FROM complete_request('s', 'redacted:v1', 'reserved', '{"token": "secret", "id": 1}');
SELECT replayed, response FROM complete_request('s', 'redacted:v1', 'reserved', '{"token": "secret", "id": 1}');
SELECT o.code FROM t.outcome($$SELECT * FROM complete_request('s', 'redacted:v1', 'reserved', '{"token": "secret", "id": 2}')$$) AS o;
COMMIT;
SELECT replayed, response FROM reserve_request('s', 'redacted:v1', 'reserved', '{"card": {"number": "4111"}}');
-- A whole value redacted, and scalars, arrays and members with odd names.
SELECT define_operation('odd:v1', keep_request => 'redacted', redacted_request_paths => '{/a~1b,/~0,/,/x/0/y,/x/-,/x/00}');
SELECT n, o.state FROM (VALUES (1, '{"a/b": 1, "~": 2, "": 3, "a": {"b": 4}, "x": [{"y": 5}, 6]}'::jsonb), (2, '[1, 2]'), (3, '1'), (4, 'null'),
    (5, '{"x": {"0": {"y": 1}, "-": 2, "00": 3}}'), (6, '{"x": null}'), (7, '{}')) AS v (n, request),
    run_once('s', 'odd:v1', n::text, request, 'echo(jsonb)') AS o ORDER BY n;
SELECT request_key, request FROM idempotency_record WHERE operation = 'odd:v1' ORDER BY request_key;
SELECT n, o.state, o.code FROM (VALUES (1, '{"a/b": 1, "~": 2, "": 3, "a": {"b": 4}, "x": [{"y": 5}, 6]}'::jsonb), (2, '[1, 2]'), (3, '1'), (4, 'null'),
    (1, '{"a/b": 1, "~": 2, "": 0, "a": {"b": 4}, "x": [{"y": 5}, 6]}'), (2, '[2, 1]'), (3, '2'), (4, '0')) AS v (n, request),
    t.outcome(format('SELECT * FROM run_once(''s'', ''odd:v1'', %L, %L, ''echo(jsonb)'')', n, request)) AS o;
-- Ignored paths and defaults in each of these ways.
SELECT count(*) FROM (VALUES ('whole'), ('digest')) AS v (keep),
       LATERAL (SELECT define_operation('lenient-' || keep || ':v1', keep_request => keep, ignored_paths => '{/trace,/items/0/seen,/list/1}',
                                        default_values => '{"currency": "EUR", "deep": {"a": 1, "b": {"c": 2}}}')) AS d;
SELECT define_operation('lenient-redacted:v1', keep_request => 'redacted', redacted_request_paths => '{/n}', ignored_paths => '{/trace,/items/0/seen,/list/1}',
                                        default_values => '{"currency": "EUR", "deep": {"a": 1, "b": {"c": 2}}}');
SELECT what, w.state AS whole, w.replayed, d.state AS digest, d.replayed, r.state AS redacted, r.replayed, coalesce(w.code, d.code, r.code) AS code, w.detail
  FROM (VALUES
    (1, 'first call', '{"n": 1, "trace": "a", "items": [{"id": 1, "seen": 1}], "list": [1, 2, 3]}'::jsonb),
    (2, 'equal', '{"n": 1, "trace": "a", "items": [{"id": 1, "seen": 1}], "list": [1, 2, 3]}'),
    (3, 'ignored differ', '{"n": 1, "trace": {"b": []}, "items": [{"id": 1, "seen": 2}], "list": [1, 9, 3]}'),
    (4, 'ignored missing', '{"n": 1, "items": [{"id": 1}], "list": [1, null, 3]}'),
    (5, 'defaults written', '{"n": 1, "currency": "EUR", "deep": {"a": 1, "b": {"c": 2}}, "items": [{"id": 1}], "list": [1, 2, 3]}'),
    (6, 'defaults partly written', '{"n": 1, "deep": {"b": {}}, "items": [{"id": 1}], "list": [1, 2, 3]}'),
    (7, 'another than the default', '{"n": 1, "currency": "USD", "items": [{"id": 1}], "list": [1, 2, 3]}'),
    (8, 'null is not missing', '{"n": 1, "currency": null, "items": [{"id": 1}], "list": [1, 2, 3]}'),
    (9, 'another kind than the default', '{"n": 1, "deep": [], "items": [{"id": 1}], "list": [1, 2, 3]}'),
    (10, 'more than the default', '{"n": 1, "deep": {"a": 1, "b": {"c": 2}, "d": 3}, "items": [{"id": 1}], "list": [1, 2, 3]}'),
    (11, 'the same name elsewhere', '{"n": 1, "items": [{"id": 1, "trace": 1}], "list": [1, 2, 3]}'),
    (12, 'the second item', '{"n": 1, "items": [{"id": 1}, {"seen": 1}], "list": [1, 2, 3]}'),
    (13, 'a shorter list', '{"n": 1, "items": [{"id": 1}], "list": [1, 2]}')) AS v (n, what, request),
    verdict('lenient-whole:v1', request) AS w, verdict('lenient-digest:v1', request) AS d, verdict('lenient-redacted:v1', request) AS r ORDER BY n;
-- What was sent is what the effect got and what is kept, not what was compared.
SELECT operation, request FROM idempotency_record WHERE operation LIKE 'lenient%' ORDER BY operation;
SELECT response FROM find_request('s', 'lenient-whole:v1', 'k');
