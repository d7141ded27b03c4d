-- Row security on account: a caller to whom it applies acts for himself; an account that he may not
-- see does not exist for him, in a first call, a replay, a mismatch and a refusal alike.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\pset null '(null)'
CREATE ROLE idempotency_test_owner;
CREATE ROLE idempotency_test_app;
CREATE ROLE idempotency_test_exempt BYPASSRLS;
SELECT current_database() AS here \gset
GRANT CREATE ON DATABASE :"here" TO idempotency_test_owner;
GRANT USAGE ON SCHEMA t TO PUBLIC;
SET ROLE idempotency_test_owner;
CREATE SCHEMA bank;
CREATE EXTENSION idempotency SCHEMA bank;
GRANT USAGE ON SCHEMA bank TO PUBLIC;
INSERT INTO bank.account VALUES (1, 1000), (2, 1000), (4, 5);
SELECT bank.debit_once(2, 'theirs', 100);
SELECT bank.consume_once('s', '00000000-0000-0000-0000-000000000002', 2, 50, '{"a": 1}');
SELECT bank.grant_idempotency('idempotency_test_app', 'use', scopes => '{*}'),
       bank.grant_idempotency('idempotency_test_exempt', 'use', scopes => '{*}');
-- Without row security the caller needs no right on the table.
SET ROLE idempotency_test_app;
SELECT bank.debit_once(1, 'before', 1);
SET ROLE idempotency_test_owner;
ALTER TABLE bank.account ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_account ON bank.account
    USING (account_id = nullif(current_setting('app.account_id', true), '')::bigint);
-- With it he needs them; they are asked for first.
SET ROLE idempotency_test_app;
SET app.account_id = '1';
SELECT n, code, message
  FROM (VALUES (1, $$SELECT bank.debit_once(1, 'before', 1)$$),
               (2, $$SELECT bank.debit_once(1, 'new', 1)$$),
               (3, $$SELECT bank.debit_once(2, 'theirs', 100)$$),
               (4, $$SELECT bank.consume_once('s', '00000000-0000-0000-0000-000000000002', 2, 50, '{"a": 1}')$$))
       AS v (n, statement), t.attempt(statement) ORDER BY n;
SET ROLE idempotency_test_owner;
GRANT SELECT, UPDATE ON bank.account TO idempotency_test_app;

-- His own account.
SET ROLE idempotency_test_app;
SELECT bank.debit_once(1, 'mine', 100);
SELECT bank.debit_once(1, 'mine', 100);
SELECT replayed FROM bank.debit_request(1, 'mine', 100);
SELECT bank.consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50);
SELECT bank.consume_once('s', '00000000-0000-0000-0000-000000000001', 1, 50);
SELECT code, reason FROM t.attempt($$SELECT bank.debit_once(1, 'mine', 101)$$);
SELECT code, reason FROM t.attempt($$SELECT bank.debit_once(1, 'much', 100000)$$);

-- Another's: every field of every error is that of an account that is not there.
CREATE TEMPORARY TABLE told AS
SELECT account, call, a.*
  FROM (VALUES ('first call', 'SELECT bank.debit_once(%s, ''new'', 1)'),
               ('more than it holds', 'SELECT bank.debit_once(%s, ''new'', 100000)'),
               ('replay', 'SELECT bank.debit_once(%s, ''theirs'', 100)'),
               ('mismatch', 'SELECT bank.debit_once(%s, ''theirs'', 101)'),
               ('replay as rows', 'SELECT replayed FROM bank.debit_request(%s, ''theirs'', 100)'),
               ('new message', 'SELECT bank.consume_once(''s'', ''00000000-0000-0000-0000-00000000000a'', %s, 50)'),
               ('redelivery', 'SELECT bank.consume_once(''s'', ''00000000-0000-0000-0000-000000000002'', %s, 50, ''{"a": 1}'')'),
               ('message mismatch', 'SELECT bank.consume_once(''s'', ''00000000-0000-0000-0000-000000000002'', %s, 51, ''{"a": 2}'')'))
       AS v (call, statement),
       (VALUES (2), (3)) AS w (account), t.attempt(format(statement, account)) AS a;
SELECT call, code, reason, message FROM told WHERE account = 2 ORDER BY call;
SELECT call FROM told WHERE result IS NOT NULL;
SELECT count(DISTINCT (code, reason, message, replace(detail, '(2)', '(3)'), hint,
                       regexp_replace(replace(context, '(2,', '(3,'), ', 2,', ', 3,'))) AS different, call
  FROM told GROUP BY call ORDER BY call;
SELECT detail, hint FROM told WHERE call = 'replay' ORDER BY account;
-- The diagnostics that t.attempt does not ask for.
CREATE FUNCTION pg_temp.names(statement text, OUT s text, OUT t text, OUT c text, OUT d text)
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE statement;
EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS s = SCHEMA_NAME, t = TABLE_NAME, c = COLUMN_NAME, d = PG_DATATYPE_NAME;
END $$;
SELECT account, n.* FROM (VALUES (2), (3)) AS w (account),
       pg_temp.names(format('SELECT bank.debit_once(%s, ''theirs'', 100)', account)) AS n ORDER BY account;

-- Nor do those tell that know debits by their account's scope.
SELECT state FROM bank.find_request('1', 'debit:v1', 'mine');
SELECT state FROM bank.find_request('2', 'debit:v1', 'theirs');
SELECT state FROM bank.find_request('3', 'debit:v1', 'theirs');
SELECT account, code, reason, message, detail, hint FROM (VALUES (2), (3)) AS w (account),
       t.attempt(format('SELECT state FROM bank.abandon_request(''%s'', ''debit:v1'', ''theirs'')', account))
 ORDER BY account;
SELECT account, code, reason, message, detail, hint FROM (VALUES (2), (3)) AS w (account),
       t.attempt(format('SELECT state FROM bank.abandon_request(''%s'', ''debit:v1'', ''none'')', account))
 ORDER BY account;
RESET app.account_id;
SELECT code, reason FROM t.attempt($$SELECT bank.debit_once(1, 'mine', 100)$$);
SET app.account_id = '2';
SELECT bank.debit_once(2, 'theirs', 100);
SELECT bank.debit_once(2, 'another', 100);
SET app.account_id = '1';

-- row_security = off is for those who may turn it off; it is not his way around it.
SET row_security = off;
SELECT code, message FROM t.attempt($$SELECT bank.debit_once(2, 'theirs', 100)$$);
SELECT code, message FROM t.attempt($$SELECT bank.debit_once(1, 'mine', 100)$$);
RESET row_security;

-- A policy that lets him see but not change: a first call is refused, a replay is answered.
SET ROLE idempotency_test_owner;
CREATE POLICY others ON bank.account FOR SELECT USING (account_id = 2);
SET ROLE idempotency_test_app;
SELECT bank.debit_once(2, 'theirs', 100);
SELECT code, reason, message FROM t.attempt($$SELECT bank.debit_once(2, 'seen', 1)$$);
SET ROLE idempotency_test_owner;
DROP POLICY others ON bank.account;
CREATE POLICY floor ON bank.account AS RESTRICTIVE FOR UPDATE USING (true) WITH CHECK (balance >= 500);
SET ROLE idempotency_test_app;
SELECT code, message FROM t.attempt($$SELECT bank.debit_once(1, 'floor', 600)$$);
SELECT (bank.debit_once(1, 'floor', 1) ->> 'balance')::int < 1000 AS the_same_key_later;
SET ROLE idempotency_test_owner;
DROP POLICY floor ON bank.account;

-- The owner, a superuser and a role with BYPASSRLS are exempt, and need nothing more than before.
SELECT bank.debit_once(2, 'theirs', 100), bank.debit_once(2, 'owner', 1) IS NOT NULL AS new;
SET ROLE idempotency_test_exempt;
SELECT bank.debit_once(2, 'theirs', 100), bank.debit_once(2, 'exempt', 1) IS NOT NULL AS new;
SET row_security = off;
SELECT bank.debit_once(2, 'theirs', 100), bank.debit_once(2, 'exempt 2', 1) IS NOT NULL AS new;
RESET row_security;
RESET ROLE;
SELECT bank.debit_once(2, 'theirs', 100), bank.debit_once(2, 'superuser', 1) IS NOT NULL AS new;
-- Forced, the policies are the owner's as well; the others stay exempt.
SET ROLE idempotency_test_owner;
ALTER TABLE bank.account FORCE ROW LEVEL SECURITY;
SELECT code, reason FROM t.attempt($$SELECT bank.debit_once(2, 'theirs', 100)$$);
SET app.account_id = '2';
SELECT bank.debit_once(2, 'theirs', 100), bank.debit_once(2, 'owner 2', 1) IS NOT NULL AS new;
SET app.account_id = '1';
SET ROLE idempotency_test_exempt;
SELECT bank.debit_once(2, 'theirs', 100), bank.debit_once(2, 'exempt 3', 1) IS NOT NULL AS new;
RESET ROLE;
SELECT bank.debit_once(2, 'theirs', 100), bank.debit_once(2, 'superuser 2', 1) IS NOT NULL AS new;
SET ROLE idempotency_test_app;
SELECT code, reason FROM t.attempt($$SELECT bank.debit_once(2, 'theirs', 100)$$);
SELECT bank.debit_once(1, 'mine', 100);

-- A definer function of the application's: its owner's policies, with the caller's setting.
RESET ROLE;
CREATE SCHEMA app;
CREATE FUNCTION app.pay(account bigint, key text) RETURNS jsonb LANGUAGE sql SECURITY DEFINER
    AS 'SELECT bank.debit_once(account, key, 100)';
ALTER FUNCTION app.pay OWNER TO idempotency_test_app;
GRANT USAGE ON SCHEMA app TO PUBLIC;
SET ROLE idempotency_test_exempt;
SELECT code, reason FROM t.attempt($$SELECT app.pay(2, 'theirs')$$);
SELECT app.pay(1, 'mine');
RESET ROLE;
SELECT code, reason FROM t.attempt($$SELECT app.pay(2, 'theirs')$$);

-- Taken away again in a live session.
SET ROLE idempotency_test_owner;
ALTER TABLE bank.account DISABLE ROW LEVEL SECURITY, NO FORCE ROW LEVEL SECURITY;
REVOKE ALL ON bank.account FROM idempotency_test_app;
SET ROLE idempotency_test_app;
SELECT bank.debit_once(2, 'theirs', 100);
SET ROLE idempotency_test_owner;
SELECT count(*) AS requests, sum(balance) AS balances, (SELECT count(*) FROM bank.processed_message) AS messages
  FROM bank.account, LATERAL (SELECT count(*) FROM bank.request_result AS r WHERE r.account_id = account.account_id) AS n;

DROP EXTENSION idempotency;
RESET ROLE;
DROP SCHEMA app CASCADE;
DROP OWNED BY idempotency_test_owner, idempotency_test_app, idempotency_test_exempt CASCADE;
DROP ROLE idempotency_test_owner, idempotency_test_app, idempotency_test_exempt;
