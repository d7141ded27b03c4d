-- A database of the benchmark: the extension, and each way of doing without it on tables of its own,
-- so that no contender lives among another's dead rows.
CREATE EXTENSION idempotency SCHEMA public;
SELECT grant_idempotency(role, 'use', scopes => '{*}') FROM unnest('{bench,bench_spi}'::regrole[]) AS role;
GRANT SELECT ON request_result TO bench;

-- The mere effect.
CREATE SCHEMA bare;
CREATE TABLE bare.account (LIKE public.account INCLUDING ALL);

-- The same as what run_once() calls, in PL/pgSQL, since that keeps its plan; run_sql_once() is given
-- the UPDATE itself.
CREATE SCHEMA effect;
CREATE TABLE effect.account (LIKE public.account INCLUDING ALL);
CREATE FUNCTION effect.take(request jsonb) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    left_over bigint;
BEGIN
    UPDATE effect.account SET balance = balance - (request ->> 'amount')::bigint
     WHERE account_id = (request ->> 'account_id')::bigint
    RETURNING balance INTO left_over;
    RETURN jsonb_build_object('balance', left_over);
END
$$;

-- The same contract by hand, once for a routine in the server and once for an application.
DO $$
DECLARE
    place text;
BEGIN
    FOREACH place IN ARRAY '{by_hand,by_app}'::text[] LOOP
        EXECUTE format($ddl$
            CREATE SCHEMA %1$I;
            CREATE TABLE %1$I.account (LIKE public.account INCLUDING ALL);
            CREATE TABLE %1$I.request_result (
                LIKE public.request_result INCLUDING ALL,
                FOREIGN KEY (account_id) REFERENCES %1$I.account
            );
        $ddl$, place);
    END LOOP;
END
$$;

-- As a good DBA would write it: the primary key arbitrates, the loser looks up in a later statement,
-- the request is compared, and everything is in the caller's transaction.
CREATE FUNCTION by_hand.debit_once(p_account_id bigint, p_request_key text, p_amount bigint)
RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_request jsonb;
    v_stored by_hand.request_result;
    v_balance bigint;
    v_response jsonb;
BEGIN
    IF p_account_id IS NULL OR coalesce(p_request_key, '') = '' OR p_amount IS NULL OR p_amount <= 0 THEN
        RAISE EXCEPTION 'key and positive amount required' USING ERRCODE = '22023';
    END IF;
    v_request := jsonb_build_object('amount', p_amount);

    INSERT INTO by_hand.request_result (account_id, operation, request_key, request, response)
        VALUES (p_account_id, 'debit:v1', p_request_key, v_request, 'null')
        ON CONFLICT (account_id, operation, request_key) DO NOTHING;
    IF NOT FOUND THEN
        SELECT * INTO STRICT v_stored FROM by_hand.request_result
         WHERE account_id = p_account_id AND operation = 'debit:v1' AND request_key = p_request_key;
        IF v_stored.request <> v_request THEN
            RAISE EXCEPTION 'idempotency key reused with different request' USING ERRCODE = '22023';
        END IF;
        RETURN v_stored.response;
    END IF;

    UPDATE by_hand.account SET balance = balance - p_amount
     WHERE account_id = p_account_id AND balance >= p_amount
    RETURNING balance INTO v_balance;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'insufficient balance' USING ERRCODE = 'P0001';
    END IF;

    v_response := jsonb_build_object('balance', v_balance);
    UPDATE by_hand.request_result SET response = v_response
     WHERE account_id = p_account_id AND operation = 'debit:v1' AND request_key = p_request_key;
    RETURN v_response;
END
$$;

GRANT USAGE ON SCHEMA bare, effect, by_hand, by_app TO bench, bench_spi;
GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA bare, effect, by_hand, by_app TO bench, bench_spi;
