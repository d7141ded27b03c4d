#!/usr/bin/env bash
# The server is killed in the middle of a load of calls, by a backend's death and by its own. After
# each restart every record has its effect and its reply, money is conserved, what a client was told
# stands, and the indexes agree with the tables.
set -euo pipefail
BIN=${PG_BINDIR:-${CLUSTER_BIN:?}}
PSQL=${PSQL:-$BIN/psql}
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
run() { "$PSQL" -X -q -A -t -v ON_ERROR_STOP=1 -d crash "$@" 2>&1; }
check() { # WHAT WANTED GOT
    if [ "$2" != "$3" ]; then
        printf 'FAILED: %s\n  wanted: %s\n  got:    %s\n' "$1" "$2" "$3"
        exit 1
    fi
    printf -- '- %s\n' "$1"
}
if [ -z "${HARNESS_CLUSTER:-}" ]; then
    echo 'SKIPPED: no cluster of the harness to kill'
    exit 0
fi
"$PSQL" -X -q -d postgres -c 'CREATE DATABASE crash TEMPLATE template0'
run >/dev/null <<'SQL'
CREATE EXTENSION idempotency;
INSERT INTO account SELECT n, 1000000 FROM generate_series(1, 8) AS n;
CREATE TABLE effect (key text, n bigint GENERATED ALWAYS AS IDENTITY);
CREATE FUNCTION effect(request jsonb) RETURNS jsonb LANGUAGE sql AS
    'INSERT INTO effect (key) VALUES (request #>> ''{}'') RETURNING to_jsonb(n)';
CREATE TABLE invoice (account_id bigint REFERENCES account);
SQL
amcheck=$(run -c "SELECT count(*) FROM pg_available_extensions WHERE name = 'amcheck'")
if [ "$amcheck" = 1 ]; then run -c 'CREATE EXTENSION amcheck'; fi
# Hot accounts, colliding keys, rollbacks, foreign keys of others and plain SQL on the same rows.
cat >"$WORK/calls" <<'SQL'
\set account random(1, 8)
\set n random(1, 3000)
SELECT debit_once(:account, 'load ' || :n, 3);
SELECT consume_once('load', md5(:n::text)::uuid, :n % 8 + 1, 2);
SELECT state FROM run_once('load', 'test:v1', 'k' || :n, to_jsonb('k' || :n::text), 'effect(jsonb)');
BEGIN;
SELECT debit_once(:account, 'back ' || :n, 3);
ROLLBACK;
INSERT INTO invoice VALUES (:account);
UPDATE account SET balance = balance WHERE account_id = :account;
SQL
# What each of these has printed, it was told after its commit.
told() {
    local n=0
    while :; do
        n=$((n + 1))
        printf "SELECT 'told %s %s ' || (debit_once(%s, 'told %s %s', 1) ->> 'balance');\n" "$1" $n $((n % 8 + 1)) "$1" $n
        [ $n -lt 200000 ] || break
    done | "$PSQL" -X -q -A -t -v ON_ERROR_STOP=1 -d crash >"$WORK/told.$1" 2>/dev/null || true
}
load() { # ROUND
    "${CLIENT_BIN:-$BIN}/pgbench" -n -c 6 -j 2 -T 60 -f "$WORK/calls" crash >"$WORK/pgbench" 2>&1 &
    LOAD=$!
    told "$1" &
    TELLER=$!
    for _ in $(seq 200); do
        [ "$(wc -l <"$WORK/told.$1" 2>/dev/null || echo 0)" -gt 150 ] && return
        sleep 0.1
    done
    echo 'FAILED: the load does not run'
    cat "$WORK/pgbench"
    exit 1
}
ends() {
    wait "$LOAD" || true
    wait "$TELLER" || true
    # Neither the load nor the plain SQL in it has failed before the crash.
    if grep -E 'ERROR' "$WORK/pgbench" | grep -vE 'terminating connection|the database system is'; then
        echo 'FAILED: an error under load'
        exit 1
    fi
    for _ in $(seq 300); do
        [ "$(run -c 'SELECT 1' || true)" = 1 ] && return
        sleep 0.1
    done
    echo 'FAILED: the server does not come back'
    exit 1
}
holds() { # WHEN
    check "$1: money is conserved" 0 "$(run -c "SELECT 8000000 - (SELECT sum((request ->> 'amount')::bigint) FROM request_result)
        + (SELECT sum(amount) FROM processed_message) - (SELECT sum(balance) FROM account)")"
    check "$1: each record has its effect, once, and each effect its record" '0|0|0' "$(run -c "SELECT
        (SELECT count(*) FROM idempotency_record AS r WHERE state <> 'completed' OR 1 <> (SELECT count(*) FROM effect AS e WHERE e.key = r.request_key AND to_jsonb(e.n) = r.response)),
        (SELECT count(*) FROM effect WHERE key NOT IN (SELECT request_key FROM idempotency_record)),
        (SELECT count(*) - count(DISTINCT key) FROM effect)")"
    check "$1: each debit has its reply" 0 "$(run -c "SELECT count(*) FROM request_result WHERE response ->> 'balance' IS NULL")"
    check "$1: nothing is left of what was rolled back" 0 "$(run -c "SELECT count(*) FROM request_result WHERE request_key LIKE 'back %'")"
    run -c "SELECT request_key || ' ' || (response ->> 'balance') FROM request_result WHERE request_key LIKE 'told %'" | sort >"$WORK/kept"
    cat "$WORK"/told.* | grep -E '^told [0-9]+ [0-9]+ [0-9]+$' | sort >"$WORK/said"
    check "$1: what clients were told ($(wc -l <"$WORK/said")) stands" '' "$(comm -23 "$WORK/said" "$WORK/kept" | head -n 5)"
    check "$1: each retry is answered with the first reply" 0 "$(run -c "SELECT count(*) FROM request_result AS r,
        debit_request(account_id, request_key, (request ->> 'amount')::bigint) AS o WHERE NOT o.replayed OR o.response <> r.response")"
    check "$1: the index finds what the table holds" 't' "$(run -c 'SET enable_indexscan = off' -c 'SET enable_bitmapscan = off' -c 'SET enable_indexonlyscan = off' \
        -c "SELECT bool_and(EXISTS (SELECT FROM find_request(account_id::text, operation, request_key))) FROM request_result")"
    if [ "$amcheck" = 1 ]; then
        check "$1: amcheck finds nothing" '' "$(run -c "SELECT bt_index_check(indexrelid::regclass, true) FROM pg_index
            WHERE indrelid = ANY ('{account,request_result,processed_message,idempotency_record}'::regclass[])" \
            -c "SELECT h.* FROM unnest('{account,request_result,processed_message,idempotency_record}'::regclass[]) AS t, verify_heapam(t) AS h" | grep -v '^$' || true)"
    fi
}

load 1
kill -9 "$(run -c "SELECT pid FROM pg_stat_activity WHERE application_name = 'pgbench' LIMIT 1")"
ends
holds 'a backend is killed'

load 2
postmaster=$(head -n 1 "$HARNESS_CLUSTER/data/postmaster.pid")
kill -9 "$postmaster"
(
    # shellcheck source=/dev/null
    . "$(dirname "${BASH_SOURCE[0]}")/../harness/common.sh"
    # shellcheck source=/dev/null
    . "$(dirname "${BASH_SOURCE[0]}")/../harness/cluster.sh"
    # Its children end by themselves, and hold the memory until then.
    for _ in $(seq 100); do
        cluster_ctl start -w -t 60 --log "$CLUSTER/server.log" && exit
        sleep 0.2
    done
    exit 1
) || { echo 'FAILED: the server does not start again'; exit 1; }
ends
holds 'the server is killed'
check 'and it goes on' '{"balance": 1}' "$(run -c 'UPDATE account SET balance = 2 WHERE account_id = 1' -c "SELECT debit_once(1, 'after', 1)")"
echo ok
