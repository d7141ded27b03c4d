\echo Use "CREATE EXTENSION idempotency" to load this file. \quit

-- A name that is taken fails the installation: nothing is ever adopted.
-- An account, its balance, and what was done to it. Owned by whoever installs, not by the
-- bootstrap superuser, so that no trigger put on a table runs with more rights than its author's.

CREATE TABLE @extschema@.account (
    account_id pg_catalog.int8 NOT NULL,
    balance pg_catalog.int8 NOT NULL,
    CONSTRAINT account_pkey PRIMARY KEY (account_id),
    CONSTRAINT account_balance_check CHECK (balance OPERATOR(pg_catalog.>=) 0)
);
ALTER TABLE @extschema@.account OWNER TO @extowner@;
SELECT pg_catalog.pg_extension_config_dump('@extschema@.account', '');

COMMENT ON TABLE @extschema@.account IS
    'Balances that debit_once() takes from and consume_once() adds to';
COMMENT ON COLUMN @extschema@.account.account_id IS 'Identifies the account; the scope of its request keys';
COMMENT ON COLUMN @extschema@.account.balance IS 'What the account holds, in the smallest unit of its currency; never negative';
COMMENT ON CONSTRAINT account_pkey ON @extschema@.account IS 'One row an account';
COMMENT ON CONSTRAINT account_balance_check ON @extschema@.account IS 'An account is never overdrawn';
COMMENT ON INDEX @extschema@.account_pkey IS 'Serves the look-up of an account by every debit and credit';

CREATE TABLE @extschema@.request_result (
    account_id pg_catalog.int8 NOT NULL,
    operation pg_catalog.text COLLATE pg_catalog."C" NOT NULL,
    request_key pg_catalog.text COLLATE pg_catalog."C" NOT NULL,
    request pg_catalog.jsonb NOT NULL,
    response pg_catalog.jsonb NOT NULL,
    created_at pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    CONSTRAINT request_result_pkey PRIMARY KEY (account_id, operation, request_key),
    CONSTRAINT request_result_account_id_fkey FOREIGN KEY (account_id)
        REFERENCES @extschema@.account (account_id)
);
ALTER TABLE @extschema@.request_result OWNER TO @extowner@;
SELECT pg_catalog.pg_extension_config_dump('@extschema@.request_result', '');

COMMENT ON TABLE @extschema@.request_result IS
    'Requests against one account, each with the reply that answers its retries';
COMMENT ON COLUMN @extschema@.request_result.account_id IS 'The account: the scope of the key';
COMMENT ON COLUMN @extschema@.request_result.operation IS 'The named, versioned contract, such as debit:v1; compared bytewise';
COMMENT ON COLUMN @extschema@.request_result.request_key IS 'The client''s own identity for one intention, 1 to 255 bytes; compared bytewise';
COMMENT ON COLUMN @extschema@.request_result.request IS 'The business parameters, compared on every retry';
COMMENT ON COLUMN @extschema@.request_result.response IS 'The first reply; JSON null only inside the transaction that is still working on it';
COMMENT ON COLUMN @extschema@.request_result.created_at IS 'When the key was won, by the clock';
COMMENT ON CONSTRAINT request_result_pkey ON @extschema@.request_result IS
    'Settles concurrent retries: only who wins it may execute';
COMMENT ON CONSTRAINT request_result_account_id_fkey ON @extschema@.request_result IS
    'A request belongs to an account that exists';
COMMENT ON INDEX @extschema@.request_result_pkey IS 'Serves the look-up of a key by every call';

CREATE TABLE @extschema@.processed_message (
    subscriber pg_catalog.text COLLATE pg_catalog."C" NOT NULL,
    message_id pg_catalog.uuid NOT NULL,
    account_id pg_catalog.int8 NOT NULL,
    amount pg_catalog.int8 DEFAULT NULL,
    message pg_catalog.jsonb DEFAULT NULL,
    processed_at pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(),
    CONSTRAINT processed_message_pkey PRIMARY KEY (subscriber, message_id),
    CONSTRAINT processed_message_account_id_fkey FOREIGN KEY (account_id)
        REFERENCES @extschema@.account (account_id)
);
ALTER TABLE @extschema@.processed_message OWNER TO @extowner@;
SELECT pg_catalog.pg_extension_config_dump('@extschema@.processed_message', '');

COMMENT ON TABLE @extschema@.processed_message IS
    'Messages that were applied to an account, so that a redelivery changes nothing';
COMMENT ON COLUMN @extschema@.processed_message.subscriber IS 'Who consumes: the scope of the message id, 1 to 255 bytes; compared bytewise';
COMMENT ON COLUMN @extschema@.processed_message.message_id IS 'The producer''s identity for the message, kept on every redelivery';
COMMENT ON COLUMN @extschema@.processed_message.account_id IS 'The account that was credited; compared on redelivery';
COMMENT ON COLUMN @extschema@.processed_message.amount IS
    'What was added; compared on redelivery. NULL where a statement of the application''s own inserted the row: then only the account is compared';
COMMENT ON COLUMN @extschema@.processed_message.message IS 'The message as consume_once() was given it, NULL if it was not; compared on redelivery';
COMMENT ON COLUMN @extschema@.processed_message.processed_at IS 'When the message was first accepted, by the clock';
COMMENT ON CONSTRAINT processed_message_pkey ON @extschema@.processed_message IS
    'Settles concurrent deliveries: only who wins it may apply the message';
COMMENT ON CONSTRAINT processed_message_account_id_fkey ON @extschema@.processed_message IS
    'A message is applied to an account that exists';
COMMENT ON INDEX @extschema@.processed_message_pkey IS 'Serves the look-up of a message by every delivery';
