-- Pairs of requests that some comparison somewhere gets wrong; the oracle is jsonb's equality.
\set VERBOSITY terse
\set SHOW_CONTEXT never
CREATE EXTENSION idempotency;
SELECT define_operation('tree:v1', ignored_paths => '{/not/there}');
SELECT define_operation('digest:v1', keep_request => 'digest');
SELECT define_operation('defaults:v1', default_values => '{}');

CREATE FUNCTION verdict(operation text, kept jsonb, given jsonb, OUT answer text) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM reserve_request('s', operation, 'k', kept);
    BEGIN
        SELECT CASE state WHEN 'acquired' THEN 'equal' ELSE state END INTO answer FROM reserve_request('s', operation, 'k', given);
    EXCEPTION WHEN OTHERS THEN
        answer := CASE SQLSTATE WHEN '22023' THEN 'differ' ELSE SQLSTATE END;
    END;
    RAISE EXCEPTION 'undone' USING ERRCODE = 'UNDO1';
EXCEPTION WHEN SQLSTATE 'UNDO1' THEN
    NULL;
END $$;

CREATE TABLE pair (n int GENERATED ALWAYS AS IDENTITY, what text, kept text, given text);
INSERT INTO pair (what, kept, given) VALUES
    ('2^53 and one more', '9007199254740992', '9007199254740993'),
    ('2^63 and one more', '9223372036854775807', '9223372036854775808'),
    ('2^64 and one more', '18446744073709551616', '18446744073709551617'),
    ('300 digits, the last one', repeat('7', 299) || '1', repeat('7', 299) || '2'),
    ('300 digits, the same', repeat('7', 300), repeat('7', 300) || '.000'),
    ('1 and 1.0', '1', '1.0'),
    ('1 and 1e0', '1', '1e0'),
    ('100 and 1E+2', '100', '1E+2'),
    ('0.1 and 1e-1', '0.1', '1e-1'),
    ('0.1 and 0.10000000000000000001', '0.1', '0.10000000000000000001'),
    ('0.1 and 0.1000000000000000055511151231257827', '0.1', '0.1000000000000000055511151231257827'),
    ('1e400, two spellings', '1e400', '1' || repeat('0', 400)),
    ('1e400 and 1e401', '1e400', '1e401'),
    ('1e400 and one more', '1e400', '1' || repeat('0', 399) || '1'),
    ('1e-400 and 0', '1e-400', '0'),
    ('1e16383 and itself', '1e16383', '1.0e16383'),
    ('0 and -0', '0', '-0'),
    ('0 and 0.000', '0', '0.000'),
    ('0 and -0.0e5', '0', '-0.0e5'),
    ('1 and -1', '1', '-1'),
    ('1 and "1"', '1', '"1"'),
    ('1 and true', '1', 'true'),
    ('0 and false', '0', 'false'),
    ('null and false', 'null', 'false'),
    ('null and ""', 'null', '""'),
    ('null and "null"', 'null', '"null"'),
    ('null and []', 'null', '[]'),
    ('null and {}', 'null', '{}'),
    ('[] and {}', '[]', '{}'),
    ('[] and [[]]', '[]', '[[]]'),
    ('[] and [null]', '[]', '[null]'),
    ('1 and [1]', '1', '[1]'),
    ('{} and {"a":null}', '{}', '{"a":null}'),
    ('{} and {"":{}}', '{}', '{"":{}}'),
    ('order of members', '{"a":1,"b":2}', '{"b":2,"a":1}'),
    ('order of members, deep', '{"x":{"a":1,"b":[{"c":1,"d":2}]}}', '{"x":{"b":[{"d":2,"c":1}],"a":1}}'),
    ('order of elements', '[1,2]', '[2,1]'),
    ('order of elements, deep', '{"a":[[1,2],[3]]}', '{"a":[[1,2],[3,3]]}'),
    ('nesting of elements', '[[1,2],[3]]', '[[1],[2,3]]'),
    ('elements and no elements', '[[],[]]', '[[[]]]'),
    ('the last of a name twice', '{"amount":1,"amount":100}', '{"amount":100}'),
    ('the first of a name twice', '{"amount":1,"amount":100}', '{"amount":1}'),
    ('a name twice, in turn', '{"a":1,"a":2}', '{"a":2,"a":1}'),
    ('one more member', '{"id":1}', '{"id":1,"x":2}'),
    ('one member less', '{"id":1,"x":2}', '{"id":1}'),
    ('values swapped', '{"a":1,"b":2}', '{"a":2,"b":1}'),
    ('names and values moved', '{"a":"b"}', '{"b":"a"}'),
    ('a name joined', '{"ab":"c"}', '{"a":"bc"}'),
    ('a name that is a number', '{"1":1}', '{"01":1}'),
    ('an array and an object', '["a"]', '{"0":"a"}'),
    ('white space', '{"a":[1,2]}', E'\n{ "a" : [ 1 ,\t2 ] }\n'),
    ('white space in a string', '"a"', '"a "'),
    ('white space in a name', '{"a":1}', '{" a":1}'),
    ('upper case', '"a"', '"A"'),
    ('upper case of a name', '{"a":1}', '{"A":1}'),
    ('escaped or not', '"é/€😀"', '"\u00e9\/\u20ac\ud83d\ude00"'),
    ('composed or not', '"é"', '"e\u0301"'),
    ('composed or not, a name', '{"é":1}', '{"e\u0301":1}'),
    ('look-alikes', '"a"', '"а"'),
    ('ligature', '"fi"', '"ﬁ"'),
    ('sharp s', '"ß"', '"ss"'),
    ('zero-width', '"ab"', '"a\u200bb"'),
    ('byte order mark', '"a"', '"\ufeffa"'),
    ('no-break blank', '" "', '"\u00a0"'),
    ('control characters', '"\u0001"', '"\u0002"'),
    ('a noncharacter', '"\uffff"', '"\ufffe"'),
    ('beyond the basic plane', '"\ud83d\ude00"', '"\ud83d\ude01"'),
    ('replacement character', '"\ufffd"', '"?"'),
    ('backslashes', '"\\"', '"\\\\"'),
    ('quotes', '"\""', '"''"'),
    ('the word for redacted', '"[redacted]"', '"x"'),
    ('looks like a contract''s own', '{"version":1,"digest":"x"}', '{"version":1,"digest":"y"}'),
    ('long strings, the last byte', '"' || repeat('x', 100000) || 'a"', '"' || repeat('x', 100000) || 'b"'),
    ('long strings, the same', '"' || repeat('x', 100000) || '"', '"' || repeat('x', 100000) || '"'),
    ('a length more', '"' || repeat('x', 255) || '"', '"' || repeat('x', 256) || '"'),
    ('long names', '{"' || repeat('n', 10000) || 'a":1}', '{"' || repeat('n', 10000) || 'b":1}'),
    ('deep, the leaf', repeat('[', 1000) || '1' || repeat(']', 1000), repeat('[', 1000) || '2' || repeat(']', 1000)),
    ('deep, one more', repeat('[', 1000) || repeat(']', 1000), repeat('[', 1001) || repeat(']', 1001));

SELECT n, what, CASE WHEN kept::jsonb = given::jsonb THEN 'equal' ELSE 'differ' END AS postgres, there.answer AS there, back.answer AS back,
       CASE WHEN t.answer = there.answer AND d.answer = there.answer AND e.answer = there.answer
             AND tb.answer = back.answer AND db.answer = back.answer AND eb.answer = back.answer THEN 'the same'
            ELSE concat_ws(' ', t.answer, d.answer, e.answer, tb.answer, db.answer, eb.answer) END AS otherwise
  FROM pair, verdict('plain:v1', kept::jsonb, given::jsonb) AS there, verdict('plain:v1', given::jsonb, kept::jsonb) AS back,
       verdict('tree:v1', kept::jsonb, given::jsonb) AS t, verdict('tree:v1', given::jsonb, kept::jsonb) AS tb,
       verdict('digest:v1', kept::jsonb, given::jsonb) AS d, verdict('digest:v1', given::jsonb, kept::jsonb) AS db,
       verdict('defaults:v1', kept::jsonb, given::jsonb) AS e, verdict('defaults:v1', given::jsonb, kept::jsonb) AS eb
 ORDER BY n;

-- None of them is stored as another value than it is.
BEGIN;
SELECT count(*) FROM pair, reserve_request('s', 'plain:v1', n::text, kept::jsonb) AS r;
SELECT count(*) AS right_ones FROM pair JOIN idempotency_record ON request_key = n::text AND request::text = kept::jsonb::text;
ROLLBACK;
