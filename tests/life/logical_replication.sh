#!/usr/bin/env bash
# A subscriber sees every change that calls make on the direct way to the tables, also where keys
# collide and transactions are rolled back; and a table that publishes changes without a replica
# identity is refused as it is for plain SQL.
set -euo pipefail
BIN=${PG_BINDIR:-${CLUSTER_BIN:?}}
PSQL=${PSQL:-$BIN/psql}
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
run() { "$PSQL" -X -q -A -t -v ON_ERROR_STOP=1 -d "$1" "${@:2}" 2>&1; }
check() { # WHAT WANTED GOT
    if [ "$2" != "$3" ]; then
        printf 'FAILED: %s\n  wanted: %s\n  got:    %s\n' "$1" "$2" "$3"
        exit 1
    fi
    printf -- '- %s\n' "$1"
}
if [ -z "${HARNESS_CLUSTER:-}" ]; then
    echo 'SKIPPED: no cluster of the harness to restart with another wal_level'
    exit 0
fi
for part in pgoutput libpqwalreceiver; do
    if [ ! -e "$("$BIN/pg_config" --pkglibdir)/$part.so" ]; then
        echo "SKIPPED: this server has no $part"
        exit 0
    fi
done
"$PSQL" -X -q -d postgres -c "ALTER SYSTEM SET wal_level = 'logical'"
(
    # shellcheck source=/dev/null
    . "$(dirname "${BASH_SOURCE[0]}")/../harness/common.sh"
    # shellcheck source=/dev/null
    . "$(dirname "${BASH_SOURCE[0]}")/../harness/cluster.sh"
    cluster_ctl restart -m fast -w
)
for name in publisher subscriber; do
    "$PSQL" -X -q -d postgres -c "CREATE DATABASE $name TEMPLATE template0"
    run "$name" -c 'CREATE EXTENSION idempotency'
done
# Within one server the slot cannot be made by the subscription.
run publisher >/dev/null <<'SQL'
INSERT INTO account SELECT n, 1000000 FROM generate_series(1, 10) AS n;
SELECT debit_once(1, 'before', 10);
CREATE PUBLICATION all_of_it FOR TABLE account, request_result, processed_message, idempotency_record;
SELECT pg_create_logical_replication_slot('to_subscriber', 'pgoutput');
SQL
run subscriber >/dev/null <<SQL
INSERT INTO account SELECT n, 1000000 FROM generate_series(1, 10) AS n;
UPDATE account SET balance = balance - 10 WHERE account_id = 1;
CREATE SUBSCRIPTION of_it CONNECTION 'host=$PGHOST port=$PGPORT user=$PGUSER dbname=publisher' PUBLICATION all_of_it
    WITH (create_slot = false, slot_name = 'to_subscriber', copy_data = false);
SQL
everything="SELECT 'account', account_id::text, balance::text, NULL, NULL FROM account
    UNION ALL SELECT 'debit', account_id || request_key, request::text, response::text, created_at::text FROM request_result WHERE request_key <> 'before'
    UNION ALL SELECT 'message', subscriber || message_id, account_id || ' ' || amount, message::text, processed_at::text FROM processed_message
    UNION ALL SELECT 'record', scope || request_key, request::text, response || state, concat(created_at, completed_at) FROM idempotency_record ORDER BY 1, 2"
caught_up() {
    local until
    until=$(run publisher -c 'SELECT pg_current_wal_lsn()')
    for _ in $(seq 300); do
        [ "$(run publisher -c "SELECT confirmed_flush_lsn >= '$until' FROM pg_replication_slots WHERE slot_name = 'to_subscriber'")" = t ] && return
        sleep 0.1
    done
    echo 'FAILED: the subscriber does not catch up'
    exit 1
}
equal() { # WHAT
    caught_up
    run publisher -c "$everything" >"$WORK/publisher"
    run subscriber -c "$everything" >"$WORK/subscriber"
    if ! cmp -s "$WORK/publisher" "$WORK/subscriber"; then
        printf 'FAILED: %s\n' "$1"
        diff "$WORK/publisher" "$WORK/subscriber" | head -n 20
        exit 1
    fi
    printf -- '- %s (%s rows)\n' "$1" "$(wc -l <"$WORK/publisher")"
}

run publisher >/dev/null <<'SQL'
SELECT debit_once(1, 'k', 100), consume_once('s', md5('k')::uuid, 2, 5, '{"a": 1}');
SELECT state FROM run_sql_once('s', 'test:v1', 'k', '{"n": 1}', 'SELECT 7');
SQL
check 'the calls are made directly' 'direct' "$(run publisher -c 'DO $$ BEGIN PERFORM debit_once(1, '\''k2'\'', 1); END $$' -c 'SELECT idempotency_latest_access()')"
equal 'a debit, a message and a record arrive'
run publisher >/dev/null <<'SQL'
BEGIN;
SELECT debit_once(1, 'back', 100);
ROLLBACK;
BEGIN;
SELECT debit_once(1, 's1', 1);
SAVEPOINT s;
SELECT debit_once(1, 's2', 1), consume_once('s', md5('s2')::uuid, 2, 5);
SELECT state FROM run_sql_once('s', 'test:v1', 's2', '{"n": 1}', 'SELECT 7');
ROLLBACK TO s;
SELECT debit_once(1, 's3', 1), consume_once('s', md5('s3')::uuid, 2, 5, to_jsonb(repeat(md5('s3'), 100000)));
COMMIT;
SELECT debit_once(1, 's1', 1);
SQL
equal 'what is rolled back does not, and a large message does'
# Colliding keys, by several sessions.
cat >"$WORK/calls" <<'SQL'
\set account random(1, 10)
\set n random(1, 60)
SELECT debit_once(:account, 'load ' || :n, 1);
SELECT consume_once('load', md5(:n::text)::uuid, :n % 10 + 1, 2);
SELECT state FROM run_sql_once('load', 'test:v1', 'k' || :n, '1', 'SELECT 7');
SQL
"${CLIENT_BIN:-$BIN}/pgbench" -n -c 8 -j 2 -t 100 -f "$WORK/calls" publisher >"$WORK/pgbench" 2>&1 || { cat "$WORK/pgbench"; exit 1; }
equal 'so does everything under colliding keys'
check 'and nothing twice' 't' "$(run subscriber -c "SELECT (SELECT sum(balance) FROM account) = 10000000 - 10
    - (SELECT sum((request ->> 'amount')::bigint) FROM request_result) + (SELECT sum(amount) FROM processed_message)")"
run publisher -c 'ALTER TABLE account REPLICA IDENTITY FULL' -c "SELECT debit_once(1, 'full', 1)" >/dev/null
equal 'with the whole row as identity'
# No identity, and changes that are published.
for access in auto spi; do
    run publisher -c 'ALTER TABLE account REPLICA IDENTITY NOTHING'
    check "without an identity, $access: refused" 'ERROR:  cannot update table "account" because it does not have a replica identity and publishes updates' \
        "$(run publisher -c "SET idempotency.table_access = '$access'" -c "SELECT debit_once(1, 'nothing $access', 1)" | grep ERROR || true)"
    run publisher -c 'ALTER TABLE account REPLICA IDENTITY DEFAULT'
    run publisher -c "SET idempotency.table_access = '$access'" -c "SELECT debit_once(1, 'nothing $access', 1)" >/dev/null
done
equal 'with one again, the same calls arrive'
run subscriber -c 'ALTER SUBSCRIPTION of_it DISABLE' -c 'ALTER SUBSCRIPTION of_it SET (slot_name = NONE)' -c 'DROP SUBSCRIPTION of_it'
run publisher -c "SELECT pg_drop_replication_slot('to_subscriber') FROM pg_replication_slots WHERE NOT active" >/dev/null || true
echo ok
