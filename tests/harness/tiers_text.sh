# shellcheck shell=bash
# Tiers that run what people read: the README's SQL, the demo, and scripts that need a server of
# their own.

# ---- docs: every ```sql block of README.md, in order --------------------------------------------
#
# A chapter (## heading) is one psql session in a fresh database, as its reader would have it. The
# extension is there unless the chapter creates it itself. A block may be tagged:
#   ```sql                 must succeed
#   ```sql error=22023     each of its errors must have that SQLSTATE, and there must be one

tier_docs_files() {
    if [ -e "$ROOT/README.md" ]; then docs_chapters "$ROOT/README.md"; fi
}
tier_docs() { serve_tier each_file docs_one; }

# The names of the chapters that have SQL: number and heading, fit for a file name.
docs_chapters() {
    awk '/^```/ { code = !code; if (code && /^```sql/ && !seen[n]++) print name; next }
         !code && /^## / { n++; name = tolower(substr($0, 4)); gsub(/[^a-z0-9]+/, "-", name)
                           name = sprintf("%02d-%s", n, name) }' "$1"
}

# docs_session CHAPTER: the chapter as a psql script. Markers tell the blocks apart in the output.
docs_session() {
    awk -v chapter="$1" '
        /^```/ {
            if (code) { if (sql) print "\\echo @@end" }
            sql = 0; code = !code
            if (code && here && /^```sql/) {
                sql = 1; state = ""
                if (match($0, /error=[0-9A-Z]+/)) state = substr($0, RSTART + 6, RLENGTH - 6)
                print "\\set ON_ERROR_STOP " (state == "" ? "on" : "off")
                print "\\echo @@block " NR " " state
            }
            next
        }
        sql { print }
        !code && /^## / { n++; here = (n == chapter + 0) }' "$ROOT/README.md"
}

docs_one() {
    local script=$OUT/$1/session.sql output=$OUT/$1/session.out status=0
    docs_session "${1%%-*}" >"$script"
    if ! grep -qiE 'create extension .*idempotency' "$script"; then
        sql -c 'CREATE EXTENSION idempotency' >/dev/null || return 1
    fi
    "$PSQL" -X -e -v VERBOSITY=verbose -P pager=off -f "$script" >"$output" 2>&1 || status=$?
    cat "$output"
    docs_judge "$output" || status=1
    return "$status"
}

docs_judge() {
    awk '/^@@block / { line = $2; state = $3; good = bad = 0; open = 1; next }
         /^@@end/ { if (state != "" && !good) {
                        print "README.md line " line ": nothing failed with " state; wrong = 1 }
                    open = 0; next }
         match($0, /(ERROR|FATAL):  [0-9A-Z][0-9A-Z][0-9A-Z][0-9A-Z][0-9A-Z]:/) {
                    got = substr($0, RSTART + RLENGTH - 6, 5)
                    if (open && got == state) good++
                    else { print "README.md line " line ": failed with " got
                           wrong = 1 } }
         END { if (open) print "README.md line " line ": did not get to its end"
               exit wrong || open }' "$1"
}

# ---- demo: the transcript of 'make demo' checks itself -------------------------------------------

tier_demo_files() { say demo; }
tier_demo() { serve_tier each_file demo_one; }
demo_one() { "$ROOT/tests/demo/transcript.sh"; }

# ---- life: scripts that crash, restart, upgrade or dump a server: each gets one of its own -------

tier_life_files() { in_dir tests/life '*.sh'; }
tier_life() {
    local name started
    for name in "${FILES[@]}"; do
        started=$(now)
        mkdir -p "$OUT/$name"
        KEEP_SERVER_LOG=life-$name-$MAJOR
        cluster_start "$PG_CONFIG"
        if bash "$ROOT/tests/life/$name.sh" >"$OUT/$name/output" 2>&1 </dev/null; then
            passed "$name" "$(since "$started")"
        else
            failed "$name" "$(since "$started")"
            tail -n 40 "$OUT/$name/output"
            server_log_tail 0
        fi
        cluster_stop
    done
}
