# shellcheck shell=bash
# The tiers: what there is to run, how, and what it came to. A tier is two functions,
#
#   tier_NAME_files    lists what it would run, one a line (nothing: the tier is empty here)
#   tier_NAME          runs them against $PG_CONFIG (version $MAJOR) and says for each one
#                      passed NAME / failed NAME
#
# To add one, write the two functions and name it in TIERS of tests/run.

# passed|failed NAME [SECONDS]
passed() {
    PASSED=$((PASSED + 1))
    printf '  ok      %-44s %s\n' "$1" "${2:+${2} s}"
}
failed() {
    FAILED=$((FAILED + 1))
    printf '  FAILED  %-44s %s\n' "$1" "${2:+${2} s}"
}

run_tier() {
    local tier=$1 count started
    # INPUT: the folder of sql/ or specs/ and expected/, for the tiers that have one.
    PASSED=0 FAILED=0 INPUT=""
    # Not in a pipe: the functions count in this shell.
    mapfile -t FILES < <("tier_${tier}_files" | grep -E -- "$ONLY" | sort)
    if [ ${#FILES[@]} -eq 0 ]; then
        say "PostgreSQL $MAJOR, $tier: nothing there"
        return
    fi
    say "PostgreSQL $MAJOR, $tier: ${#FILES[@]} to run${TEST_SETTING:+ with $TEST_SETTING}"
    started=$(now)
    OUT=$RESULTS/$MAJOR/$tier
    rm -rf "$OUT"
    mkdir -p "$OUT"
    KEEP_SERVER_LOG=$tier-$MAJOR
    "tier_$tier"
    count=$((PASSED + FAILED))
    # A tier that has files and ran none is broken, not green.
    [ "$count" -gt 0 ] || failed "$tier (ran nothing)"
    record "$tier" "$(since "$started")"
}

# A server that lives for one tier, with the extension's library installed. Whatever the tests
# said, a crash or a leak in its log is a failure of the tier.
serve_tier() {
    cluster_start "$PG_CONFIG" ${TEST_SETTING:+"$TEST_SETTING"}
    "$@"
    if cluster_alarms >"$OUT/alarms"; then
        head -n 20 "$OUT/alarms"
        failed "server log"
    fi
    cluster_stop
}
server_log_tail() { # what was logged since line $1
    local tail
    tail=$(tail -n "+$(($1 + 1))" "$CLUSTER/server.log" | tail -n 15)
    if [ -n "$tail" ]; then printf '  --- server log\n%s\n' "$tail"; fi
}
server_log_lines() { wc -l <"$CLUSTER/server.log"; }

# ---- pg_regress and the isolation tester -------------------------------------------------------

tier_regress_files() { in_dir tests/regress/sql '*.sql'; }
tier_regress() {
    INPUT=$ROOT/tests/regress
    serve_tier each_file regress_one
}
regress_one() { run_regress "$PG_REGRESS" "$1"; }

tier_isolation_files() { in_dir tests/isolation/specs '*.spec'; }
tier_isolation() {
    INPUT=$ROOT/tests/isolation
    serve_tier each_file isolation_one
}
isolation_one() {
    sql -c 'CREATE EXTENSION idempotency SCHEMA public' >/dev/null &&
        run_regress "$PG_ISOLATION_REGRESS" "$1"
}

# The same tests with every table reached through SPI: nobody may be able to tell the two ways
# apart. The setting is the server's, so that sessions of ordinary roles have it too.
SPI_ONLY="idempotency.table_access = 'spi'"
tier_regress_spi_files() { tier_regress_files; }
tier_regress_spi() { TEST_SETTING=$SPI_ONLY tier_regress; }
tier_isolation_spi_files() { tier_isolation_files; }
tier_isolation_spi() { TEST_SETTING=$SPI_ONLY tier_isolation; }

# Names without their suffix, of the files of a folder that may be missing.
in_dir() {
    if [ -d "$ROOT/$1" ]; then
        find "$ROOT/$1" -maxdepth 1 -name "$2" -exec basename -s "${2#\*}" {} \;
    fi
}

each_file() {
    local one=$1 name started line
    for name in "${FILES[@]}"; do
        started=$(now)
        line=$(server_log_lines)
        mkdir -p "$OUT/$name"
        if with_database "$one" "$name" >"$OUT/$name/output" 2>&1; then
            passed "$name" "$(since "$started")"
        else
            if accept "$name"; then continue; fi
            failed "$name" "$(since "$started")"
            show_failure "$OUT/$name"
            # A mere difference explains itself.
            if [ ! -s "$OUT/$name/regression.diffs" ]; then server_log_tail "$line"; fi
        fi
    done
}

# With --accept a differing answer becomes the expected one: for the author, who then reads the
# difference in the work tree. A file that did not run to its end has no answer to accept.
accept() {
    local got=$OUT/$1/results/$1.out
    [ -n "$ACCEPT" ] && [ -n "$INPUT" ] && [ -s "$got" ] || return 1
    mkdir -p "$INPUT/expected"
    cp "$got" "$INPUT/expected/$1.out"
    passed "$1 (accepted anew)"
}

show_failure() {
    if [ -n "$INPUT" ] && [ ! -e "$INPUT/expected/$(basename "$1").out" ]; then
        say "  there is no expected/$(basename "$1").out yet: run with --accept and read what it wrote"
    elif [ -s "$1/regression.diffs" ]; then
        head -n 150 "$1/regression.diffs"
    else
        tail -n 40 "$1/output"
    fi
}

# One file a call, in the database that is there: PGDATABASE.
run_regress() {
    local program=$1 name=$2
    timeout --foreground -k 10 "${TEST_TIMEOUT:-300}" \
        "$program" --use-existing --dbname="$PGDATABASE" --bindir="$CLIENT_BIN" \
        --host="$PGHOST" --port="$PGPORT" --user="$PGUSER" \
        --inputdir="$INPUT" --outputdir="$OUT/$name" --expecteddir="$INPUT" "$name"
}
