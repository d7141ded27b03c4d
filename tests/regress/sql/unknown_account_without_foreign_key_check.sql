-- No such account is 23503 at the call, also where the foreign key would not fire, or only later.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;
INSERT INTO account VALUES (1, 1000);
CREATE FUNCTION verdicts() RETURNS TABLE (result text, code text, reason text)
LANGUAGE sql AS $$
    SELECT a.result, a.code, a.reason
      FROM (VALUES
        (1, $q$SELECT debit_once(99, 'k', 100)$q$),
        (2, $q$SELECT state FROM debit_request(99, 'k', 100)$q$),
        (3, $q$SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 99, 50)$q$))
            AS v (n, statement),
           t.attempt(statement) AS a
     ORDER BY n
$$;

-- As a replication worker, which fires no triggers.
SET session_replication_role = replica;
SELECT * FROM verdicts();
RESET session_replication_role;
SELECT * FROM t.store();

-- With the foreign keys' triggers off.
ALTER TABLE request_result DISABLE TRIGGER ALL;
ALTER TABLE processed_message DISABLE TRIGGER ALL;
SELECT * FROM verdicts();
ALTER TABLE request_result ENABLE TRIGGER ALL;
ALTER TABLE processed_message ENABLE TRIGGER ALL;

-- Deferred to the commit: the call knows already.
ALTER TABLE request_result ALTER CONSTRAINT request_result_account_id_fkey
    DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE processed_message ALTER CONSTRAINT processed_message_account_id_fkey
    DEFERRABLE INITIALLY DEFERRED;
SELECT * FROM verdicts();
BEGIN;
SELECT debit_once(1, 'k', 100);
SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50);
COMMIT;
SELECT * FROM t.store();
