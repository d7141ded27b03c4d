-- Who may call for which scope: PUBLIC, each access, listed scopes, every scope, a setting, members
-- of two roles, a definer function, SET ROLE, SET SESSION AUTHORIZATION, owner and superuser.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\pset null '(null)'
CREATE EXTENSION idempotency;
INSERT INTO account VALUES (1, 1000), (2, 1000);
CREATE ROLE idempotency_test_user;
CREATE ROLE idempotency_test_reader;
CREATE ROLE idempotency_test_operator;
CREATE ROLE idempotency_test_other;
CREATE ROLE idempotency_test_tenant;
CREATE ROLE idempotency_test_public;
GRANT USAGE ON SCHEMA t TO PUBLIC;
SELECT grant_idempotency('idempotency_test_user', 'use', scopes => '{*}'),
       grant_idempotency('idempotency_test_reader', 'read', scopes => '{*}'),
       grant_idempotency('idempotency_test_operator', 'operate', scopes => '{*}'),
       grant_idempotency('idempotency_test_other', 'use', scopes => '{2,b,"b c"}'),
       grant_idempotency('idempotency_test_tenant', 'use', scope_setting => 'app.tenant_id');
SELECT role, access, scopes, scope_setting FROM idempotency_grant ORDER BY role::text COLLATE "C";

-- The same calls of whoever asks; answers with results or errors. Each works on keys of its own.
CREATE FUNCTION t.calls(who text) RETURNS TABLE (n int, call text, answer text)
LANGUAGE plpgsql AS $$
DECLARE statement text;
BEGIN
    n := 0;
    FOREACH statement IN ARRAY ARRAY[
        'SELECT (debit_once(1, %L, 1) IS NOT NULL)::text',
        'SELECT (debit_once(2, %L, 1) IS NOT NULL)::text',
        'SELECT state FROM debit_request(1, %L, 1)',
        'SELECT (consume_once(%L, gen_random_uuid(), 1, 1) IS NOT NULL)::text',
        'SELECT state FROM run_sql_once(''a'', ''test:v1'', %L, ''{}'', ''SELECT 1'')',
        'SELECT state FROM run_sql_once(''b'', ''test:v1'', %L, ''{}'', ''SELECT 1'')',
        'SELECT state FROM run_once(''b c'', ''test:v1'', %L, ''{}'', ''t.effect(jsonb)'')',
        'SELECT (SELECT state FROM reserve_request(''b'', ''test:v2'', %1$L, ''{}'')) || '' '' ||
                (SELECT state FROM complete_request(''b'', ''test:v2'', %1$L, ''{}''))',
        'SELECT (SELECT state FROM reserve_request(''b'', ''test:v3'', %1$L, ''{}'')) || '' '' ||
                (SELECT state FROM refuse_request(''b'', ''test:v3'', %1$L, ''{}''))',
        'SELECT state FROM find_request(''b'', ''test:v1'', %L)',
        'SELECT state FROM find_request(''a'', ''test:v1'', %L)',
        'SELECT state FROM find_request(''1'', ''debit:v1'', %L)',
        'SELECT state FROM abandon_request(''b'', ''test:v4'', %L)',
        'SELECT count(*) FROM current_request() WHERE request_key = %L',
        'SELECT count(*) FROM idempotency_operations WHERE operation = %L',
        'SELECT count(*) FROM idempotency_record WHERE request_key = %L',
        'SELECT count(*) FROM request_result WHERE request_key = %L',
        'SELECT count(*) FROM idempotency_grant WHERE access = %L',
        'SELECT count(*) FROM operation_contract WHERE operation = %L',
        'SELECT grant_idempotency(current_user::regrole, ''use'', scopes => ARRAY[%L])',
        'SELECT revoke_idempotency(''idempotency_test_user'', %L)',
        'SELECT define_operation(%L || ''x:v1'')',
        'SELECT count(*) FROM idempotency_table_access() WHERE reason = %L']
    LOOP
        n := n + 1;
        call := regexp_replace(statement, '\s+', ' ', 'g');
        SELECT COALESCE(a.code || replace(a.reason, 'idempotency_', '+'), a.result) INTO answer
          FROM t.attempt(format(statement, who)) AS a;
        RETURN NEXT;
    END LOOP;
END $$;
CREATE FUNCTION t.effect(jsonb) RETURNS jsonb LANGUAGE sql AS 'SELECT ''{}''::jsonb';


CREATE TEMPORARY TABLE answer (who text, n int, call text, answer text);
GRANT INSERT ON answer TO PUBLIC;
SET app.tenant_id = 'b';
SET ROLE idempotency_test_public;
INSERT INTO answer SELECT 'public', * FROM t.calls('public');
SET ROLE idempotency_test_user;
INSERT INTO answer SELECT 'user', * FROM t.calls('user');
SET ROLE idempotency_test_reader;
INSERT INTO answer SELECT 'reader', * FROM t.calls('reader');
SET ROLE idempotency_test_operator;
INSERT INTO answer SELECT 'operator', * FROM t.calls('operator');
SET ROLE idempotency_test_other;
INSERT INTO answer SELECT 'other', * FROM t.calls('other');
SET ROLE idempotency_test_tenant;
INSERT INTO answer SELECT 'tenant', * FROM t.calls('tenant');
RESET ROLE;
-- 42501 is the server's own refusal, +scope is the extension's.
\pset format unaligned
SELECT n, max(call) AS call,
       max(answer) FILTER (WHERE who = 'public') AS public,
       max(answer) FILTER (WHERE who = 'reader') AS reader,
       max(answer) FILTER (WHERE who = 'operator') AS operator,
       max(answer) FILTER (WHERE who = 'user') AS "user, {*}",
       max(answer) FILTER (WHERE who = 'other') AS "other, {2,b,b c}",
       max(answer) FILTER (WHERE who = 'tenant') AS "tenant, b"
  FROM answer GROUP BY n ORDER BY n;
\pset format aligned

-- The error tells how to get in, and neither scope nor key.
SET ROLE idempotency_test_other;
SELECT code, reason, message, detail, hint
  FROM t.attempt($$SELECT * FROM find_request('a', 'test:v1', 'user')$$);
-- Another's reply: refused alike, whether there is one or not, whether the request is equal or not.
SELECT DISTINCT code, reason, message, detail, hint
  FROM (VALUES ($$SELECT * FROM find_request('a', 'test:v1', 'user')$$),
               ($$SELECT * FROM find_request('a', 'test:v1', 'none')$$),
               ($$SELECT * FROM run_sql_once('a', 'test:v1', 'user', '{}', 'SELECT 1')$$),
               ($$SELECT * FROM run_sql_once('a', 'test:v1', 'user', '{"x": 1}', 'SELECT 1')$$),
               ($$SELECT * FROM run_sql_once('a', 'test:v1', 'none', '{}', 'SELECT 1')$$),
               ($$SELECT * FROM reserve_request('a', 'test:v1', 'user', '{}')$$),
               ($$SELECT * FROM complete_request('a', 'test:v1', 'user', '{}')$$),
               ($$SELECT * FROM refuse_request('a', 'test:v1', 'user', '{}')$$),
               ($$SELECT * FROM abandon_request('a', 'test:v1', 'user')$$),
               ($$SELECT debit_once(1, 'user', 1)$$),
               ($$SELECT debit_once(1, 'user', 2)$$),
               ($$SELECT debit_once(3, 'none', 1)$$),
               ($$SELECT * FROM debit_request(1, 'none', 10000)$$),
               ($$SELECT consume_once('s', gen_random_uuid(), 3, 1)$$)) AS v (statement),
       t.attempt(statement);
-- Scopes are compared bytewise: case, spaces, leading zeros.
SELECT scope, code FROM (VALUES ('b'), ('B'), (' b'), ('b '), ('b c'), ('b  c'), ('02'), ('2'), ('*'))
       AS v (scope), t.attempt(format('SELECT * FROM find_request(%L, ''test:v1'', ''none'')', scope));
RESET ROLE;

-- A setting: unset, empty, another, a star, a list, one that only begins alike, one that is set for
-- the transaction alone.
\c -
SET ROLE idempotency_test_tenant;
CREATE FUNCTION pg_temp.try(scope text) RETURNS text LANGUAGE sql AS $$
    SELECT COALESCE(code, 'may') FROM t.attempt(format('SELECT * FROM find_request(%L, ''test:v1'', ''none'')', scope))
$$;
SELECT pg_temp.try('b') AS unset, pg_temp.try('') AS no_scope;
SET app.tenant_id = '';
SELECT pg_temp.try('b') AS empty, pg_temp.try('') AS no_scope;
SET app.tenant_id = 'c';
SELECT pg_temp.try('b') AS other, pg_temp.try('c') AS its_own;
SET app.tenant_id = '*';
SELECT pg_temp.try('b') AS star, pg_temp.try('*') AS its_own;
SET app.tenant_id = 'b,c';
SELECT pg_temp.try('b') AS list;
SET app.tenant_id = 'b ';
SELECT pg_temp.try('b') AS trailing_space;
SET app.tenant_id = '2';
SELECT (debit_once(2, 'by setting', 1) ->> 'balance') IS NOT NULL AS account_2;
SELECT debit_once(1, 'by setting', 1);
RESET app.tenant_id;
BEGIN;
SET LOCAL app.tenant_id = 'b';
SELECT pg_temp.try('b') AS inside;
COMMIT;
SELECT pg_temp.try('b') AS outside;
BEGIN;
SAVEPOINT s;
SET LOCAL app.tenant_id = 'b';
ROLLBACK TO s;
SELECT pg_temp.try('b') AS rolled_back;
COMMIT;
RESET ROLE;

-- Members. A member of two roles has the scopes of both.
CREATE ROLE idempotency_test_member IN ROLE idempotency_test_other, idempotency_test_tenant;
SET ROLE idempotency_test_member;
SET app.tenant_id = 'c';
SELECT pg_temp.try('b') AS b, pg_temp.try('c') AS c, pg_temp.try('a') AS a;
RESET ROLE;
-- One that does not inherit has neither, until SET ROLE.
CREATE ROLE idempotency_test_noinherit NOINHERIT LOGIN
    IN ROLE idempotency_test_other, idempotency_test_tenant;
SET SESSION AUTHORIZATION idempotency_test_noinherit;
SELECT pg_temp.try('b') AS b, pg_temp.try('c') AS c;
SET ROLE idempotency_test_other;
SELECT pg_temp.try('b') AS b, pg_temp.try('c') AS c;
SET ROLE idempotency_test_tenant;
SELECT pg_temp.try('b') AS b, pg_temp.try('c') AS c;
RESET SESSION AUTHORIZATION;
-- A member of a member; what a membership gives it takes.
CREATE ROLE idempotency_test_grandchild IN ROLE idempotency_test_member;
SET ROLE idempotency_test_grandchild;
SELECT pg_temp.try('b') AS b;
RESET ROLE;
REVOKE idempotency_test_other FROM idempotency_test_member;
SET ROLE idempotency_test_grandchild;
SELECT pg_temp.try('b') AS b, pg_temp.try('c') AS c;
RESET ROLE;
ALTER ROLE idempotency_test_member NOINHERIT;
REVOKE idempotency_test_tenant FROM idempotency_test_member;
SET ROLE idempotency_test_member;
SELECT pg_temp.try('c') AS c;
RESET ROLE;

-- SET SESSION AUTHORIZATION and SET ROLE NONE: it is the current role that counts.
SET SESSION AUTHORIZATION idempotency_test_other;
SELECT pg_temp.try('a') AS a, pg_temp.try('b') AS b;
SET ROLE NONE;
SELECT pg_temp.try('a') AS a, pg_temp.try('b') AS b;
RESET SESSION AUTHORIZATION;
SELECT pg_temp.try('a') AS a;

-- A definer function of the application's: its owner counts, and not who calls it.
SET app.tenant_id = 'c';
CREATE SCHEMA app;
GRANT CREATE, USAGE ON SCHEMA app TO idempotency_test_other, idempotency_test_public;
SET ROLE idempotency_test_other;
CREATE FUNCTION app.look(scope text) RETURNS text LANGUAGE plpgsql SECURITY DEFINER
SET search_path = public, pg_temp AS $$
BEGIN
    RETURN (SELECT count(*)::text FROM find_request(scope, 'test:v1', 'none'));
EXCEPTION WHEN insufficient_privilege THEN
    RETURN SQLSTATE;
END $$;
SET ROLE idempotency_test_public;
SELECT app.look('a') AS a, app.look('b') AS b, pg_temp.try('b') AS himself;
-- Also where the caller had more rights: they are not his there.
RESET ROLE;
GRANT USAGE ON SCHEMA app TO idempotency_test_user;
SET ROLE idempotency_test_user;
SELECT app.look('a') AS a, app.look('b') AS b, pg_temp.try('a') AS himself;
RESET ROLE;
SELECT app.look('a') AS a, app.look('b') AS b;

-- An effect runs with the caller's rights, and calls inside it are admitted for themselves.
SET ROLE idempotency_test_other;
SELECT code, reason FROM t.attempt($$SELECT state FROM run_sql_once('b', 'test:v1', 'outer', '{}',
    $c$SELECT state FROM find_request('a', 'test:v1', 'user')$c$)$$);
SELECT code FROM t.attempt($$SELECT state FROM run_sql_once('b', 'test:v1', 'outer', '{}',
    'SELECT count(*) FROM idempotency_record')$$);
SELECT state, response FROM run_sql_once('b', 'test:v1', 'outer', '{}', 'SELECT current_user');
RESET ROLE;

-- Two rights do not add up to a third: 'read' for one scope and 'use' for another.
SELECT grant_idempotency('idempotency_test_reader', 'use', scopes => '{b}');
SET ROLE idempotency_test_reader;
SELECT pg_temp.try('a') AS a, pg_temp.try('b') AS b,
       (SELECT count(*) FROM idempotency_operations) > 0 AS sees_operations;
RESET ROLE;

SELECT count(*) FROM (SELECT revoke_idempotency(role::regrole) FROM (SELECT DISTINCT role FROM idempotency_grant) AS g) AS r;
TABLE idempotency_grant;
DROP OWNED BY idempotency_test_user, idempotency_test_reader, idempotency_test_operator,
    idempotency_test_other, idempotency_test_tenant, idempotency_test_public,
    idempotency_test_member, idempotency_test_noinherit, idempotency_test_grandchild;
DROP ROLE idempotency_test_user, idempotency_test_reader, idempotency_test_operator,
    idempotency_test_other, idempotency_test_tenant, idempotency_test_public,
    idempotency_test_member, idempotency_test_noinherit, idempotency_test_grandchild;
