#!/usr/bin/env bash
# The Makefile's install, package and clean.
#
#   install PG_CONFIG   a release build into that server
#   package PG_CONFIG   the same files in target/release/idempotency-pgNN, laid out as they install
#   clean               what was built and fetched
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
for library in common setup server build; do
    # shellcheck source=/dev/null
    . "tests/harness/$library.sh"
done

WORD=$1
PG_CONFIG=${2:-}

if [ "$WORD" = clean ]; then
    # The folder of the servers may be elsewhere: see servers_dir.
    SERVERS=$(servers_dir)
    rm -rf "$SERVERS" "$TARGET" tests/stress/target tests/bench/target
    exit
fi

[ -n "$PG_CONFIG" ] || die "say which server: make $WORD PG_CONFIG=/path/to/pg_config"
[ -x "$PG_CONFIG" ] || die "PG_CONFIG: $PG_CONFIG is not a program"
MAJOR=$(pg_config_major "$PG_CONFIG")
is_supported "$MAJOR" || die "that is PostgreSQL $MAJOR; supported are ${ALL_VERSIONS[*]}"
[ -e "$("$PG_CONFIG" --includedir-server)/postgres.h" ] ||
    die "that server's headers are missing: on Debian, install postgresql-server-dev-$MAJOR"
lock_tree
setup_tools

case $WORD in
install)
    say "building a release for PostgreSQL $MAJOR (a few minutes the first time)"
    install_extension "$PG_CONFIG" --release
    say "installed. In a database: CREATE EXTENSION idempotency;"
    ;;
package)
    pgrx_home "$MAJOR" "$PG_CONFIG"
    say "building a release for PostgreSQL $MAJOR (a few minutes the first time)"
    logged "package-$MAJOR" in_root cargo pgrx package --pg-config "$PG_CONFIG" \
        --no-default-features --features "pg$MAJOR"
    say "the files are in target/release/idempotency-pg$MAJOR"
    ;;
*) die "no word '$WORD'" ;;
esac
