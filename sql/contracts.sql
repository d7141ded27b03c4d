-- What a DBA has set for an operation. Defaults and the built-in operations live in the library.

CREATE TABLE @extschema@.operation_contract (
    operation pg_catalog.text COLLATE pg_catalog."C" NOT NULL,
    retention pg_catalog.interval,
    tombstone_retention pg_catalog.interval,
    save_refusals pg_catalog.bool,
    refusal_sqlstates pg_catalog.text[] COLLATE pg_catalog."C",
    key_required pg_catalog.bool,
    max_key_bytes pg_catalog.int4,
    max_request_bytes pg_catalog.int4,
    max_response_bytes pg_catalog.int4,
    lease pg_catalog.interval,
    repeatable pg_catalog.bool,
    ignored_paths pg_catalog.text[] COLLATE pg_catalog."C",
    default_values pg_catalog.jsonb,
    keep_request pg_catalog.text COLLATE pg_catalog."C",
    redacted_request_paths pg_catalog.text[] COLLATE pg_catalog."C",
    keep_response pg_catalog.text COLLATE pg_catalog."C",
    redacted_response_paths pg_catalog.text[] COLLATE pg_catalog."C",
    CONSTRAINT operation_contract_pkey PRIMARY KEY (operation)
);
ALTER TABLE @extschema@.operation_contract OWNER TO @extowner@;
SELECT pg_catalog.pg_extension_config_dump('@extschema@.operation_contract', '');

COMMENT ON TABLE @extschema@.operation_contract IS
    'What was set for an operation; NULL means the default. Written by define_operation(), alter_operation() and drop_operation()';
COMMENT ON COLUMN @extschema@.operation_contract.operation IS 'The named, versioned contract, such as place-order:v1; compared bytewise';
COMMENT ON COLUMN @extschema@.operation_contract.retention IS 'How long a finished record is kept, counted from its completion; NULL for ever';
COMMENT ON COLUMN @extschema@.operation_contract.tombstone_retention IS 'How long it is remembered that a key was used, after its record was purged; NULL not at all';
COMMENT ON COLUMN @extschema@.operation_contract.save_refusals IS 'Whether a refusal of the effect is stored and replayed, instead of rolling back with its key';
COMMENT ON COLUMN @extschema@.operation_contract.refusal_sqlstates IS 'Which SQLSTATEs are business refusals';
COMMENT ON COLUMN @extschema@.operation_contract.key_required IS 'Whether a call without a key is refused, instead of being performed each time';
COMMENT ON COLUMN @extschema@.operation_contract.max_key_bytes IS 'The longest request key, in bytes';
COMMENT ON COLUMN @extschema@.operation_contract.max_request_bytes IS 'The largest request, in bytes of jsonb';
COMMENT ON COLUMN @extschema@.operation_contract.max_response_bytes IS 'The largest response, in bytes of jsonb';
COMMENT ON COLUMN @extschema@.operation_contract.lease IS 'How long an attempts owner may act without renewing';
COMMENT ON COLUMN @extschema@.operation_contract.repeatable IS 'Whether an expired attempt may be begun again';
COMMENT ON COLUMN @extschema@.operation_contract.ignored_paths IS 'JSON pointers to parts of a request that do not count when it is compared';
COMMENT ON COLUMN @extschema@.operation_contract.default_values IS 'An object: what a request that lacks a member is taken to hold when it is compared';
COMMENT ON COLUMN @extschema@.operation_contract.keep_request IS 'What is kept of a request: whole, redacted, digest or nothing (which then is not compared)';
COMMENT ON COLUMN @extschema@.operation_contract.redacted_request_paths IS 'JSON pointers to what is replaced by a mark where keep_request is redacted';
COMMENT ON COLUMN @extschema@.operation_contract.keep_response IS 'What is kept of a response, and so replayed: whole, redacted, digest or nothing';
COMMENT ON COLUMN @extschema@.operation_contract.redacted_response_paths IS 'JSON pointers to what is replaced by a mark where keep_response is redacted';
COMMENT ON CONSTRAINT operation_contract_pkey ON @extschema@.operation_contract IS 'One contract an operation';
COMMENT ON INDEX @extschema@.operation_contract_pkey IS 'Serves the look-up of a contract by the first call of each session';

CREATE FUNCTION @extschema@.idempotency_require_owner() RETURNS pg_catalog.void
LANGUAGE plpgsql STABLE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    owner pg_catalog.name;
BEGIN
    SELECT pg_catalog.pg_get_userbyid(c.relowner) INTO owner
      FROM pg_catalog.pg_class AS c
     WHERE c.oid OPERATOR(pg_catalog.=) '@extschema@.operation_contract'::pg_catalog.regclass;
    -- Not a member or a superuser either: a trigger of the owner's would run with their rights.
    IF owner OPERATOR(pg_catalog.<>) CURRENT_USER THEN
        RAISE EXCEPTION USING
            ERRCODE = '42501',
            MESSAGE = 'must be owner of the tables of extension "idempotency"',
            HINT = pg_catalog.format('Whoever may act as the owner does so first: SET ROLE %I.', owner);
    END IF;
END
$function$;
COMMENT ON FUNCTION @extschema@.idempotency_require_owner() IS
    'Refuses whoever is not acting as the owner of the tables. Errors: 42501 not the owner';

CREATE TRIGGER idempotency_contract_changed
    AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON @extschema@.operation_contract
    FOR EACH STATEMENT EXECUTE FUNCTION @extschema@.idempotency_announce_change();
-- Also for rows that logical replication applies.
ALTER TABLE @extschema@.operation_contract ENABLE ALWAYS TRIGGER idempotency_contract_changed;
COMMENT ON TRIGGER idempotency_contract_changed ON @extschema@.operation_contract IS
    'A changed contract takes effect at the next call of every session';

CREATE FUNCTION @extschema@.idempotency_check_contract() RETURNS pg_catalog.trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    problem pg_catalog.text;
    advice pg_catalog.text := 'See the chapter on contracts.';
BEGIN
    IF NEW.operation OPERATOR(pg_catalog.!~) '^[a-z0-9][a-z0-9_.-]*:v[0-9]+$'
        OR pg_catalog.octet_length(NEW.operation) OPERATOR(pg_catalog.>) 255 THEN
        problem := 'operation must be a name and a version, as in place-order:v1';
        advice := 'A name has lower-case letters, digits, dots, dashes and underscores, and begins with a letter or digit.';
    ELSIF NEW.operation OPERATOR(pg_catalog.=) 'debit:v1'
        AND pg_catalog.num_nonnulls(NEW.save_refusals, NEW.refusal_sqlstates, NEW.key_required, NEW.max_key_bytes,
            NEW.max_request_bytes, NEW.max_response_bytes, NEW.lease, NEW.repeatable, NEW.ignored_paths, NEW.default_values,
            NEW.keep_request, NEW.redacted_request_paths, NEW.keep_response, NEW.redacted_response_paths,
            NEW.tombstone_retention) OPERATOR(pg_catalog.>) 0 THEN
        problem := 'of a built-in operation only the retention can be set';
        advice := 'A refused debit rolls back with its key, so that there is nothing to keep.';
    ELSIF NEW.retention OPERATOR(pg_catalog.<=) '0'::pg_catalog.interval
        OR NEW.tombstone_retention OPERATOR(pg_catalog.<=) '0'::pg_catalog.interval
        OR NEW.lease OPERATOR(pg_catalog.<=) '0'::pg_catalog.interval THEN
        problem := 'retention, tombstone_retention and lease must be longer than nothing';
    ELSIF NOT (NEW.max_key_bytes OPERATOR(pg_catalog.>=) 1 AND NEW.max_key_bytes OPERATOR(pg_catalog.<=) 1024) THEN
        problem := 'max_key_bytes must be between 1 and 1024';
    ELSIF NEW.max_request_bytes OPERATOR(pg_catalog.<) 1 OR NEW.max_response_bytes OPERATOR(pg_catalog.<) 1 THEN
        problem := 'max_request_bytes and max_response_bytes must be at least 1';
    ELSIF (SELECT pg_catalog.bool_or(s IS NULL OR s OPERATOR(pg_catalog.!~) '^[0-9A-Z]{5}$'
                  OR s OPERATOR(pg_catalog.~) '^(00|01|02|08|25|40|53|54|57|58|XX)' OR s OPERATOR(pg_catalog.=) '55P03')
             FROM pg_catalog.unnest(NEW.refusal_sqlstates) AS s) THEN
        problem := 'refusal_sqlstates must be SQLSTATEs of business refusals';
        advice := 'Failures of the server, its locks, limits and connections are never stored: classes 00, 01, 02, 08, 25, 40, 53, 54, 57, 58, XX and 55P03.';
    ELSIF (SELECT pg_catalog.bool_or(p IS NULL OR p OPERATOR(pg_catalog.!~) '^(/([^/~]|~[01])*)+$')
             FROM pg_catalog.unnest(pg_catalog.array_cat(pg_catalog.array_cat(NEW.ignored_paths,
                  NEW.redacted_request_paths), NEW.redacted_response_paths)) AS p) THEN
        problem := 'paths must be JSON pointers';
        advice := 'Such a path begins with a slash, as in /card/number.';
    ELSIF pg_catalog.jsonb_typeof(NEW.default_values) OPERATOR(pg_catalog.<>) 'object' THEN
        problem := 'default_values must be a JSON object';
    ELSIF NEW.keep_request OPERATOR(pg_catalog.<>) ALL (ARRAY['whole', 'redacted', 'digest', 'nothing'])
        OR NEW.keep_response OPERATOR(pg_catalog.<>) ALL (ARRAY['whole', 'redacted', 'digest', 'nothing']) THEN
        problem := 'keep_request and keep_response must be whole, redacted, digest or nothing';
    ELSIF (NEW.redacted_request_paths IS NOT NULL) OPERATOR(pg_catalog.<>) (NEW.keep_request IS NOT DISTINCT FROM 'redacted')
        OR (NEW.redacted_response_paths IS NOT NULL) OPERATOR(pg_catalog.<>) (NEW.keep_response IS NOT DISTINCT FROM 'redacted') THEN
        problem := 'redacted paths and keeping redacted go together';
    END IF;
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = '22023',
            MESSAGE = problem,
            DETAIL = 'Reason: idempotency_invalid_argument.',
            HINT = advice,
            CONSTRAINT = 'idempotency_invalid_argument';
    END IF;
    IF NEW.retention OPERATOR(pg_catalog.<) '1 day'::pg_catalog.interval THEN
        RAISE WARNING USING
            MESSAGE = 'retention is shorter than a day',
            HINT = 'Keep records longer than any client or queue may still send a retry.';
    END IF;
    RETURN NEW;
END
$function$;
COMMENT ON FUNCTION @extschema@.idempotency_check_contract() IS
    'Refuses a contract that cannot be kept. Errors: 22023 bad value';

CREATE TRIGGER idempotency_check_contract
    BEFORE INSERT OR UPDATE ON @extschema@.operation_contract
    FOR EACH ROW EXECUTE FUNCTION @extschema@.idempotency_check_contract();
COMMENT ON TRIGGER idempotency_check_contract ON @extschema@.operation_contract IS
    'A contract is validated however it is written';

CREATE FUNCTION @extschema@.define_operation(
    operation pg_catalog.text,
    retention pg_catalog.interval DEFAULT NULL,
    tombstone_retention pg_catalog.interval DEFAULT NULL,
    save_refusals pg_catalog.bool DEFAULT NULL,
    refusal_sqlstates pg_catalog.text[] DEFAULT NULL,
    key_required pg_catalog.bool DEFAULT NULL,
    max_key_bytes pg_catalog.int4 DEFAULT NULL,
    max_request_bytes pg_catalog.int4 DEFAULT NULL,
    max_response_bytes pg_catalog.int4 DEFAULT NULL,
    lease pg_catalog.interval DEFAULT NULL,
    repeatable pg_catalog.bool DEFAULT NULL,
    ignored_paths pg_catalog.text[] DEFAULT NULL,
    default_values pg_catalog.jsonb DEFAULT NULL,
    keep_request pg_catalog.text DEFAULT NULL,
    redacted_request_paths pg_catalog.text[] DEFAULT NULL,
    keep_response pg_catalog.text DEFAULT NULL,
    redacted_response_paths pg_catalog.text[] DEFAULT NULL
) RETURNS pg_catalog.void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    PERFORM @extschema@.idempotency_require_owner();
    IF operation IS NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = '22023',
            MESSAGE = 'operation must not be null',
            DETAIL = 'Reason: idempotency_invalid_argument.',
            HINT = 'Pass a name and a version, as in place-order:v1.',
            CONSTRAINT = 'idempotency_invalid_argument';
    END IF;
    INSERT INTO @extschema@.operation_contract
        (operation, retention, tombstone_retention, save_refusals, refusal_sqlstates, key_required, max_key_bytes, max_request_bytes, max_response_bytes, lease, repeatable, ignored_paths, default_values, keep_request, redacted_request_paths, keep_response, redacted_response_paths)
        VALUES (define_operation.operation, define_operation.retention, define_operation.tombstone_retention, define_operation.save_refusals, define_operation.refusal_sqlstates, define_operation.key_required, define_operation.max_key_bytes, define_operation.max_request_bytes, define_operation.max_response_bytes, define_operation.lease, define_operation.repeatable, define_operation.ignored_paths, define_operation.default_values, define_operation.keep_request, define_operation.redacted_request_paths, define_operation.keep_response, define_operation.redacted_response_paths)
        ON CONFLICT ON CONSTRAINT operation_contract_pkey DO NOTHING;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING
            ERRCODE = '42710',
            MESSAGE = 'operation is already defined',
            DETAIL = 'Reason: idempotency_invalid_argument.',
            HINT = 'Change it with alter_operation(), or define a new version.',
            CONSTRAINT = 'idempotency_invalid_argument';
    END IF;
END
$function$;
COMMENT ON FUNCTION @extschema@.define_operation(pg_catalog.text, pg_catalog.interval, pg_catalog.interval, pg_catalog.bool, pg_catalog.text[], pg_catalog.bool, pg_catalog.int4, pg_catalog.int4, pg_catalog.int4, pg_catalog.interval, pg_catalog.bool, pg_catalog.text[], pg_catalog.jsonb, pg_catalog.text, pg_catalog.text[], pg_catalog.text, pg_catalog.text[]) IS
    'Defines an operation; what is not passed keeps its default. Errors: 22023 bad value, 42710 already defined, 42501 not the owner';

CREATE FUNCTION @extschema@.alter_operation(
    operation pg_catalog.text,
    retention pg_catalog.interval DEFAULT NULL,
    tombstone_retention pg_catalog.interval DEFAULT NULL,
    save_refusals pg_catalog.bool DEFAULT NULL,
    refusal_sqlstates pg_catalog.text[] DEFAULT NULL,
    key_required pg_catalog.bool DEFAULT NULL,
    max_key_bytes pg_catalog.int4 DEFAULT NULL,
    max_request_bytes pg_catalog.int4 DEFAULT NULL,
    max_response_bytes pg_catalog.int4 DEFAULT NULL,
    lease pg_catalog.interval DEFAULT NULL,
    repeatable pg_catalog.bool DEFAULT NULL,
    ignored_paths pg_catalog.text[] DEFAULT NULL,
    default_values pg_catalog.jsonb DEFAULT NULL,
    keep_request pg_catalog.text DEFAULT NULL,
    redacted_request_paths pg_catalog.text[] DEFAULT NULL,
    keep_response pg_catalog.text DEFAULT NULL,
    redacted_response_paths pg_catalog.text[] DEFAULT NULL,
    reset pg_catalog.text[] DEFAULT NULL
) RETURNS pg_catalog.void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    PERFORM @extschema@.idempotency_require_owner();
    IF (SELECT pg_catalog.bool_or(r IS NULL OR r OPERATOR(pg_catalog.<>) ALL (ARRAY['retention', 'tombstone_retention', 'save_refusals', 'refusal_sqlstates', 'key_required', 'max_key_bytes', 'max_request_bytes', 'max_response_bytes', 'lease', 'repeatable', 'ignored_paths', 'default_values', 'keep_request', 'redacted_request_paths', 'keep_response', 'redacted_response_paths']))
          FROM pg_catalog.unnest(reset) AS r) THEN
        RAISE EXCEPTION USING
            ERRCODE = '22023',
            MESSAGE = 'reset must name settings of a contract',
            DETAIL = 'Reason: idempotency_invalid_argument.',
            HINT = 'The settings are the arguments of alter_operation().',
            CONSTRAINT = 'idempotency_invalid_argument';
    END IF;
    IF 'retention' OPERATOR(pg_catalog.=) ANY (reset) AND retention IS NOT NULL
        OR 'tombstone_retention' OPERATOR(pg_catalog.=) ANY (reset) AND tombstone_retention IS NOT NULL
        OR 'save_refusals' OPERATOR(pg_catalog.=) ANY (reset) AND save_refusals IS NOT NULL
        OR 'refusal_sqlstates' OPERATOR(pg_catalog.=) ANY (reset) AND refusal_sqlstates IS NOT NULL
        OR 'key_required' OPERATOR(pg_catalog.=) ANY (reset) AND key_required IS NOT NULL
        OR 'max_key_bytes' OPERATOR(pg_catalog.=) ANY (reset) AND max_key_bytes IS NOT NULL
        OR 'max_request_bytes' OPERATOR(pg_catalog.=) ANY (reset) AND max_request_bytes IS NOT NULL
        OR 'max_response_bytes' OPERATOR(pg_catalog.=) ANY (reset) AND max_response_bytes IS NOT NULL
        OR 'lease' OPERATOR(pg_catalog.=) ANY (reset) AND lease IS NOT NULL
        OR 'repeatable' OPERATOR(pg_catalog.=) ANY (reset) AND repeatable IS NOT NULL
        OR 'ignored_paths' OPERATOR(pg_catalog.=) ANY (reset) AND ignored_paths IS NOT NULL
        OR 'default_values' OPERATOR(pg_catalog.=) ANY (reset) AND default_values IS NOT NULL
        OR 'keep_request' OPERATOR(pg_catalog.=) ANY (reset) AND keep_request IS NOT NULL
        OR 'redacted_request_paths' OPERATOR(pg_catalog.=) ANY (reset) AND redacted_request_paths IS NOT NULL
        OR 'keep_response' OPERATOR(pg_catalog.=) ANY (reset) AND keep_response IS NOT NULL
        OR 'redacted_response_paths' OPERATOR(pg_catalog.=) ANY (reset) AND redacted_response_paths IS NOT NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = '22023',
            MESSAGE = 'a setting cannot be both set and reset',
            DETAIL = 'Reason: idempotency_invalid_argument.',
            HINT = 'Pass the setting either as an argument or in reset.',
            CONSTRAINT = 'idempotency_invalid_argument';
    END IF;
    UPDATE @extschema@.operation_contract AS c SET
        retention = CASE WHEN 'retention' OPERATOR(pg_catalog.=) ANY (reset) THEN NULL ELSE COALESCE(alter_operation.retention, c.retention) END,
        tombstone_retention = CASE WHEN 'tombstone_retention' OPERATOR(pg_catalog.=) ANY (reset) THEN NULL ELSE COALESCE(alter_operation.tombstone_retention, c.tombstone_retention) END,
        save_refusals = CASE WHEN 'save_refusals' OPERATOR(pg_catalog.=) ANY (reset) THEN NULL ELSE COALESCE(alter_operation.save_refusals, c.save_refusals) END,
        refusal_sqlstates = CASE WHEN 'refusal_sqlstates' OPERATOR(pg_catalog.=) ANY (reset) THEN NULL ELSE COALESCE(alter_operation.refusal_sqlstates, c.refusal_sqlstates) END,
        key_required = CASE WHEN 'key_required' OPERATOR(pg_catalog.=) ANY (reset) THEN NULL ELSE COALESCE(alter_operation.key_required, c.key_required) END,
        max_key_bytes = CASE WHEN 'max_key_bytes' OPERATOR(pg_catalog.=) ANY (reset) THEN NULL ELSE COALESCE(alter_operation.max_key_bytes, c.max_key_bytes) END,
        max_request_bytes = CASE WHEN 'max_request_bytes' OPERATOR(pg_catalog.=) ANY (reset) THEN NULL ELSE COALESCE(alter_operation.max_request_bytes, c.max_request_bytes) END,
        max_response_bytes = CASE WHEN 'max_response_bytes' OPERATOR(pg_catalog.=) ANY (reset) THEN NULL ELSE COALESCE(alter_operation.max_response_bytes, c.max_response_bytes) END,
        lease = CASE WHEN 'lease' OPERATOR(pg_catalog.=) ANY (reset) THEN NULL ELSE COALESCE(alter_operation.lease, c.lease) END,
        repeatable = CASE WHEN 'repeatable' OPERATOR(pg_catalog.=) ANY (reset) THEN NULL ELSE COALESCE(alter_operation.repeatable, c.repeatable) END,
        ignored_paths = CASE WHEN 'ignored_paths' OPERATOR(pg_catalog.=) ANY (reset) THEN NULL ELSE COALESCE(alter_operation.ignored_paths, c.ignored_paths) END,
        default_values = CASE WHEN 'default_values' OPERATOR(pg_catalog.=) ANY (reset) THEN NULL ELSE COALESCE(alter_operation.default_values, c.default_values) END,
        keep_request = CASE WHEN 'keep_request' OPERATOR(pg_catalog.=) ANY (reset) THEN NULL ELSE COALESCE(alter_operation.keep_request, c.keep_request) END,
        redacted_request_paths = CASE WHEN 'redacted_request_paths' OPERATOR(pg_catalog.=) ANY (reset) THEN NULL ELSE COALESCE(alter_operation.redacted_request_paths, c.redacted_request_paths) END,
        keep_response = CASE WHEN 'keep_response' OPERATOR(pg_catalog.=) ANY (reset) THEN NULL ELSE COALESCE(alter_operation.keep_response, c.keep_response) END,
        redacted_response_paths = CASE WHEN 'redacted_response_paths' OPERATOR(pg_catalog.=) ANY (reset) THEN NULL ELSE COALESCE(alter_operation.redacted_response_paths, c.redacted_response_paths) END
        WHERE c.operation OPERATOR(pg_catalog.=) alter_operation.operation;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING
            ERRCODE = '42704',
            MESSAGE = 'operation is not defined',
            DETAIL = 'Reason: idempotency_invalid_argument.',
            HINT = 'Define it with define_operation().',
            CONSTRAINT = 'idempotency_invalid_argument';
    END IF;
END
$function$;
COMMENT ON FUNCTION @extschema@.alter_operation(pg_catalog.text, pg_catalog.interval, pg_catalog.interval, pg_catalog.bool, pg_catalog.text[], pg_catalog.bool, pg_catalog.int4, pg_catalog.int4, pg_catalog.int4, pg_catalog.interval, pg_catalog.bool, pg_catalog.text[], pg_catalog.jsonb, pg_catalog.text, pg_catalog.text[], pg_catalog.text, pg_catalog.text[], pg_catalog.text[]) IS
    'Changes an operation: what is passed is set, what reset names goes back to its default, the rest stays. Records keep the comparison they were made under. Errors: 22023 bad value, 42704 not defined, 42501 not the owner';

CREATE FUNCTION @extschema@.drop_operation(operation pg_catalog.text) RETURNS pg_catalog.void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    PERFORM @extschema@.idempotency_require_owner();
    DELETE FROM @extschema@.operation_contract AS c
        WHERE c.operation OPERATOR(pg_catalog.=) drop_operation.operation;
    IF NOT FOUND THEN
        RAISE EXCEPTION USING
            ERRCODE = '42704',
            MESSAGE = 'operation is not defined',
            DETAIL = 'Reason: idempotency_invalid_argument.',
            HINT = 'Look at the view idempotency_operations.',
            CONSTRAINT = 'idempotency_invalid_argument';
    END IF;
END
$function$;
COMMENT ON FUNCTION @extschema@.drop_operation(pg_catalog.text) IS
    'Sets an operation back to the defaults; its records stay. Errors: 42704 not defined, 42501 not the owner';

CREATE FUNCTION @extschema@.idempotency_contract_defaults() RETURNS TABLE (
    key_required pg_catalog.bool,
    max_key_bytes pg_catalog.int4,
    max_request_bytes pg_catalog.int4,
    max_response_bytes pg_catalog.int4,
    save_refusals pg_catalog.bool,
    refusal_sqlstates pg_catalog.text,
    keep_request pg_catalog.text,
    keep_response pg_catalog.text
)
LANGUAGE c STABLE PARALLEL SAFE ROWS 1
AS 'MODULE_PATHNAME', 'idempotency_contract_defaults';
COMMENT ON FUNCTION @extschema@.idempotency_contract_defaults() IS
    'The defaults of a contract, as the library has them';

CREATE VIEW @extschema@.idempotency_operations WITH (security_barrier) AS
    SELECT o.operation,
           o.built_in,
           c.operation IS NOT NULL AS defined,
           c.retention,
           c.tombstone_retention,
           COALESCE(c.save_refusals, d.save_refusals) AS save_refusals,
           COALESCE(c.refusal_sqlstates, pg_catalog.string_to_array(d.refusal_sqlstates, ',')) AS refusal_sqlstates,
           COALESCE(c.key_required, d.key_required) AS key_required,
           COALESCE(c.max_key_bytes, d.max_key_bytes) AS max_key_bytes,
           COALESCE(c.max_request_bytes, d.max_request_bytes) AS max_request_bytes,
           COALESCE(c.max_response_bytes, d.max_response_bytes) AS max_response_bytes,
           c.lease,
           COALESCE(c.repeatable, false) AS repeatable,
           COALESCE(c.ignored_paths, ARRAY[]::pg_catalog.text[]) AS ignored_paths,
           COALESCE(c.default_values, '{}'::pg_catalog.jsonb) AS default_values,
           COALESCE(c.keep_request, d.keep_request) AS keep_request,
           COALESCE(c.redacted_request_paths, ARRAY[]::pg_catalog.text[]) AS redacted_request_paths,
           COALESCE(c.keep_response, d.keep_response) AS keep_response,
           COALESCE(c.redacted_response_paths, ARRAY[]::pg_catalog.text[]) AS redacted_response_paths
      FROM (SELECT 'debit:v1'::pg_catalog.text COLLATE pg_catalog."C" AS operation, true AS built_in
            UNION ALL
            SELECT k.operation, false FROM @extschema@.operation_contract AS k
             WHERE k.operation OPERATOR(pg_catalog.<>) 'debit:v1') AS o
      LEFT JOIN @extschema@.operation_contract AS c
        ON c.operation OPERATOR(pg_catalog.=) o.operation
     CROSS JOIN @extschema@.idempotency_contract_defaults() AS d;
COMMENT ON VIEW @extschema@.idempotency_operations IS
    'The contracts in force: what was set, and the default where nothing was';
