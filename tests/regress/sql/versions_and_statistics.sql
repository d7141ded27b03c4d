-- What a direct call leaves in the tables: one version of a record, one new version of the account,
-- in place where there is room; and the counters that autovacuum goes by have moved.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;
SET idempotency.table_access = 'auto';
ALTER TABLE account SET (autovacuum_enabled = off);
ALTER TABLE request_result SET (autovacuum_enabled = off);
ALTER TABLE processed_message SET (autovacuum_enabled = off);
ALTER TABLE idempotency_record SET (autovacuum_enabled = off);
INSERT INTO account VALUES (1, 1000);
CREATE VIEW t.counted AS
    SELECT relname, n_tup_ins, n_tup_upd, n_tup_hot_upd, n_tup_del FROM pg_stat_xact_user_tables
     WHERE relname IN ('account', 'request_result', 'processed_message', 'idempotency_record')
       AND n_tup_ins + n_tup_upd + n_tup_del > 0 ORDER BY relname;
SELECT pg_stat_force_next_flush();
BEGIN;
SELECT debit_once(1, 'k', 100);
TABLE t.counted;
ROLLBACK;
SELECT pg_stat_force_next_flush();
BEGIN;
SELECT consume_once('s', md5('k')::uuid, 1, 5);
TABLE t.counted;
ROLLBACK;
-- A general effect is not known before it has run: its record has a second version, in place.
SELECT pg_stat_force_next_flush();
BEGIN;
SELECT state FROM run_sql_once('s', 'test:v1', 'k', '{}', 'SELECT 7');
TABLE t.counted;
ROLLBACK;

-- The same by many calls, as all sessions see it.
SELECT pg_stat_force_next_flush();
SELECT pg_stat_reset();
SELECT count(debit_once(1, 'k' || n, 1)), count(consume_once('s', md5(n::text)::uuid, 1, 1)) FROM generate_series(1, 50) AS n;
SELECT count(state) FROM generate_series(1, 50) AS n, run_sql_once('s', 'test:v1', 'k' || n, '{}', 'SELECT 7');
SELECT idempotency_latest_access();
SELECT pg_stat_force_next_flush();
SELECT relname, n_tup_ins, n_tup_upd, n_dead_tup > 0 AS dead, n_mod_since_analyze, n_ins_since_vacuum, idx_scan > 0 AS idx_scan
  FROM pg_stat_user_tables WHERE schemaname = 'public' AND n_tup_ins + n_tup_upd > 0 ORDER BY relname;
SELECT relname, indexrelname, idx_scan >= 50 AS scans FROM pg_stat_user_indexes
 WHERE relname IN ('account', 'request_result', 'processed_message') ORDER BY indexrelname;
-- Replays count as reads and as nothing else.
SELECT count(debit_once(1, 'k' || n, 1)) FROM generate_series(1, 50) AS n;
SELECT pg_stat_force_next_flush();
SELECT relname, n_tup_ins, n_tup_upd, idx_scan >= 100 AS idx_scan FROM pg_stat_user_tables WHERE relname = 'request_result';
-- What is rolled back is counted as dead.
BEGIN;
SELECT debit_once(1, 'back', 1);
ROLLBACK;
SELECT pg_stat_force_next_flush();
SELECT n_tup_ins, n_live_tup, n_dead_tup FROM pg_stat_user_tables WHERE relname = 'request_result';

-- A key that is found to be taken costs no version and no dead row, nor does a refusal.
SELECT pg_stat_reset();
SELECT count(a.code) FROM generate_series(1, 20) AS n, t.attempt(format('SELECT debit_once(1, %L, 2)', 'k' || n)) AS a;
SELECT count(a.code) FROM generate_series(1, 20) AS n, t.attempt(format('SELECT debit_once(2, %L, 2)', 'k' || n)) AS a;
SELECT pg_stat_force_next_flush();
SELECT coalesce(sum(n_tup_upd), 0) AS updated FROM pg_stat_user_tables
 WHERE relname IN ('account', 'request_result');
-- VACUUM finds what there is to find.
VACUUM account, request_result;
SELECT count(*) FROM request_result;
SELECT pg_relation_size('account') <= 16384 AS pruned;
SELECT count(debit_once(1, 'p' || n, 1)) FROM generate_series(1, 100) AS n;
-- A function that is an effect is counted as any function that is called.
CREATE FUNCTION counted(request jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$ BEGIN RETURN request; END $$;
SET track_functions = 'pl';
SELECT count(state) FROM generate_series(1, 7) AS n, run_once('s', 'count:v1', n::text, '{}', 'counted(jsonb)');
SELECT pg_stat_force_next_flush();
SELECT funcname, calls FROM pg_stat_user_functions WHERE funcname = 'counted';
