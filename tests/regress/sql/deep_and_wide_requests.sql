-- Requests and replies of any depth the server can hold, and of any width: told apart, stored, no crash.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\set helper :regress '/sql/helpers/effects.psql'
\i :helper
CREATE EXTENSION idempotency;
\pset null '(null)'
CREATE FUNCTION echo(request jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT request $$;
CREATE FUNCTION nest(depth int, leaf text, kind text) RETURNS jsonb LANGUAGE sql AS $$
    SELECT (CASE kind WHEN 'array' THEN repeat('[', depth) || leaf || repeat(']', depth)
                      WHEN 'object' THEN repeat('{"a":', depth) || leaf || repeat('}', depth)
                      ELSE repeat('[{"a":', depth / 2) || leaf || repeat('}]', depth / 2) END)::jsonb
$$;
SELECT define_operation('whole:v1');
SELECT define_operation('tree:v1', ignored_paths => '{/not/there}');
SELECT define_operation('defaults:v1', default_values => '{"x": {"y": 1}}');
SELECT define_operation('digest:v1', keep_request => 'digest', keep_response => 'digest');
SELECT define_operation('redacted:v1', keep_request => 'redacted', redacted_request_paths => '{/a/a/a}', keep_response => 'redacted', redacted_response_paths => '{/a/a/a}');
-- The server's own limit is its stack: what it reads, is worked on.
CREATE TABLE told AS
SELECT operation, kind, depth, f.state AS first, f.code AS first_code, r.state AS replay, r.code AS replay_code, m.code AS mismatch
  FROM unnest('{whole:v1,tree:v1,defaults:v1,digest:v1,redacted:v1}'::text[]) AS operation, unnest('{array,object,mixed}'::text[]) AS kind,
       unnest('{1,10,100,1000,3000,5000}'::int[]) AS depth,
       t.outcome(format('SELECT * FROM run_once(''s'', %L, %L, nest(%s, ''1'', %L), ''echo(jsonb)'')', operation, kind || depth, depth, kind)) AS f,
       t.outcome(format('SELECT * FROM run_once(''s'', %L, %L, nest(%s, ''1.0'', %L), ''echo(jsonb)'')', operation, kind || depth, depth, kind)) AS r,
       t.outcome(format('SELECT * FROM run_once(''s'', %L, %L, nest(%s, ''2'', %L), ''echo(jsonb)'')', operation, kind || depth, depth, kind)) AS m;
SELECT first, first_code, replay, replay_code, mismatch, count(*) FROM told GROUP BY 1, 2, 3, 4, 5;
SELECT operation, kind, depth, first_code, replay_code, mismatch FROM told
 WHERE first IS DISTINCT FROM 'completed' OR replay IS DISTINCT FROM 'completed' OR mismatch IS DISTINCT FROM '22023' ORDER BY 1, 2, 3;
-- Beyond it: the server's own error, nothing else.
SELECT kind, a.code FROM unnest('{array,object,mixed}'::text[]) AS kind,
       t.attempt(format('SELECT state FROM run_once(''s'', ''tree:v1'', ''too deep'', nest(1000000, ''1'', %L), ''echo(jsonb)'')', kind)) AS a;
SELECT count(*) FROM find_request('s', 'tree:v1', 'too deep');
-- The stack almost used up: an error of the server's, and the session lives.
CREATE FUNCTION deeper(levels int, call text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    answer text;
BEGIN
    IF levels = 0 THEN
        EXECUTE call INTO answer;
        RETURN answer;
    END IF;
    RETURN deeper(levels - 1, call);
END $$;
SELECT bool_and(a.result = 'completed' OR a.code = '54001') AS answered_or_refused
  FROM generate_series(10, 400, 10) AS levels,
       t.attempt(format('SELECT deeper(%s, %L)', levels, $$SELECT state FROM run_once('s', 'tree:v1', 'deep', nest(3000, '1', 'mixed'), 'echo(jsonb)')$$)) AS a;
SELECT state FROM run_once('s', 'tree:v1', 'alive', '{}', 'echo(jsonb)');
-- Wide: many members, many elements, long names and texts.
CREATE TABLE wide (what text, request jsonb, other jsonb);
INSERT INTO wide SELECT 'members', jsonb_object_agg('m' || n, n), jsonb_object_agg('m' || n, n) || '{"m7777": 0}' FROM generate_series(1, 10000) AS n;
INSERT INTO wide SELECT 'elements', jsonb_agg(n), jsonb_agg(n) || '0' FROM generate_series(1, 20000) AS n;
INSERT INTO wide SELECT 'objects', jsonb_agg(jsonb_build_object('n', n, 'text', 'x' || n)), jsonb_agg(jsonb_build_object('n', n, 'text', 'x' || nullif(n, 5))) FROM generate_series(1, 20000) AS n;
INSERT INTO wide VALUES ('text', to_jsonb(repeat('ä', 1000000)), to_jsonb(repeat('ä', 999999) || 'a'));
INSERT INTO wide VALUES ('number', to_jsonb(repeat('9', 100000)::numeric), to_jsonb(repeat('9', 100000)::numeric - 1));
SELECT what, operation, f.state, r.state AS replay, m.code AS mismatch
  FROM wide, unnest('{whole:v1,tree:v1,defaults:v1,digest:v1}'::text[]) WITH ORDINALITY AS o (operation, n),
       t.outcome(format('SELECT * FROM run_sql_once(''s'', %L, %L, (SELECT request FROM wide WHERE what = %L), ''SELECT 1'')', operation, what, what)) AS f,
       t.outcome(format('SELECT * FROM run_sql_once(''s'', %L, %L, (SELECT request FROM wide WHERE what = %L), ''SELECT 1'')', operation, what, what)) AS r,
       t.outcome(format('SELECT * FROM run_sql_once(''s'', %L, %L, (SELECT other FROM wide WHERE what = %L), ''SELECT 1'')', operation, what, what)) AS m
 ORDER BY what, n;
