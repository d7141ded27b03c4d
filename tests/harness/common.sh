# shellcheck shell=bash
# Words that every part of the harness uses: where things are, how to speak, how to log, how to
# clean up. Sourced, never run. Nothing here touches a server.

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
TARGET=$ROOT/target
LOGS=$TARGET/log
TOOLS=$TARGET/tools
RESULTS=$TARGET/results
ALL_VERSIONS=(18 17 16 15)
DEFAULT_VERSION=18

# A library of the user's own environment must not decide a test: no psql settings, no backtraces
# in DETAIL, no translated messages.
unset RUST_BACKTRACE PGHOSTADDR PGPASSWORD PGPASSFILE PGSERVICE PGSERVICEFILE PGOPTIONS PGAPPNAME \
    PGSSLMODE PGCLIENTENCODING PGDATA PSQLRC
# Scripts of tests/life source this file too, and were given a server.
[ -n "${HARNESS_CLUSTER:-}" ] || unset PGHOST PGPORT PGUSER PGDATABASE
export LC_ALL=C.UTF-8 PGTZ=UTC

say() { printf '%s\n' "$*"; }
die() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}
is_root() { [ "$(id -u)" = 0 ]; }
have() { command -v "$1" >/dev/null 2>&1; }

# What to run at exit, last registered first. Commands are words without quoting needs.
CLEANUPS=()
on_exit() { CLEANUPS+=("$*"); }
run_cleanups() {
    local status=$? i
    trap - EXIT INT TERM HUP
    set +e
    for ((i = ${#CLEANUPS[@]} - 1; i >= 0; i--)); do
        ${CLEANUPS[i]}
    done
    exit "$status"
}
trap run_cleanups EXIT
# A signal becomes an exit, so that the one trap above cleans up.
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

# logged NAME COMMAND...: runs quietly, keeps the output in target/log/NAME.log, shows its end and
# stops if the command fails.
logged() {
    local name=$1 log
    shift
    log=$LOGS/$name.log
    mkdir -p "$LOGS"
    if ! "$@" >"$log" 2>&1 </dev/null; then
        tail -n 40 "$log" >&2
        die "'$name' failed; its whole output is in ${log#"$ROOT"/}"
    fi
}

# Two runs in one tree would install over each other's feet. The lock's descriptor is 9; whatever
# may outlive the run (a server) is started with 9>&-.
lock_tree() {
    mkdir -p "$TARGET"
    exec 9>"$TARGET/.harness.lock"
    if ! flock -n 9; then
        say "another run of the harness holds this tree; waiting for it"
        flock 9
    fi
}

# The unprivileged user that servers run as when we are root, which Postgres refuses.
SERVER_USER=nobody
as_server_user() {
    if is_root; then
        setpriv --reuid "$(id -u "$SERVER_USER")" --regid "$(id -g "$SERVER_USER")" \
            --clear-groups -- "$@"
    else
        "$@"
    fi
}

# Seconds since the epoch with milliseconds, and the seconds between then and now.
now() { date +%s.%N; }
since() { awk -v a="$1" -v b="$(now)" 'BEGIN { printf "%.1f", b - a }'; }
