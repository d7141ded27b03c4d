-- A changed contract makes no completed key new and no replay a mismatch: each record keeps the comparison it was made under.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\set helper :regress '/sql/helpers/effects.psql'
\i :helper
CREATE EXTENSION idempotency;
\pset null '(null)'
CREATE FUNCTION call(key text, request jsonb, operation text DEFAULT 'pay:v1', OUT state text, OUT replayed boolean,
    OUT code text, OUT reason text) LANGUAGE sql AS $$
    SELECT o.state, o.replayed, o.code, o.reason
      FROM t.outcome(format('SELECT * FROM run_once(''shop'', %L, %L, %L, ''pay(jsonb)'')', operation, key, request)) AS o
$$;

-- Undefined, then defined.
SELECT * FROM call('undefined', '{"amount": 1, "trace": "a"}');
SELECT define_operation('pay:v1', ignored_paths => '{/trace}');
SELECT * FROM call('undefined', '{"amount": 1, "trace": "a"}');
SELECT * FROM call('undefined', '{"amount": 1, "trace": "b"}');
SELECT * FROM call('undefined', '{"amount": 1}');
-- An ignored path added, removed, added to.
SELECT * FROM call('ignored', '{"amount": 1, "trace": "a", "x": 1}');
SELECT * FROM call('ignored', '{"amount": 1, "trace": "b", "x": 1}');
SELECT alter_operation('pay:v1', reset => '{ignored_paths}');
SELECT * FROM call('ignored', '{"amount": 1, "trace": "c", "x": 1}');
SELECT * FROM call('ignored', '{"amount": 1, "x": 1}');
SELECT * FROM call('ignored', '{"amount": 2, "trace": "c", "x": 1}');
SELECT * FROM call('none ignored', '{"amount": 1, "trace": "a"}');
SELECT alter_operation('pay:v1', ignored_paths => '{/x,/trace}');
SELECT * FROM call('ignored', '{"amount": 1, "trace": "d", "x": 2}');
SELECT * FROM call('ignored', '{"amount": 1, "trace": "d", "x": 1}');
SELECT * FROM call('none ignored', '{"amount": 1, "trace": "b"}');
SELECT * FROM call('none ignored', '{"amount": 1, "trace": "a"}');
-- Defaults added, changed, removed.
SELECT alter_operation('pay:v1', default_values => '{"currency": "EUR"}', reset => '{ignored_paths}');
SELECT * FROM call('none ignored', '{"amount": 1, "trace": "a"}');
SELECT * FROM call('none ignored', '{"amount": 1, "trace": "a", "currency": "EUR"}');
SELECT * FROM call('euros', '{"amount": 1}');
SELECT * FROM call('euros', '{"amount": 1, "currency": "EUR"}');
SELECT alter_operation('pay:v1', default_values => '{"currency": "USD"}');
SELECT * FROM call('euros', '{"amount": 1}');
SELECT * FROM call('euros', '{"amount": 1, "currency": "EUR"}');
SELECT * FROM call('euros', '{"amount": 1, "currency": "USD"}');
SELECT alter_operation('pay:v1', reset => '{default_values}');
SELECT * FROM call('euros', '{"amount": 1, "currency": "EUR"}');
SELECT * FROM call('euros', '{"amount": 1}');
-- What is kept of a request: each way, after a change to each other way.
CREATE TABLE way (n int, keep text, paths text[]);
INSERT INTO way VALUES (1, 'whole', NULL), (2, 'redacted', '{/amount}'), (3, 'digest', NULL), (4, 'nothing', NULL);
CREATE PROCEDURE keep(way way) LANGUAGE plpgsql AS $$
BEGIN
    PERFORM alter_operation('pay:v1', reset => '{keep_request,redacted_request_paths}');
    PERFORM alter_operation('pay:v1', keep_request => (way).keep, redacted_request_paths => (way).paths);
END $$;
DO $$
DECLARE made way; later way; same record; other record;
BEGIN
    FOR made IN SELECT * FROM way ORDER BY n LOOP
        CALL keep(made);
        PERFORM call('kept ' || made.keep, '{"amount": 1, "b": [1, 2]}');
    END LOOP;
    FOR later IN SELECT * FROM way ORDER BY n LOOP
        CALL keep(later);
        FOR made IN SELECT * FROM way ORDER BY n LOOP
            same := call('kept ' || made.keep, '{"b": [1, 2.0], "amount": 1.0}');
            other := call('kept ' || made.keep, '{"amount": 2, "b": [1, 2]}');
            RAISE NOTICE 'kept %, asked for under %: the same request %, another %', made.keep, later.keep,
                concat_ws(' ', same.state, same.replayed, same.code), concat_ws(' ', other.state, other.replayed, other.code);
        END LOOP;
    END LOOP;
END $$;
SELECT request_key, request, response FROM t.kept() WHERE request_key LIKE 'kept %';
-- The operation dropped; then every operation must be defined.
SELECT drop_operation('pay:v1');
SELECT * FROM call('ignored', '{"amount": 1, "trace": "e", "x": 1}');
SELECT * FROM call('euros', '{"amount": 1, "currency": "EUR"}');
SELECT * FROM call('kept digest', '{"amount": 1, "b": [1, 2]}');
SELECT * FROM call('kept digest', '{"amount": 2, "b": [1, 2]}');
-- Limits lowered: a completed key still answers its retry.
SELECT * FROM call('a key that is long', '{"amount": 1, "note": "a request that is long"}');
SELECT define_operation('pay:v1', max_key_bytes => 5, max_request_bytes => 20, max_response_bytes => 5);
SELECT * FROM call('a key that is long', '{"amount": 1, "note": "a request that is long"}');
SELECT state, replayed FROM find_request('shop', 'pay:v1', 'a key that is long');
SELECT state, replayed FROM abandon_request('shop', 'pay:v1', 'a key that is long');
SELECT * FROM call('a new key that is long', '{"amount": 1}');
SELECT drop_operation('pay:v1');
-- What is kept of a response, changed: the reply of the first call.
SELECT response FROM run_once('shop', 'pay:v1', 'reply', '{"amount": 1}', 'pay(jsonb)');
SELECT define_operation('pay:v1', keep_response => 'nothing');
SELECT response FROM run_once('shop', 'pay:v1', 'reply', '{"amount": 1}', 'pay(jsonb)');
SELECT response FROM run_once('shop', 'pay:v1', 'no reply', '{"amount": 1}', 'pay(jsonb)');
SELECT drop_operation('pay:v1');
SELECT replayed, response FROM run_once('shop', 'pay:v1', 'no reply', '{"amount": 1}', 'pay(jsonb)');
-- In the middle of a transaction that has reserved, under the contract of the moment of each call.
SELECT define_operation('pay:v1', keep_request => 'digest', ignored_paths => '{/trace}');
BEGIN;
SELECT state FROM reserve_request('shop', 'pay:v1', 'reserved', '{"amount": 1, "trace": 1}');
SELECT drop_operation('pay:v1');
SELECT state FROM reserve_request('shop', 'pay:v1', 'reserved', '{"amount": 1, "trace": 2}');
SELECT o.code, o.reason FROM t.outcome($$SELECT * FROM reserve_request('shop', 'pay:v1', 'reserved', '{"amount": 2}')$$) AS o;
SELECT state FROM complete_request('{"done": true}');
COMMIT;
SELECT * FROM call('reserved', '{"amount": 1}');
-- A call without a key, once one is required again.
SELECT define_operation('pay:v1', key_required => false);
SELECT * FROM call(NULL, '{"amount": 1}');
SELECT alter_operation('pay:v1', key_required => true);
SELECT * FROM call(NULL, '{"amount": 1}');
-- The version of the comparison stands with what it was made under.
SELECT request_key, comparison - 'digest' AS comparison, length(comparison ->> 'digest') AS digest
  FROM idempotency_record WHERE comparison IS NOT NULL ORDER BY request_key;
