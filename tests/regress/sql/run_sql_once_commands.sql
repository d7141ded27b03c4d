-- run_sql_once: one statement, which sees the request as $1; its last row's first column replies.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\set helper :regress '/sql/helpers/effects.psql'
\i :helper
CREATE EXTENSION idempotency;
\pset null '(null)'

SELECT state, replayed, response, http_status
  FROM run_sql_once('shop', 'pay:v1', 'k', '{"amount": 5}',
       $$INSERT INTO payment (amount, made_by) VALUES (($1 ->> 'amount')::numeric, 'sql') RETURNING amount$$);
SELECT state, replayed, response, http_status
  FROM run_sql_once('shop', 'pay:v1', 'k', '{"amount": 5}',
       $$INSERT INTO payment (amount, made_by) VALUES (($1 ->> 'amount')::numeric, 'sql') RETURNING amount$$);
SELECT amount, made_by FROM payment;
-- The command is no part of the identity.
SELECT replayed, response FROM run_sql_once('shop', 'pay:v1', 'k', '{"amount": 5}', 'SELECT 1');
SELECT o.code, o.reason FROM t.outcome($$SELECT * FROM run_sql_once('shop', 'pay:v1', 'k', '{"amount": 6}', 'SELECT 1')$$) AS o;

-- Replies of every type, of several rows, of none.
CREATE TABLE body (j jsonb, t text);
ALTER TABLE body ALTER COLUMN j SET STORAGE EXTERNAL;
INSERT INTO body VALUES ('{"short": 1}', 'short'),
    (jsonb_build_object('long', repeat('long ', 100000)), repeat('long ', 100000));
CREATE TYPE pair AS (a int, b text);
CREATE DOMAIN document AS jsonb;
CREATE FUNCTION told(command text, OUT response text, OUT type text, OUT same_again boolean) LANGUAGE plpgsql AS $$
DECLARE
    first record;
    again record;
    k text := md5(command);
BEGIN
    SELECT * INTO first FROM run_sql_once('shop', 'told:v1', k, '{"n": [1, 2, 3]}', command);
    SELECT * INTO again FROM run_sql_once('shop', 'told:v1', k, '{"n": [1, 2, 3]}', command);
    response := left(first.response::text, 60);
    type := jsonb_typeof(first.response);
    same_again := again.response = first.response AND again.replayed AND NOT first.replayed;
END $$;
SELECT command, r.* FROM (VALUES
    (1, $$SELECT 1$$),
    (2, $$SELECT 'text'$$),
    (3, $$SELECT 1.50::numeric$$),
    (4, $$SELECT 'NaN'::float8$$),
    (5, $$SELECT true, 'not this one'$$),
    (6, $$SELECT NULL$$),
    (7, $$SELECT NULL::jsonb$$),
    (8, $$SELECT 'null'::jsonb$$),
    (9, $$SELECT '2026-01-02 03:04:05+00'::timestamptz$$),
    (10, $$SELECT ROW(1, 'x')::pair$$),
    (11, $$SELECT ARRAY[1, 2]$$),
    (12, $$SELECT '{"a": 1}'::json$$),
    (13, $$SELECT '{"a": 1}'::document$$),
    (14, $$SELECT '\x00ff'::bytea$$),
    (15, $$SELECT '00000000-0000-0000-0000-0000000000aa'::uuid$$),
    (16, $$SELECT generate_series(1, 3)$$),
    (17, $$SELECT value FROM jsonb_array_elements($1 -> 'n')$$),
    (18, $$SELECT j FROM body WHERE t = 'short'$$),
    (19, $$SELECT j FROM body WHERE t <> 'short'$$),
    (20, $$SELECT t FROM body WHERE t <> 'short'$$),
    (21, $$SELECT 1 WHERE false$$),
    (22, $$SELECT$$),
    (23, $$VALUES (1), (2)$$),
    (24, $$TABLE payment$$),
    (25, $$UPDATE payment SET amount = amount + 1$$),
    (26, $$UPDATE payment SET amount = amount + 1 RETURNING amount$$),
    (27, $$DELETE FROM payment WHERE false RETURNING amount$$),
    (28, $$INSERT INTO payment (amount) VALUES (1), (2), (3) RETURNING amount$$),
    (29, $$WITH gone AS (DELETE FROM payment WHERE amount = 3 RETURNING amount) SELECT amount FROM gone$$),
    (30, $$DO 'BEGIN INSERT INTO payment (amount) VALUES (9); END'$$),
    (31, $$CREATE TABLE made_once ()$$),
    (32, $$SELECT pay($1)$$),
    (33, $$SELECT 1;$$),
    (34, $$-- a comment
            SELECT 1 /* and another; */ ;  $$),
    (35, $$SELECT $1 - 'n'$$),
    (36, $$EXPLAIN (COSTS OFF) SELECT 1$$)) AS v (n, command),
       told(command) AS r
 ORDER BY n;
SELECT amount, count(*) FROM payment GROUP BY amount ORDER BY amount;

-- A procedure, and what it answers.
CREATE PROCEDURE book(request jsonb, INOUT reply jsonb DEFAULT NULL) LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO payment (amount) VALUES (77);
    reply := '{"booked": true}';
END $$;
SELECT replayed, response FROM run_sql_once('shop', 'call:v1', 'k', '{}', 'CALL book($1)');
SELECT replayed, response FROM run_sql_once('shop', 'call:v1', 'k', '{}', 'CALL book($1)');
SELECT count(*) FROM payment WHERE amount = 77;

-- What is refused, each with its own SQLSTATE: nothing is done, the key stays free.
CREATE PROCEDURE commits(request jsonb) LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO payment (amount) VALUES (88);
    COMMIT;
END $$;
CREATE PROCEDURE rolls_back(request jsonb) LANGUAGE plpgsql AS 'BEGIN ROLLBACK; END';
SELECT command, o.code, o.reason, o.message FROM (VALUES
    (1, ''), (2, '   '), (3, ';'), (4, '-- nothing'),
    (5, 'SELECT 1; SELECT 2'),
    (6, 'INSERT INTO payment (amount) VALUES (99); COMMIT'),
    (7, 'COMMIT'), (8, 'ROLLBACK'), (9, 'BEGIN'), (10, 'SAVEPOINT s'), (11, 'ROLLBACK TO s'),
    (12, 'RELEASE s'), (13, 'PREPARE TRANSACTION ''x'''), (14, 'END'), (15, 'START TRANSACTION'),
    (16, 'COMMIT AND CHAIN'), (17, 'COPY payment TO STDOUT'), (18, 'COPY payment FROM STDIN')) AS v (n, command),
       t.outcome(format($$SELECT * FROM run_sql_once('shop', 'bad:v1', 'k', '{}', %L)$$, command)) AS o
 ORDER BY n;
SELECT command, o.code FROM (VALUES
    (1, 'CALL commits($1)'), (2, 'CALL rolls_back($1)'), (3, 'DO ''BEGIN COMMIT; END'''),
    (4, 'SELEC 1'), (5, 'SELECT FROM nowhere'), (6, 'SELECT nothing'), (7, 'SELECT $2'), (8, 'SELECT ('),
    (9, 'SELECT 1 / 0'), (10, 'VACUUM payment'), (11, 'CREATE DATABASE x'), (12, 'SELECT $1 ->'),
    (13, 'CREATE INDEX CONCURRENTLY ON payment (amount)')) AS v (n, command),
       t.outcome(format($$SELECT * FROM run_sql_once('shop', 'bad:v1', 'k', '{}', %L)$$, command)) AS o
 ORDER BY n;
SELECT o.code, o.reason, o.message FROM t.outcome($$SELECT * FROM run_sql_once('shop', 'bad:v1', 'k', '{}', NULL)$$) AS o;
SELECT count(*) FROM payment WHERE amount > 77;
SELECT count(*) FROM find_request('shop', 'bad:v1', 'k');
-- A syntax error points into the command, not into the query around it.
\set VERBOSITY default
SELECT state FROM run_sql_once('shop', 'bad:v1', 'k', '{}', 'SELEC 1');
SELECT state FROM run_sql_once('shop', 'bad:v1', 'k', '{}', 'SELECT nothing_here');
\set VERBOSITY terse
SELECT replayed, response FROM run_sql_once('shop', 'bad:v1', 'k', '{}', 'SELECT 1');

-- The caller's own search_path is the command's.
CREATE SCHEMA mine;
CREATE TABLE mine.payment (amount numeric);
SET search_path = mine, public;
SELECT response FROM run_sql_once('shop', 'path:v1', 'k1', '{}', 'INSERT INTO payment VALUES (1)');
RESET search_path;
SELECT response FROM run_sql_once('shop', 'path:v1', 'k2', '{}', 'INSERT INTO payment (amount) VALUES (1000)');
SELECT (SELECT count(*) FROM mine.payment) AS mine, (SELECT count(*) FROM payment WHERE amount = 1000) AS public;
