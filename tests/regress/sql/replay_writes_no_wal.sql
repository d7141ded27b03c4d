-- After a first read, replays write no WAL and use no transaction id, however many there are. Others
-- may write some at any time, so that one of several tries has to be quiet.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;
INSERT INTO account VALUES (1, 1000);
SELECT count(debit_once(1, 'k' || n, 1)), count(consume_once('s', md5(n::text)::uuid, 1, 1)) FROM generate_series(1, 200) AS n;
SELECT count(*) FROM generate_series(1, 200) AS n, run_sql_once('s', 'test:v1', 'k' || n, '{}', 'SELECT 7');
CREATE PROCEDURE t.replays() LANGUAGE plpgsql AS $$
DECLARE
    before pg_lsn;
    written numeric;
BEGIN
    FOR try IN 0..50 LOOP
        before := pg_current_wal_insert_lsn();
        FOR n IN 1..200 LOOP
            ASSERT (SELECT replayed FROM debit_request(1, 'k' || n, 1)), 'debit';
            ASSERT consume_once('s', md5(n::text)::uuid, 1, 1) IS NULL, 'consume';
            ASSERT (SELECT replayed FROM run_sql_once('s', 'test:v1', 'k' || n, '{}', 'SELECT 7')), 'run';
            ASSERT (SELECT state = 'completed' FROM find_request('1', 'debit:v1', 'k' || n)), 'find';
        END LOOP;
        ASSERT pg_current_xact_id_if_assigned() IS NULL, 'a transaction id';
        written := pg_current_wal_insert_lsn() - before;
        EXIT WHEN try > 0 AND written = 0;
        -- The next try sees pages that are pruned and hints that are set.
        PERFORM pg_sleep(0.05);
    END LOOP;
    ASSERT written = 0, 'WAL: ' || written;
END $$;
CALL t.replays();
BEGIN READ ONLY;
CALL t.replays();
COMMIT;
SELECT * FROM t.store();
