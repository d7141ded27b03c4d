-- current_request: the identity at work, for triggers, audit rows and outbox rows.
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

CREATE TABLE audit (n bigint GENERATED ALWAYS AS IDENTITY, place text, scope text, operation text,
    request_key text, attempt int);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql SET search_path = public AS $$
BEGIN
    INSERT INTO audit (place, scope, operation, request_key, attempt)
    SELECT concat_ws(' ', TG_TABLE_NAME, TG_WHEN, TG_OP), r.*
      FROM (SELECT) AS one LEFT JOIN current_request() AS r ON true;
    RETURN NEW;
END $$;
CREATE TRIGGER note_before BEFORE INSERT ON payment FOR EACH ROW EXECUTE FUNCTION note();
CREATE TRIGGER note_after AFTER INSERT ON payment FOR EACH ROW EXECUTE FUNCTION note();
CREATE TRIGGER note_statement AFTER INSERT ON payment FOR EACH STATEMENT EXECUTE FUNCTION note();
CREATE TRIGGER note_account AFTER UPDATE ON account FOR EACH ROW EXECUTE FUNCTION note();
CREATE PROCEDURE tell() LANGUAGE plpgsql AS $$
DECLARE
    line text;
BEGIN
    FOR line IN DELETE FROM audit RETURNING concat_ws(' | ', place, scope, operation, request_key, attempt) LOOP
        RAISE NOTICE '%', line;
    END LOOP;
END $$;

-- Outside any effect: no row.
SELECT count(*) FROM current_request();
INSERT INTO payment (amount) VALUES (1);
UPDATE account SET balance = balance;
CALL tell();
-- In an effect's triggers, by every door; not after it, nor for a replay.
SELECT replayed FROM run_once('shop', 'pay:v1', 'k', '{"amount": 5}', 'pay(jsonb)');
CALL tell();
SELECT replayed FROM run_once('shop', 'pay:v1', 'k', '{"amount": 5}', 'pay(jsonb)');
CALL tell();
SELECT response FROM run_sql_once('shop', 'pay:v1', 'sql', '{"amount": 5}',
    'WITH paid AS (INSERT INTO payment (amount) VALUES (5)) SELECT to_jsonb(r) FROM current_request() AS r');
CALL tell();
SELECT debit_once(1, 'debit', 100);
SELECT state FROM debit_request(1, 'debit 2', 100);
SELECT consume_once('inbox', '00000000-0000-0000-0000-0000000000AA', 1, 50);
CALL tell();
SELECT count(*) FROM current_request();
-- After an effect that failed: no row.
SELECT o.code FROM t.outcome($$SELECT * FROM run_once('shop', 'pay:v1', 'bad', '{"raise": "P0001"}', 'pay(jsonb)')$$) AS o;
SELECT count(*) FROM current_request();

-- The transaction that reserved: from reserving to finishing.
BEGIN;
SELECT count(*) FROM current_request();
SELECT state FROM reserve_request('shop', 'ship:v1', 'k1', '{}');
SELECT * FROM current_request();
INSERT INTO payment (amount) VALUES (1);
CALL tell();
-- The latest of several; the innermost effect before those around it.
SELECT state FROM reserve_request('shop', 'ship:v1', 'k2', '{}');
SELECT request_key FROM current_request();
SELECT replayed FROM run_once('shop', 'pay:v1', 'within', '{"amount": 5}', 'pay(jsonb)');
CALL tell();
SELECT request_key FROM current_request();
SELECT state FROM complete_request('shop', 'ship:v1', 'k2', '{}');
SELECT request_key FROM current_request();
-- A savepoint rolled back: as it was at the savepoint.
SAVEPOINT s;
SELECT state FROM reserve_request('shop', 'ship:v1', 'k3', '{}');
SELECT request_key FROM current_request();
ROLLBACK TO s;
SELECT request_key FROM current_request();
SELECT state FROM refuse_request('shop', 'ship:v1', 'k1', '{}');
SELECT count(*) FROM current_request();
ROLLBACK TO s;
SELECT request_key FROM current_request();
SELECT state FROM reserve_request('shop', 'ship:v1', 'k3', '{}');
SAVEPOINT t;
SELECT state FROM complete_request('shop', 'ship:v1', 'k1', '{}');
SELECT request_key FROM current_request();
ROLLBACK TO t;
SELECT request_key FROM current_request();
ROLLBACK;
SELECT count(*) FROM current_request();

-- Nested: each its own.
CREATE FUNCTION outer_effect(request jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    seen text[] := ARRAY[(SELECT request_key FROM current_request())];
BEGIN
    PERFORM run_once('shop', 'pay:v1', 'inner', '{"amount": 1}', 'pay(jsonb)');
    PERFORM debit_once(1, 'inner debit', 1);
    PERFORM consume_once('inbox', '00000000-0000-0000-0000-0000000000bb', 1, 1);
    seen := seen || (SELECT request_key FROM current_request());
    BEGIN
        PERFORM run_once('shop', 'pay:v1', 'failing', '{"amount": 1, "raise": "P0001"}', 'pay(jsonb)');
    EXCEPTION WHEN raise_exception THEN
        seen := seen || (SELECT request_key FROM current_request());
    END;
    PERFORM reserve_request('shop', 'ship:v1', 'reserved within ' || request::text, '{}');
    seen := seen || (SELECT request_key FROM current_request());
    PERFORM complete_request('{}');
    seen := seen || (SELECT request_key FROM current_request());
    INSERT INTO payment (amount) VALUES (2);
    RETURN to_jsonb(seen);
END $$;
SELECT response FROM run_once('shop', 'order:v1', 'outer', '1', 'outer_effect(jsonb)');
CALL tell();
SELECT count(*) FROM current_request();
-- The same with a contract that saves refusals.
SELECT define_operation('pay:v1', save_refusals => true);
SELECT state FROM run_once('shop', 'pay:v1', 'refused', '{"amount": 1, "raise": "P0001"}', 'pay(jsonb)');
SELECT count(*) FROM current_request();
SELECT response FROM run_once('shop', 'order:v1', 'outer 2', '2', 'outer_effect(jsonb)');
SELECT count(*) FROM current_request();

-- As a column's default, so that no effect needs to pass it on.
CREATE FUNCTION request_key() RETURNS text LANGUAGE sql AS 'SELECT request_key FROM current_request()';
CREATE TABLE outbox (event text, request_key text DEFAULT request_key());
SELECT response FROM run_sql_once('shop', 'emit:v1', 'emitted', '{}', 'INSERT INTO outbox (event) VALUES (''made'')');
INSERT INTO outbox (event) VALUES ('outside');
TABLE outbox;
