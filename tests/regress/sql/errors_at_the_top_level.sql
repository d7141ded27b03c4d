-- Errors as a client without any helper sees them: primary message, DETAIL, HINT, SQLSTATE.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;
INSERT INTO account VALUES (1, 1000);
\set VERBOSITY default

SELECT debit_once(1, 'checkout-42', 100);

SELECT debit_once(1, 'checkout-42', 101);
\echo :LAST_ERROR_SQLSTATE
SELECT debit_once(1, 'checkout-42', 100);

-- These three messages are fixed; the rest of what stands below them is free.
\set VERBOSITY terse
SELECT debit_once(1, '', 100);
\echo :LAST_ERROR_SQLSTATE
SELECT debit_once(1, 'checkout-43', 100000);
\echo :LAST_ERROR_SQLSTATE
SELECT debit_once(1, 'checkout-42', 101);
\echo :LAST_ERROR_SQLSTATE
SELECT state FROM debit_request(1, 'checkout-42', 101);
\echo :LAST_ERROR_SQLSTATE

SELECT consume_once('billing', '00000000-0000-0000-0000-000000000001', 1, 50, '{"a": 1}');
SELECT consume_once('billing', '00000000-0000-0000-0000-000000000001', 1, 51, '{"a": 1}');
\echo :LAST_ERROR_SQLSTATE
SELECT consume_once('billing', '00000000-0000-0000-0000-000000000001', 1, 50, '{"a": 1}');

-- The foreign key's error is the server's own. Elsewhere the text is not the contract.
SELECT debit_once(99, 'k', 100);
\echo :LAST_ERROR_SQLSTATE
SELECT consume_once('billing', '00000000-0000-0000-0000-000000000002', 99, 50);
\echo :LAST_ERROR_SQLSTATE
\set VERBOSITY sqlstate
SELECT debit_once(NULL, 'k', 100);
SELECT debit_once(1, repeat('x', 256), 100);
SELECT consume_once(NULL, '00000000-0000-0000-0000-000000000002', 1, 50);
SELECT consume_once('billing', '00000000-0000-0000-0000-000000000002', 1, 9223372036854775807);

-- An error takes the whole transaction with it, as any other error does.
BEGIN;
SELECT debit_once(1, 'checkout-44', 100);
SELECT debit_once(1, 'checkout-42', 101);
SELECT debit_once(1, 'checkout-44', 100);
COMMIT;
SELECT * FROM t.store();
