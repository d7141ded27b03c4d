-- Prepared statements, and functions with kept plans, over a schema that is renamed and an extension
-- that is dropped and created again beneath them: no wrong answer, and no error that is not cured by
-- preparing, or calling, again.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\pset null '(null)'
CREATE ROLE idempotency_test_app;
CREATE SCHEMA bank;
CREATE EXTENSION idempotency SCHEMA bank;
GRANT USAGE ON SCHEMA bank, t TO idempotency_test_app;
INSERT INTO bank.account VALUES (1, 1000);
SELECT bank.grant_idempotency('idempotency_test_app', 'use', scopes => '{*}');
SELECT bank.define_operation('test:v1', max_key_bytes => 5);

PREPARE debit(text, bigint) AS SELECT bank.debit_once(1, $1, $2);
PREPARE run(text) AS SELECT state, replayed, response FROM bank.run_sql_once('s', 'test:v1', $1, '{}', 'SELECT 7');
PREPARE unqualified(text, bigint) AS SELECT debit_once(1, $1, $2);
SET search_path = bank, public;
PREPARE unqualified(text, bigint) AS SELECT debit_once(1, $1, $2);
CREATE FUNCTION t.kept(key text) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    RETURN debit_once(1, key, 1);
END $$;
CREATE FUNCTION t.new_body(key text) RETURNS jsonb LANGUAGE sql
    BEGIN ATOMIC SELECT bank.debit_once(1, key, 1); END;
EXECUTE debit('k', 100);
EXECUTE debit('k', 100);
EXECUTE run('k');
EXECUTE unqualified('k', 100);
SELECT t.kept('kept'), t.new_body('kept');

-- Renamed: what names the schema misses it, what does not goes on; what is bound to the function
-- itself goes on as well. Each finds the same records.
ALTER SCHEMA bank RENAME TO shop;
SET search_path = shop, public;
EXECUTE debit('k', 100);
EXECUTE unqualified('k', 100);
EXECUTE unqualified('k2', 100);
SELECT t.kept('kept'), t.new_body('kept');
SELECT t.kept('kept 2'), t.new_body('kept 3');
SET ROLE idempotency_test_app;
EXECUTE unqualified('k3', 100);
RESET ROLE;
SELECT code FROM t.attempt($$SELECT state FROM shop.run_sql_once('s', 'test:v1', 'longer', '{}', 'SELECT 7')$$);
-- Renamed while a transaction is at work, and back by its rollback.
BEGIN;
EXECUTE unqualified('k4', 100);
ALTER SCHEMA shop RENAME TO bank;
EXECUTE debit('k4', 100);
SAVEPOINT s;
ALTER SCHEMA bank RENAME TO elsewhere;
SELECT elsewhere.debit_once(1, 'k4', 100);
ROLLBACK TO s;
EXECUTE debit('k4', 100);
ROLLBACK;
EXECUTE unqualified('k4', 100);
-- Back: the statement of before is good again.
ALTER SCHEMA shop RENAME TO bank;
SET search_path = bank, public;
EXECUTE debit('k', 100);
EXECUTE debit('k4', 100);
EXECUTE run('k');

-- Dropped and created again in the same schema: other functions and tables of the same names, without
-- the records, contracts and grants of before.
DROP FUNCTION t.new_body;
DROP EXTENSION idempotency;
EXECUTE debit('k', 100);
EXECUTE run('k');
CREATE EXTENSION idempotency SCHEMA bank;
INSERT INTO bank.account VALUES (1, 50);
EXECUTE debit('k', 7);
EXECUTE debit('k', 7);
EXECUTE run('longer');
EXECUTE unqualified('k', 7);
SELECT t.kept('kept');
SET ROLE idempotency_test_app;
SELECT code FROM t.attempt($$SELECT bank.debit_once(1, 'k', 7)$$);
RESET ROLE;
SELECT bank.grant_idempotency('idempotency_test_app', 'use', scopes => '{1}');
SET ROLE idempotency_test_app;
EXECUTE debit('k', 7);
EXECUTE run('k');
RESET ROLE;

-- In another schema, with the old one still there.
DROP EXTENSION idempotency;
CREATE SCHEMA other;
CREATE EXTENSION idempotency SCHEMA other;
INSERT INTO other.account VALUES (1, 20);
EXECUTE debit('k', 7);
SET search_path = other, public;
EXECUTE unqualified('k', 7);
EXECUTE unqualified('k', 7);
SELECT t.kept('kept');
TABLE other.account;
-- Within one transaction, and rolled back.
BEGIN;
DROP EXTENSION idempotency;
CREATE EXTENSION idempotency SCHEMA other;
INSERT INTO other.account VALUES (1, 3);
EXECUTE unqualified('k', 1);
ROLLBACK;
EXECUTE unqualified('k', 7);
TABLE other.account;

-- A generic plan from the beginning, and DISCARD in between, as poolers send it.
SET plan_cache_mode = force_generic_plan;
PREPARE generic(text) AS SELECT debit_once(1, $1, 1);
EXECUTE generic('g');
DISCARD PLANS;
EXECUTE generic('g');
ALTER SCHEMA other RENAME TO others;
SET search_path = others, public;
EXECUTE generic('g');
EXECUTE generic('g2');
DISCARD ALL;
SELECT others.debit_once(1, 'g', 1), others.debit_once(1, 'g3', 1);
SELECT * FROM t.store('others');
DROP EXTENSION idempotency;
DROP OWNED BY idempotency_test_app;
DROP ROLE idempotency_test_app;
