-- Everything the extension owns, compared with a list: members, signatures, volatility, owners and
-- privileges. What appears, disappears or changes here is part of the contract.
\set VERBOSITY terse
\set SHOW_CONTEXT never
CREATE ROLE idempotency_test_ledger;
CREATE SCHEMA AUTHORIZATION idempotency_test_ledger;
SELECT current_database() AS here \gset
GRANT CREATE ON DATABASE :"here" TO idempotency_test_ledger;
SET ROLE idempotency_test_ledger;
CREATE EXTENSION idempotency SCHEMA idempotency_test_ledger;
RESET ROLE;
SET search_path = idempotency_test_ledger;

-- Who stands for whom, whatever the superuser of this server is called.
CREATE FUNCTION pg_temp.who(role oid) RETURNS text LANGUAGE sql AS $$
    SELECT CASE role WHEN 0 THEN 'PUBLIC' WHEN 10 THEN 'superuser'
                ELSE regexp_replace(pg_get_userbyid(role), '^idempotency_test_ledger$', 'installer') END
$$;
-- Privileges, leaving out those of the object's owner himself, which differ between versions.
CREATE FUNCTION pg_temp.privileges(acl aclitem[], owner oid) RETURNS text LANGUAGE sql AS $$
    SELECT string_agg(pg_temp.who(a.grantee) || ': ' || a.privilege_type
                      || CASE WHEN a.is_grantable THEN ' with grant option' ELSE '' END, ', '
                      ORDER BY a.grantee, a.privilege_type)
      FROM aclexplode(acl) AS a WHERE a.grantee <> owner
$$;

SELECT extversion, extrelocatable, pg_temp.who(extowner) AS owner,
       extnamespace::regnamespace AS schema
  FROM pg_extension WHERE extname = 'idempotency';
SELECT t.id::regclass AS dumped, t.condition
  FROM pg_extension AS e, unnest(e.extconfig, e.extcondition) AS t (id, condition)
 WHERE e.extname = 'idempotency'
 ORDER BY t.id::regclass::text COLLATE "C";

-- Members, by kind. Row types, indexes, constraints and triggers come with their tables.
SELECT i.type, count(*) FROM pg_depend AS d
  JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid,
       pg_identify_object(d.classid, d.objid, d.objsubid) AS i
 WHERE e.extname = 'idempotency' AND d.deptype = 'e' AND i.type <> 'type' GROUP BY 1 ORDER BY 1;

\pset format unaligned
-- Relations.
SELECT c.relname, c.relkind, c.relpersistence AS persistence, c.relrowsecurity AS row_security,
       pg_temp.who(c.relowner) AS owner, pg_temp.privileges(c.relacl, c.relowner) AS privileges,
       c.reloptions
  FROM pg_depend AS d
  JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
  JOIN pg_class AS c ON d.classid = 'pg_class'::regclass AND d.objid = c.oid
 WHERE e.extname = 'idempotency' ORDER BY c.relname COLLATE "C";

-- Their columns.
SELECT a.attrelid::regclass, string_agg(concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod),
       CASE WHEN a.attcollation = '"C"'::regcollation THEN 'C' END,
       CASE WHEN a.attnotnull THEN 'not null' END,
       'default ' || pg_get_expr(f.adbin, f.adrelid)), ', ' ORDER BY a.attnum) AS columns
  FROM pg_attribute AS a LEFT JOIN pg_attrdef AS f ON f.adrelid = a.attrelid AND f.adnum = a.attnum
 WHERE a.attrelid IN (SELECT oid FROM pg_class WHERE relkind = 'r'
                         AND relnamespace = 'idempotency_test_ledger'::regnamespace)
   AND a.attnum > 0 AND NOT a.attisdropped
 GROUP BY 1 ORDER BY a.attrelid::regclass::text COLLATE "C";
SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
 WHERE attrelid = 'idempotency_operations'::regclass AND attnum > 0 ORDER BY attnum;

-- Their constraints (NOT NULL has names since 18 only), indexes and triggers.
SELECT conrelid::regclass, conname, contype FROM pg_constraint
 WHERE connamespace = 'idempotency_test_ledger'::regnamespace AND contype <> 'n'
 ORDER BY conrelid::regclass::text COLLATE "C", conname COLLATE "C";
SELECT pg_get_indexdef(indexrelid) FROM pg_index
 WHERE indrelid IN (SELECT oid FROM pg_class WHERE relkind = 'r'
                       AND relnamespace = 'idempotency_test_ledger'::regnamespace)
 ORDER BY pg_get_indexdef(indexrelid) COLLATE "C";
SELECT tgrelid::regclass, tgname, tgenabled, tgfoid::regproc FROM pg_trigger
 WHERE NOT tgisinternal AND tgrelid IN (SELECT oid FROM pg_class
                                         WHERE relnamespace = 'idempotency_test_ledger'::regnamespace)
 ORDER BY tgrelid::regclass::text COLLATE "C", tgname COLLATE "C";

-- Functions: none is STRICT, SECURITY DEFINER or leakproof.
SELECT p.proname || '(' || pg_get_function_arguments(p.oid) || ')' AS function,
       pg_get_function_result(p.oid) AS result
  FROM pg_depend AS d
  JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
  JOIN pg_proc AS p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
 WHERE e.extname = 'idempotency'
 ORDER BY p.proname COLLATE "C", pg_get_function_identity_arguments(p.oid) COLLATE "C";
SELECT p.proname, p.prokind AS kind, l.lanname AS language, p.provolatile AS volatility,
       p.proparallel AS parallel, p.proretset AS set, p.proisstrict AS strict,
       p.prosecdef AS definer, p.proleakproof AS leakproof, p.proconfig AS settings,
       pg_temp.who(p.proowner) AS owner, pg_temp.privileges(p.proacl, p.proowner) AS privileges
  FROM pg_depend AS d
  JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid
  JOIN pg_proc AS p ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid
  JOIN pg_language AS l ON l.oid = p.prolang
 WHERE e.extname = 'idempotency'
 ORDER BY p.proname COLLATE "C", pg_get_function_identity_arguments(p.oid) COLLATE "C";

-- Nothing is PUBLIC's, nothing lies in another schema, everything says what it is for.
SELECT i.type, i.identity FROM pg_depend AS d
  JOIN pg_extension AS e ON d.refclassid = 'pg_extension'::regclass AND d.refobjid = e.oid,
       pg_identify_object(d.classid, d.objid, d.objsubid) AS i
 WHERE e.extname = 'idempotency' AND d.deptype = 'e'
   AND (i.schema IS DISTINCT FROM 'idempotency_test_ledger' OR obj_description(d.objid, d.classid::regclass::text::name) IS NULL)
   AND i.type NOT IN ('type', 'composite type')
 ORDER BY 1, 2;
SELECT p.oid::regprocedure FROM pg_proc AS p
 WHERE p.pronamespace = 'idempotency_test_ledger'::regnamespace
   AND has_function_privilege('pg_monitor', p.oid, 'EXECUTE');
SELECT c.oid::regclass FROM pg_class AS c
 WHERE c.relnamespace = 'idempotency_test_ledger'::regnamespace AND c.relkind IN ('r', 'v')
   AND has_any_column_privilege('pg_monitor', c.oid, 'SELECT,INSERT,UPDATE,REFERENCES');

-- A superuser who installs owns everything himself.
\pset format aligned
RESET search_path;
DROP EXTENSION idempotency;
CREATE EXTENSION idempotency SCHEMA public;
SELECT DISTINCT pg_temp.who(c.relowner) AS relations, pg_temp.who(p.proowner) AS functions,
       pg_temp.privileges(p.proacl, p.proowner) AS others
  FROM pg_class AS c, pg_proc AS p
 WHERE c.relnamespace = 'public'::regnamespace AND p.pronamespace = 'public'::regnamespace;
DROP EXTENSION idempotency;
DROP OWNED BY idempotency_test_ledger;
DROP ROLE idempotency_test_ledger;
