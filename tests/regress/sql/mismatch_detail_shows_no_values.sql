-- A mismatch names what differs by path and never shows a value, kept or sent.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;
INSERT INTO account VALUES (1, 1000), (777777, 1000);
CREATE FUNCTION id() RETURNS uuid LANGUAGE sql
    AS $$ SELECT '00000000-0000-0000-0000-0000000000aa'::uuid $$;

SELECT debit_once(1, 'secret-key', 123);
SELECT consume_once('secret-inbox', id(), 1, 456,
    '{"card": "4111-1111", "holder": {"name": "Ada", "pin": 987654}, "tags": ["secret-tag"]}');

CREATE FUNCTION shown(statement text) RETURNS TABLE (code text, paths text, shows text)
LANGUAGE sql AS $$
    SELECT a.code, substring(a.detail FROM 'Differing paths: (.*)\.$'),
           (SELECT string_agg(value, ' ')
              FROM unnest('{4111,5222,Ada,Eve,987654,111111,secret,public,123,321,456,654,777777,
                           000000aa,1000,877,1333}'::text[]) AS v (value)
             WHERE strpos(concat(a.message, a.detail, a.hint), value) > 0)
      FROM t.attempt(statement) AS a
$$;
\pset null '(none)'
SELECT s.* FROM (VALUES
    (1, $$SELECT debit_once(1, 'secret-key', 321)$$),
    (2, $$SELECT state FROM debit_request(1, 'secret-key', 321)$$),
    (3, $$SELECT consume_once('secret-inbox', id(), 777777, 654,
        '{"card": "5222", "holder": {"name": "Eve", "pin": 111111}, "tags": ["public"]}')$$),
    (4, $$SELECT consume_once('secret-inbox', id(), 1, 456, '{"card": "4111-1111",
        "holder": {"name": "Ada", "pin": 111111}, "tags": ["secret-tag"]}')$$),
    (5, $$SELECT consume_once('secret-inbox', id(), 1, 456, '["5222", "Eve"]')$$),
    (6, $$SELECT consume_once('secret-inbox', id(), 1, 456)$$)) AS v (n, statement),
       shown(statement) AS s
 ORDER BY n;

-- Other errors show neither key nor amount nor balance.
SELECT s.code, s.shows FROM (VALUES
    (1, $$SELECT debit_once(1, 'secret-key-2', 654321)$$),
    (2, $$SELECT debit_once(1, 'secret-key', -654321)$$),
    (3, $$SELECT debit_once(1, repeat('secret', 50), 654321)$$),
    (4, $$SELECT consume_once('secret-inbox', NULL, 1, 654321, '"secret"')$$)) AS v (n, statement),
       shown(statement) AS s
 ORDER BY n;
