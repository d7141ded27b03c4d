#!/usr/bin/env bash
# Calls go on while their tables are analysed, vacuumed, rebuilt and altered, and triggers come and go:
# no call fails for it but with errors that say to try again, every record has its reply, nothing is
# debited twice, and a trigger that is there fires. And autovacuum comes by itself.
set -euo pipefail
BIN=${PG_BINDIR:-${CLUSTER_BIN:?}}
PSQL=${PSQL:-$BIN/psql}
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
SECONDS_OF_LOAD=${SECONDS_OF_LOAD:-5}
run() { "$PSQL" -X -q -A -t -v ON_ERROR_STOP=1 -d churn "$@" 2>&1; }
check() { # WHAT WANTED GOT
    if [ "$2" != "$3" ]; then
        printf 'FAILED: %s\n  wanted: %s\n  got:    %s\n' "$1" "$2" "$3"
        exit 1
    fi
    printf -- '- %s\n' "$1"
}
"$PSQL" -X -q -d postgres -c 'CREATE DATABASE churn TEMPLATE template0' -c "ALTER SYSTEM SET autovacuum_naptime = '1s'" -c 'SELECT pg_reload_conf()' >/dev/null
run >/dev/null <<'SQL'
CREATE EXTENSION idempotency;
INSERT INTO account SELECT n, 1000000 FROM generate_series(1, 8) AS n;
ALTER TABLE account SET (autovacuum_vacuum_threshold = 50, autovacuum_vacuum_scale_factor = 0);
ALTER TABLE request_result SET (autovacuum_analyze_threshold = 50, autovacuum_analyze_scale_factor = 0, autovacuum_vacuum_insert_threshold = 100, autovacuum_vacuum_insert_scale_factor = 0);
CREATE TABLE effect (key text, n bigint GENERATED ALWAYS AS IDENTITY);
CREATE FUNCTION effect(request jsonb) RETURNS jsonb LANGUAGE sql AS
    'INSERT INTO effect (key) VALUES (request #>> ''{}'') RETURNING to_jsonb(n)';
CREATE TABLE seen (what text);
CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO seen VALUES (TG_TABLE_NAME); RETURN NEW; END';
-- A call, and what it raised if that does not say to try again.
CREATE TABLE failed (code text, message text);
CREATE FUNCTION call(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    result text;
BEGIN
    EXECUTE statement INTO result;
    RETURN result;
EXCEPTION WHEN serialization_failure OR deadlock_detected THEN
    RETURN SQLSTATE;
WHEN OTHERS THEN
    INSERT INTO failed VALUES (SQLSTATE, SQLERRM);
    RETURN SQLSTATE;
END $$;
SQL
cat >"$WORK/calls" <<'SQL'
\set account random(1, 8)
\set n random(1, 100000)
SELECT call(format('SELECT debit_once(%s, %L, 3)', :account, 'load ' || :n));
SELECT call(format('SELECT consume_once(''load'', %L, %s, 2)', md5(:n::text), :n % 8 + 1));
SELECT call(format('SELECT state FROM run_once(''load'', ''test:v1'', %L, to_jsonb(%L::text), ''effect(jsonb)'')', 'k' || :n, 'k' || :n));
SQL
load() { # CLIENTS [OPTION...]
    "${CLIENT_BIN:-$BIN}/pgbench" -n -c "$1" -j 2 "${@:2}" -T "$SECONDS_OF_LOAD" -f "$WORK/calls" churn >"$WORK/pgbench" 2>&1 &
    LOAD=$!
}
# A statement over and over, until the load is over.
over_and_over() { # STATEMENT...
    local statement
    while kill -0 "$LOAD" 2>/dev/null; do
        for statement in "$@"; do run -c "$statement" >>"$WORK/changes" || true; done
    done
}
holds() { # WHEN
    wait "$LOAD" || { cat "$WORK/pgbench"; exit 1; }
    check "$1: no call failed" '' "$(run -c 'SELECT code, message, count(*) FROM failed GROUP BY 1, 2 LIMIT 5')"
    check "$1: each debit has its reply" 0 "$(run -c "SELECT count(*) FROM request_result WHERE response ->> 'balance' IS NULL")"
    check "$1: each record is completed" 0 "$(run -c "SELECT count(*) FROM idempotency_record WHERE state <> 'completed' OR response IS NULL")"
    check "$1: money is conserved" 0 "$(run -c "SELECT 8000000 - (SELECT sum((request ->> 'amount')::bigint) FROM request_result)
        + (SELECT sum(amount) FROM processed_message) - (SELECT sum(balance) FROM account)")"
    check "$1: each effect has its record, once" '0|0' "$(run -c "SELECT count(*) FILTER (WHERE r.response IS DISTINCT FROM to_jsonb(e.n)), count(*) - count(DISTINCT e.key)
        FROM effect AS e LEFT JOIN idempotency_record AS r ON r.request_key = e.key")"
    check "$1: each retry is a replay" 0 "$(run -c "SELECT count(*) FROM request_result AS r, debit_request(account_id, request_key, 3) AS o WHERE NOT o.replayed OR o.response <> r.response")"
    # pg_regress does not see this output: what a change itself met is for the reader.
    if grep -vE 'deadlock detected|^$|DETAIL|HINT|CONTEXT|Process [0-9]|could not create unique' "$WORK/changes" >"$WORK/odd" && [ -s "$WORK/odd" ]; then
        printf 'FAILED: %s: a change was refused\n' "$1"
        sort "$WORK/odd" | uniq -c | head
        exit 1
    fi
    printf -- '  (%s calls of each kind)\n' "$(sed -n 's/^number of transactions actually processed: //p' "$WORK/pgbench")"
}

load 4
over_and_over 'ANALYZE account' 'ANALYZE request_result' 'VACUUM account' 'VACUUM request_result' 'ANALYZE idempotency_record' 'VACUUM processed_message'
holds 'ANALYZE and VACUUM'

load 4
over_and_over 'CREATE TRIGGER see AFTER INSERT ON request_result FOR EACH ROW EXECUTE FUNCTION see()' 'DROP TRIGGER see ON request_result' \
    'CREATE TRIGGER see AFTER UPDATE ON account FOR EACH ROW EXECUTE FUNCTION see()' 'DROP TRIGGER see ON account' \
    'CREATE TRIGGER see AFTER UPDATE ON idempotency_record FOR EACH ROW EXECUTE FUNCTION see()' 'DROP TRIGGER see ON idempotency_record'
holds 'triggers that come and go'

load 4
over_and_over 'ALTER TABLE account ADD COLUMN extra int DEFAULT 7' 'ALTER TABLE account DROP COLUMN extra' 'ALTER TABLE request_result SET (fillfactor = 90)' \
    'ALTER TABLE request_result ADD CONSTRAINT extra CHECK (operation <> $$$$) NOT VALID' 'ALTER TABLE request_result DROP CONSTRAINT extra' \
    'ALTER TABLE idempotency_record ADD COLUMN extra text' 'ALTER TABLE idempotency_record DROP COLUMN extra'
holds 'ALTER TABLE'

# By sessions that live on, and by ones that are new at each call.
load 4
over_and_over 'REINDEX TABLE CONCURRENTLY request_result' 'REINDEX TABLE CONCURRENTLY account' 'REINDEX TABLE CONCURRENTLY idempotency_record' \
    'CREATE INDEX CONCURRENTLY extra ON account (balance)' 'DROP INDEX CONCURRENTLY extra'
holds 'REINDEX CONCURRENTLY'
load 4 -C
over_and_over 'REINDEX TABLE CONCURRENTLY request_result'
holds 'REINDEX CONCURRENTLY and new sessions'

load 4
over_and_over 'VACUUM FULL account' 'CLUSTER request_result USING request_result_pkey' 'VACUUM FULL idempotency_record' 'REINDEX TABLE account' 'VACUUM FULL processed_message'
holds 'VACUUM FULL and CLUSTER'

# A trigger that has been committed is seen by every call that began after it.
run -c 'TRUNCATE seen' -c 'CREATE TRIGGER see AFTER INSERT ON request_result FOR EACH ROW EXECUTE FUNCTION see()'
before=$(run -c 'SELECT count(*) FROM request_result')
load 4
over_and_over 'ANALYZE request_result' 'REINDEX TABLE CONCURRENTLY request_result'
holds 'a trigger that stays'
check 'a trigger that stays has fired for every record' "$(($(run -c 'SELECT count(*) FROM request_result') - before))" "$(run -c 'SELECT count(*) FROM seen')"
run -c 'DROP TRIGGER see ON request_result'

for table in account request_result; do
    what=vacuum
    if [ "$table" = request_result ]; then what=analyze; fi
    for _ in $(seq 300); do
        [ "$(run -c "SELECT auto${what}_count > 0 FROM pg_stat_user_tables WHERE relname = '$table'")" = t ] && continue 2
        run -c "SELECT debit_once(1, 'more ' || random(), 3)" >/dev/null
        sleep 0.1
    done
    echo "FAILED: autovacuum does not come to $table"
    exit 1
done
echo '- autovacuum has come to account and request_result'
echo ok
