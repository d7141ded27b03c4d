# shellcheck shell=bash
# Throwaway servers: a data folder under mktemp, a Unix socket only, never a port of the machine's,
# gone when the run ends however it ends.
#
#   cluster_start PG_CONFIG [SETTING=VALUE...]   sets and exports PGHOST, PGPORT, PGUSER
#   cluster_stop                                 stops and removes the one that runs
#   with_database COMMAND...                     runs it with a fresh database as PGDATABASE
#   cluster_ctl restart -m immediate -w          pg_ctl on the one that runs
#   sql [ARGUMENT...]                            psql, bare, stopping at the first error

# Scripts of tests/life source this file too: for them the cluster is the one that they were given.
CLUSTER=${HARNESS_CLUSTER:-}

cluster_start() {
    local pg_config=$1 setting
    shift
    [ -z "$CLUSTER" ] || die "a cluster is already running in this script"
    CLUSTER_BIN=$("$pg_config" --bindir)
    as_server_user test -x "$CLUSTER_BIN/postgres" || die \
        "user '$(as_server_user id -un)' cannot enter $CLUSTER_BIN, and Postgres does not run as root"
    # Short on purpose: a socket's path must stay below 107 bytes.
    CLUSTER=$(mktemp -d /tmp/idem.XXXXXX)
    on_exit cluster_stop
    mkdir "$CLUSTER/data" "$CLUSTER/socket"
    chmod 755 "$CLUSTER"
    if is_root; then chown -R "$SERVER_USER:" "$CLUSTER"; fi

    # The locale of the databases is C, so that every machine sorts the same.
    as_server_user env -i PATH=/usr/bin:/bin LC_ALL=C "$CLUSTER_BIN/initdb" --pgdata "$CLUSTER/data" \
        --username postgres --auth trust --encoding UTF8 --locale C --no-sync \
        >"$CLUSTER/initdb.log" 2>&1 9>&- || {
        cat "$CLUSTER/initdb.log" >&2
        die "initdb failed"
    }
    {
        printf '%s\n' "listen_addresses = ''" "unix_socket_directories = '$CLUSTER/socket'" \
            "max_connections = 100" "max_prepared_transactions = 10" "timezone = 'UTC'" \
            "log_checkpoints = off" "log_line_prefix = '%m [%p] %q%a %d '" "shared_buffers = '64MB'"
        # Nobody keeps this data, so it need not survive a crash of the machine.
        if [ "${DURABLE:-0}" != 1 ]; then
            printf '%s\n' "fsync = off" "full_page_writes = off"
        fi
        for setting in "$@"; do printf '%s\n' "$setting"; done
    } >>"$CLUSTER/data/postgresql.conf"

    export PGHOST=$CLUSTER/socket PGPORT=5432 PGUSER=postgres PGDATABASE=postgres
    # tests/life restarts and crashes the server: it needs to know where it is and who runs it.
    export HARNESS_CLUSTER=$CLUSTER CLUSTER_BIN
    cluster_ctl start -w -t 60 --log "$CLUSTER/server.log" || {
        tail -n 30 "$CLUSTER/server.log" >&2
        die "the throwaway server did not start"
    }
}

# No environment but a plain one: RUST_BACKTRACE would put backtraces into DETAIL.
cluster_ctl() {
    as_server_user env -i PATH=/usr/bin:/bin LC_ALL=C "$CLUSTER_BIN/pg_ctl" --pgdata "$CLUSTER/data" "$@" \
        >>"$CLUSTER/pg_ctl.log" 2>&1 </dev/null 9>&-
}

cluster_stop() {
    [ -n "$CLUSTER" ] || return 0
    if [ -e "$CLUSTER/data/postmaster.pid" ]; then
        cluster_ctl stop -m immediate -w -t 30 ||
            kill -9 "$(head -n 1 "$CLUSTER/data/postmaster.pid")" 2>/dev/null || true
    fi
    # What is worth reading after a failure stays under target/log.
    if [ -n "${KEEP_SERVER_LOG:-}" ] && [ -e "$CLUSTER/server.log" ]; then
        mkdir -p "$LOGS"
        cp "$CLUSTER/server.log" "$LOGS/$KEEP_SERVER_LOG.server.log"
    fi
    rm -rf "$CLUSTER"
    CLUSTER=""
    unset HARNESS_CLUSTER
}

# What no test may leave in the server's log, whatever the test's own answer was: a crash, a failed
# assertion, a resource that an error path forgot.
LOG_ALARM='PANIC:|TRAP:|was terminated by signal|reference leak|resource was not closed|leaked'
LOG_ALARM+='|not owned by resource owner|SPI_finish|transaction left non-empty SPI stack'
cluster_alarms() { grep -nE "$LOG_ALARM" "$CLUSTER/server.log"; }

sql() { "$PSQL" -X -q -A -t -v ON_ERROR_STOP=1 "$@"; }

# A fresh database per test file. Roles, and databases that the test made, belong to the whole
# server, so they go as well.
with_database() {
    local status=0
    sql -d postgres -c "CREATE DATABASE test TEMPLATE template0" || return 1
    PGDATABASE="test" "$@" || status=$?
    clear_server || status=1
    return "$status"
}
clear_server() {
    # The test may have crashed the server: a broken one must not take the others with it.
    for _ in $(seq 100); do
        "$CLIENT_BIN/pg_isready" -q && break
        sleep 0.2
    done
    # A prepared transaction can only be ended from its own database.
    sql -d postgres -c "SELECT DISTINCT database FROM pg_prepared_xacts" | while read -r name; do
        printf '%s\n' "SELECT format('ROLLBACK PREPARED %L', gid) FROM pg_prepared_xacts" \
            " WHERE database = current_database() \\gexec" | sql -d "$name"
    done
    sql -d postgres <<'SQL' >/dev/null
SELECT format('DROP DATABASE %I WITH (FORCE)', datname) FROM pg_database
 WHERE datname NOT IN ('postgres', 'template0', 'template1') \gexec
SELECT format('DROP ROLE %I', rolname) FROM pg_roles
 WHERE oid <> 10 AND rolname NOT LIKE 'pg\_%' \gexec
SQL
}
