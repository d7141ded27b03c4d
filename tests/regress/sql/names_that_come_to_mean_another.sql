-- A name in a command of run_sql_once means what it would mean if the command were prepared anew:
-- also where a table, a function, an operator or a type of that name was made since, in a schema that
-- comes first or with arguments that fit better; where a membership was lost; where a setting reads the
-- text in another way.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\pset null '(null)'
CREATE EXTENSION idempotency;
CREATE SEQUENCE t.keys;
CREATE FUNCTION t.ask(command text, request jsonb DEFAULT '{}', OUT response jsonb) LANGUAGE plpgsql AS $$
BEGIN
    SELECT o.response INTO STRICT response
      FROM run_sql_once('kept', 'kept:v1', 'k' || nextval('t.keys'), request, command) AS o;
END $$;
CREATE FUNCTION t.told(command text, request jsonb DEFAULT '{}') RETURNS text LANGUAGE sql AS
    $$SELECT COALESCE(code || ' ' || message, result) FROM t.attempt(format('SELECT t.ask(%L, %L)', command, request))$$;

-- A table in a schema that comes first.
CREATE SCHEMA first;
CREATE TABLE ledger (made_in text DEFAULT 'public', n int);
SET search_path = first, public;
SELECT t.ask($$INSERT INTO ledger (n) VALUES (1) RETURNING made_in$$);
CREATE TABLE first.ledger (made_in text DEFAULT 'first', n int);
SELECT t.ask($$INSERT INTO ledger (n) VALUES (1) RETURNING made_in$$);
DROP TABLE first.ledger;
SELECT t.ask($$INSERT INTO ledger (n) VALUES (1) RETURNING made_in$$);
RESET search_path;
-- A temporary table, in a session that has one already.
CREATE TEMP TABLE another (n int);
SELECT t.ask($$INSERT INTO ledger (n) VALUES (1) RETURNING made_in$$);
CREATE TEMP TABLE ledger (made_in text DEFAULT 'temporary', n int);
SELECT t.ask($$INSERT INTO ledger (n) VALUES (1) RETURNING made_in$$);
DROP TABLE pg_temp.ledger;
SELECT t.ask($$INSERT INTO ledger (n) VALUES (1) RETURNING made_in$$);
-- One that is moved there, and one that is given the name.
CREATE TABLE ledger_of_old (made_in text DEFAULT 'old', n int);
SET search_path = first, public;
SELECT t.ask($$INSERT INTO ledger (n) VALUES (1) RETURNING made_in$$);
ALTER TABLE ledger_of_old SET SCHEMA first;
SELECT t.ask($$INSERT INTO ledger (n) VALUES (1) RETURNING made_in$$);
ALTER TABLE first.ledger_of_old RENAME TO ledger;
SELECT t.ask($$INSERT INTO ledger (n) VALUES (1) RETURNING made_in$$);
RESET search_path;
-- A function whose arguments fit better.
CREATE FUNCTION kind_of(n numeric) RETURNS text LANGUAGE sql AS $$SELECT 'numeric'$$;
SELECT t.ask($$SELECT kind_of(1)$$);
CREATE FUNCTION kind_of(n int) RETURNS text LANGUAGE sql AS $$SELECT 'integer'$$;
SELECT t.ask($$SELECT kind_of(1)$$);
-- An operator in a schema that comes first.
CREATE FUNCTION t.public_one(int, int) RETURNS text LANGUAGE sql AS $$SELECT 'public'$$;
CREATE FUNCTION t.first_one(int, int) RETURNS text LANGUAGE sql AS $$SELECT 'first'$$;
CREATE OPERATOR public.|#| (LEFTARG = int, RIGHTARG = int, FUNCTION = t.public_one);
SET search_path = first, public;
SELECT t.ask($$SELECT 1 |#| 2$$);
CREATE OPERATOR first.|#| (LEFTARG = int, RIGHTARG = int, FUNCTION = t.first_one);
SELECT t.ask($$SELECT 1 |#| 2$$);
RESET search_path;
-- Changed by the command itself, which then runs its own text again.
CREATE FUNCTION t.makes(n int) RETURNS jsonb LANGUAGE plpgsql AS $f$
BEGIN
    EXECUTE format('CREATE TABLE made_%s ()', n);
    RETURN CASE WHEN n < 3 THEN t.ask('SELECT t.makes(($1 ->> ''n'')::int + 1)', jsonb_build_object('n', n)) ELSE to_jsonb(n) END;
END $f$;
SELECT t.ask('SELECT t.makes(($1 ->> ''n'')::int + 1)', '{"n": 0}');
DROP TABLE made_1, made_2, made_3;
SELECT t.ask('SELECT t.makes(($1 ->> ''n'')::int + 1)', '{"n": 0}');
-- A schema that is the caller's by a membership only.
CREATE ROLE idempotency_test_app;
CREATE ROLE idempotency_test_group;
GRANT idempotency_test_group TO idempotency_test_app;
CREATE SCHEMA closed;
CREATE TABLE closed.secret (n int);
GRANT USAGE ON SCHEMA closed TO idempotency_test_group;
GRANT INSERT, SELECT ON closed.secret TO idempotency_test_app;
GRANT USAGE ON SCHEMA t TO idempotency_test_app;
GRANT USAGE ON SEQUENCE t.keys TO idempotency_test_app;
SELECT grant_idempotency('idempotency_test_app', 'use', scopes => '{*}');
SET ROLE idempotency_test_app;
SELECT t.told($$INSERT INTO closed.secret VALUES (1) RETURNING n$$);
RESET ROLE;
REVOKE idempotency_test_group FROM idempotency_test_app;
SET ROLE idempotency_test_app;
SELECT t.told($$INSERT INTO closed.secret VALUES (1) RETURNING n$$);
RESET ROLE;
-- Settings by which a text is read.
SELECT t.ask($$SELECT ($1 ->> 'x') = NULL$$), t.ask($$SELECT '{NULL, a}'::text[]$$);
SET transform_null_equals = on;
SET array_nulls = off;
SELECT t.ask($$SELECT ($1 ->> 'x') = NULL$$), t.ask($$SELECT '{NULL, a}'::text[]$$);
DROP OWNED BY idempotency_test_app, idempotency_test_group;
DROP ROLE idempotency_test_app, idempotency_test_group;
