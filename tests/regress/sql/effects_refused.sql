-- What cannot be an effect is refused by its signature, before anything is done.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\set helper :regress '/sql/helpers/effects.psql'
\i :helper
CREATE EXTENSION idempotency;
\pset null '(null)'

CREATE SCHEMA other;
CREATE FUNCTION takes_text(text) RETURNS jsonb LANGUAGE sql AS $$ SELECT pay('{}') $$;
CREATE FUNCTION takes_json(json) RETURNS jsonb LANGUAGE sql AS $$ SELECT pay('{}') $$;
CREATE FUNCTION takes_nothing() RETURNS jsonb LANGUAGE sql AS $$ SELECT pay('{}') $$;
CREATE FUNCTION takes_two(jsonb, jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT pay('{}') $$;
CREATE FUNCTION takes_one_or_two(jsonb, int DEFAULT 1) RETURNS jsonb LANGUAGE sql AS $$ SELECT pay('{}') $$;
CREATE FUNCTION takes_any(anyelement) RETURNS jsonb LANGUAGE sql AS $$ SELECT pay('{}') $$;
CREATE FUNCTION takes_many(VARIADIC jsonb[]) RETURNS jsonb LANGUAGE sql AS $$ SELECT pay('{}') $$;
CREATE FUNCTION returns_text(jsonb) RETURNS text LANGUAGE sql AS $$ SELECT pay('{}')::text $$;
CREATE FUNCTION returns_json(jsonb) RETURNS json LANGUAGE sql AS $$ SELECT pay('{}')::json $$;
CREATE FUNCTION returns_nothing(jsonb) RETURNS void LANGUAGE sql AS $$ SELECT pay('{}') $$;
CREATE FUNCTION returns_a_row(jsonb, OUT a int, OUT b int) LANGUAGE sql AS $$ SELECT 1, 2 $$;
CREATE FUNCTION returns_the_same(anyelement) RETURNS anyelement LANGUAGE sql AS $$ SELECT $1 $$;
CREATE FUNCTION returns_set(jsonb) RETURNS SETOF jsonb LANGUAGE sql AS $$ SELECT pay('{}') $$;
CREATE FUNCTION returns_table(jsonb) RETURNS TABLE (j jsonb) LANGUAGE sql AS $$ SELECT pay('{}') $$;
CREATE FUNCTION returns_trigger() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE PROCEDURE is_a_procedure(jsonb) LANGUAGE sql AS $$ SELECT pay('{}') $$;
CREATE PROCEDURE procedure_answers(INOUT jsonb) LANGUAGE sql AS $$ SELECT pay('{}') $$;
CREATE FUNCTION step(jsonb, jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT $2 $$;
CREATE AGGREGATE is_an_aggregate(jsonb) (SFUNC = step, STYPE = jsonb);
SELECT effect, o.code, o.reason, o.message FROM (VALUES
    (1, 'takes_text(text)'), (2, 'takes_json(json)'), (3, 'takes_nothing()'), (4, 'takes_two(jsonb,jsonb)'),
    (5, 'takes_one_or_two(jsonb,int)'), (6, 'takes_any(anyelement)'), (7, 'takes_many(jsonb[])'),
    (11, 'returns_text(jsonb)'), (12, 'returns_json(jsonb)'), (13, 'returns_nothing(jsonb)'),
    (14, 'returns_a_row(jsonb)'), (15, 'returns_the_same(anyelement)'), (16, 'returns_set(jsonb)'),
    (17, 'returns_table(jsonb)'), (18, 'returns_trigger()'),
    (21, 'is_a_procedure(jsonb)'), (22, 'procedure_answers(jsonb)'), (23, 'is_an_aggregate(jsonb)'),
    (24, 'jsonb_array_elements(jsonb)'), (25, 'jsonb_typeof(jsonb)'), (26, 'row_number()'),
    (27, 'first_value(anyelement)'), (28, 'debit_once(bigint,text,bigint)')) AS v (n, effect),
       t.outcome(format($$SELECT * FROM run_once('s', 'bad:v1', 'k', '{}', %L)$$, effect)) AS o
 ORDER BY n;

-- Functions that do not exist.
SELECT effect, o.code FROM (VALUES
    (1, 'no_such_function(jsonb)'), (2, 'pay(text)'), (3, 'other.pay(jsonb)'), (4, 'pay'), (5, ''), (6, '-'),
    (7, '999999999'), (8, '0'), (9, 'pay(jsonb); DROP TABLE payment')) AS v (n, effect),
       t.outcome(format($$SELECT * FROM run_once('s', 'bad:v1', 'k', '{}', %L)$$, effect)) AS o
 ORDER BY n;
SELECT a.code, a.reason, a.message, a.hint <> '' AS hinted
  FROM t.attempt($$SELECT * FROM run_once('s', 'bad:v1', 'k', '{}', 999999999)$$) AS a;
SELECT o.code, o.reason, o.message FROM t.outcome($$SELECT * FROM run_once('s', 'bad:v1', 'k', '{}', NULL)$$) AS o;
SELECT count(*) AS payments FROM payment;
SELECT count(*) AS records FROM idempotency_record;

-- Forms that are effects: OUT and INOUT, strict, default, domains aside, in any schema and language.
CREATE FUNCTION answers_by_out(jsonb, OUT reply jsonb) LANGUAGE sql AS $$ SELECT '"out"'::jsonb $$;
CREATE FUNCTION answers_by_inout(INOUT body jsonb) LANGUAGE sql AS $$ SELECT body || '"inout"' $$;
CREATE FUNCTION has_a_default(body jsonb DEFAULT '{}') RETURNS jsonb LANGUAGE sql AS $$ SELECT '"default"'::jsonb $$;
CREATE FUNCTION is_strict(jsonb) RETURNS jsonb LANGUAGE sql STRICT IMMUTABLE AS $$ SELECT '"strict"'::jsonb $$;
CREATE FUNCTION other.pay(jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '"other"'::jsonb $$;
CREATE FUNCTION "Odd ""name"""(jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '"odd"'::jsonb $$;
CREATE FUNCTION over(jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '"over jsonb"'::jsonb $$;
CREATE FUNCTION over(text) RETURNS jsonb LANGUAGE sql AS $$ SELECT '"over text"'::jsonb $$;
CREATE FUNCTION over(anyelement) RETURNS jsonb LANGUAGE sql AS $$ SELECT '"over any"'::jsonb $$;
CREATE FUNCTION "select"(jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '"select"'::jsonb $$;
SELECT effect, o.state, o.response, o.code FROM (VALUES
    (1, 'answers_by_out(jsonb)'), (2, 'answers_by_inout(jsonb)'), (3, 'has_a_default(jsonb)'),
    (4, 'is_strict(jsonb)'), (5, 'other.pay(jsonb)'), (6, '"Odd ""name"""(jsonb)'), (7, 'over(jsonb)'),
    (8, '"select"(jsonb)'), (9, 'jsonb_concat(jsonb,jsonb)')) AS v (n, effect),
       t.outcome(format($$SELECT * FROM run_once('s', 'good:v1', %L, '[1]', %L)$$, effect, effect)) AS o
 ORDER BY n;

-- A function that changes between calls of one session: each call finds it as it is.
CREATE FUNCTION changes(jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '1'::jsonb $$;
SELECT response FROM run_once('s', 'changes:v1', '1', '{}', 'changes(jsonb)');
CREATE OR REPLACE FUNCTION changes(jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN RETURN 2; END $$;
SELECT response FROM run_once('s', 'changes:v1', '2', '{}', 'changes(jsonb)');
DROP FUNCTION changes;
CREATE FUNCTION changes(jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '3'::jsonb $$;
SELECT response FROM run_once('s', 'changes:v1', '3', '{}', 'changes(jsonb)');
ALTER FUNCTION changes SET SCHEMA other;
SELECT response FROM run_once('s', 'changes:v1', '4', '{}', 'other.changes(jsonb)');
ALTER FUNCTION other.changes RENAME TO changed;
CREATE FUNCTION other.changes(jsonb) RETURNS jsonb LANGUAGE sql AS $$ SELECT '5'::jsonb $$;
SELECT response FROM run_once('s', 'changes:v1', '5', '{}', 'other.changes(jsonb)');
DROP FUNCTION other.changes(jsonb);
CREATE FUNCTION other.changes(jsonb) RETURNS SETOF jsonb LANGUAGE sql AS $$ SELECT '6'::jsonb $$;
SELECT o.response, o.code FROM t.outcome($$SELECT * FROM run_once('s', 'changes:v1', '6', '{}', 'other.changes(jsonb)')$$) AS o;
-- A retry does not need what the effect needed.
SELECT replayed, response FROM run_once('s', 'changes:v1', '5', '{}', 'other.changed(jsonb)');
