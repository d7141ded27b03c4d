-- Any operation's requests.

CREATE TABLE @extschema@.idempotency_record (
    scope pg_catalog.text COLLATE pg_catalog."C" NOT NULL,
    operation pg_catalog.text COLLATE pg_catalog."C" NOT NULL,
    request_key pg_catalog.text COLLATE pg_catalog."C" NOT NULL,
    state pg_catalog.text COLLATE pg_catalog."C" NOT NULL DEFAULT 'pending',
    request pg_catalog.jsonb,
    response pg_catalog.jsonb,
    http_status pg_catalog.int4,
    sqlstate pg_catalog.text COLLATE pg_catalog."C",
    message pg_catalog.text COLLATE pg_catalog."C",
    detail pg_catalog.text COLLATE pg_catalog."C",
    hint pg_catalog.text COLLATE pg_catalog."C",
    comparison pg_catalog.jsonb,
    created_at pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    completed_at pg_catalog.timestamptz,
    attempt pg_catalog.int4,
    lease_until pg_catalog.timestamptz,
    recovery_point pg_catalog.text COLLATE pg_catalog."C",
    recovery_data pg_catalog.jsonb,
    provider_key pg_catalog.text COLLATE pg_catalog."C",
    CONSTRAINT idempotency_record_pkey PRIMARY KEY (scope, operation, request_key),
    CONSTRAINT idempotency_record_state_check CHECK (
        state OPERATOR(pg_catalog.=) ANY
            (ARRAY['pending', 'completed', 'refused', 'unknown', 'abandoned', 'gone'])
    )
);
ALTER TABLE @extschema@.idempotency_record OWNER TO @extowner@;
SELECT pg_catalog.pg_extension_config_dump('@extschema@.idempotency_record', '');

-- Not by the state: a record that is finished in its own transaction would enter and leave the
-- index, and could not be updated in place. A finished attempt has no lease.
CREATE INDEX idempotency_record_unfinished_idx
    ON @extschema@.idempotency_record (operation, lease_until)
    WHERE lease_until IS NOT NULL;

COMMENT ON TABLE @extschema@.idempotency_record IS
    'Requests of any operation, each with the reply that answers its retries';
COMMENT ON COLUMN @extschema@.idempotency_record.scope IS 'Who the key belongs to, 1 to 255 bytes; compared bytewise';
COMMENT ON COLUMN @extschema@.idempotency_record.operation IS 'The named, versioned contract, such as place-order:v1; compared bytewise';
COMMENT ON COLUMN @extschema@.idempotency_record.request_key IS 'The client''s own identity for one intention; compared bytewise';
COMMENT ON COLUMN @extschema@.idempotency_record.state IS
    'pending: being performed; completed, refused: finished, and replayed; unknown: an attempt whose outcome nobody knows; abandoned: burnt; gone: used and purged';
COMMENT ON COLUMN @extschema@.idempotency_record.request IS 'The request as the contract keeps it; compared on every retry';
COMMENT ON COLUMN @extschema@.idempotency_record.response IS 'The reply as the contract keeps it';
COMMENT ON COLUMN @extschema@.idempotency_record.http_status IS 'The status that goes with the reply, 100 to 599';
COMMENT ON COLUMN @extschema@.idempotency_record.sqlstate IS 'The SQLSTATE of a refusal that was an error';
COMMENT ON COLUMN @extschema@.idempotency_record.message IS 'The message of a refusal that was an error';
COMMENT ON COLUMN @extschema@.idempotency_record.detail IS 'The detail of a refusal that was an error';
COMMENT ON COLUMN @extschema@.idempotency_record.hint IS 'The hint of a refusal that was an error';
COMMENT ON COLUMN @extschema@.idempotency_record.comparison IS
    'How the request is compared and what digest it left, where that is not plain equality with a request kept whole';
COMMENT ON COLUMN @extschema@.idempotency_record.created_at IS 'When the key was won, by the clock';
COMMENT ON COLUMN @extschema@.idempotency_record.completed_at IS 'When the reply was there, by the clock';
COMMENT ON COLUMN @extschema@.idempotency_record.attempt IS 'For an effect outside the database: the fencing token';
COMMENT ON COLUMN @extschema@.idempotency_record.lease_until IS 'For an effect outside the database: until when the attempt''s owner may act';
COMMENT ON COLUMN @extschema@.idempotency_record.recovery_point IS 'For an effect outside the database: how far it came';
COMMENT ON COLUMN @extschema@.idempotency_record.recovery_data IS 'For an effect outside the database: what it needs to go on';
COMMENT ON COLUMN @extschema@.idempotency_record.provider_key IS 'For an effect outside the database: the key that the provider is sent';
COMMENT ON CONSTRAINT idempotency_record_pkey ON @extschema@.idempotency_record IS
    'Settles concurrent retries: only who wins it may execute';
COMMENT ON CONSTRAINT idempotency_record_state_check ON @extschema@.idempotency_record IS 'The states that exist';
COMMENT ON INDEX @extschema@.idempotency_record_pkey IS 'Serves the look-up of a key by every call';
COMMENT ON INDEX @extschema@.idempotency_record_unfinished_idx IS 'Serves the search for attempts that are not finished';
