#!/usr/bin/env bash
# A database owner who is no superuser installs, grants, uses, dumps and restores: plain text, the
# custom format in one session, and in parallel by the two-step recipe. What was granted, defined
# and stored comes back, each retry is a replay, and a restore runs no effect.
set -euo pipefail
BIN=${PG_BINDIR:-${CLUSTER_BIN:?}}
PSQL=${PSQL:-$BIN/psql}
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
run() { "$PSQL" -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }
as_owner() { PGUSER=idempotency_test_bank "$@"; }
as_app() { PGUSER=idempotency_test_app run "$@"; }
step() { printf '%s\n' "- $*"; }
check() { # WHAT WANTED GOT
    if [ "$2" != "$3" ]; then
        printf 'FAILED: %s\n  wanted: %s\n  got:    %s\n' "$1" "$2" "$3"
        exit 1
    fi
    step "$1"
}

run -d postgres <<'SQL'
CREATE ROLE idempotency_test_bank LOGIN CREATEDB;
CREATE ROLE idempotency_test_app LOGIN;
CREATE ROLE idempotency_test_clerk LOGIN;
CREATE ROLE idempotency_test_gone;
SQL
as_owner run -d postgres -c 'CREATE DATABASE bank TEMPLATE template0'
as_owner run -d bank <<'SQL' >/dev/null
CREATE SCHEMA bank;
CREATE EXTENSION idempotency SCHEMA bank;
GRANT USAGE ON SCHEMA bank TO idempotency_test_app, idempotency_test_clerk;
INSERT INTO bank.account SELECT n, 1000 FROM generate_series(1, 50) AS n;
SELECT bank.grant_idempotency('idempotency_test_app', 'use', scopes => '{*}'),
       bank.grant_idempotency('idempotency_test_clerk', 'use', scope_setting => 'app.tenant_id'),
       bank.grant_idempotency('idempotency_test_clerk', 'read', scopes => '{a,"b c"}');
SELECT bank.define_operation('pay:v1', save_refusals => true, ignored_paths => '{/at}'),
       bank.define_operation('debit:v1', retention => '90 days');
SELECT bank.alter_operation('pay:v1', max_request_bytes => 4096);
GRANT SELECT ON bank.account TO idempotency_test_clerk;
CREATE TABLE bank.effect (n bigint GENERATED ALWAYS AS IDENTITY);
GRANT INSERT, SELECT ON bank.effect TO idempotency_test_app;
INSERT INTO bank.idempotency_grant VALUES ('idempotency_test_gone', 'use', '{*}');
SQL
run -d postgres -c 'DROP ROLE idempotency_test_gone'
# Every call once; said again, it says the same and does nothing.
cat >"$WORK/calls.sql" <<'SQL'
SELECT string_agg(bank.debit_once(n, 'key ' || n, n)::text, ',' ORDER BY n) FROM generate_series(1, 50) AS n;
SELECT count(bank.consume_once('s', lpad(n::text, 32, '0')::uuid, n, 5, '{"a": 1}')) FROM generate_series(1, 50) AS n;
SELECT string_agg(concat_ws(' ', r.state, r.response, r.sqlstate), ',' ORDER BY n)
  FROM generate_series(1, 20) AS n, bank.run_sql_once('t' || n, 'pay:v1', 'k', jsonb_build_object('n', n, 'at', clock_timestamp()),
       'INSERT INTO bank.effect DEFAULT VALUES RETURNING n') AS r;
SELECT state, sqlstate, message FROM bank.run_sql_once('t', 'pay:v1', 'refused', '{}', 'SELECT 1 / ($1->>''zero'')::int FROM bank.effect WHERE false');
SELECT state FROM bank.abandon_request('t', 'pay:v1', 'abandoned');
SELECT state FROM bank.abandon_request('1', 'debit:v1', 'abandoned');
SQL
as_app -d bank -f "$WORK/calls.sql" >"$WORK/first"
as_app -d bank -f "$WORK/calls.sql" >"$WORK/replies"
sed -i '2s/.*/0/' "$WORK/first"
check 'each call was answered as its retry' "$(cat "$WORK/first")" "$(cat "$WORK/replies")"

# What there is, in one text; the row of a role that is gone is not dumped.
cat >"$WORK/state.sql" <<'SQL'
SET timezone = 'UTC';
SELECT 'account', md5(string_agg(a::text, ';' ORDER BY account_id)) FROM bank.account AS a;
SELECT 'request_result', count(*), md5(string_agg(r::text, ';' ORDER BY r::text)) FROM bank.request_result AS r;
SELECT 'processed_message', count(*), md5(string_agg(r::text, ';' ORDER BY r::text)) FROM bank.processed_message AS r;
SELECT 'idempotency_record', count(*), md5(string_agg(r::text, ';' ORDER BY r::text)) FROM bank.idempotency_record AS r;
SELECT 'effect', count(*) FROM bank.effect;
SELECT 'contract', c::text FROM bank.operation_contract AS c ORDER BY 2;
SELECT 'grant', g.role, g.access, g.scopes, g.scope_setting FROM bank.idempotency_grant AS g
  JOIN pg_roles AS r ON r.oid = g.role ORDER BY g.role::text, g.access;
SELECT 'privilege', p.proname, p.pronargs, a.grantor::regrole, a.grantee::regrole, a.is_grantable
  FROM pg_proc AS p, aclexplode(p.proacl) AS a
 WHERE p.pronamespace = 'bank'::regnamespace ORDER BY p.proname, p.pronargs, a.grantee::regrole::text;
SELECT 'privilege', c.relname, a.grantor::regrole, a.grantee::regrole, a.privilege_type, a.is_grantable
  FROM pg_class AS c, aclexplode(c.relacl) AS a
 WHERE c.relnamespace = 'bank'::regnamespace ORDER BY c.relname, a.grantee::regrole::text, a.privilege_type;
SELECT 'owner', c.relname, pg_get_userbyid(c.relowner) FROM pg_class AS c
 WHERE c.relnamespace = 'bank'::regnamespace AND c.relkind IN ('r', 'v') ORDER BY 2;
SQL
as_owner run -d bank -f "$WORK/state.sql" >"$WORK/state"

# The restored database: the same state, then the same replies, then still the same state.
examine() { # NAME
    as_owner run -d "$1" -f "$WORK/state.sql" >"$WORK/state.$1"
    diff "$WORK/state" "$WORK/state.$1" || { echo "FAILED: $1 differs"; exit 1; }
    step "$1: rows, contracts, grants, privileges and owners are the same"
    as_app -d "$1" -f "$WORK/calls.sql" >"$WORK/replies.$1"
    diff "$WORK/replies" "$WORK/replies.$1" || { echo "FAILED: $1 answers differently"; exit 1; }
    as_owner run -d "$1" -f "$WORK/state.sql" >"$WORK/state.$1"
    diff "$WORK/state" "$WORK/state.$1" || { echo "FAILED: $1 has changed by retries"; exit 1; }
    step "$1: every retry is a replay"
    check "$1: a clerk may use the scope of his setting" '0' \
        "$(PGOPTIONS='-c app.tenant_id=t1' PGUSER=idempotency_test_clerk run -d "$1" -c "SELECT count(*) FROM bank.find_request('t1', 'pay:v1', 'none')")"
    if PGUSER=idempotency_test_clerk run -d "$1" -c "SELECT count(*) FROM bank.find_request('t1', 'pay:v1', 'k')" 2>"$WORK/error"; then
        echo "FAILED: $1: a clerk without his setting was let in"
        exit 1
    fi
    check "$1: and no scope without it" 1 "$(grep -c 'permission denied for the scope' "$WORK/error")"
    check "$1: the owner takes a grant back" 'f' "$(as_owner run -d "$1" <<'SQL' | tail -n 1
SELECT bank.revoke_idempotency('idempotency_test_app');
SELECT has_function_privilege('idempotency_test_app', 'bank.debit_once(bigint,text,bigint)', 'EXECUTE');
SQL
)"
}

as_owner "$BIN/pg_dump" -d bank -f "$WORK/plain.sql"
as_owner "$BIN/createdb" -T template0 plain
as_owner run -d plain -f "$WORK/plain.sql" >/dev/null
examine plain

as_owner "$BIN/pg_dump" -Fc -d bank -f "$WORK/custom.dump"
as_owner "$BIN/createdb" -T template0 custom
as_owner "$BIN/pg_restore" --exit-on-error -d custom "$WORK/custom.dump"
examine custom

# A dump does not know the foreign keys between an extension's tables, so that parallel sessions may
# load a record before its account. The two-step recipe: first all that is no record, then the rest.
as_owner "$BIN/createdb" -T template0 parallel
"$BIN/pg_restore" -l "$WORK/custom.dump" >"$WORK/list"
grep -vE ' TABLE DATA bank (request_result|processed_message) ' "$WORK/list" >"$WORK/first.list"
grep -E ' TABLE DATA bank (request_result|processed_message) ' "$WORK/list" >"$WORK/second.list"
check 'the list names both record tables that refer to an account' 2 "$(wc -l <"$WORK/second.list" | tr -d ' ')"
as_owner "$BIN/pg_restore" --exit-on-error -j4 -L "$WORK/first.list" -d parallel "$WORK/custom.dump"
as_owner "$BIN/pg_restore" --exit-on-error -j4 -L "$WORK/second.list" -d parallel "$WORK/custom.dump"
examine parallel

# A superuser who restores for him acts as him: an extension belongs to whoever creates it, and the
# dumped GRANTs are the owner's.
run -d postgres -c 'CREATE DATABASE by_superuser TEMPLATE template0 OWNER idempotency_test_bank'
"$BIN/pg_restore" --exit-on-error --role=idempotency_test_bank -d by_superuser "$WORK/custom.dump"
examine by_superuser

as_owner run -d plain -c 'DROP EXTENSION idempotency'
check 'the owner drops the extension' 0 "$(run -d plain -c "SELECT count(*) FROM pg_extension WHERE extname = 'idempotency'")"
echo ok
