-- A redelivered message is compared as a jsonb value, numbers of any size included.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;
INSERT INTO account VALUES (1, 0);
CREATE TABLE pair (n int GENERATED ALWAYS AS IDENTITY, what text, first jsonb, second jsonb);
CREATE FUNCTION id(n int) RETURNS uuid LANGUAGE sql AS $$ SELECT lpad(n::text, 32, '0')::uuid $$;
INSERT INTO pair (what, first, second) VALUES
    -- equal
    ('names in another order', '{"a": 1, "b": {"c": 2, "d": 3}}',
                               '{"b": {"d": 3, "c": 2}, "a": 1}'),
    ('white space', '{"a":[1,2]}', E' {\n"a" : [ 1 , 2 ]\t} '),
    ('1 and 1.0', '{"a": 1}', '{"a": 1.0}'),
    ('1.10 and 1.1', '1.10', '1.1'),
    ('100 and 1e2', '[100]', '[1e2]'),
    ('0 and -0', '0', '-0'),
    ('0 and 0.000', '0', '0.000'),
    ('last of duplicate names', '{"amount": 1, "amount": 100}', '{"amount": 100}'),
    ('escape and character', '"\u0041\u00e9"', U&'"A\00e9"'),
    ('surrogate pair', '"\ud83d\ude00"', U&'"\+01f600"'),
    ('300 digits', repeat('9', 300)::jsonb, (repeat('9', 300) || '.000')::jsonb),
    ('1e400', '1e400', ('1' || repeat('0', 400))::jsonb),
    ('1e-400', '1e-400', '10e-401'),
    ('scalars', 'true', 'true'),
    ('JSON null', 'null', 'null'),
    ('empty string as a name', '{"": 1}', '{"": 1}'),
    ('nested 500 deep', (repeat('[', 500) || repeat(']', 500))::jsonb,
                        (repeat('[', 500) || ' ' || repeat(']', 500))::jsonb),
    -- different
    ('a name more', '{"id": 1}', '{"id": 1, "x": 2}'),
    ('a name less', '{"id": 1, "x": 2}', '{"id": 1}'),
    ('a value', '{"id": 1, "x": 2}', '{"id": 1, "x": 3}'),
    ('two values', '{"a": 1, "b": 2, "c": 3}', '{"a": 9, "b": 2, "c": 8}'),
    ('within', '{"order": {"lines": [{"n": 1}, {"n": 2}]}}',
               '{"order": {"lines": [{"n": 1}, {"n": 3}]}}'),
    ('an array in another order', '{"items": [1, 2]}', '{"items": [2, 1]}'),
    ('an element more', '{"items": [1, 2]}', '{"items": [1, 2, 3]}'),
    ('an element less', '[1, 2, 3]', '[1, 2]'),
    ('2^53 and 2^53 + 1', '{"a": 9007199254740992}', '{"a": 9007199254740993}'),
    ('2^64 and 2^64 + 1', '18446744073709551616', '18446744073709551617'),
    ('the last of 300 digits', repeat('9', 300)::jsonb, (repeat('9', 299) || '8')::jsonb),
    ('1e400 and 1e400 + 1', '1e400', ('1' || repeat('0', 399) || '1')::jsonb),
    ('1e-400 and 0', '1e-400', '0'),
    ('0.1 + 0.2 as floats', '0.3', '0.30000000000000004'),
    ('number and string', '{"a": 1}', '{"a": "1"}'),
    ('boolean and string', 'true', '"true"'),
    ('null and missing', '{"a": null}', '{}'),
    ('null and false', '{"a": null}', '{"a": false}'),
    ('empty object and array', '{}', '[]'),
    ('value and array of it', '1', '[1]'),
    ('object and scalar', '{"a": 1}', '1'),
    ('JSON null and empty object', 'null', '{}'),
    ('case of a string', '"a"', '"A"'),
    ('case of a name', '{"a": 1}', '{"A": 1}'),
    ('blank in a string', '"a"', '"a "'),
    ('composed and decomposed', '"\u00e9"', '"e\u0301"'),
    ('the first of duplicate names', '{"amount": 1, "amount": 100}', '{"amount": 1}');

SELECT count(*) AS deliveries, count(consume_once('s', id(n), 1, 1, first)) AS accepted FROM pair;
SELECT what,
       CASE WHEN a.code IS NULL AND a.result IS NULL THEN 'redelivery' ELSE a.reason END AS verdict,
       substring(a.detail FROM 'Differing paths: (.*)\.$') AS paths
  FROM pair, t.attempt(format('SELECT consume_once(%L, %L, 1, 1, %L)', 's', id(n), second)) AS a
 ORDER BY n;
-- Whichever came first.
SELECT count(consume_once('turned', id(n), 1, 1, second)) AS accepted FROM pair;
SELECT count(*) FILTER (WHERE a.code IS NULL AND a.result IS NULL) AS redeliveries,
       count(*) FILTER (WHERE a.reason = 'idempotency_request_mismatch') AS mismatches,
       count(*) FILTER (WHERE (a.code IS NULL) IS DISTINCT FROM (first = second)) AS unlike_jsonb
  FROM pair,
       t.attempt(format('SELECT consume_once(%L, %L, 1, 1, %L)', 'turned', id(n), first)) AS a;
-- And the first once more: kept as it was.
SELECT count(consume_once('s', id(n), 1, 1, first)) AS accepted_again FROM pair;
SELECT count(*) AS kept FROM pair AS p JOIN processed_message AS m
    ON m.subscriber = 's' AND m.message_id = id(n) WHERE m.message = p.first;
SELECT * FROM t.store();

-- What jsonb does not hold is refused by jsonb, before anything happens.
\set VERBOSITY sqlstate
SELECT consume_once('s', '00000000-0000-0000-0000-0000000000ff', 1, 1, '"\u0000"');
SELECT consume_once('s', '00000000-0000-0000-0000-0000000000ff', 1, 1, '"\ud800"');
SELECT consume_once('s', '00000000-0000-0000-0000-0000000000ff', 1, 1, '"\ude00 alone"');
SELECT consume_once('s', '00000000-0000-0000-0000-0000000000ff', 1, 1, '{"a": NaN}');
SELECT consume_once('s', '00000000-0000-0000-0000-0000000000ff', 1, 1, '');
SELECT consume_once('s', '00000000-0000-0000-0000-0000000000ff', 1, 1, '1e999999');
\set VERBOSITY terse
SELECT * FROM t.store();

-- A message of a megabyte, and one with ten thousand differences: still one short error.
SELECT consume_once('s', id(1001), 1, 1, jsonb_build_object('text', repeat('x', 1048576)));
SELECT consume_once('s', id(1001), 1, 1, jsonb_build_object('text', repeat('x', 1048576))) IS NULL
    AS redelivery;
SELECT consume_once('s', id(1002), 1, 1,
                    (SELECT jsonb_object_agg('name ' || i, i) FROM generate_series(1, 10000) AS i));
SELECT a.code, a.reason, octet_length(a.detail) < 4000 AS short
  FROM t.attempt($$SELECT consume_once('s', id(1002), 1, 1,
       (SELECT jsonb_object_agg('name ' || i, i + 1) FROM generate_series(1, 10000) AS i))$$) AS a;
SELECT a.code, a.reason, octet_length(a.detail) < 4000 AS short
  FROM t.attempt($$SELECT consume_once('s', id(1001), 1, 1,
       jsonb_build_object(repeat('n', 1048576), 1))$$) AS a;
SELECT consume_once('s', id(1003), 1, 1, (repeat('[', 1000) || '1' || repeat(']', 1000))::jsonb);
SELECT a.code, a.reason, octet_length(a.detail) < 4000 AS short
  FROM t.attempt($$SELECT consume_once('s', id(1003), 1, 1,
       (repeat('[', 1000) || '2' || repeat(']', 1000))::jsonb)$$) AS a;
SELECT * FROM t.store();
