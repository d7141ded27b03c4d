#!/usr/bin/env bash
# On a hot standby retries are answered, on the direct way, and first calls are refused with 25006;
# what the primary does to a table is noticed there; promoted, the standby goes on.
set -euo pipefail
BIN=${PG_BINDIR:-${CLUSTER_BIN:?}}
PSQL=${PSQL:-$BIN/psql}
if [ -z "${HARNESS_CLUSTER:-}" ]; then
    echo 'SKIPPED: no cluster of the harness to make a standby of'
    exit 0
fi
if [ ! -x "$BIN/pg_basebackup" ] || [ ! -e "$("$BIN/pg_config" --pkglibdir)/libpqwalreceiver.so" ]; then
    echo 'SKIPPED: this server has no pg_basebackup or no walreceiver'
    exit 0
fi
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/../harness/common.sh"
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/../harness/cluster.sh"
PRIMARY=$PGHOST
STANDBY=$(mktemp -d /tmp/idem.XXXXXX)
standby_ctl() {
    as_server_user env -i PATH=/usr/bin:/bin LC_ALL=C "$BIN/pg_ctl" --pgdata "$STANDBY/data" "$@" >>"$STANDBY/pg_ctl.log" 2>&1 </dev/null
}
# The primary is the harness's own to stop.
standby_stop() {
    if [ -e "$STANDBY/data/postmaster.pid" ]; then standby_ctl stop -m immediate -w || true; fi
    rm -rf "$STANDBY"
}
on_exit standby_stop
run() { "$PSQL" -X -q -A -t -v ON_ERROR_STOP=1 -v VERBOSITY=verbose -d standby "$@" 2>&1; }
on_standby() { PGHOST=$STANDBY/socket run "$@" || true; }
check() { # WHAT WANTED GOT: got must match
    if ! [[ "$3" =~ $2 ]]; then
        printf 'FAILED: %s\n  wanted: %s\n  got:    %s\n' "$1" "$2" "$3"
        exit 1
    fi
    printf -- '- %s\n' "$1"
}
"$PSQL" -X -q -d postgres -c 'CREATE DATABASE standby TEMPLATE template0'
run >/dev/null <<'SQL'
CREATE EXTENSION idempotency;
INSERT INTO account VALUES (1, 1000);
SELECT debit_once(1, 'k', 100), consume_once('s', md5('k')::uuid, 1, 5);
SELECT state FROM run_sql_once('s', 'test:v1', 'k', '1', 'SELECT 7');
SQL
chmod 755 "$STANDBY"
mkdir "$STANDBY/socket"
if is_root; then chown -R "$SERVER_USER:" "$STANDBY"; fi
as_server_user env -i PATH=/usr/bin:/bin LC_ALL=C "$BIN/pg_basebackup" --host "$PRIMARY" --port "$PGPORT" --username "$PGUSER" \
    --pgdata "$STANDBY/data" --write-recovery-conf --wal-method stream --checkpoint fast --no-sync >"$STANDBY/backup.log" 2>&1 ||
    { cat "$STANDBY/backup.log"; exit 1; }
printf '%s\n' "unix_socket_directories = '$STANDBY/socket'" "hot_standby = on" >>"$STANDBY/data/postgresql.conf"
standby_ctl start -w -t 60 --log "$STANDBY/server.log" || { tail -n 30 "$STANDBY/server.log"; exit 1; }
caught_up() {
    local until
    until=$(PGHOST=$PRIMARY run -c 'SELECT pg_current_wal_lsn()')
    for _ in $(seq 300); do
        [ "$(on_standby -c "SELECT pg_last_wal_replay_lsn() >= '$until'")" = t ] && return
        sleep 0.1
    done
    echo 'FAILED: the standby does not catch up'
    exit 1
}
caught_up
check 'it is a standby' '^t$' "$(on_standby -c 'SELECT pg_is_in_recovery()')"
check 'a debit is replayed' '^[{]"balance": 900[}]$' "$(on_standby -c "SELECT debit_once(1, 'k', 100)")"
check 'directly' 'direct$' "$(on_standby -c "SELECT debit_once(1, 'k', 100)" -c 'SELECT idempotency_latest_access()')"
check 'and through SQL' 'spi$' "$(on_standby -c "SET idempotency.table_access = 'spi'" -c "SELECT debit_once(1, 'k', 100)" -c 'SELECT idempotency_latest_access()')"
check 'it says that it is replayed' '^t\|completed$' "$(on_standby -c "SELECT replayed, state FROM debit_request(1, 'k', 100)")"
check 'a redelivery is nothing' '^none$' "$(on_standby -c "SELECT coalesce(consume_once('s', md5('k')::uuid, 1, 5)::text, 'none')")"
check 'a general record is replayed' '^t\|7$' "$(on_standby -c "SELECT replayed, response FROM run_sql_once('s', 'test:v1', 'k', '1', 'SELECT 7')")"
check 'and found' '^completed$' "$(on_standby -c "SELECT state FROM find_request('1', 'debit:v1', 'k')")"
check 'and not found' '^0$' "$(on_standby -c "SELECT count(*) FROM find_request('1', 'debit:v1', 'new')")"
check 'a mismatch is told' 'ERROR:  22023: idempotency key reused with different request' "$(on_standby -c "SELECT debit_once(1, 'k', 101)")"
for access in auto spi; do
    set_access="SET idempotency.table_access = '$access'"
    check "a first debit is refused, $access" 'ERROR:  25006' "$(on_standby -c "$set_access" -c "SELECT debit_once(1, 'new', 100)")"
    check "a first message, $access" 'ERROR:  25006' "$(on_standby -c "$set_access" -c "SELECT consume_once('s', md5('new')::uuid, 1, 5)")"
    check "a first request, $access" 'ERROR:  25006' "$(on_standby -c "$set_access" -c "SELECT state FROM run_sql_once('s', 'test:v1', 'new', '1', 'SELECT 7')")"
    check "a reservation, $access" 'ERROR:  25006' "$(on_standby -c "$set_access" -c "SELECT state FROM reserve_request('s', 'test:v1', 'new', '1')")"
done
# One session of the standby's, over changes of the primary's.
coproc LIVE { PGHOST=$STANDBY/socket "$PSQL" -X -q -A -t -d standby 2>&1; }
ask() {
    printf '%s\n' "$1" '\echo @' >&"${LIVE[1]}"
    local line
    while read -r line <&"${LIVE[0]}" && [ "$line" != @ ]; do printf '%s\n' "$line"; done
}
asked="SELECT debit_once(1, 'k', 100) ->> 'balance'; SELECT idempotency_latest_access();"
check 'a live session is answered directly' $'^900\ndirect$' "$(ask "$asked")"
PGHOST=$PRIMARY run -c 'ALTER TABLE request_result ADD COLUMN extra int DEFAULT 7'
caught_up
check 'a column of the primary is noticed' $'^900\nspi$' "$(ask "$asked")"
PGHOST=$PRIMARY run -c 'ALTER TABLE request_result DROP COLUMN extra' -c 'VACUUM FULL request_result' -c "SELECT debit_once(1, 'later', 1)" >/dev/null
caught_up
check 'so is that it is gone, and a rebuilt table' $'^900\ndirect$' "$(ask "$asked")"
check 'a later debit is replayed' '^904$' "$(ask "SELECT debit_once(1, 'later', 1) ->> 'balance';")"
standby_ctl promote -w
check 'promoted, the live session makes a first call' '^804$' "$(ask "SELECT debit_once(1, 'promoted', 100) ->> 'balance';")"
check 'and its retry is a replay' '^t$' "$(ask "SELECT replayed FROM debit_request(1, 'promoted', 100);")"
check 'what came before is still replayed' $'^900\ndirect$' "$(ask "$asked")"
eval "exec ${LIVE[1]}>&-"
echo ok
