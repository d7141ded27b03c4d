# shellcheck shell=bash
# Tiers that cargo runs: unit and in-server tests, and the stress program.

# ---- cargo pgrx test: the unit tests of the pure rules and the #[pg_test]s, in one binary --------

tier_pgtest_files() {
    if [ -e "$ROOT/src/lib.rs" ]; then say "cargo pgrx test pg$MAJOR"; fi
}

tier_pgtest() {
    local log=$OUT/output data args=() line
    # pgrx starts its own server, in a folder that the server's user must own.
    data=$(mktemp -d /tmp/idem.XXXXXX)
    on_exit pgtest_cleanup "$data"
    if is_root; then
        chown "$SERVER_USER:" "$data"
        args=(--runas "$SERVER_USER")
    fi
    pgrx_home "$MAJOR" "$PG_CONFIG"
    if ! USER=$(id -un) in_root cargo pgrx test "pg$MAJOR" --no-default-features \
        "${args[@]}" --pgdata "$data/data" >"$log" 2>&1 </dev/null; then
        grep -qE '^test result: FAILED' "$log" || failed "cargo pgrx test (did not get to its end)"
        sed -n '/^error/,$p;/^failures:/,$p' "$log" | head -n 120
        tail -n 20 "$log"
        say "  the whole output is in ${log#"$ROOT"/}"
    fi
    # Names may be torn apart by what the tests print; the counts of the result lines are whole.
    while read -r line; do
        count_cargo_tests "$line"
    done < <(grep -E '^test result:' "$log")
    say "  $PASSED passed, $FAILED failed"
    pgtest_cleanup "$data"
}
count_cargo_tests() {
    [[ $1 =~ ([0-9]+)\ passed\;\ ([0-9]+)\ failed ]] || return 0
    PASSED=$((PASSED + BASH_REMATCH[1]))
    FAILED=$((FAILED + BASH_REMATCH[2]))
}
# A test run that was killed leaves its server behind.
pgtest_cleanup() {
    local pid_file
    for pid_file in "$1"/data/*/postmaster.pid; do
        if [ -e "$pid_file" ]; then kill -QUIT "$(head -n 1 "$pid_file")" 2>/dev/null || true; fi
    done
    rm -rf "$1"
}

# ---- stress: real processes, random keys, retries, rollbacks ------------------------------------

tier_stress_files() {
    if [ -e "$ROOT/tests/stress/Cargo.toml" ]; then say "stress"; fi
}
tier_stress() {
    logged stress-build in_root cargo build --release --quiet --locked \
        --manifest-path tests/stress/Cargo.toml --target-dir "$TARGET/stress"
    serve_tier each_file stress_one
}
# SEED repeats a run; STRESS_CALLS or STRESS_SECONDS, and STRESS_CLIENTS, size it instead of the
# program's own defaults.
stress_one() {
    local seed=${SEED:-$((RANDOM * 32768 + RANDOM))} size=()
    if [ -n "${STRESS_CALLS:-}" ]; then size+=(--calls "$STRESS_CALLS"); fi
    if [ -n "${STRESS_SECONDS:-}" ]; then size+=(--seconds "$STRESS_SECONDS"); fi
    if [ -n "${STRESS_CLIENTS:-}" ]; then size+=(--clients "$STRESS_CLIENTS"); fi
    say "  seed $seed (repeat with SEED=$seed)" >&3
    sql -c 'CREATE EXTENSION idempotency SCHEMA public' >/dev/null || return 1
    in_root cargo run --release --quiet --locked \
        --manifest-path tests/stress/Cargo.toml --target-dir "$TARGET/stress" -- \
        --host "$PGHOST" --port "$PGPORT" --user "$PGUSER" --dbname "$PGDATABASE" \
        --seed "$seed" "${size[@]}"
}
