#!/usr/bin/env bash
# The demonstration itself: each statement, its answer, and a check of the answer. Needs a server
# with the extension's files (PGHOST and so on), an empty database (PGDATABASE) and PSQL; it is run by
# tests/demo/run and, as a test, by tests/run. Exits non-zero at the first answer that differs.
set -euo pipefail

CHECKS=0
PSQL_SHOW=("$PSQL" -X -q -v VERBOSITY=verbose -P null=NULL -P pager=off)
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT

tell() { printf '\n-- %s\n' "$1"; }

# run STATEMENT: shows it and its answer, which stays in $ANSWER (where in the source an error was
# raised is left out).
run() {
    printf 'demo=# %s\n' "$1"
    ANSWER=$("${PSQL_SHOW[@]}" -c "$1" 2>&1 | grep -v '^LOCATION: ') || true
    if [ -n "$ANSWER" ]; then printf '%s\n' "$ANSWER"; fi
}

# The rows of an answer, blanks around the columns squeezed, without heading and count.
rows() { sed -e '1,/^-[-+]*$/d' -e '/^([0-9]* rows*)$/d' | sed -e 's/^ *//' -e 's/ *| */|/g' -e 's/ *$//'; }

check() { # WHAT EXPECTED GOT
    CHECKS=$((CHECKS + 1))
    [ "$2" = "$3" ] && return
    printf '\nThis differs: %s\n  expected: %s\n  got:      %s\n' "$1" "$2" "$3" >&2
    exit 1
}
answers() { # STATEMENT ROWS
    run "$1"
    check "$1" "$2" "$(rows <<<"$ANSWER")"
}
refused() { # STATEMENT SQLSTATE MESSAGE
    run "$1"
    check "$1" "ERROR:  $2: $3" "$(head -n 1 <<<"$ANSWER")"
}
does() { # STATEMENT, which answers nothing
    run "$1"
    check "$1" "" "$ANSWER"
}

tell "The extension, and two accounts."
does "CREATE EXTENSION idempotency;"
does "INSERT INTO account (account_id, balance) VALUES (1, 1000), (2, 50);"

tell "A debit, then the same call again, as a client that never saw the answer would send it."
answers "SELECT debit_once(1, 'checkout-42', 100);" '{"balance": 900}'
answers "SELECT debit_once(1, 'checkout-42', 100);" '{"balance": 900}'
tell "It was debited once."
answers "SELECT balance FROM account WHERE account_id = 1;" '900'
tell "debit_request says which answer is the stored one."
answers "SELECT state, replayed, response FROM debit_request(1, 'checkout-42', 100);" \
    'completed|t|{"balance": 900}'

tell "The same key with another amount is a mistake of the client's, and refused."
refused "SELECT debit_once(1, 'checkout-42', 101);" 22023 \
    'idempotency key reused with different request'

tell "Too much for account 2. Nothing is kept of a failed call: its key is still free ..."
refused "SELECT debit_once(2, 'checkout-43', 80);" P0001 'insufficient balance'
answers "SELECT count(*) FROM request_result WHERE request_key = 'checkout-43';" '0'
tell "... so that the same call works once there is money."
does "UPDATE account SET balance = balance + 100 WHERE account_id = 2;"
answers "SELECT debit_once(2, 'checkout-43', 80);" '{"balance": 70}'

# ---- two sessions at once -----------------------------------------------------------------------

CALL="SELECT debit_once(2, 'checkout-44', 30);"

tell "Two retries at the same moment. Session A has debited and has not committed yet."
coproc A { PGAPPNAME=A "${PSQL_SHOW[@]}" 2>&1; }
in_a() { # STATEMENT: its answer in $ANSWER
    local line
    printf 'A: demo=# %s\n' "$1"
    printf '%s\n\\echo @@\n' "$1" >&"${A[1]}"
    ANSWER=""
    while IFS= read -r -t 30 line <&"${A[0]}"; do
        [ "$line" = @@ ] && return
        if [ -n "$line" ]; then printf 'A: %s\n' "$line"; fi
        ANSWER+=$line$'\n'
    done
    check "session A answers: $1" "an answer" "none in 30 seconds"
}
in_a "BEGIN;"
in_a "$CALL"
check "A: $CALL" '{"balance": 40}' "$(rows <<<"$ANSWER" | head -n 1)"

tell "Session B sends the same. It waits: who was first is not settled before A ends."
printf 'B: demo=# %s\n' "$CALL"
PGAPPNAME=B "${PSQL_SHOW[@]}" -c "$CALL" >"$WORK/b" 2>&1 &
B=$!
WAITING="SELECT count(*) FROM pg_stat_activity WHERE application_name = 'B' AND wait_event_type = 'Lock'"
for _ in $(seq 300); do
    GOT=$("$PSQL" -X -A -t -c "$WAITING")
    [ "$GOT" = 1 ] && break
    sleep 0.1
done
check "session B waits for A" 1 "$GOT"

tell "A commits, and B answers what A answered."
in_a "COMMIT;"
wait "$B" || true
sed 's/^/B: /' "$WORK/b" | grep -v '^B: $'
check "B: $CALL" '{"balance": 40}' "$(rows <"$WORK/b")"
printf '\\q\n' >&"${A[1]}"
tell "One effect of the two."
answers "SELECT balance FROM account WHERE account_id = 2;" '40'

# ---- messages -----------------------------------------------------------------------------------

MESSAGE="SELECT consume_once('billing', '0f9d1a52-6c1e-4b7a-9e0d-3a5b8c7d6e4f', 1, 50);"

tell "A message that credits account 1, and its redelivery, which changes nothing."
answers "$MESSAGE" '950'
answers "$MESSAGE" 'NULL'
answers "SELECT account_id, balance FROM account ORDER BY account_id;" $'1|950\n2|40'

printf '\nDone: each of the %d answers above was checked.\n' "$CHECKS"
