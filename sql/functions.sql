-- The library's doors to an account. Every argument may be NULL here, so that a missing one raises
-- instead of answering NULL.

CREATE FUNCTION @extschema@.idempotency_announce_change() RETURNS pg_catalog.trigger
LANGUAGE c VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'idempotency_announce_change';
COMMENT ON FUNCTION @extschema@.idempotency_announce_change() IS
    'Makes every live session read grants and contracts again at its next call';

CREATE FUNCTION @extschema@.debit_once(
    account_id pg_catalog.int8,
    request_key pg_catalog.text,
    amount pg_catalog.int8
) RETURNS pg_catalog.jsonb
LANGUAGE c VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'debit_once';

COMMENT ON FUNCTION @extschema@.debit_once(pg_catalog.int8, pg_catalog.text, pg_catalog.int8) IS
    'Takes an amount off an account once for a key, and answers {"balance": n}, a retry with the first reply. '
    'Errors: 22023 bad argument or key reused with another request, 23503 no such account, P0001 insufficient balance';

CREATE FUNCTION @extschema@.debit_request(
    account_id pg_catalog.int8,
    request_key pg_catalog.text,
    amount pg_catalog.int8
) RETURNS TABLE (
    state pg_catalog.text,
    replayed pg_catalog.bool,
    response pg_catalog.jsonb,
    http_status pg_catalog.int4,
    sqlstate pg_catalog.text,
    message pg_catalog.text,
    detail pg_catalog.text,
    hint pg_catalog.text,
    created_at pg_catalog.timestamptz,
    completed_at pg_catalog.timestamptz
)
LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1
AS 'MODULE_PATHNAME', 'debit_request';

COMMENT ON FUNCTION @extschema@.debit_request(pg_catalog.int8, pg_catalog.text, pg_catalog.int8) IS
    'Does what debit_once() does, and answers one row that says whether it was replayed. Errors: those of debit_once()';

CREATE FUNCTION @extschema@.consume_once(
    subscriber pg_catalog.text,
    message_id pg_catalog.uuid,
    account_id pg_catalog.int8,
    amount pg_catalog.int8,
    message pg_catalog.jsonb DEFAULT NULL
) RETURNS pg_catalog.int8
LANGUAGE c VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'consume_once';

COMMENT ON FUNCTION @extschema@.consume_once(pg_catalog.text, pg_catalog.uuid, pg_catalog.int8, pg_catalog.int8, pg_catalog.jsonb) IS
    'Adds a message''s amount to an account once for a subscriber, and answers the new balance; a redelivery changes nothing and answers NULL. '
    'Errors: 22023 bad argument or message id reused with another account, amount or message, 23503 no such account, 22003 the balance would overflow';

CREATE FUNCTION @extschema@.idempotency_table_access() RETURNS TABLE (
    table_name pg_catalog.text,
    access pg_catalog.text,
    reason pg_catalog.text
)
LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 4
AS 'MODULE_PATHNAME', 'idempotency_table_access';

COMMENT ON FUNCTION @extschema@.idempotency_table_access() IS
    'Tells for each table which way a call in this transaction takes to it, direct or spi, and why it is not direct';

CREATE FUNCTION @extschema@.idempotency_latest_access() RETURNS pg_catalog.text
LANGUAGE c VOLATILE PARALLEL UNSAFE
AS 'MODULE_PATHNAME', 'idempotency_latest_access';

COMMENT ON FUNCTION @extschema@.idempotency_latest_access() IS
    'Tells which way the latest call of this session took, direct or spi; NULL before the first';
