-- What a trigger, constraint or index of the DBA's own raises reaches the client whole.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;
INSERT INTO account VALUES (1, 1000), (2, 0);

CREATE FUNCTION house_rule() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = TG_ARGV[0], CONSTRAINT = TG_ARGV[1], MESSAGE = TG_ARGV[2],
        DETAIL = 'the detail', HINT = 'the hint', SCHEMA = 'the schema', TABLE = 'the table',
        COLUMN = 'the column', DATATYPE = 'the type';
END $$;
CREATE FUNCTION whole(statement text, OUT code text, OUT constraint_name text, OUT message text,
    OUT detail text, OUT hint text, OUT schema_name text, OUT table_name text,
    OUT column_name text, OUT type_name text, OUT names_its_origin boolean)
LANGUAGE plpgsql AS $$
DECLARE context text;
BEGIN
    EXECUTE statement;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS code = RETURNED_SQLSTATE, constraint_name = CONSTRAINT_NAME,
        message = MESSAGE_TEXT, detail = PG_EXCEPTION_DETAIL, hint = PG_EXCEPTION_HINT,
        schema_name = SCHEMA_NAME, table_name = TABLE_NAME, column_name = COLUMN_NAME,
        type_name = PG_DATATYPE_NAME, context = PG_EXCEPTION_CONTEXT;
    names_its_origin := context ~ 'house_rule\(\)';
END $$;

-- A private SQLSTATE with everything an error can carry.
CREATE TRIGGER house BEFORE UPDATE ON account FOR EACH ROW
    EXECUTE FUNCTION house_rule('ZX042', 'house_limit', 'too much for this house');
\x on
SELECT * FROM whole($$SELECT debit_once(1, 'k', 100)$$);
SELECT * FROM whole($$SELECT * FROM debit_request(1, 'k', 100)$$);
SELECT * FROM whole($$SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 5)$$);
\x off
\set VERBOSITY default
SELECT debit_once(1, 'k', 100);
\echo :LAST_ERROR_SQLSTATE
\set VERBOSITY terse
SELECT * FROM t.store();
DROP TRIGGER house ON account;

-- Nothing is decided from a text, nor from a SQLSTATE that is somebody else's.
CREATE PROCEDURE raise_from_account(code text, name text, message text) LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE OR REPLACE TRIGGER house BEFORE UPDATE ON account FOR EACH ROW
                    EXECUTE FUNCTION house_rule(%L, %L, %L)', code, name, message);
END $$;
CREATE FUNCTION raised(code text, name text, message text, statement text)
RETURNS TABLE (sqlstate_is_theirs boolean, name_is_theirs boolean, message_is_theirs boolean)
LANGUAGE plpgsql AS $$
BEGIN
    CALL raise_from_account(code, name, message);
    RETURN QUERY SELECT w.code = raised.code, w.constraint_name = raised.name,
                        w.message = raised.message FROM whole(statement) AS w;
END $$;
SELECT v.*, d.*, c.*
  FROM (VALUES
    (1, 'P0001', 'own_limit', 'insufficient balance'),
    (2, 'P0001', 'own_limit',
        'duplicate key value violates unique constraint "request_result_pkey"'),
    (3, '22023', 'own_check', 'idempotency key reused with different request'),
    (4, '23505', 'own_unique', 'an index of our own'),
    (5, '23503', 'own_fkey', 'a foreign key of our own'),
    (6, '40001', '', 'could not serialize access'),
    (7, '40P01', '', 'deadlock detected'),
    (8, '53100', '', 'no space left on device'),
    (9, '55P03', '', 'not now'),
    (10, 'P0002', '', 'query returned no rows')) AS v (n, code, name, message),
       raised(code, name, message, $$SELECT debit_once(1, 'k', 100)$$) AS d,
       raised(code, name, message,
              $$SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 5)$$) AS c
 ORDER BY n;
DROP TRIGGER house ON account;
SELECT * FROM t.store();

-- The same from a trigger on a record table.
CREATE TRIGGER house BEFORE INSERT ON request_result FOR EACH ROW
    EXECUTE FUNCTION house_rule('ZX043', 'house_records', 'no more records');
CREATE TRIGGER house BEFORE INSERT ON processed_message FOR EACH ROW
    EXECUTE FUNCTION house_rule('ZX044', 'house_messages', 'no more messages');
SELECT code, constraint_name, message, names_its_origin
  FROM whole($$SELECT debit_once(1, 'k', 100)$$);
SELECT code, constraint_name, message, names_its_origin
  FROM whole($$SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 5)$$);
DROP TRIGGER house ON request_result;
DROP TRIGGER house ON processed_message;

-- A constraint of the DBA's own, on account.
ALTER TABLE account ADD CONSTRAINT keep_a_reserve CHECK (account_id <> 1 OR balance >= 500);
SELECT a.code, a.reason FROM t.attempt($$SELECT debit_once(1, 'k', 600)$$) AS a;
ALTER TABLE account DROP CONSTRAINT keep_a_reserve;
SELECT * FROM t.store();

-- The key was never used up.
SELECT debit_once(1, 'k', 100);
SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 5);

-- A unique index of the DBA's own on a record table: its violation is told, not swallowed.
CREATE UNIQUE INDEX one_debit_of_an_amount ON request_result (account_id, request);
SELECT a.code, a.reason FROM t.attempt($$SELECT debit_once(1, 'k2', 100)$$) AS a;
SELECT debit_once(1, 'k', 100);
SELECT debit_once(1, 'k2', 101);
CREATE UNIQUE INDEX one_message_of_an_amount ON processed_message (subscriber, amount);
SELECT a.code, a.reason
  FROM t.attempt($$SELECT consume_once('s', '00000000-0000-0000-0000-000000000002', 1, 5)$$) AS a;
SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 5) IS NULL AS redelivery;
SELECT * FROM t.store();

-- A deferred trigger that raises at commit takes effect, reply and key with it.
CREATE CONSTRAINT TRIGGER house AFTER UPDATE ON account DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION house_rule('ZX045', 'house_at_commit', 'not at commit');
BEGIN;
SELECT debit_once(1, 'k3', 7);
COMMIT;
\echo :LAST_ERROR_SQLSTATE
DROP TRIGGER house ON account;
SELECT * FROM t.store();
SELECT debit_once(1, 'k3', 7);
