-- Values that do not fit into a page, kept out of line or compressed: stored once, compared whole, and
-- answered whole.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;
\pset null '(null)'
INSERT INTO account VALUES (1, 1000);
-- A value of about so many bytes, that compresses badly (sort: noise) or well (sort: zeros).
CREATE FUNCTION t.large(bytes int, sort text, last text DEFAULT 'end') RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('text', CASE sort WHEN 'zeros' THEN repeat('0', bytes)
        ELSE (SELECT string_agg(md5(n::text), '' ORDER BY n) FROM generate_series(1, bytes / 32) AS n) END, 'last', last)
$$;
CREATE TABLE size (n int GENERATED ALWAYS AS IDENTITY, bytes int, sort text);
INSERT INTO size (bytes, sort)
    SELECT bytes, sort FROM unnest('{noise,zeros}'::text[]) AS sort,
           unnest('{1000,1900,2000,2100,7900,8000,8200,30000,1000000}'::int[]) AS bytes;

-- Messages: the same one again is a redelivery, one that differs in its last byte is another.
SELECT count(consume_once('s', md5(n::text)::uuid, 1, 1, t.large(bytes, sort))) FROM size;
SELECT count(consume_once('s', md5(n::text)::uuid, 1, 1, t.large(bytes, sort))) FROM size;
SELECT a.code, a.reason, length(a.detail) < 300 AS detail_is_short, count(*) FROM size,
       t.attempt(format('SELECT consume_once(''s'', %L, 1, 1, t.large(%s, %L, ''enD''))', md5(n::text), bytes, sort)) AS a GROUP BY 1, 2, 3;
SELECT count(*) AS whole FROM processed_message JOIN size ON message_id = md5(n::text)::uuid WHERE message = t.large(bytes, sort);
SELECT balance FROM account;

-- Requests and replies of any size.
CREATE FUNCTION echo(request jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT request || '{"echo": true}' $$;
SELECT count(*) FILTER (WHERE r.response = t.large(bytes, sort) || '{"echo": true}' AND NOT r.replayed) AS whole
  FROM size, run_once('s', 'echo:v1', 'k' || n, t.large(bytes, sort), 'echo(jsonb)') AS r;
SELECT count(*) FILTER (WHERE r.response = t.large(bytes, sort) || '{"echo": true}' AND r.replayed) AS whole
  FROM size, run_once('s', 'echo:v1', 'k' || n, t.large(bytes, sort), 'echo(jsonb)') AS r;
SELECT a.code, a.reason, length(a.detail) < 300 AS detail_is_short, count(*) FROM size,
       t.attempt(format('SELECT state FROM run_once(''s'', ''echo:v1'', %L, t.large(%s, %L, ''enD''), ''echo(jsonb)'')', 'k' || n, bytes, sort)) AS a GROUP BY 1, 2, 3;
SELECT count(*) FILTER (WHERE r.response = t.large(bytes, sort)) AS whole
  FROM size, run_sql_once('s', 'sql:v1', 'k' || n, '{}', format('SELECT t.large(%s, %L)', bytes, sort)) AS r;
SELECT count(*) FILTER (WHERE r.response = t.large(bytes, sort) AND r.replayed) AS whole
  FROM size, run_sql_once('s', 'sql:v1', 'k' || n, '{}', 'SELECT 1') AS r;
-- Reserved and completed apart, the request that came first is still whole.
BEGIN;
SELECT count(*) FROM size, reserve_request('s', 'apart:v1', 'k' || n, t.large(bytes, sort));
SELECT count(*) FROM size, complete_request('s', 'apart:v1', 'k' || n, t.large(bytes, sort, 'reply'));
COMMIT;
SELECT count(*) AS whole FROM idempotency_record JOIN size ON operation = 'apart:v1' AND request_key = 'k' || n
 WHERE request = t.large(bytes, sort) AND response = t.large(bytes, sort, 'reply');
SELECT count(*) FILTER (WHERE r.response = t.large(bytes, sort, 'reply')) AS found FROM size, find_request('s', 'apart:v1', 'k' || n) AS r;
-- A refusal is kept whole too.
SELECT define_operation('refuse:v1', save_refusals => true);
CREATE FUNCTION refuse(request jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'no' USING DETAIL = request ->> 'text';
END $$;
CREATE FUNCTION t.refused(key text, request jsonb, OUT code text, OUT detail text) LANGUAGE plpgsql AS $$
BEGIN
    SELECT r.sqlstate, r.detail INTO code, detail FROM run_once('s', 'refuse:v1', key, request, 'refuse(jsonb)') AS r;
END $$;
SELECT r.code, count(*) FILTER (WHERE r.detail = t.large(bytes, sort) ->> 'text') AS whole
  FROM size, t.refused('k' || n, t.large(bytes, sort)) AS r GROUP BY r.code;
SELECT r.code, count(*) FILTER (WHERE r.detail = t.large(bytes, sort) ->> 'text') AS whole
  FROM size, t.refused('k' || n, t.large(bytes, sort)) AS r GROUP BY r.code;

-- Out of line they are, and a rolled back call or savepoint leaves none to be seen.
SELECT relname, pg_relation_size(reltoastrelid) > 1000000 AS out_of_line FROM pg_class
 WHERE relname IN ('processed_message', 'idempotency_record') ORDER BY relname;
BEGIN;
SAVEPOINT s;
SELECT consume_once('s', md5('back')::uuid, 1, 1, t.large(1000000, 'noise'));
SELECT state FROM run_once('s', 'echo:v1', 'back', t.large(1000000, 'noise'), 'echo(jsonb)');
ROLLBACK TO s;
SELECT consume_once('s', md5('back')::uuid, 1, 1, t.large(100000, 'noise', 'other'));
SELECT state FROM run_once('s', 'echo:v1', 'back', t.large(100000, 'noise', 'other'), 'echo(jsonb)');
COMMIT;
SELECT consume_once('s', md5('back')::uuid, 1, 1, t.large(100000, 'noise', 'other'));
SELECT r.replayed, r.response = t.large(100000, 'noise', 'other') || '{"echo": true}' AS whole
  FROM run_once('s', 'echo:v1', 'back', t.large(100000, 'noise', 'other'), 'echo(jsonb)') AS r;

-- Whatever the storage and compression of the columns.
ALTER TABLE processed_message ALTER COLUMN message SET STORAGE PLAIN;
ALTER TABLE idempotency_record ALTER COLUMN request SET STORAGE EXTERNAL, ALTER COLUMN response SET STORAGE MAIN;
SELECT consume_once('plain', md5(n::text)::uuid, 1, 1, t.large(bytes, sort)) FROM size WHERE n = 5;
SELECT consume_once('plain', md5(n::text)::uuid, 1, 1, t.large(bytes, sort)) FROM size WHERE n = 5;
SELECT a.code FROM t.attempt($$SELECT consume_once('plain', md5('large')::uuid, 1, 1, t.large(30000, 'noise'))$$) AS a;
SELECT count(*) FILTER (WHERE r.response = t.large(bytes, sort) || '{"echo": true}' AND NOT r.replayed) AS whole
  FROM size, run_once('s', 'echo:v2', 'k' || n, t.large(bytes, sort), 'echo(jsonb)') AS r;
SELECT count(*) FILTER (WHERE r.response = t.large(bytes, sort) || '{"echo": true}' AND r.replayed) AS whole
  FROM size, run_once('s', 'echo:v2', 'k' || n, t.large(bytes, sort), 'echo(jsonb)') AS r;
ALTER TABLE processed_message ALTER COLUMN message SET STORAGE EXTENDED;
-- Rewritten, everything is still there.
VACUUM FULL processed_message, idempotency_record;
SELECT count(consume_once('s', md5(n::text)::uuid, 1, 1, t.large(bytes, sort))) FROM size;
SELECT count(*) FILTER (WHERE r.response = t.large(bytes, sort) || '{"echo": true}' AND r.replayed) AS whole
  FROM size, run_once('s', 'echo:v1', 'k' || n, t.large(bytes, sort), 'echo(jsonb)') AS r;
SELECT balance FROM account;
