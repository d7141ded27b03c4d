-- The three tables: names, columns, types, collations, defaults, constraints, owner, comments.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;

-- Of processed_message the first three columns are fixed; what follows them is shown by name only.
SELECT c.relname AS "table", a.attnum, a.attname, format_type(a.atttypid, a.atttypmod) AS type,
       (SELECT collname FROM pg_collation
         WHERE oid = a.attcollation AND a.attcollation <> 0) AS "collation",
       a.attnotnull AS not_null,
       (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef
         WHERE adrelid = a.attrelid AND adnum = a.attnum) AS "default"
  FROM pg_class AS c
  JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
 WHERE c.oid IN ('account'::regclass, 'request_result'::regclass)
    OR c.oid = 'processed_message'::regclass AND a.attnum <= 3
 ORDER BY c.relname, a.attnum;

SELECT attname FROM pg_attribute
 WHERE attrelid = 'processed_message'::regclass AND attnum > 3
   AND attname IN ('amount', 'message', 'processed_at')
 ORDER BY attname;

SELECT conrelid::regclass AS "table", conname, contype, pg_get_constraintdef(oid) AS definition,
       convalidated, condeferrable
  FROM pg_constraint
 WHERE conrelid IN ('account'::regclass, 'request_result'::regclass,
                    'processed_message'::regclass)
   AND contype IN ('p', 'u', 'f')
    OR conrelid = 'account'::regclass AND contype = 'c'
 ORDER BY conrelid::regclass::text COLLATE "C", conname;

-- Logged, plain, owned by the installer, dumped, described, empty.
SELECT c.relname, c.relpersistence, c.relkind, pg_get_userbyid(c.relowner) = current_user AS mine,
       c.oid = ANY (e.extconfig) AS dumped,
       obj_description(c.oid, 'pg_class') <> '' AS described,
       (SELECT bool_and(col_description(c.oid, attnum) IS NOT NULL) FROM pg_attribute
         WHERE attrelid = c.oid AND attnum > 0) AS columns_described
  FROM pg_extension AS e,
       pg_class AS c
 WHERE e.extname = 'idempotency'
   AND c.oid IN ('account'::regclass, 'request_result'::regclass, 'processed_message'::regclass)
 ORDER BY c.relname;
SELECT * FROM t.store();
SELECT extrelocatable, extnamespace::regnamespace FROM pg_extension WHERE extname = 'idempotency';

-- The functions: nothing is STRICT by accident, nothing runs with another's rights, nothing is for
-- everybody, and nothing may be reordered, repeated or run in a parallel worker.
SELECT p.oid::regprocedure AS function, p.provolatile, p.proparallel, p.proisstrict, p.prosecdef,
       p.proleakproof, has_function_privilege('public', p.oid, 'EXECUTE') AS public,
       obj_description(p.oid, 'pg_proc') <> '' AS described
  FROM pg_proc AS p
 WHERE p.proname IN ('debit_once', 'debit_request', 'consume_once')
 ORDER BY p.proname;
SELECT proname, pg_get_function_identity_arguments(oid) AS arguments, pronargdefaults AS defaults,
       prorettype::regtype AS result, proretset AS rows
  FROM pg_proc
 WHERE proname IN ('debit_once', 'debit_request', 'consume_once')
 ORDER BY proname;

-- Statements written by hand meet the constraints.
INSERT INTO account VALUES (1, 100), (2, 10);
SELECT debit_once(1, 'k', 10);
SELECT debit_once(2, 'k', 10);
SELECT consume_once('billing', '00000000-0000-0000-0000-000000000001', 1, 10);
SELECT statement, a.code, a.reason
  FROM (VALUES
    (1, $$INSERT INTO request_result VALUES (1, 'debit:v1', 'k', '{}', '{}') RETURNING 1$$),
    (2, $$INSERT INTO request_result VALUES (3, 'debit:v1', 'k', '{}', '{}') RETURNING 1$$),
    (3, $$INSERT INTO request_result VALUES (1, 'debit:v1', 'm', NULL, '{}') RETURNING 1$$),
    (4, $$INSERT INTO request_result VALUES (1, 'debit:v1', 'm', '{}', NULL) RETURNING 1$$),
    (5, $$INSERT INTO request_result VALUES (1, 'debit:v1', NULL, '{}', '{}') RETURNING 1$$),
    (6, $$INSERT INTO processed_message VALUES
          ('billing', '00000000-0000-0000-0000-000000000001', 2) RETURNING 1$$),
    (7, $$INSERT INTO processed_message VALUES
          ('billing', '00000000-0000-0000-0000-000000000002', 3) RETURNING 1$$),
    (8, $$INSERT INTO account VALUES (1, 5) RETURNING 1$$),
    (9, $$INSERT INTO account VALUES (3, -1) RETURNING 1$$),
    (10, $$INSERT INTO account VALUES (3, NULL) RETURNING 1$$),
    (11, $$UPDATE account SET balance = -1 RETURNING 1$$),
    (12, $$DELETE FROM account WHERE account_id = 2 RETURNING 1$$)) AS v (n, statement),
       t.attempt(statement) AS a
 ORDER BY n;
INSERT INTO request_result VALUES (1, 'debit:v1', 'k', '{}', '{}');
\echo :LAST_ERROR_SQLSTATE
SELECT * FROM t.store();

-- A record written by hand is answered like any other.
INSERT INTO request_result (account_id, operation, request_key, request, response)
VALUES (2, 'debit:v1', 'by hand', '{"amount": 5.0}', '{"balance": 42}');
SELECT debit_once(2, 'by hand', 5);
SELECT a.code, a.reason FROM t.attempt($$SELECT debit_once(2, 'by hand', 6)$$) AS a;
SELECT * FROM t.store();
