-- Keys and subscribers are compared byte by byte: no case folding, no normalisation, no trimming.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;
INSERT INTO account VALUES (1, 1000000), (2, 1000000);
SET client_encoding = 'UTF8';

-- Each of these is a key of its own, though some rule somewhere makes pairs of them equal.
CREATE TABLE candidate (n int GENERATED ALWAYS AS IDENTITY, what text, key text COLLATE "C");
INSERT INTO candidate (what, key) VALUES
    ('lower case', 'key'),
    ('upper case', 'KEY'),
    ('title case', 'Key'),
    ('blank before', ' key'),
    ('blank after', 'key '),
    ('blanks around', ' key '),
    ('tab after', E'key\t'),
    ('line feed after', E'key\n'),
    ('no-break blank after', 'key' || U&'\00a0'),
    ('zero-width blank within', 'k' || U&'\200b' || 'ey'),
    ('one blank', ' '),
    ('two blanks', '  '),
    ('composed e acute', U&'\00e9'),
    ('decomposed e acute', 'e' || U&'\0301'),
    ('plain e', 'e'),
    ('sharp s', 'stra' || U&'\00df' || 'e'),
    ('double s', 'strasse'),
    ('dotless i', U&'\0131'),
    ('dotted i', 'i'),
    ('ligature fi', U&'\fb01'),
    ('f and i', 'fi'),
    ('full-width A', U&'\ff21'),
    ('A', 'A'),
    ('Greek capital Alpha', U&'\0391'),
    ('outside the basic plane', U&'\+01f600'),
    ('quotes', '''"'),
    ('backslash', E'\\'),
    ('percent', '%'),
    ('underscore', '_'),
    ('SQL', 'k''; DROP TABLE account; --'),
    ('the word null', 'null'),
    ('zero', '0'),
    ('zero, twice', '00'),
    ('control character', E'\x01');
SELECT count(*) AS keys, count(DISTINCT key) AS distinct_keys FROM candidate;

-- First calls, then retries: as many effects as there are keys.
SELECT count(*) FILTER (WHERE NOT r.replayed) AS executed,
       count(*) FILTER (WHERE r.replayed) AS replayed
  FROM candidate, debit_request(1, key, 1) AS r;
SELECT count(*) FILTER (WHERE NOT r.replayed) AS executed,
       count(*) FILTER (WHERE r.replayed) AS replayed
  FROM candidate, debit_request(1, key, 1) AS r;
SELECT * FROM t.store();
-- What was stored is what was sent, byte for byte.
SELECT count(*) AS unchanged
  FROM candidate AS c JOIN request_result AS r
    ON convert_to(r.request_key, 'UTF8') = convert_to(c.key, 'UTF8');
-- And so with subscribers.
SELECT count(*) AS accepted
  FROM candidate
 WHERE consume_once(key, '00000000-0000-0000-0000-000000000001', 2, 1) IS NOT NULL;
SELECT count(*) AS accepted
  FROM candidate
 WHERE consume_once(key, '00000000-0000-0000-0000-000000000001', 2, 1) IS NOT NULL;
SELECT * FROM t.store();
TRUNCATE request_result, processed_message;

-- 255 bytes are the most, whatever the number of characters.
SELECT what, char_length(key) AS characters, octet_length(key) AS bytes,
       a.result AS replayed, a.code, a.reason
  FROM (VALUES
    (1, '1-byte characters', repeat('k', 255)),
    (2, '1-byte characters', repeat('k', 256)),
    (3, '2-byte characters', repeat(U&'\00e9', 127) || 'k'),
    (4, '2-byte characters', repeat(U&'\00e9', 128)),
    (5, '3-byte characters', repeat(U&'\20ac', 85)),
    (6, '3-byte characters', repeat(U&'\20ac', 85) || 'k'),
    (7, '4-byte characters', repeat(U&'\+01f600', 63) || 'kkk'),
    (8, '4-byte characters', repeat(U&'\+01f600', 64)),
    (9, 'ends differ', repeat('k', 254) || 'a'),
    (10, 'ends differ', repeat('k', 254) || 'b')) AS v (n, what, key),
       t.attempt(format('SELECT replayed FROM debit_request(1, %L, 1)', key)) AS a
 ORDER BY n;
-- None was cut: two requests would share one key.
SELECT octet_length(request_key) AS bytes, count(*) FROM request_result
 GROUP BY octet_length(request_key);

-- The same key: independent on two accounts; the same id: independent for two subscribers.
SELECT debit_once(1, 'shared', 10);
SELECT debit_once(2, 'shared', 20);
SELECT debit_once(1, 'shared', 10);
SELECT debit_once(2, 'shared', 20);
SELECT consume_once('a', '00000000-0000-0000-0000-00000000000a', 1, 1);
SELECT consume_once('b', '00000000-0000-0000-0000-00000000000a', 2, 2);
SELECT consume_once('a', '00000000-0000-0000-0000-00000000000a', 1, 1) IS NULL AS again;
-- A UUID is a value: its spelling does not matter.
SELECT consume_once('b', '{00000000-0000-0000-0000-00000000000A}', 2, 2) IS NULL AS again;
-- Other operations in the same table do not answer for debit:v1.
INSERT INTO request_result VALUES (1, 'credit:v1', 'other', '{"amount": 1}', '{"balance": 0}'),
                                  (1, 'DEBIT:v1', 'other', '{"amount": 1}', '{"balance": 0}'),
                                  (1, 'debit:v2', 'other', '{"amount": 1}', '{"balance": 0}');
SELECT replayed FROM debit_request(1, 'other', 1);
