-- DETAIL of a mismatch names the differing paths, added, missing or changed, up to a limit, never values.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\set helper :regress '/sql/helpers/effects.psql'
\i :helper
CREATE EXTENSION idempotency;
\pset null '(null)'
CREATE FUNCTION differ(kept jsonb, given jsonb, OUT paths text, OUT rust_paths text) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM reserve_request('s', 'pay:v1', 'k', kept);
    paths := substring((SELECT detail FROM t.attempt(format('SELECT reserve_request(''s'', ''pay:v1'', ''k'', %L)', given))) FROM 'idempotency_request_mismatch\. (.*)$');
    PERFORM reserve_request('s', 'lenient:v1', 'k', kept);
    rust_paths := substring((SELECT detail FROM t.attempt(format('SELECT reserve_request(''s'', ''lenient:v1'', ''k'', %L)', given))) FROM 'idempotency_request_mismatch\. (.*)$');
    RAISE EXCEPTION 'undo' USING ERRCODE = 'UNDO1';
EXCEPTION WHEN SQLSTATE 'UNDO1' THEN
    rust_paths := CASE WHEN rust_paths IS DISTINCT FROM paths THEN coalesce(rust_paths, 'none') ELSE 'the same' END;
END $$;
SELECT define_operation('lenient:v1', ignored_paths => '{/not/there}', default_values => '{}');
SELECT n, kept, given, d.* FROM (VALUES
    (1, '{"a": 1}'::jsonb, '{"a": 2}'::jsonb),
    (2, '{"a": 1}', '{}'),
    (3, '{}', '{"a": 1}'),
    (4, '{"id": 1}', '{"id": 1, "x": 2}'),
    (5, '{"id": 1, "x": 2}', '{"id": 1}'),
    (6, '{"a": {"b": {"c": [1, 2, {"d": 1}]}}}', '{"a": {"b": {"c": [1, 2, {"d": 2}]}}}'),
    (7, '[1, 2, 3]', '[1, 3, 2]'),
    (8, '[1, 2, 3]', '[1, 2]'),
    (9, '[1, 2]', '[1, 2, 3, 4]'),
    (10, '{}', '[]'),
    (11, '1', '2'),
    (12, '1', '"1"'),
    (13, 'null', 'false'),
    (14, '{"a": null}', '{}'),
    (15, '{"a": null}', '{"a": false}'),
    (16, '{"a": {}}', '{"a": []}'),
    (17, '{"a": []}', '{"a": null}'),
    (18, '{"a/b": 1, "c~d": 1, "": 1}', '{"a/b": 2, "c~d": 2, "": 2}'),
    (19, '{"a": {"": {"": 1}}}', '{"a": {"": {"": 2}}}'),
    (20, '{"a": 1, "b": 2, "c": 3}', '{"b": 3, "c": 3, "d": 4}'),
    (21, '{"ключ": 1, "鍵": 1, "😀": 1}', '{"ключ": 2, "鍵": 2, "😀": 2}'),
    (22, '{"line\nfeed": 1, "quote\"": 1, "tab\t": 1}', '{"line\nfeed": 2, "quote\"": 2, "tab\t": 2}'),
    (23, '"composed é"', '"composed é"'),
    (24, '["a"]', '["A"]'),
    (25, '{"0": 1}', '[1]')) AS v (n, kept, given),
    differ(kept, given) AS d ORDER BY n;
-- At most eight, and then it says that there may be more.
SELECT n, d.* FROM generate_series(6, 11) AS n,
    differ((SELECT jsonb_object_agg('p' || i, i) FROM generate_series(10, 9 + n) AS i), (SELECT jsonb_object_agg('p' || i, i + 1) FROM generate_series(10, 9 + n) AS i)) AS d ORDER BY n;
SELECT d.* FROM differ((SELECT jsonb_agg(i) FROM generate_series(1, 100000) AS i), (SELECT jsonb_agg(i + 1) FROM generate_series(1, 100000) AS i)) AS d;
SELECT d.* FROM differ('[]', (SELECT jsonb_agg(i) FROM generate_series(1, 100000) AS i)) AS d;
SELECT d.* FROM differ((SELECT jsonb_object_agg('n' || lpad(i::text, 6, '0'), i) FROM generate_series(1, 20000) AS i), (SELECT jsonb_object_agg('n' || lpad(i::text, 6, '0'), -i) FROM generate_series(1, 20000) AS i)) AS d;
-- A path is shown to its end, not to any length.
SELECT length(d.paths) < 200 AS short, right(d.paths, 20) AS paths, d.rust_paths FROM differ(
    jsonb_build_object(repeat('long', 100000), jsonb_build_object('end', 1)), jsonb_build_object(repeat('long', 100000), jsonb_build_object('end', 2))) AS d;
SELECT length(d.paths) < 200 AS short, right(d.paths, 20) AS paths, d.rust_paths FROM differ(
    jsonb_build_object(repeat('ä€😀', 1000), 1), jsonb_build_object(repeat('ä€😀', 1000), 2)) AS d;
-- Never a value.
SELECT d.paths ~ '4111|5222|secret|Ada|Eve' AS shows FROM differ(
    '{"card": "4111", "holder": {"name": "Ada", "pin": 41114111}, "tags": ["secret"]}',
    '{"card": "5222", "holder": {"name": "Eve", "pin": 52225222}, "tags": ["secret2"]}') AS d;
SELECT concat(a.message, a.detail, a.hint) ~ '4111|5222' AS shows
  FROM run_once('s', 'pay:v1', 'k', '{"amount": 4111}', 'pay(jsonb)'), t.attempt($$SELECT run_once('s', 'pay:v1', 'k', '{"amount": 52225222}'::jsonb, 'pay(jsonb)')$$) AS a;
