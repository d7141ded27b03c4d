-- EXECUTE and the view's SELECT follow each grant and its revocation exactly; bad input grants
-- nothing, not even in part; only the owner grants; a role that is dropped or renamed.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\pset null '(null)'
CREATE ROLE idempotency_test_owner;
CREATE ROLE idempotency_test_app;
CREATE ROLE "idempotency_test App; --";
CREATE ROLE idempotency_test_stranger;
CREATE SCHEMA bank AUTHORIZATION idempotency_test_owner;
SELECT current_database() AS here \gset
GRANT CREATE ON DATABASE :"here" TO idempotency_test_owner;
GRANT USAGE ON SCHEMA t TO PUBLIC;
SET ROLE idempotency_test_owner;
CREATE EXTENSION idempotency SCHEMA bank;
GRANT USAGE ON SCHEMA bank TO PUBLIC;
INSERT INTO bank.account VALUES (1, 1000);
RESET ROLE;

-- What a role holds on the extension's objects.
CREATE FUNCTION t.held(role text DEFAULT 'idempotency_test_app') RETURNS TABLE (privilege text)
LANGUAGE sql AS $$
    SELECT p.proname || '/' || p.pronargs || CASE WHEN a.is_grantable THEN ' grantable' ELSE '' END
      FROM pg_proc AS p, aclexplode(p.proacl) AS a
     WHERE p.pronamespace = 'bank'::regnamespace AND a.grantee = role::regrole
    UNION ALL
    SELECT c.relname || ' ' || a.privilege_type || CASE WHEN a.is_grantable THEN ' grantable' ELSE '' END
      FROM pg_class AS c, aclexplode(c.relacl) AS a
     WHERE c.relnamespace = 'bank'::regnamespace AND a.grantee = role::regrole
     ORDER BY 1
$$;
CREATE FUNCTION t.held_in_short() RETURNS text LANGUAGE sql AS $$
    SELECT concat(count(*) FILTER (WHERE privilege ~ '/'), ' functions, ',
                  count(*) FILTER (WHERE privilege ~ ' SELECT'), ' views, ',
                  count(*) FILTER (WHERE privilege ~ 'grantable'), ' grantable')
      FROM t.held()
$$;
TABLE bank.idempotency_grant;
SELECT t.held();

SET ROLE idempotency_test_owner;
SELECT bank.grant_idempotency('idempotency_test_app', 'use', scopes => '{1}');
SELECT t.held();
SELECT bank.grant_idempotency('idempotency_test_app', 'read', scopes => '{1}');
SELECT privilege FROM t.held() AS h (privilege) WHERE privilege !~ '^(abandon|complete|consume|current|debit|find|refuse|reserve|run)_';
-- Taking one of two that give the same leaves it.
SELECT bank.grant_idempotency('idempotency_test_app', 'operate', scopes => '{1}');
SELECT t.held_in_short();
SELECT bank.revoke_idempotency('idempotency_test_app', 'read');
SELECT t.held_in_short();
SELECT bank.revoke_idempotency('idempotency_test_app', 'use');
SELECT t.held();
SELECT bank.revoke_idempotency('idempotency_test_app', 'operate');
SELECT t.held();
-- Granted again it replaces: scopes by a setting, then by other scopes.
SELECT bank.grant_idempotency('idempotency_test_app', 'use', scopes => '{1,2}');
SELECT bank.grant_idempotency('idempotency_test_app', 'use', scope_setting => 'app.tenant');
TABLE bank.idempotency_grant;
SELECT bank.grant_idempotency('idempotency_test_app', 'use', scopes => '{3}');
SELECT bank.grant_idempotency('idempotency_test_app', 'read', scopes => '{*}');
TABLE bank.idempotency_grant ORDER BY access;
SELECT bank.revoke_idempotency('idempotency_test_app');
SELECT t.held_in_short();
-- Revoking what was never granted, twice, is no error.
SELECT bank.revoke_idempotency('idempotency_test_app'), bank.revoke_idempotency('idempotency_test_stranger', 'operate');
-- A grant that rolls back takes its privileges along.
BEGIN;
SELECT bank.grant_idempotency('idempotency_test_app', 'use', scopes => '{1}');
SELECT t.held_in_short();
ROLLBACK;
SELECT t.held_in_short();
-- A name that needs quotes.
SELECT bank.grant_idempotency('"idempotency_test App; --"', 'use', scopes => '{1}');
SELECT count(*) FROM t.held('"idempotency_test App; --"');
SELECT bank.revoke_idempotency('"idempotency_test App; --"');
SELECT count(*) FROM t.held('"idempotency_test App; --"');

-- Bad input: a clear error, and nothing granted.
SELECT n, a.code, a.reason, a.message
  FROM (VALUES
    (1, $$SELECT bank.grant_idempotency('idempotency_test_app', 'admin', scopes => '{1}')$$),
    (2, $$SELECT bank.grant_idempotency('idempotency_test_app', 'USE', scopes => '{1}')$$),
    (3, $$SELECT bank.grant_idempotency('idempotency_test_app', '', scopes => '{1}')$$),
    (4, $$SELECT bank.grant_idempotency('idempotency_test_app', NULL, scopes => '{1}')$$),
    (5, $$SELECT bank.grant_idempotency('idempotency_test_app', 'use')$$),
    (6, $$SELECT bank.grant_idempotency('idempotency_test_app', 'use', '{1}', 'app.tenant')$$),
    (7, $$SELECT bank.grant_idempotency('idempotency_test_app', 'use', scopes => '{}')$$),
    (8, $$SELECT bank.grant_idempotency('idempotency_test_app', 'use', scopes => '{1,""}')$$),
    (9, $$SELECT bank.grant_idempotency('idempotency_test_app', 'use', scopes => '{1,NULL}')$$),
    (10, $$SELECT bank.grant_idempotency('idempotency_test_app', 'use', scopes => '{*,1}')$$),
    (11, $$SELECT bank.grant_idempotency('idempotency_test_app', 'use', scopes => '{{a,b},{c,d}}')$$),
    (12, $$SELECT bank.grant_idempotency('idempotency_test_app', 'use', scopes => ARRAY[repeat('s', 256)])$$),
    (13, $$SELECT bank.grant_idempotency('idempotency_test_app', 'use', scope_setting => '')$$),
    (14, $$SELECT bank.grant_idempotency('idempotency_test_app', 'use', scope_setting => 'search_path')$$),
    (15, $$SELECT bank.grant_idempotency('idempotency_test_app', 'use', scope_setting => 'app.tenant id')$$),
    (16, $$SELECT bank.grant_idempotency('idempotency_test_app', 'use', scope_setting => 'app.')$$),
    (17, $$SELECT bank.grant_idempotency('idempotency_test_app', 'use', scope_setting => 'Idempotency.wait_timeout')$$),
    (18, $$SELECT bank.grant_idempotency(NULL, 'use', scopes => '{1}')$$),
    (19, $$SELECT bank.grant_idempotency(0, 'use', scopes => '{1}')$$),
    (20, $$SELECT bank.grant_idempotency(4294967295, 'use', scopes => '{1}')$$),
    (21, $$SELECT bank.grant_idempotency('idempotency_test_nobody', 'use', scopes => '{1}')$$),
    (22, $$SELECT bank.grant_idempotency('public', 'use', scopes => '{1}')$$),
    (23, $$SELECT bank.revoke_idempotency(NULL)$$),
    (24, $$SELECT bank.revoke_idempotency('idempotency_test_app', 'admin')$$))
       AS v (n, statement), t.attempt(statement) AS a
 ORDER BY n;
TABLE bank.idempotency_grant;
SELECT t.held();
SELECT code, detail, hint <> '' AS hinted FROM t.attempt($$SELECT bank.grant_idempotency('idempotency_test_app', 'use')$$);
-- The table itself refuses what the function would refuse.
SELECT code, reason FROM t.attempt($$INSERT INTO bank.idempotency_grant VALUES ('idempotency_test_app', 'admin', '{1}')$$);
SELECT code, reason FROM t.attempt($$INSERT INTO bank.idempotency_grant VALUES ('idempotency_test_app', 'use')$$);
SELECT code, reason FROM t.attempt($$INSERT INTO bank.idempotency_grant VALUES ('idempotency_test_app', 'use', '{1}', 'app.x')$$);

-- The owner may call and grant whatever is granted to him or taken from him.
SELECT bank.grant_idempotency('idempotency_test_owner', 'read', scopes => '{7}');
SELECT bank.debit_once(1, 'owner', 1);
SELECT bank.revoke_idempotency('idempotency_test_owner');
SELECT bank.debit_once(1, 'owner', 1);
SELECT count(*) AS calls, count(*) FILTER (WHERE h !~ 'grantable') AS not_grantable
  FROM t.held('idempotency_test_owner') AS h;
RESET ROLE;

-- Nobody else grants, not even a superuser or a member of the owner, before he acts as the owner.
SELECT code, reason, message, hint FROM t.attempt($$SELECT bank.grant_idempotency('idempotency_test_app', 'use', scopes => '{1}')$$);
SELECT code FROM t.attempt($$SELECT bank.revoke_idempotency('idempotency_test_app')$$);
SELECT code FROM t.attempt($$SELECT bank.define_operation('a:v1')$$);
CREATE ROLE idempotency_test_deputy IN ROLE idempotency_test_owner;
SET ROLE idempotency_test_deputy;
SELECT code FROM t.attempt($$SELECT bank.grant_idempotency('idempotency_test_deputy', 'use', scopes => '{1}')$$);
-- But he may call, as the owner may.
SELECT bank.debit_once(1, 'owner', 1);
SET ROLE idempotency_test_owner;
SELECT bank.grant_idempotency('idempotency_test_app', 'use', scopes => '{1}');
SET ROLE idempotency_test_app;
SELECT bank.debit_once(1, 'owner', 1);
-- A granted role cannot pass it on.
GRANT EXECUTE ON FUNCTION bank.debit_once TO idempotency_test_stranger;
SET ROLE idempotency_test_stranger;
SELECT code FROM t.attempt($$SELECT bank.debit_once(1, 'owner', 1)$$);
RESET ROLE;
-- EXECUTE alone, given by hand, is no grant.
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA bank TO idempotency_test_stranger;
SET ROLE idempotency_test_stranger;
SELECT code, reason FROM t.attempt($$SELECT bank.debit_once(1, 'owner', 1)$$);
SELECT code, reason FROM t.attempt($$SELECT * FROM bank.find_request('a', 'a:v1', 'k')$$);
SELECT code, reason FROM t.attempt($$SELECT bank.grant_idempotency('idempotency_test_stranger', 'use', scopes => '{1}')$$);
SELECT code, reason FROM t.attempt($$SELECT bank.idempotency_follow_grants('idempotency_test_app')$$);
SELECT code, reason FROM t.attempt($$SELECT bank.drop_operation('a:v1')$$);
RESET ROLE;
REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA bank FROM idempotency_test_stranger;

-- Renamed, a role keeps its grant; it is the role that counts.
ALTER ROLE idempotency_test_app RENAME TO idempotency_test_renamed;
SELECT role, access, scopes FROM bank.idempotency_grant;
SET ROLE idempotency_test_renamed;
SELECT bank.debit_once(1, 'renamed', 1);
RESET ROLE;
-- Another role of the old name has nothing.
CREATE ROLE idempotency_test_app;
SET ROLE idempotency_test_app;
SELECT code FROM t.attempt($$SELECT bank.debit_once(1, 'renamed', 1)$$);
RESET ROLE;

-- A role cannot be dropped while its grant gives it privileges. DROP OWNED by a superuser is not
-- enough here: the server takes only what the functions' owner granted. So revoke first.
DROP ROLE idempotency_test_renamed;
\echo :LAST_ERROR_SQLSTATE
DROP OWNED BY idempotency_test_renamed;
SELECT count(*) FROM t.held('idempotency_test_renamed');
SET ROLE idempotency_test_owner;
SELECT bank.revoke_idempotency('idempotency_test_renamed');
RESET ROLE;
SELECT count(*) FROM t.held('idempotency_test_renamed');
DROP ROLE idempotency_test_renamed;
TABLE bank.idempotency_grant;

-- A row whose role is gone gives nothing to anybody, fails no call, and can be taken away.
CREATE ROLE idempotency_test_gone;
SELECT 'idempotency_test_gone'::regrole::oid AS gone \gset
SET ROLE idempotency_test_owner;
INSERT INTO bank.idempotency_grant VALUES ('idempotency_test_gone', 'use', '{*}');
SELECT bank.grant_idempotency('idempotency_test_app', 'use', scopes => '{1}');
RESET ROLE;
DROP ROLE idempotency_test_gone;
SELECT role = :gone::regrole AS is_gone, access, scopes FROM bank.idempotency_grant ORDER BY 1;
SET ROLE idempotency_test_app;
SELECT bank.debit_once(1, 'gone', 1);
SELECT code, reason FROM t.attempt($$SELECT bank.debit_once(2, 'gone', 1)$$);
SET ROLE idempotency_test_owner;
SELECT code, message FROM t.attempt($$SELECT bank.grant_idempotency($$ || :gone || $$, 'use', scopes => '{1}')$$);
SELECT bank.revoke_idempotency(:gone::regrole);
SELECT role, access, scopes FROM bank.idempotency_grant;
SET ROLE idempotency_test_owner;
SELECT bank.revoke_idempotency('idempotency_test_app');
DROP EXTENSION idempotency;
RESET ROLE;
DROP SCHEMA bank;
DROP OWNED BY idempotency_test_owner, idempotency_test_app, idempotency_test_stranger;
DROP ROLE idempotency_test_deputy, idempotency_test_owner, idempotency_test_app,
    "idempotency_test App; --", idempotency_test_stranger;
