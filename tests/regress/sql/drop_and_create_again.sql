-- Dropped and created again in one session, the extension starts anew, in another schema too.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;
INSERT INTO account VALUES (1, 1000);
SELECT debit_once(1, 'k', 100);
SELECT debit_once(1, 'k', 100);
SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50);
DROP EXTENSION idempotency;
\set VERBOSITY sqlstate
SELECT debit_once(1, 'k', 100);
\set VERBOSITY terse

-- Nothing is remembered of what was dropped.
CREATE EXTENSION idempotency;
SELECT * FROM t.store();
INSERT INTO account VALUES (1, 500);
SELECT debit_once(1, 'k', 100);
SELECT debit_once(1, 'k', 100);
SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50);
SELECT consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50) IS NULL AS again;
SELECT * FROM t.store();
DROP EXTENSION idempotency;

CREATE SCHEMA bank;
CREATE EXTENSION idempotency SCHEMA bank;
INSERT INTO bank.account VALUES (1, 300);
SELECT bank.debit_once(1, 'k', 100);
SELECT bank.debit_once(1, 'k', 100);
SELECT replayed FROM bank.debit_request(1, 'k', 100);
SELECT bank.consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50);
SELECT * FROM t.store('bank');

-- Within one transaction, and rolled back.
BEGIN;
DROP EXTENSION idempotency;
CREATE EXTENSION idempotency SCHEMA public;
INSERT INTO public.account VALUES (1, 77);
SELECT public.debit_once(1, 'k', 7);
SELECT public.debit_once(1, 'k', 7);
ROLLBACK;
SELECT bank.debit_once(1, 'k', 100);
SELECT bank.debit_once(1, 'k2', 100);
SELECT * FROM t.store('bank');

-- Created, used and rolled back; then created for good.
DROP EXTENSION idempotency;
BEGIN;
CREATE EXTENSION idempotency;
INSERT INTO account VALUES (1, 10);
SELECT debit_once(1, 'k', 1);
ROLLBACK;
CREATE EXTENSION idempotency;
INSERT INTO account VALUES (1, 20);
SELECT debit_once(1, 'k', 1);
SELECT debit_once(1, 'k', 1);
SELECT * FROM t.store();
