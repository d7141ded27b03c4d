-- The general functions. Every argument may be NULL here, so that a missing one raises instead of
-- answering NULL.

CREATE FUNCTION @extschema@.run_once(
    scope pg_catalog.text,
    operation pg_catalog.text,
    request_key pg_catalog.text,
    request pg_catalog.jsonb,
    effect pg_catalog.regprocedure,
    http_status pg_catalog.int4 DEFAULT 200,
    wait_timeout pg_catalog.interval DEFAULT NULL
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
AS 'MODULE_PATHNAME', 'run_once';

COMMENT ON FUNCTION @extschema@.run_once(pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.jsonb, pg_catalog.regprocedure, pg_catalog.int4, pg_catalog.interval) IS
    'Calls effect(request) once for a key, with the caller''s rights and in his transaction, and answers its reply; a retry is answered with the first reply. Errors: 22023 bad argument or key reused with another request, 42501 scope not granted, 42883 no such function, 55P03 key held by another transaction, 55000 key abandoned, gone or used inside its own effect; and what the effect raises';

CREATE FUNCTION @extschema@.run_sql_once(
    scope pg_catalog.text,
    operation pg_catalog.text,
    request_key pg_catalog.text,
    request pg_catalog.jsonb,
    command pg_catalog.text,
    http_status pg_catalog.int4 DEFAULT 200,
    wait_timeout pg_catalog.interval DEFAULT NULL
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
AS 'MODULE_PATHNAME', 'run_sql_once';

COMMENT ON FUNCTION @extschema@.run_sql_once(pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.jsonb, pg_catalog.text, pg_catalog.int4, pg_catalog.interval) IS
    'Runs one statement, which sees the request as $1, once for a key, with the caller''s rights and in his transaction; its last row''s first column is the reply. Errors: those of run_once()';

CREATE FUNCTION @extschema@.reserve_request(
    scope pg_catalog.text,
    operation pg_catalog.text,
    request_key pg_catalog.text,
    request pg_catalog.jsonb,
    wait_timeout pg_catalog.interval DEFAULT NULL
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
AS 'MODULE_PATHNAME', 'reserve_request';

COMMENT ON FUNCTION @extschema@.reserve_request(pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.jsonb, pg_catalog.interval) IS
    'Reserves a key for this transaction: state acquired means perform it and call complete_request() or refuse_request() before the commit; else the finished record is answered. Errors: 22023 bad argument or key reused with another request, 42501 scope not granted, 55P03 key held by another transaction or a live attempt, 55000 key abandoned, gone or in the wrong state';

CREATE FUNCTION @extschema@.complete_request(
    scope pg_catalog.text,
    operation pg_catalog.text,
    request_key pg_catalog.text,
    response pg_catalog.jsonb,
    http_status pg_catalog.int4 DEFAULT 200
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
AS 'MODULE_PATHNAME', 'complete_request';

COMMENT ON FUNCTION @extschema@.complete_request(pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.jsonb, pg_catalog.int4) IS
    'Completes what this transaction has reserved with its final reply. Errors: 22023 bad argument, 42501 scope not granted, 55000 not reserved by this transaction, or finished with another reply';

CREATE FUNCTION @extschema@.complete_request(
    response pg_catalog.jsonb,
    http_status pg_catalog.int4 DEFAULT 200
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
AS 'MODULE_PATHNAME', 'complete_only_request';

COMMENT ON FUNCTION @extschema@.complete_request(pg_catalog.jsonb, pg_catalog.int4) IS
    'Completes the only reservation of this transaction that is open. Errors: 22023 bad argument, 55000 none or several are open';

CREATE FUNCTION @extschema@.refuse_request(
    scope pg_catalog.text,
    operation pg_catalog.text,
    request_key pg_catalog.text,
    response pg_catalog.jsonb,
    http_status pg_catalog.int4 DEFAULT 422
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
AS 'MODULE_PATHNAME', 'refuse_request';

COMMENT ON FUNCTION @extschema@.refuse_request(pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.jsonb, pg_catalog.int4) IS
    'Stores a terminal business refusal for what this transaction has reserved; a retry replays it. Errors: those of complete_request()';

CREATE FUNCTION @extschema@.find_request(
    scope pg_catalog.text,
    operation pg_catalog.text,
    request_key pg_catalog.text
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
AS 'MODULE_PATHNAME', 'find_request';

COMMENT ON FUNCTION @extschema@.find_request(pg_catalog.text, pg_catalog.text, pg_catalog.text) IS
    'Reads a key''s record, a debit''s too (scope: the account''s id), and answers no row where there is none; never waits and writes nothing. Errors: 22023 bad argument, 42501 scope not granted';

CREATE FUNCTION @extschema@.abandon_request(
    scope pg_catalog.text,
    operation pg_catalog.text,
    request_key pg_catalog.text,
    wait_timeout pg_catalog.interval DEFAULT NULL
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
AS 'MODULE_PATHNAME', 'abandon_request';

COMMENT ON FUNCTION @extschema@.abandon_request(pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.interval) IS
    'Tells whether a request was committed: waits for a live owner and answers with the finished record, or burns the key, so that a late original is refused. The answer binds once this transaction has committed, which is synchronous. Errors: 22023 bad argument, 42501 scope not granted, 55P03 key held by another transaction or a live attempt, 55000 this transaction is working on it';

CREATE FUNCTION @extschema@.current_request() RETURNS TABLE (
    scope pg_catalog.text,
    operation pg_catalog.text,
    request_key pg_catalog.text,
    attempt pg_catalog.int4
)
LANGUAGE c VOLATILE PARALLEL UNSAFE ROWS 1
AS 'MODULE_PATHNAME', 'current_request';

COMMENT ON FUNCTION @extschema@.current_request() IS
    'Inside an effect, or after reserve_request(): the identity at work, for triggers, audit rows and outbox rows; else no row';
