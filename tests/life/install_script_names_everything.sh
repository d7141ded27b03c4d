#!/usr/bin/env bash
# The generated install script qualifies every name and operator, sets the search_path of every
# function that needs one and replaces nothing: pgspot has nothing to say about it. That pgspot would
# say something is tried first, on the same script with one careless statement more.
set -euo pipefail
BIN=${PG_BINDIR:-${CLUSTER_BIN:?}}
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)
VENV=$ROOT/target/pgspot-venv
VERSION=0.9.4
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

if ! [ -x "$VENV/bin/pgspot" ]; then
    if ! { python3 -m venv "$VENV" && "$VENV/bin/pip" install --quiet "pgspot==$VERSION"; } >"$WORK/pip" 2>&1; then
        rm -rf "$VENV"
        echo "SKIPPED: pip cannot install pgspot $VERSION here: $(tail -n 1 "$WORK/pip")"
        exit 0
    fi
fi

SCRIPTS=$("$BIN/pg_config" --sharedir)/extension
shopt -s nullglob
found=("$SCRIPTS"/idempotency--*.sql)
[ ${#found[@]} -gt 0 ] || { echo "FAILED: no script of the extension in $SCRIPTS"; exit 1; }

# Words of the SQL that run when the extension is created, and what each would be reported as.
careless() {
    cp "${found[0]}" "$WORK/careless.sql"
    printf '%s\n' "$1" >>"$WORK/careless.sql"
    "$VENV/bin/pgspot" --summary-only "$WORK/careless.sql" >"$WORK/said" 2>&1 && status=0 || status=$?
    if [ "$status" = 0 ] || ! grep -qE '(Errors|Warnings): [1-9]' "$WORK/said"; then
        printf 'FAILED: pgspot overlooks: %s\n' "$1"
        cat "$WORK/said"
        exit 1
    fi
    printf -- '- it would be noticed: %s\n' "$1"
}
careless 'CREATE OR REPLACE FUNCTION @extschema@.f() RETURNS pg_catalog.int4 LANGUAGE sql AS $$ SELECT 1 $$;'
careless 'SELECT count(1);'
careless 'CREATE TABLE IF NOT EXISTS @extschema@.t (n pg_catalog.int4);'
careless 'SELECT 1 = 2;'

for script in "${found[@]}"; do
    "$VENV/bin/pgspot" "$script" >"$WORK/said" 2>&1 || { cat "$WORK/said"; echo "FAILED: ${script##*/}"; exit 1; }
    grep -qE 'Errors: 0 Warnings: 0 Unknown: 0' "$WORK/said" || { cat "$WORK/said"; echo "FAILED: ${script##*/}"; exit 1; }
    printf -- '- nothing to say about %s\n' "${script##*/}"
done

# What pgspot does not look for: objects made outside of the extension's schema, and rights given.
for script in "${found[@]}"; do
    if grep -nE '^ *(CREATE|ALTER|COMMENT ON|GRANT|REVOKE)( [A-Z]+)* (FUNCTION|TABLE|VIEW|INDEX|TRIGGER|TYPE) ' "$script" |
        grep -vE '@extschema@\.|^[0-9]+:CREATE (UNIQUE )?INDEX |^[0-9]+:CREATE TRIGGER '; then
        echo "FAILED: ${script##*/} names an object outside of @extschema@"
        exit 1
    fi
    if grep -nE 'SECURITY DEFINER|TO PUBLIC' "$script"; then
        echo "FAILED: ${script##*/} gives rights away"
        exit 1
    fi
    printf -- '- %s keeps to its schema, defines no SECURITY DEFINER function and grants nothing to PUBLIC\n' "${script##*/}"
done
echo ok
