-- save_refusals: a refusal undoes the effect, is stored, and is answered again on every retry.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\set helper :regress '/sql/helpers/effects.psql'
\i :helper
CREATE EXTENSION idempotency;
\pset null '(null)'
INSERT INTO account VALUES (1, 1000);

-- Without it a refusal is an error and rolls back with its key.
SELECT o.state, o.code, o.message FROM t.outcome($$SELECT * FROM run_once('shop', 'pay:v1', 'k', '{"raise": "P0001"}', 'pay(jsonb)')$$) AS o;
SELECT count(*) FROM idempotency_record;

SELECT define_operation('pay:v1', save_refusals => true);
SELECT state, replayed, response, http_status, sqlstate, message, detail, hint, completed_at >= created_at AS ends_after
  FROM run_once('shop', 'pay:v1', 'k', '{"amount": 5, "raise": "P0001"}', 'pay(jsonb)');
SELECT state, replayed, response, http_status, sqlstate, message, detail, hint, completed_at >= created_at AS ends_after
  FROM run_once('shop', 'pay:v1', 'k', '{"amount": 5, "raise": "P0001"}', 'pay(jsonb)');
SELECT state, replayed, response, http_status, sqlstate, message, detail, hint
  FROM run_sql_once('shop', 'pay:v1', 'k', '{"amount": 5, "raise": "P0001"}', 'SELECT 1');
SELECT state, replayed, response, http_status, sqlstate, message, detail, hint
  FROM find_request('shop', 'pay:v1', 'k');
SELECT state, replayed, sqlstate, message
  FROM reserve_request('shop', 'pay:v1', 'k', '{"amount": 5, "raise": "P0001"}');
SELECT state, replayed, sqlstate, message FROM abandon_request('shop', 'pay:v1', 'k');
-- The effect is undone, the key is used.
SELECT count(*) AS payments FROM payment;
SELECT * FROM t.kept();
SELECT o.code, o.reason FROM t.outcome($$SELECT * FROM run_once('shop', 'pay:v1', 'k', '{"amount": 5}', 'pay(jsonb)')$$) AS o;
-- It was a refusal under the contract of its time, and stays one.
SELECT alter_operation('pay:v1', reset => '{save_refusals}');
SELECT state, replayed, sqlstate, message FROM run_once('shop', 'pay:v1', 'k', '{"amount": 5, "raise": "P0001"}', 'pay(jsonb)');
SELECT drop_operation('pay:v1');
SELECT state, replayed, sqlstate, message FROM run_once('shop', 'pay:v1', 'k', '{"amount": 5, "raise": "P0001"}', 'pay(jsonb)');

-- Which SQLSTATEs: P0001 unless others are listed.
CREATE FUNCTION state_of(operation text, request jsonb, OUT state text, OUT replayed boolean,
    OUT sqlstate text, OUT code text, OUT kept bigint) LANGUAGE plpgsql AS $$
BEGIN
    SELECT o.state, o.replayed, o.sqlstate, o.code INTO state, replayed, sqlstate, code
      FROM t.outcome(format('SELECT * FROM run_once(%L, %L, %L, %L, %L)',
                            'shop', operation, request ->> 'raise', request, 'pay(jsonb)')) AS o;
    kept := (SELECT count(*) FROM find_request('shop', state_of.operation, request ->> 'raise'));
END $$;
SELECT define_operation('plain:v1', save_refusals => true);
SELECT define_operation('listed:v1', save_refusals => true, refusal_sqlstates => '{P0002,23514,22012,AB123,HTTP4}');
SELECT define_operation('empty:v1', save_refusals => true, refusal_sqlstates => '{}');
SELECT define_operation('off:v1', save_refusals => false, refusal_sqlstates => '{P0001}');
SELECT operation, raised, s.* FROM (VALUES
    (1, 'plain:v1', 'P0001'), (2, 'plain:v1', 'P0002'), (3, 'plain:v1', '23514'), (4, 'plain:v1', '22012'),
    (11, 'listed:v1', 'P0001'), (12, 'listed:v1', 'P0002'), (13, 'listed:v1', '23514'), (14, 'listed:v1', '22012'),
    (15, 'listed:v1', 'AB123'), (16, 'listed:v1', 'HTTP4'), (17, 'listed:v1', 'AB124'),
    (21, 'empty:v1', 'P0001'), (31, 'off:v1', 'P0001')) AS v (n, operation, raised),
       state_of(operation, jsonb_build_object('amount', 1, 'raise', raised)) AS s
 ORDER BY n;
SELECT operation, raised, s.state, s.replayed, s.sqlstate FROM (VALUES
    (1, 'plain:v1', 'P0001'), (12, 'listed:v1', 'P0002'), (15, 'listed:v1', 'AB123')) AS v (n, operation, raised),
       state_of(operation, jsonb_build_object('amount', 1, 'raise', raised)) AS s
 ORDER BY n;
SELECT count(*) AS payments FROM payment;

-- An error of the server's own that is listed; fields that an error lacks.
CREATE TABLE stock (item text PRIMARY KEY, amount int CONSTRAINT enough CHECK (amount >= 0));
INSERT INTO stock VALUES ('tea', 1);
SELECT state, replayed, sqlstate, message, detail IS NULL AS no_detail, hint
  FROM run_sql_once('shop', 'listed:v1', 'check', '{}', 'UPDATE stock SET amount = amount - 2 RETURNING amount');
SELECT state, replayed, sqlstate, message, detail IS NULL AS no_detail, hint
  FROM run_sql_once('shop', 'listed:v1', 'check', '{}', 'UPDATE stock SET amount = amount - 2 RETURNING amount');
SELECT state, replayed, sqlstate, message, detail, hint
  FROM run_sql_once('shop', 'listed:v1', 'zero', '{}', 'SELECT 1 / 0');
-- Unlisted, it passes through whole, with its constraint and table.
\set VERBOSITY default
DO $$
DECLARE
    code text; name text; on_table text; on_schema text; text_of text; more text; context text;
BEGIN
    PERFORM run_sql_once('shop', 'plain:v1', 'check', '{}', 'UPDATE stock SET amount = amount - 2');
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, name = CONSTRAINT_NAME, on_table = TABLE_NAME,
        on_schema = SCHEMA_NAME, text_of = MESSAGE_TEXT, more = PG_EXCEPTION_DETAIL, context = PG_EXCEPTION_CONTEXT;
    RAISE NOTICE '% % % % | % | % | %', code, name, on_table, on_schema, text_of, more, split_part(context, E'\n', 1);
END $$;
\set VERBOSITY terse
SELECT count(*) FROM find_request('shop', 'plain:v1', 'check');
TABLE stock;

-- An effect that finishes is completed as always, and an error that it catches is its own affair.
SELECT state, replayed, response FROM run_once('shop', 'plain:v1', 'fine', '{"amount": 1}', 'pay(jsonb)');
SELECT state, replayed, response FROM run_once('shop', 'plain:v1', 'fine', '{"amount": 1}', 'pay(jsonb)');
-- A refusal by an inner call refuses the outer one: all of the effect is undone.
CREATE FUNCTION debit_it(request jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pay(request);
    PERFORM debit_once(1, request ->> 'first', 10);
    RETURN debit_once(1, request ->> 'key', (request ->> 'debit')::bigint);
END $$;
SELECT state, replayed, sqlstate, message, detail, hint <> '' AS hinted
  FROM run_once('shop', 'plain:v1', 'debit', '{"amount": 9, "first": "a", "key": "b", "debit": 5000}', 'debit_it(jsonb)');
SELECT state, replayed, sqlstate, message, detail, hint <> '' AS hinted
  FROM run_once('shop', 'plain:v1', 'debit', '{"amount": 9, "first": "a", "key": "b", "debit": 5000}', 'debit_it(jsonb)');
SELECT * FROM t.store();
SELECT count(*) FROM payment WHERE amount = 9;
-- Two contracts, both of which save: the inner refusal is the inner call's answer.
CREATE FUNCTION pay_twice(request jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    inner_state text := (SELECT state FROM run_once('shop', 'plain:v1', 'inner', '{"amount": 3, "raise": "P0001"}', 'pay(jsonb)'));
BEGIN
    IF request ? 'raise' THEN
        RAISE EXCEPTION 'outer' USING ERRCODE = request ->> 'raise';
    END IF;
    RETURN to_jsonb(inner_state);
END $$;
SELECT state, response, sqlstate, message FROM run_once('shop', 'listed:v1', 'outer 1', '{"raise": "P0002"}', 'pay_twice(jsonb)');
SELECT count(*) FROM find_request('shop', 'plain:v1', 'inner');
SELECT state, response, sqlstate, message FROM run_once('shop', 'listed:v1', 'outer 2', '{}', 'pay_twice(jsonb)');
SELECT state, replayed, sqlstate, message FROM find_request('shop', 'plain:v1', 'inner');

-- Deep in a transaction: what was done before stays, what comes after goes on.
BEGIN;
INSERT INTO stock VALUES ('before', 1);
SAVEPOINT s;
SELECT state FROM run_once('shop', 'plain:v1', 'within', '{"amount": 4, "raise": "P0001"}', 'pay(jsonb)');
INSERT INTO stock VALUES ('after', 1);
RELEASE s;
SELECT state, replayed FROM run_once('shop', 'plain:v1', 'within', '{"amount": 4, "raise": "P0001"}', 'pay(jsonb)');
COMMIT;
SELECT item FROM stock ORDER BY item;
BEGIN;
SELECT state FROM run_once('shop', 'plain:v1', 'rolled back', '{"amount": 4, "raise": "P0001"}', 'pay(jsonb)');
ROLLBACK;
SELECT state, replayed FROM run_once('shop', 'plain:v1', 'rolled back', '{"amount": 4}', 'pay(jsonb)');
-- Settings, roles and locks that the effect made go with it.
CREATE ROLE cashier;
CREATE FUNCTION changes_settings(request jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('app.tenant', 'inside', true);
    PERFORM set_config('role', 'cashier', true);
    RAISE EXCEPTION 'refused';
END $$;
BEGIN;
SET LOCAL app.tenant = 'outside';
SELECT state FROM run_once('shop', 'plain:v1', 'settings', '{}', 'changes_settings(jsonb)');
SELECT current_setting('app.tenant'), current_user;
COMMIT;
-- Hundreds of refusals in one statement.
SELECT o.state, o.replayed, count(*)
  FROM generate_series(1, 400) AS n,
       run_once('shop', 'plain:v1', 'many ' || n % 200, jsonb_build_object('n', n % 200, 'raise', 'P0001'), 'pay(jsonb)') AS o
 GROUP BY o.state, o.replayed ORDER BY o.replayed;
SELECT count(*) AS payments FROM payment;
SELECT count(*) FROM current_request();

-- In a text of any language and length, whole.
SELECT state, length(message) AS length, left(message, 3) AS begins, right(message, 3) AS ends, octet_length(message) AS bytes
  FROM run_sql_once('shop', 'plain:v1', 'long', '{}',
       $$DO 'BEGIN RAISE EXCEPTION USING MESSAGE = ''äß€'' || repeat(''😀'', 50000) || ''end''; END'$$);
SELECT state, replayed, length(message) AS length, left(message, 3) AS begins, right(message, 3) AS ends, octet_length(message) AS bytes
  FROM run_sql_once('shop', 'plain:v1', 'long', '{}', 'SELECT 1');

-- refuse_request is the other way to refuse: a reply of the caller's own, by any contract.
BEGIN;
SELECT state FROM reserve_request('shop', 'own:v1', 'k', '{}');
SELECT state, replayed, response, http_status, sqlstate FROM refuse_request('shop', 'own:v1', 'k', '{"why": "closed"}', 410);
COMMIT;
SELECT state, replayed, response, http_status, sqlstate FROM run_once('shop', 'own:v1', 'k', '{}', 'pay(jsonb)');

-- A debit's refusal is never saved, whatever is tried.
SELECT a.code, a.reason, a.message FROM t.attempt($$SELECT define_operation('debit:v1', save_refusals => true)$$) AS a;
SELECT a.code FROM t.attempt($$SELECT debit_once(1, 'too much', 5000)$$) AS a;
SELECT count(*) FROM find_request('1', 'debit:v1', 'too much');
