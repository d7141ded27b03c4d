-- Whom the extension trusts, for which scopes. In a table and not in a setting, since a client can
-- displace what is set for a library that is not loaded yet.

CREATE TABLE @extschema@.idempotency_grant (
    role pg_catalog.regrole NOT NULL,
    access pg_catalog.text COLLATE pg_catalog."C" NOT NULL,
    scopes pg_catalog.text[] COLLATE pg_catalog."C",
    scope_setting pg_catalog.text COLLATE pg_catalog."C",
    CONSTRAINT idempotency_grant_pkey PRIMARY KEY (role, access),
    CONSTRAINT idempotency_grant_access_check
        CHECK (access OPERATOR(pg_catalog.=) ANY (ARRAY['use', 'read', 'operate'])),
    CONSTRAINT idempotency_grant_scopes_check
        CHECK ((scopes IS NULL) OPERATOR(pg_catalog.<>) (scope_setting IS NULL))
);
ALTER TABLE @extschema@.idempotency_grant OWNER TO @extowner@;
-- A role is dumped by its name; one that was dropped has none and would come back as a number,
-- which may mean another role there.
SELECT pg_catalog.pg_extension_config_dump(
    '@extschema@.idempotency_grant',
    'WHERE EXISTS (SELECT FROM pg_catalog.pg_roles AS r WHERE r.oid OPERATOR(pg_catalog.=) role::pg_catalog.oid)'
);

COMMENT ON TABLE @extschema@.idempotency_grant IS
    'Which roles may do what, for which scopes; written by grant_idempotency() and revoke_idempotency()';
COMMENT ON COLUMN @extschema@.idempotency_grant.role IS 'The role, and so every member that inherits its privileges';
COMMENT ON COLUMN @extschema@.idempotency_grant.access IS 'use: call the functions; read: see the views, without bodies; operate: see bodies, reconcile, purge';
COMMENT ON COLUMN @extschema@.idempotency_grant.scopes IS 'The scopes it is for, compared bytewise; {*} means every scope; NULL where scope_setting is given';
COMMENT ON COLUMN @extschema@.idempotency_grant.scope_setting IS 'The setting whose value at the call is the one scope it is for; NULL where scopes are given';
COMMENT ON CONSTRAINT idempotency_grant_pkey ON @extschema@.idempotency_grant IS 'One grant a role and access';
COMMENT ON CONSTRAINT idempotency_grant_access_check ON @extschema@.idempotency_grant IS 'The accesses that exist';
COMMENT ON CONSTRAINT idempotency_grant_scopes_check ON @extschema@.idempotency_grant IS 'Exactly one of scopes and scope_setting';
COMMENT ON INDEX @extschema@.idempotency_grant_pkey IS 'Serves grant_idempotency() and revoke_idempotency()';

CREATE TRIGGER idempotency_grant_changed
    AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON @extschema@.idempotency_grant
    FOR EACH STATEMENT EXECUTE FUNCTION @extschema@.idempotency_announce_change();
-- Also for rows that logical replication applies.
ALTER TABLE @extschema@.idempotency_grant ENABLE ALWAYS TRIGGER idempotency_grant_changed;
COMMENT ON TRIGGER idempotency_grant_changed ON @extschema@.idempotency_grant IS
    'A changed grant takes effect at the next call of every session';

CREATE FUNCTION @extschema@.idempotency_privilege(
    OUT access pg_catalog.text,
    OUT privilege pg_catalog.text
) RETURNS SETOF pg_catalog.record
LANGUAGE sql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $function$
    VALUES
        ('use', 'EXECUTE ON FUNCTION @extschema@.debit_once(pg_catalog.int8, pg_catalog.text, pg_catalog.int8)'),
        ('use', 'EXECUTE ON FUNCTION @extschema@.debit_request(pg_catalog.int8, pg_catalog.text, pg_catalog.int8)'),
        ('use', 'EXECUTE ON FUNCTION @extschema@.consume_once(pg_catalog.text, pg_catalog.uuid, pg_catalog.int8, pg_catalog.int8, pg_catalog.jsonb)'),
        ('use', 'EXECUTE ON FUNCTION @extschema@.run_once(pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.jsonb, pg_catalog.regprocedure, pg_catalog.int4, pg_catalog.interval)'),
        ('use', 'EXECUTE ON FUNCTION @extschema@.run_sql_once(pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.jsonb, pg_catalog.text, pg_catalog.int4, pg_catalog.interval)'),
        ('use', 'EXECUTE ON FUNCTION @extschema@.reserve_request(pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.jsonb, pg_catalog.interval)'),
        ('use', 'EXECUTE ON FUNCTION @extschema@.complete_request(pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.jsonb, pg_catalog.int4)'),
        ('use', 'EXECUTE ON FUNCTION @extschema@.complete_request(pg_catalog.jsonb, pg_catalog.int4)'),
        ('use', 'EXECUTE ON FUNCTION @extschema@.refuse_request(pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.jsonb, pg_catalog.int4)'),
        ('use', 'EXECUTE ON FUNCTION @extschema@.find_request(pg_catalog.text, pg_catalog.text, pg_catalog.text)'),
        ('use', 'EXECUTE ON FUNCTION @extschema@.abandon_request(pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.interval)'),
        ('use', 'EXECUTE ON FUNCTION @extschema@.current_request()'),
        ('use', 'EXECUTE ON FUNCTION @extschema@.idempotency_latest_access()'),
        ('read', 'SELECT ON @extschema@.idempotency_operations'),
        ('read', 'EXECUTE ON FUNCTION @extschema@.idempotency_contract_defaults()'),
        ('operate', 'SELECT ON @extschema@.idempotency_operations'),
        ('operate', 'EXECUTE ON FUNCTION @extschema@.idempotency_contract_defaults()')
$function$;
COMMENT ON FUNCTION @extschema@.idempotency_privilege() IS
    'What each access gives a role; for grant_idempotency() and revoke_idempotency()';

CREATE FUNCTION @extschema@.idempotency_follow_grants(role pg_catalog.regrole) RETURNS pg_catalog.void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $function$
DECLARE
    entry pg_catalog.record;
BEGIN
    IF NOT EXISTS (
        SELECT FROM pg_catalog.pg_roles AS r
         WHERE r.oid OPERATOR(pg_catalog.=) role::pg_catalog.oid
    ) OR role::pg_catalog.text OPERATOR(pg_catalog.=) pg_catalog.quote_ident(CURRENT_USER) THEN
        RETURN;  -- dropped, and its privileges with it; or the owner, who keeps his
    END IF;
    FOR entry IN
        SELECT p.privilege,
               pg_catalog.bool_or(g.role IS NOT NULL) AS granted
          FROM @extschema@.idempotency_privilege() AS p
          LEFT JOIN @extschema@.idempotency_grant AS g
            ON g.access OPERATOR(pg_catalog.=) p.access
           AND g.role OPERATOR(pg_catalog.=) idempotency_follow_grants.role
         GROUP BY p.privilege
         ORDER BY p.privilege
    LOOP
        IF entry.granted THEN
            EXECUTE pg_catalog.format('GRANT %s TO %s', entry.privilege, role);
        ELSE
            EXECUTE pg_catalog.format('REVOKE %s FROM %s', entry.privilege, role);
        END IF;
    END LOOP;
END
$function$;
COMMENT ON FUNCTION @extschema@.idempotency_follow_grants(pg_catalog.regrole) IS
    'Gives and takes privileges so that they follow the grants; for grant_idempotency() and revoke_idempotency()';

CREATE FUNCTION @extschema@.grant_idempotency(
    role pg_catalog.regrole,
    access pg_catalog.text,
    scopes pg_catalog.text[] DEFAULT NULL,
    scope_setting pg_catalog.text DEFAULT NULL
) RETURNS pg_catalog.void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $function$
#variable_conflict use_variable
DECLARE
    problem pg_catalog.text;
    advice pg_catalog.text;
BEGIN
    PERFORM @extschema@.idempotency_require_owner();
    IF role IS NULL OR NOT EXISTS (
        SELECT FROM pg_catalog.pg_roles AS r
         WHERE r.oid OPERATOR(pg_catalog.=) role::pg_catalog.oid
    ) THEN
        problem := 'role must be an existing role';
        advice := 'Name the role that the application connects as.';
    ELSIF access IS NULL OR access OPERATOR(pg_catalog.<>) ALL (ARRAY['use', 'read', 'operate']) THEN
        problem := 'access must be use, read or operate';
        advice := 'See the chapter on rights.';
    ELSIF (scopes IS NULL) OPERATOR(pg_catalog.=) (scope_setting IS NULL) THEN
        problem := 'exactly one of scopes and scope_setting is needed';
        advice := 'Pass scopes => ''{*}'' for a trusted application that authenticates its own callers.';
    ELSIF pg_catalog.array_ndims(scopes) OPERATOR(pg_catalog.>) 1 THEN
        problem := 'scopes must be a list';
        advice := 'Pass scopes => ''{a,b}''.';
    ELSIF pg_catalog.cardinality(scopes) OPERATOR(pg_catalog.=) 0
        OR pg_catalog.array_position(scopes, NULL) IS NOT NULL
        OR '' OPERATOR(pg_catalog.=) ANY (scopes) THEN
        problem := 'scopes must name at least one scope, and none that is null or empty';
        advice := 'Pass scopes => ''{*}'' for every scope.';
    ELSIF '*' OPERATOR(pg_catalog.=) ANY (scopes) AND pg_catalog.cardinality(scopes) OPERATOR(pg_catalog.>) 1 THEN
        problem := 'every scope and single scopes exclude each other';
        advice := 'Pass either scopes => ''{*}'' or the scopes by name.';
    ELSIF (SELECT pg_catalog.bool_or(pg_catalog.octet_length(s) OPERATOR(pg_catalog.>) 255)
             FROM pg_catalog.unnest(scopes) AS s) THEN
        problem := 'a scope is too long: at most 255 bytes are allowed';
        advice := 'Use a shorter identity, such as a UUID or a digest of the long one.';
    ELSIF scope_setting OPERATOR(pg_catalog.!~) '^[A-Za-z_][A-Za-z0-9_$]*([.][A-Za-z_][A-Za-z0-9_$]*)+$'
        OR scope_setting OPERATOR(pg_catalog.~~*) 'idempotency.%' THEN
        problem := 'scope_setting must be the name of a setting of the application''s own';
        advice := 'Such a name has a dot, as in app.tenant_id.';
    END IF;
    IF problem IS NOT NULL THEN
        RAISE EXCEPTION USING
            ERRCODE = '22023',
            MESSAGE = problem,
            DETAIL = 'Reason: idempotency_invalid_argument.',
            HINT = advice,
            CONSTRAINT = 'idempotency_invalid_argument';
    END IF;
    INSERT INTO @extschema@.idempotency_grant AS g (role, access, scopes, scope_setting)
        VALUES (role, access, scopes, scope_setting)
        ON CONFLICT ON CONSTRAINT idempotency_grant_pkey
        DO UPDATE SET scopes = EXCLUDED.scopes, scope_setting = EXCLUDED.scope_setting;
    PERFORM @extschema@.idempotency_follow_grants(role);
END
$function$;
COMMENT ON FUNCTION @extschema@.grant_idempotency(pg_catalog.regrole, pg_catalog.text, pg_catalog.text[], pg_catalog.text) IS
    'Lets a role use, read or operate, for the scopes given or for the one that a setting names at the call; replaces an earlier grant of the same access. '
    'Errors: 22023 bad argument, 42501 not the owner';

CREATE FUNCTION @extschema@.revoke_idempotency(
    role pg_catalog.regrole,
    access pg_catalog.text DEFAULT NULL
) RETURNS pg_catalog.void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    PERFORM @extschema@.idempotency_require_owner();
    IF role IS NULL OR access OPERATOR(pg_catalog.<>) ALL (ARRAY['use', 'read', 'operate']) THEN
        RAISE EXCEPTION USING
            ERRCODE = '22023',
            MESSAGE = CASE WHEN role IS NULL THEN 'role must not be null'
                           ELSE 'access must be use, read or operate' END,
            DETAIL = 'Reason: idempotency_invalid_argument.',
            HINT = 'Name an existing role, and an access or none for all.',
            CONSTRAINT = 'idempotency_invalid_argument';
    END IF;
    DELETE FROM @extschema@.idempotency_grant AS g
        WHERE g.role OPERATOR(pg_catalog.=) revoke_idempotency.role
          AND (revoke_idempotency.access IS NULL
               OR g.access OPERATOR(pg_catalog.=) revoke_idempotency.access);
    PERFORM @extschema@.idempotency_follow_grants(role);
END
$function$;
COMMENT ON FUNCTION @extschema@.revoke_idempotency(pg_catalog.regrole, pg_catalog.text) IS
    'Takes one access, or every access, from a role. Errors: 22023 bad argument, 42501 not the owner';
