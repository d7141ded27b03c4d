-- run_sql_once keeps the plans of commands: nobody may be able to tell a kept one from one that is
-- prepared anew, whatever has changed since.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\pset null '(null)'
CREATE EXTENSION idempotency;
-- Runs a command under a new key.
CREATE SEQUENCE t.keys;
CREATE FUNCTION t.ask(command text, request jsonb DEFAULT '{}', OUT response jsonb) LANGUAGE plpgsql AS $$
BEGIN
    SELECT o.response INTO STRICT response
      FROM run_sql_once('kept', 'kept:v1', 'k' || nextval('t.keys'), request, command) AS o;
END $$;
CREATE FUNCTION t.told(command text, request jsonb DEFAULT '{}') RETURNS text LANGUAGE sql AS
    $$SELECT COALESCE(code || ' ' || message, result) FROM t.attempt(format('SELECT t.ask(%L, %L)', command, request))$$;

-- What time it is, by a literal, in two transactions; and by functions.
CREATE TABLE moment (at timestamptz, d date);
SELECT t.ask($$INSERT INTO moment VALUES ('now', 'today') RETURNING at$$) IS NOT NULL AS asked;
SELECT FROM pg_sleep(0.01);
SELECT t.ask($$INSERT INTO moment VALUES ('now', 'today') RETURNING at$$) IS NOT NULL AS asked;
SELECT FROM pg_sleep(0.01);
SELECT t.ask($$INSERT INTO moment SELECT 'now', 'today' RETURNING at$$) IS NOT NULL AS asked;
SELECT FROM pg_sleep(0.01);
SELECT t.ask($$INSERT INTO moment SELECT 'now', 'today' RETURNING at$$) IS NOT NULL AS asked;
SELECT count(DISTINCT at) FROM moment;
CREATE DOMAIN instant AS timestamptz;
BEGIN;
SELECT t.ask($$SELECT 'now'::instant$$) = to_jsonb(now()) AS now, t.ask($$SELECT ARRAY['now'::timestamptz]$$) = to_jsonb(ARRAY[now()]) AS array,
       t.ask($$SELECT '{now}'::timestamptz[]$$) = to_jsonb(ARRAY[now()]) AS literal, t.ask($$SELECT now()$$) = to_jsonb(now()) AS called,
       t.ask($$SELECT CURRENT_TIMESTAMP$$) = to_jsonb(now()) AS keyword, t.ask($$VALUES ('now'::timestamptz), ('now')$$) = to_jsonb(now()) AS listed;
COMMIT;
SELECT FROM pg_sleep(0.01);
BEGIN;
SELECT t.ask($$SELECT 'now'::instant$$) = to_jsonb(now()) AS now, t.ask($$SELECT ARRAY['now'::timestamptz]$$) = to_jsonb(ARRAY[now()]) AS array,
       t.ask($$SELECT '{now}'::timestamptz[]$$) = to_jsonb(ARRAY[now()]) AS literal, t.ask($$SELECT now()$$) = to_jsonb(now()) AS called,
       t.ask($$SELECT CURRENT_TIMESTAMP$$) = to_jsonb(now()) AS keyword, t.ask($$VALUES ('now'::timestamptz), ('now')$$) = to_jsonb(now()) AS listed;
COMMIT;

-- Settings by which a literal, and what is made of one, is read.
SET datestyle = 'ISO, MDY';
SELECT t.ask($$SELECT '02-03-2026'::date$$), t.ask($$SELECT ('02-03-2026' || '')::date$$), t.ask($$SELECT extract(hour FROM timestamptz '2026-01-01 12:00+00')$$);
SET datestyle = 'ISO, DMY';
SET timezone = 'Asia/Tokyo';
SELECT t.ask($$SELECT '02-03-2026'::date$$), t.ask($$SELECT ('02-03-2026' || '')::date$$), t.ask($$SELECT extract(hour FROM timestamptz '2026-01-01 12:00+00')$$);
SELECT t.ask($$SELECT '2026-01-01 12:00'::timestamptz$$);
SET timezone = 'UTC';
SELECT t.ask($$SELECT '2026-01-01 12:00'::timestamptz$$);
RESET datestyle;
RESET timezone;
SELECT t.ask($$SELECT 'a\\b'$$);
SET standard_conforming_strings = off;
SET escape_string_warning = off;
SELECT t.ask($c$SELECT 'a\\b'$c$);
SELECT t.ask($c$SELECT E'a\\b'$c$);
RESET standard_conforming_strings;
RESET escape_string_warning;
SELECT t.ask($$SELECT 'a\\b'$$), t.ask($$SELECT E'a\\b'$$);

-- The same names in two schemas.
CREATE SCHEMA one;
CREATE SCHEMA two;
CREATE TABLE one.place (n int, made_in text DEFAULT 'one');
CREATE TABLE two.place (made_in text DEFAULT 'two', n bigint, more text);
CREATE FUNCTION one.which() RETURNS text LANGUAGE sql AS $$SELECT 'one'$$;
CREATE FUNCTION two.which() RETURNS text LANGUAGE sql AS $$SELECT 'two'$$;
CREATE SEQUENCE one.numbers START 100;
CREATE SEQUENCE two.numbers START 200;
SET search_path = one, public;
SELECT t.ask($$INSERT INTO place (n) VALUES (1) RETURNING made_in$$), t.ask($$SELECT which()$$), t.ask($$SELECT nextval('numbers')$$), t.ask($$SELECT 'place'::regclass = 'one.place'::regclass$$);
SET search_path = two, public;
SELECT t.ask($$INSERT INTO place (n) VALUES (1) RETURNING made_in$$), t.ask($$SELECT which()$$), t.ask($$SELECT nextval('numbers')$$), t.ask($$SELECT 'place'::regclass = 'one.place'::regclass$$);
SET search_path = public;
SELECT t.told($$INSERT INTO place (n) VALUES (1) RETURNING made_in$$), t.told($$SELECT which()$$), t.told($$SELECT nextval('numbers')$$);
SET search_path = one, public;
SELECT t.ask($$INSERT INTO place (n) VALUES (1) RETURNING made_in$$), t.ask($$SELECT which()$$), t.ask($$SELECT nextval('numbers')$$), t.ask($$SELECT 'place'::regclass = 'one.place'::regclass$$);
RESET search_path;
-- A function whose own search path it is.
CREATE FUNCTION t.in_two(command text) RETURNS jsonb LANGUAGE plpgsql SET search_path = two, public AS $$BEGIN RETURN t.ask(command); END$$;
SELECT t.in_two($$SELECT which()$$);

-- Tables, functions, views and sequences that are dropped, changed and made again.
CREATE TABLE thing (a int, b text);
SELECT t.ask($$INSERT INTO thing VALUES (1, 'x') RETURNING to_jsonb(thing)$$), t.ask($$SELECT count(*) FROM (SELECT * FROM thing) AS s$$);
SELECT t.ask($$INSERT INTO thing VALUES (1, 'x') RETURNING *$$);
DROP TABLE thing;
SELECT t.told($$INSERT INTO thing VALUES (1, 'x') RETURNING *$$);
CREATE TABLE thing (a text, b text DEFAULT 'b', c text DEFAULT 'c');
SELECT t.ask($$INSERT INTO thing VALUES (1, 'x') RETURNING to_jsonb(thing)$$), t.ask($$INSERT INTO thing VALUES (1, 'x') RETURNING *$$);
SELECT t.ask($$SELECT to_jsonb(s) FROM (SELECT * FROM thing) AS s LIMIT 1$$);
ALTER TABLE thing ADD COLUMN d int DEFAULT 4;
SELECT t.ask($$SELECT to_jsonb(s) FROM (SELECT * FROM thing) AS s LIMIT 1$$), t.ask($$INSERT INTO thing VALUES (1, 'x') RETURNING to_jsonb(thing)$$);
ALTER TABLE thing DROP COLUMN a;
SELECT t.ask($$SELECT to_jsonb(s) FROM (SELECT * FROM thing) AS s LIMIT 1$$), t.told($$INSERT INTO thing VALUES (1, 'x') RETURNING *$$);
ALTER TABLE thing ALTER COLUMN b SET DEFAULT 'another';
SELECT t.ask($$INSERT INTO thing (c) VALUES ('c') RETURNING b$$);
ALTER TABLE thing ALTER COLUMN b SET DEFAULT 'yet another';
SELECT t.ask($$INSERT INTO thing (c) VALUES ('c') RETURNING b$$);
CREATE VIEW seen AS SELECT 1 AS n;
SELECT t.ask($$SELECT n FROM seen$$);
CREATE OR REPLACE VIEW seen AS SELECT 2 AS n;
SELECT t.ask($$SELECT n FROM seen$$);
CREATE FUNCTION said() RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT 1';
SELECT t.ask($$SELECT said()$$);
CREATE OR REPLACE FUNCTION said() RETURNS int IMMUTABLE LANGUAGE sql AS 'SELECT 2';
SELECT t.ask($$SELECT said()$$);
DROP FUNCTION said();
SELECT t.told($$SELECT said()$$);
CREATE FUNCTION said() RETURNS text IMMUTABLE LANGUAGE sql AS $$SELECT 'three'$$;
SELECT t.ask($$SELECT said()$$);
CREATE SEQUENCE counter;
SELECT t.ask($$SELECT nextval('counter')$$), t.ask($$SELECT nextval('counter')$$);
DROP SEQUENCE counter;
SELECT t.told($$SELECT nextval('counter')$$);
CREATE SEQUENCE counter START 50;
SELECT t.ask($$SELECT nextval('counter')$$);
CREATE TABLE ruled (n int);
SELECT t.ask($$INSERT INTO ruled VALUES (1) RETURNING n$$);
CREATE TRIGGER doubles BEFORE INSERT ON ruled FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger();
SELECT t.told($$INSERT INTO ruled VALUES (1) RETURNING n$$);
DROP TRIGGER doubles ON ruled;
CREATE RULE aside AS ON INSERT TO ruled DO INSTEAD SELECT 'instead' AS n;
SELECT t.told($$INSERT INTO ruled VALUES (1)$$);
DROP RULE aside ON ruled;
SELECT t.told($$INSERT INTO ruled VALUES (1)$$);
-- A cast and an operator are the types' own.
CREATE TYPE mood AS ENUM ('glad', 'sad');
SELECT t.ask($$SELECT 'sad'::mood$$);
ALTER TYPE mood RENAME VALUE 'sad' TO 'blue';
SELECT t.told($$SELECT 'sad'::mood$$), t.told($$SELECT 'blue'::mood$$);
CREATE DOMAIN small AS int CHECK (VALUE < 10);
SELECT t.ask($$SELECT 9::small$$);
ALTER DOMAIN small DROP CONSTRAINT small_check;
ALTER DOMAIN small ADD CHECK (VALUE < 5);
SELECT t.told($$SELECT 9::small$$);

-- The first preparation is rolled back, with the table that it was made for.
BEGIN;
SAVEPOINT s;
CREATE TABLE passing (n int);
SELECT t.ask($$INSERT INTO passing VALUES (1) RETURNING n$$);
ROLLBACK TO s;
SELECT t.told($$INSERT INTO passing VALUES (1) RETURNING n$$);
CREATE TABLE passing (n text, m int DEFAULT 7);
SELECT t.ask($$INSERT INTO passing VALUES (1) RETURNING n$$);
ROLLBACK;
SELECT t.told($$INSERT INTO passing VALUES (1) RETURNING n$$);
CREATE TABLE passing (n numeric(5, 2));
SELECT t.ask($$INSERT INTO passing VALUES (1) RETURNING n$$);
CREATE TEMP TABLE fleeting (n int) ON COMMIT DROP;
SELECT t.told($$INSERT INTO fleeting VALUES (1) RETURNING n$$);
BEGIN;
CREATE TEMP TABLE fleeting (n int) ON COMMIT DROP;
SELECT t.ask($$INSERT INTO fleeting VALUES (1) RETURNING n$$);
COMMIT;
BEGIN;
CREATE TEMP TABLE fleeting (n text) ON COMMIT DROP;
SELECT t.ask($$INSERT INTO fleeting VALUES (1) RETURNING n$$);
COMMIT;

-- Errors, and the same command after them.
CREATE TABLE checked (n int CHECK (n > 0));
SELECT t.told($$INSERT INTO checked VALUES (($1 ->> 'n')::int) RETURNING n$$, '{"n": 0}');
SELECT t.told($$INSERT INTO checked VALUES (($1 ->> 'n')::int) RETURNING n$$, '{"n": 1}');
SELECT t.told($$INSERT INTO checked VALUES (($1 ->> 'n')::int) RETURNING n$$, '{"n": "x"}');
SELECT t.told($$INSERT INTO checked VALUES (($1 ->> 'n')::int) RETURNING n$$, '{"n": 2}');
SELECT state FROM run_sql_once('kept', 'kept:v1', 'top', '{"n": 0}', $$INSERT INTO checked VALUES (($1 ->> 'n')::int) RETURNING n$$);
SELECT state, response FROM run_sql_once('kept', 'kept:v1', 'top', '{"n": 3}', $$INSERT INTO checked VALUES (($1 ->> 'n')::int) RETURNING n$$);
-- As many runs as make a generic plan.
SELECT count(*), sum(t.ask($$INSERT INTO checked SELECT ($1 ->> 'n')::int RETURNING n$$, jsonb_build_object('n', n))::int) FROM generate_series(10, 40) AS n;
SELECT count(*), sum(n) FROM checked;

-- Roles: rights on a schema, a table and a function, and policies.
CREATE ROLE idempotency_test_one;
CREATE ROLE idempotency_test_two;
GRANT USAGE ON SCHEMA t TO idempotency_test_one, idempotency_test_two;
GRANT USAGE ON SEQUENCE t.keys TO idempotency_test_one, idempotency_test_two;
SELECT grant_idempotency('idempotency_test_one', 'use', scopes => '{*}'), grant_idempotency('idempotency_test_two', 'use', scopes => '{*}');
CREATE SCHEMA closed;
CREATE TABLE closed.secret (n int);
INSERT INTO closed.secret VALUES (42);
GRANT SELECT ON closed.secret TO idempotency_test_one, idempotency_test_two;
GRANT USAGE ON SCHEMA closed TO idempotency_test_one;
CREATE TABLE guarded (owner text, n int);
INSERT INTO guarded VALUES ('idempotency_test_one', 1), ('idempotency_test_two', 2);
ALTER TABLE guarded ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON guarded USING (owner = current_user);
GRANT SELECT ON guarded TO idempotency_test_one, idempotency_test_two;
SELECT t.told($$SELECT n FROM closed.secret$$), t.told($$SELECT sum(n) FROM guarded$$), t.told($$SELECT current_user$$);
SET ROLE idempotency_test_one;
SELECT t.told($$SELECT n FROM closed.secret$$), t.told($$SELECT sum(n) FROM guarded$$), t.told($$SELECT current_user$$);
SET ROLE idempotency_test_two;
SELECT t.told($$SELECT n FROM closed.secret$$), t.told($$SELECT sum(n) FROM guarded$$), t.told($$SELECT current_user$$);
SET ROLE idempotency_test_one;
SELECT t.told($$SELECT n FROM closed.secret$$), t.told($$SELECT sum(n) FROM guarded$$), t.told($$SELECT current_user$$);
RESET ROLE;
SELECT t.told($$SELECT n FROM closed.secret$$), t.told($$SELECT sum(n) FROM guarded$$), t.told($$SELECT current_user$$);
-- Rights, policies and settings that change between two calls of one role.
REVOKE USAGE ON SCHEMA closed FROM idempotency_test_one;
DROP POLICY own ON guarded;
CREATE POLICY other ON guarded USING (owner <> current_user);
SET ROLE idempotency_test_one;
SELECT t.told($$SELECT n FROM closed.secret$$), t.told($$SELECT sum(n) FROM guarded$$);
SET row_security = off;
SELECT t.told($$SELECT sum(n) FROM guarded$$);
RESET row_security;
RESET ROLE;
REVOKE SELECT ON guarded FROM idempotency_test_one;
SET ROLE idempotency_test_one;
SELECT t.told($$SELECT sum(n) FROM guarded$$);
RESET ROLE;
-- A function that lends its owner's rights.
CREATE FUNCTION t.lent(command text) RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$BEGIN RETURN t.told(command); END$$;
SET ROLE idempotency_test_two;
SELECT t.told($$SELECT n FROM closed.secret$$), t.lent($$SELECT n FROM closed.secret$$), t.told($$SELECT n FROM closed.secret$$);
RESET ROLE;

-- More commands than are kept, twice over, and the first one after them.
SELECT count(*) AS asked, count(*) FILTER (WHERE t.ask(format('SELECT %s + ($1 ->> ''n'')::int', n), '{"n": 1}')::int = n + 1) AS right
  FROM generate_series(1, 250) AS n;
SELECT count(*) AS asked, count(*) FILTER (WHERE t.ask(format('SELECT %s + ($1 ->> ''n'')::int', n), '{"n": 2}')::int = n + 2) AS right
  FROM generate_series(1, 250) AS n;
-- A command that runs 150 others while it is at work, and goes on; and again, when it was kept.
CREATE TABLE walked (n int, reply jsonb);
SELECT t.ask($$INSERT INTO walked SELECT n, t.ask(format('SELECT %s * 2', n)) FROM generate_series(1, 150) AS n RETURNING n$$);
SELECT t.ask($$INSERT INTO walked SELECT n, t.ask(format('SELECT %s * 2', n)) FROM generate_series(1, 150) AS n RETURNING n$$);
SELECT count(*), count(*) FILTER (WHERE reply::int = n * 2) AS right FROM walked;
-- The same command in itself, under other keys, deeper than plans are kept.
CREATE FUNCTION t.deeper(n int) RETURNS jsonb LANGUAGE sql AS
    $f$SELECT CASE WHEN n = 0 THEN to_jsonb(0) ELSE t.ask($$SELECT 1 + t.deeper(($1 ->> 'n')::int - 1)::int$$, jsonb_build_object('n', n)) END$f$;
SELECT t.deeper(5);
SET max_stack_depth = '7MB';
SELECT t.deeper(60);
RESET max_stack_depth;
CREATE FUNCTION t.each_its_own(n int) RETURNS jsonb LANGUAGE sql AS
    $f$SELECT CASE WHEN n = 0 THEN to_jsonb(0) ELSE t.ask(format('SELECT %s - %s + 1 + t.each_its_own(($1 ->> ''n'')::int - 1)::int', n, n), jsonb_build_object('n', n)) END$f$;
SET max_stack_depth = '7MB';
SELECT t.each_its_own(110);
SELECT t.each_its_own(110);
RESET max_stack_depth;
-- A table that an effect changes beneath the command that runs it.
CREATE TABLE beneath (n int);
CREATE FUNCTION t.alters() RETURNS int LANGUAGE plpgsql AS $$BEGIN ALTER TABLE beneath ADD COLUMN m int DEFAULT 1; RETURN 1; END$$;
SELECT t.ask($$SELECT count(*) FROM beneath$$);
SELECT t.ask($$SELECT t.alters()$$);
SELECT t.ask($$SELECT count(*) FROM beneath$$), t.told($$SELECT t.alters()$$);
-- The error of an inner command, caught by an effect: the outer one goes on.
SELECT t.ask($$SELECT t.told('SELECT 1 / ($1 ->> ''n'')::int', '{"n": 0}') || ' and on'$$), t.ask($$SELECT t.told('SELECT 1 / ($1 ->> ''n'')::int', '{"n": 1}') || ' and on'$$);
-- Refusals that are saved.
CREATE FUNCTION t.positive(n int) RETURNS int LANGUAGE plpgsql AS $$BEGIN IF n = 0 THEN RAISE EXCEPTION 'not positive'; END IF; RETURN n; END$$;
SELECT define_operation('saved:v1', save_refusals => true) IS NOT NULL;
SELECT state, response, message FROM generate_series(0, 2) AS n, run_sql_once('kept', 'saved:v1', 's' || n, to_jsonb(n), 'SELECT t.positive(($1 #>> ''{}'')::int)');
SELECT state, response, message, replayed FROM generate_series(0, 2) AS n, run_sql_once('kept', 'saved:v1', 's' || n, to_jsonb(n), 'SELECT t.positive(($1 #>> ''{}'')::int)');

-- What is no plan to keep.
SELECT t.told($$DO 'BEGIN INSERT INTO checked VALUES (1000); END'$$), t.told($$DO 'BEGIN INSERT INTO checked VALUES (1000); END'$$);
SELECT t.told('CREATE TABLE by_command (n int)'), t.told('DROP TABLE by_command'), t.told('CREATE TABLE by_command (n int)');
CREATE PROCEDURE doubled(request jsonb, INOUT reply jsonb DEFAULT NULL) LANGUAGE sql AS $$SELECT to_jsonb((request ->> 'n')::int * 2)$$;
SELECT t.told('CALL doubled($1)', '{"n": 4}'), t.told('CALL doubled($1)', '{"n": 5}');
SELECT t.told('SELECT 1; SELECT 2'), t.told('SELECT 1; SELECT 2'), t.told(''), t.told('COMMIT'), t.told('COMMIT');
SELECT count(*) FROM checked WHERE n = 1000;
-- What poolers send.
DISCARD PLANS;
SELECT t.ask($$SELECT which()$$) FROM (SELECT set_config('search_path', 'two, public', false)) AS s;
DISCARD ALL;
SELECT t.told($$SELECT which()$$);
SET plan_cache_mode = force_generic_plan;
SELECT t.ask($$SELECT ($1 ->> 'n')::int$$, '{"n": 1}'), t.ask($$SELECT ($1 ->> 'n')::int$$, '{"n": 2}');
RESET plan_cache_mode;
DROP OWNED BY idempotency_test_one, idempotency_test_two;
DROP ROLE idempotency_test_one, idempotency_test_two;
