-- Every row that a call writes is in the indexes, and no other: after updates that are not in place,
-- after calls that were rolled back, after VACUUM.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\pset null '(null)'
CREATE EXTENSION idempotency;
-- Not every server of the tests has it.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_available_extensions WHERE name = 'amcheck') THEN
        CREATE EXTENSION amcheck;
    END IF;
END $$;
-- Pages that are full as soon as there is a row in them.
ALTER TABLE account SET (fillfactor = 100, autovacuum_enabled = off);
ALTER TABLE request_result SET (fillfactor = 100, autovacuum_enabled = off);
ALTER TABLE processed_message SET (fillfactor = 100, autovacuum_enabled = off);
ALTER TABLE idempotency_record SET (fillfactor = 100, autovacuum_enabled = off, toast_tuple_target = 8000);
ALTER TABLE idempotency_record ALTER COLUMN response SET STORAGE PLAIN, ALTER COLUMN request SET STORAGE PLAIN;
INSERT INTO account SELECT n, 1000000 FROM generate_series(1, 2000) AS n;
CREATE FUNCTION t.big(request jsonb) RETURNS jsonb LANGUAGE sql AS
    $$SELECT jsonb_build_object('n', request -> 'n', 'filler', repeat('x', (request ->> 'n')::int % 40 * 100))$$;

-- What the indexes hold, and whether a look-up by them finds what the table holds. heapallindexed
-- tells a row that is missing; a row that is there twice is told by the counts.
CREATE FUNCTION t.agrees(OUT relation text, OUT by_table bigint, OUT by_index bigint, OUT looked_up boolean) RETURNS SETOF record
LANGUAGE plpgsql AS $$
DECLARE
    counted text := 'SELECT count(*) FROM %I WHERE %s';
    keyed record;
BEGIN
    IF EXISTS (SELECT FROM pg_extension WHERE extname = 'amcheck') THEN
        PERFORM bt_index_check(indexrelid::regclass, true), bt_index_parent_check(indexrelid::regclass, true) FROM pg_index
          WHERE indrelid = ANY ('{account, request_result, processed_message, idempotency_record}'::regclass[]);
    END IF;
    FOR keyed IN SELECT * FROM (VALUES
        ('account', 'account_id > 0', 'SELECT bool_and(b.ctid = a.ctid) FROM account AS a LEFT JOIN LATERAL (SELECT ctid FROM account WHERE account_id = a.account_id OFFSET 0) AS b ON true'),
        ('request_result', 'account_id > 0', 'SELECT bool_and(b.ctid = a.ctid) FROM request_result AS a LEFT JOIN LATERAL (SELECT ctid FROM request_result WHERE (account_id, operation, request_key) = (a.account_id, a.operation, a.request_key) OFFSET 0) AS b ON true'),
        ('processed_message', 'subscriber > ''''', 'SELECT bool_and(b.ctid = a.ctid) FROM processed_message AS a LEFT JOIN LATERAL (SELECT ctid FROM processed_message WHERE (subscriber, message_id) = (a.subscriber, a.message_id) OFFSET 0) AS b ON true'),
        ('idempotency_record', 'scope > ''''', 'SELECT bool_and(b.ctid = a.ctid) FROM idempotency_record AS a LEFT JOIN LATERAL (SELECT ctid FROM idempotency_record WHERE (scope, operation, request_key) = (a.scope, a.operation, a.request_key) OFFSET 0) AS b ON true')) AS v (name, whole, look)
    LOOP
        relation := keyed.name;
        SET LOCAL enable_indexscan = off;
        SET LOCAL enable_indexonlyscan = off;
        SET LOCAL enable_bitmapscan = off;
        SET LOCAL enable_seqscan = on;
        EXECUTE format(counted, keyed.name, 'true') INTO by_table;
        SET LOCAL enable_indexscan = on;
        SET LOCAL enable_seqscan = off;
        EXECUTE format(counted, keyed.name, keyed.whole) INTO by_index;
        EXECUTE keyed.look INTO looked_up;
        RETURN NEXT;
    END LOOP;
END $$;

-- Reservations whose replies no longer fit beside them, and accounts in full pages.
CREATE FUNCTION t.hot(relation text) RETURNS bigint LANGUAGE sql AS
    $$SELECT n_tup_upd - n_tup_hot_upd FROM pg_stat_xact_user_tables WHERE relid = relation::regclass$$;
BEGIN;
SELECT count(*), bool_and((o.response ->> 'n')::int = n) FROM generate_series(1, 400) AS n,
       run_once('s', 'big:v1', 'k' || n, jsonb_build_object('n', n), 't.big(jsonb)') AS o;
SELECT count(*) FROM generate_series(1, 2000) AS n, debit_once(n, 'first', 1);
SELECT count(*) FROM generate_series(1, 50) AS n, debit_once(7, 'hot ' || n, 1);
SELECT count(*) FROM generate_series(1, 500) AS n, consume_once('s', md5(n::text)::uuid, n % 3 + 1, 2);
SELECT t.hot('idempotency_record') > 100 AS records_moved, t.hot('account') > 100 AS accounts_moved;
COMMIT;
SELECT * FROM t.agrees();

-- Rolled back: whole transactions, savepoints, calls that raise, and again under the same keys.
BEGIN;
SELECT count(*) FROM generate_series(1, 300) AS n, debit_once(n, 'back', 1);
SELECT count(*) FROM generate_series(401, 700) AS n, run_once('s', 'big:v1', 'k' || n, jsonb_build_object('n', n), 't.big(jsonb)');
ROLLBACK;
BEGIN;
SELECT count(*) FROM generate_series(1, 100) AS n, debit_once(n, 'kept', 1);
SAVEPOINT s;
SELECT count(*) FROM generate_series(1, 300) AS n, debit_once(n, 'back', 1);
SELECT count(*) FROM generate_series(401, 700) AS n, run_once('s', 'big:v1', 'k' || n, jsonb_build_object('n', n), 't.big(jsonb)');
SELECT count(*) FROM generate_series(1, 100) AS n, consume_once('back', md5(n::text)::uuid, n, 2);
ROLLBACK TO s;
SELECT count(*) FROM generate_series(1, 150) AS n, debit_once(n, 'back', 1);
SELECT count(*) FROM generate_series(401, 500) AS n, run_once('s', 'big:v1', 'k' || n, jsonb_build_object('n', n), 't.big(jsonb)');
COMMIT;
SELECT count(*), count(code) FROM generate_series(1, 100) AS n, t.attempt(format('SELECT debit_once(%s, %L, %s)', n, 'much', CASE n % 2 WHEN 0 THEN 1 ELSE 10000000 END)) AS a;
SELECT count(*), count(code) FROM generate_series(1, 100) AS n, t.attempt(format('SELECT state FROM run_sql_once(%L, %L, %L, %L, %L)', 's', 'sql:v1', n, n, 'SELECT 1 / (($1 #>> ''{}'')::int % 2)')) AS a;
SELECT * FROM t.agrees();
VACUUM account, request_result, processed_message, idempotency_record;
SELECT * FROM t.agrees();
-- On the pages that VACUUM has freed, and where dead entries are still in the index.
SELECT count(*) FROM generate_series(1, 2000) AS n, debit_once(n, 'second', 1);
SELECT count(*), bool_and((o.response ->> 'n')::int = n) FROM generate_series(1, 900) AS n,
       run_once('s', 'big:v1', 'k' || n, jsonb_build_object('n', n), 't.big(jsonb)') AS o;
DELETE FROM idempotency_record WHERE request_key LIKE '%3';
DELETE FROM request_result WHERE request_key = 'first' AND account_id % 3 = 0;
SELECT count(*) FILTER (WHERE replayed), count(*) FILTER (WHERE NOT replayed) FROM generate_series(1, 900) AS n,
       run_once('s', 'big:v1', 'k' || n, jsonb_build_object('n', n), 't.big(jsonb)') AS o;
SELECT count(*) FILTER (WHERE replayed), count(*) FILTER (WHERE NOT replayed) FROM generate_series(1, 2000) AS n, debit_request(n, 'first', 1) AS o;
SELECT * FROM t.agrees();
VACUUM account, request_result, processed_message, idempotency_record;
SELECT * FROM t.agrees();
SELECT sum(balance) = 2000 * 1000000 - (SELECT sum((request ->> 'amount')::bigint) FROM request_result) - 666
       + (SELECT sum(amount) FROM processed_message) AS conserved FROM account;

-- An attempt that its owner has set while it is reserved is in the other index as well, before and
-- after it was finished.
CREATE FUNCTION t.leased() RETURNS TABLE (request_key text, state text) LANGUAGE plpgsql
    SET enable_seqscan = off SET enable_bitmapscan = off AS $$
BEGIN
    RETURN QUERY SELECT r.request_key, r.state FROM idempotency_record AS r
      WHERE r.operation = 'lease:v1' AND r.lease_until > '2000-01-01' ORDER BY r.operation, r.lease_until;
END $$;
BEGIN;
SELECT state FROM reserve_request('s', 'lease:v1', 'leased', '{}');
UPDATE idempotency_record SET attempt = 1, lease_until = '2026-01-01' WHERE request_key = 'leased';
SELECT * FROM t.leased();
SELECT state, length(response::text) FROM complete_request('s', 'lease:v1', 'leased', jsonb_build_object('filler', repeat('x', 4000)));
SELECT * FROM t.leased();
COMMIT;
BEGIN;
SELECT state FROM reserve_request('s', 'lease:v1', 'not leased', '{}');
UPDATE idempotency_record SET attempt = 1, lease_until = '2026-01-02' WHERE request_key = 'not leased';
UPDATE idempotency_record SET attempt = NULL, lease_until = NULL WHERE request_key = 'not leased';
SELECT state FROM complete_request('s', 'lease:v1', 'not leased', '{}');
COMMIT;
SELECT * FROM t.leased();
SELECT * FROM t.agrees();
SELECT count(*) FROM idempotency_record WHERE lease_until IS NOT NULL;

-- The figures by which an operator tells that an index is in use.
SELECT pg_stat_force_next_flush();
SELECT idx_scan AS scans FROM pg_stat_user_indexes WHERE indexrelname = 'request_result_pkey' \gset
SELECT debit_once(1, 'counted', 1) IS NOT NULL AS debited, debit_once(1, 'counted', 1) IS NOT NULL AS replayed;
SELECT pg_stat_force_next_flush();
SELECT idx_scan > :scans AS moved FROM pg_stat_user_indexes WHERE indexrelname = 'request_result_pkey';
