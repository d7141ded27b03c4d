#!/usr/bin/env bash
# What a client can pass when it connects, before the library is loaded: it reaches no grant, no
# table and no other way to the tables. The known limit is pinned: idempotency.unknown_operations
# guards against mistakes and not against clients, unless the library is preloaded.
set -euo pipefail
BIN=${PG_BINDIR:-${CLUSTER_BIN:?}}
PSQL=${PSQL:-$BIN/psql}
run() { "$PSQL" -X -q -A -t -v ON_ERROR_STOP=1 -d start_up "$@" 2>&1; }
as_app() { PGUSER=idempotency_test_app PGOPTIONS=$1 run -c "$2" || true; }
check() { # WHAT WANTED GOT: got must match
    if ! [[ "$3" =~ $2 ]]; then
        printf 'FAILED: %s\n  wanted: %s\n  got:    %s\n' "$1" "$2" "$3"
        exit 1
    fi
    printf -- '- %s\n' "$1"
}
"$PSQL" -X -q -d postgres -c 'CREATE DATABASE start_up TEMPLATE template0'
run <<'SQL' >/dev/null
CREATE ROLE idempotency_test_app LOGIN;
CREATE SCHEMA bank;
CREATE EXTENSION idempotency SCHEMA bank;
GRANT USAGE ON SCHEMA bank TO idempotency_test_app;
INSERT INTO bank.account VALUES (1, 1000), (2, 1000);
SELECT bank.debit_once(2, 'theirs', 100);
SELECT bank.grant_idempotency('idempotency_test_app', 'use', scopes => '{1,s}');
CREATE SCHEMA trap AUTHORIZATION idempotency_test_app;
SQL

# shellcheck disable=SC2016
debit='SELECT bank.debit_once(2, $$theirs$$, 100)'
check 'no option gives another scope' 'permission denied for the scope' "$(as_app '' "$debit")"
for option in idempotency.access=all idempotency.grant='{*}' idempotency.scopes='{*}' idempotency.superuser=on \
    is_superuser=on row_security=off search_path=trap role=postgres session_authorization=postgres \
    session_replication_role=replica local_preload_libraries=nothing session_preload_libraries=nothing \
    idempotency.table_access=spi idempotency.unknown_operations=allow ignore_system_indexes=on \
    allow_system_table_mods=on zero_damaged_pages=on default_transaction_isolation=serializable \
    default_transaction_read_only=on; do
    got=$(as_app "-c $option" "$debit")
    check "no option gives another scope: $option" 'permission denied|must be (owner|superuser)|cannot (set|be set|be changed)|could not access file' "$got"
    check "  nor shows a balance: $option" '^[^{]*$' "$got"
done

# A name of the extension's own that does not exist: the server warns and forgets it.
check 'an unknown name with the prefix is removed' 'invalid configuration parameter name "idempotency.access"' \
    "$(as_app '-c idempotency.access=all' "SELECT bank.debit_once(1, 'k', 1)")"
check 'and the call is made' '"balance": 999' "$(as_app '-c idempotency.access=all' "SELECT bank.debit_once(1, 'k', 1)")"

# Values that cannot be.
for option in idempotency.wait_timeout=never idempotency.wait_timeout=-2 idempotency.wait_timeout=99999999999; do
    got=$(as_app "-c $option" "SELECT bank.debit_once(1, 'k', 1)")
    check "a value that cannot be is refused with a warning, and the call is made: $option" '"balance": 999' "$got"
    check '  the default holds' '(^|[^-0-9])-1$' "$(PGUSER=idempotency_test_app PGOPTIONS="-c $option" run \
        -c "SELECT bank.debit_once(1, 'k', 1)" -c 'SHOW idempotency.wait_timeout')"
done
check 'a value that can be is taken' '250ms$' "$(PGUSER=idempotency_test_app PGOPTIONS='-c idempotency.wait_timeout=250ms' run \
    -c "SELECT bank.debit_once(1, 'k', 1)" -c 'SHOW idempotency.wait_timeout')"

# A superuser's setting of the database: a client cannot force the other way to the tables...
unknown="SELECT state FROM bank.run_sql_once('s', 'never:v1', 'k', '{}', 'SELECT 1')"
run -c "ALTER DATABASE start_up SET idempotency.unknown_operations = 'refuse'"
check 'a database refuses unknown operations' 'operation is not defined' "$(as_app '' "$unknown")"
check 'an application that only makes a mistake is refused' 'operation is not defined' \
    "$(as_app '-c idempotency.wait_timeout=0' "$unknown")"
check 'a role cannot set it for itself' 'permission denied' \
    "$(as_app '' "ALTER ROLE idempotency_test_app SET idempotency.unknown_operations = 'allow'; $unknown")"
# Before the library is loaded anybody may set the placeholder, and it falls back to the default.
# Known and documented: this is why what protects is in a table.
got=$(as_app '-c idempotency.unknown_operations=allow' "$unknown")
check 'KNOWN LIMIT: a start-up option displaces unknown_operations' 'completed' "$got"
check '  with a warning' 'permission denied to set parameter "idempotency.unknown_operations"' "$got"
run -c 'DELETE FROM bank.idempotency_record'

# In shared_preload_libraries it cannot.
"$PSQL" -X -q -d postgres -c "ALTER SYSTEM SET shared_preload_libraries = 'idempotency'"
if [ -n "${HARNESS_CLUSTER:-}" ]; then
    # shellcheck source=/dev/null
    . "$(dirname "${BASH_SOURCE[0]}")/../harness/common.sh"
    # shellcheck source=/dev/null
    . "$(dirname "${BASH_SOURCE[0]}")/../harness/cluster.sh"
    cluster_ctl restart -m fast -w
else
    echo "SKIPPED: no cluster of the harness to restart"
    "$PSQL" -X -q -d postgres -c "ALTER SYSTEM RESET shared_preload_libraries"
    exit 0
fi
export PGDATABASE=start_up
check 'preloaded, a start-up option is refused' 'permission denied to set parameter' \
    "$(as_app '-c idempotency.unknown_operations=allow' "$unknown")"
check 'and the database refuses unknown operations' 'operation is not defined' "$(as_app '' "$unknown")"
check 'the setting shows before the first call' 'refuse' "$(as_app '' 'SHOW idempotency.unknown_operations')"
check 'a debit works' '"balance": 999' "$(as_app '' "SELECT bank.debit_once(1, 'k', 1)")"
echo ok
