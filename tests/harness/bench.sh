#!/usr/bin/env bash
# make bench: what the extension costs, measured side by side with doing it without. A release build,
# a throwaway server with settings of a real one, and the program of tests/bench.
#
#   tests/harness/bench.sh                     on PostgreSQL 18, about eight minutes after the build
#   tests/harness/bench.sh --pg 17 --long      growth to ten million records, space after a million
#   tests/harness/bench.sh --only replay,hot   some of the measures; --list tells them
#
# More options are the program's own: --seconds, --clients, --rounds, --accounts, --rows. The table and
# the chart of a whole run are kept in target/bench, or in the folder that BENCH_OUT names.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
for library in common setup server cluster build; do
    # shellcheck source=/dev/null
    . "tests/harness/$library.sh"
done

choose_servers "$@"
set -- "${REST[@]}"
OUT=${BENCH_OUT:-$TARGET/bench}
BENCH=$TARGET/bench-build/release/bench

# What a server in production would have: commits are durable, pages are logged whole after a
# checkpoint. Checkpoints come when a measure asks for one, and autovacuum seldom.
SETTINGS=(
    "shared_buffers = '512MB'" "effective_cache_size = '2GB'" "random_page_cost = 1.1"
    "max_wal_size = '16GB'" "min_wal_size = '1GB'" "checkpoint_timeout = '1h'"
    "autovacuum_naptime = '10min'" "max_connections = 200"
)

bench_version() {
    local out=$OUT commit
    select_server "$1"
    if [ ${#VERSIONS[@]} -gt 1 ]; then out=$OUT/$MAJOR; fi
    say "PostgreSQL $MAJOR: building and installing a release (some minutes the first time)"
    install_extension "$PG_CONFIG" --release
    commit=$(git describe --always --dirty 2>/dev/null || true)
    export KEEP_SERVER_LOG=bench-$MAJOR
    DURABLE=1 cluster_start "$PG_CONFIG" "${SETTINGS[@]}"
    "$BENCH" --host "$PGHOST" --port "$PGPORT" --pgbench "$CLIENT_BIN/pgbench" --out "$out" \
        --commit "$commit" "${@:2}" || STATUS=1
    cluster_stop
}

lock_tree
servers_setup
logged bench-build in_root cargo build --release --quiet --locked \
    --manifest-path tests/bench/Cargo.toml --target-dir "$TARGET/bench-build"
case " $* " in *" --list "* | *" --help "*) exec "$BENCH" "$@" --host . --out . ;; esac
STATUS=0
for version in "${VERSIONS[@]}"; do bench_version "$version" "$@"; done
exit "$STATUS"
