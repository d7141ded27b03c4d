#!/usr/bin/env bash
# The session that holds a key ends without a word: terminated, killed by its client, or crashed with
# the whole server. Whoever waits for the key performs the effect, once; nothing is left of the dead.
set -euo pipefail
BIN=${PG_BINDIR:-${CLUSTER_BIN:?}}
PSQL=${PSQL:-$BIN/psql}
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
run() { "$PSQL" -X -q -A -t -v ON_ERROR_STOP=1 -d wt "$@" 2>&1; }
check() { # WHAT WANTED GOT
    if [ "$2" != "$3" ]; then
        printf 'FAILED: %s\n  wanted: %s\n  got:    %s\n' "$1" "$2" "$3"
        exit 1
    fi
    printf -- '- %s\n' "$1"
}
# Waits until a query answers 1.
until_one() {
    for _ in $(seq 200); do
        [ "$(run -c "$1")" = 1 ] && return
        sleep 0.05
    done
    printf 'FAILED: never came true: %s\n' "$1"
    exit 1
}
"$PSQL" -X -q -d postgres -c 'CREATE DATABASE wt TEMPLATE template0'
run <<'SQL' >/dev/null
CREATE EXTENSION idempotency;
INSERT INTO account VALUES (1, 1000);
CREATE TABLE effect (n bigint GENERATED ALWAYS AS IDENTITY);
SQL
command="SELECT state || ' ' || replayed FROM run_sql_once('s', 'test:v1', 'KEY', '{}', 'INSERT INTO effect DEFAULT VALUES RETURNING n')"
debit="SELECT debit_once(1, 'KEY', 100)"

# winner_and_loser KEY: the winner holds the key and sleeps; the loser waits for it.
winner_and_loser() {
    printf '%s\n' 'BEGIN;' "${debit//KEY/$1};" "${command//KEY/$1};" 'SELECT pg_sleep(600);' |
        PGAPPNAME=winner run >"$WORK/winner" 2>&1 &
    WINNER=$!
    until_one "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'winner' AND wait_event = 'PgSleep'"
    printf '%s\n' "SET idempotency.wait_timeout = '${2:-60s}';" "${debit//KEY/$1};" "${command//KEY/$1};" |
        PGAPPNAME=loser run >"$WORK/loser" 2>&1 &
    LOSER=$!
    until_one "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'loser' AND wait_event = 'transactionid'"
}
stored() { run -F ' ' -c "SELECT balance, (SELECT count(*) FROM request_result), (SELECT count(*) FROM idempotency_record), (SELECT count(*) FROM effect) FROM account"; }

winner_and_loser terminated
run -c "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'winner'" >/dev/null
wait "$WINNER" || true
wait "$LOSER"
check 'terminated: the loser performs' $'{"balance": 900}\ncompleted false' "$(cat "$WORK/loser")"
check 'terminated: once' '900 1 1 1' "$(stored)"

winner_and_loser cancelled
run -c "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE application_name = 'winner'" >/dev/null
wait "$WINNER" || true
wait "$LOSER"
check 'cancelled: the loser performs' $'{"balance": 800}\ncompleted false' "$(cat "$WORK/loser")"
check 'cancelled: once' '800 2 2 2' "$(stored)"

# Whoever waits for ever may be ended himself, and leaves no trace.
winner_and_loser waiting -1
run -c "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'loser'" >/dev/null
wait "$LOSER" || true
got=$(run -c 'SET idempotency.wait_timeout = 0' -c "${debit//KEY/waiting}" || true)
check 'the loser is ended: the winner still holds the key' 'ERROR:  another transaction holds the idempotency key' "$(head -n 1 <<<"$got")"
run -c "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'winner'" >/dev/null
wait "$WINNER" || true
check 'both are ended: nothing is stored' '800 2 2 2' "$(stored)"
check 'and the key is free' '{"balance": 700}' "$(run -c "${debit//KEY/waiting}")"

# The whole server goes down under them.
if [ -n "${HARNESS_CLUSTER:-}" ]; then
    winner_and_loser crashed
    (
        # shellcheck source=/dev/null
        . "$(dirname "${BASH_SOURCE[0]}")/../harness/common.sh"
        # shellcheck source=/dev/null
        . "$(dirname "${BASH_SOURCE[0]}")/../harness/cluster.sh"
        cluster_ctl restart -m immediate -w
    )
    wait "$WINNER" || true
    wait "$LOSER" || true
    check 'crashed: nothing is stored' '700 3 2 2' "$(stored)"
    check 'crashed: the key is free' '{"balance": 600}' "$(run -c "${debit//KEY/crashed}")"
    check 'crashed: the retry is a replay' '{"balance": 600}' "$(run -c "${debit//KEY/crashed}")"
    check 'crashed: what was finished before is still a replay' '{"balance": 900}' "$(run -c "${debit//KEY/terminated}")"
else
    echo 'SKIPPED: no cluster of the harness to restart'
fi
echo ok
