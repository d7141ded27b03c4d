-- Nobody but the owner may call anything until he grants it. The functions belong to whoever
-- installs, as the tables do, so that he can grant them.

ALTER FUNCTION @extschema@.debit_once(pg_catalog.int8, pg_catalog.text, pg_catalog.int8) OWNER TO @extowner@;
ALTER FUNCTION @extschema@.debit_request(pg_catalog.int8, pg_catalog.text, pg_catalog.int8) OWNER TO @extowner@;
ALTER FUNCTION @extschema@.consume_once(pg_catalog.text, pg_catalog.uuid, pg_catalog.int8, pg_catalog.int8, pg_catalog.jsonb) OWNER TO @extowner@;

REVOKE ALL ON FUNCTION @extschema@.debit_once(pg_catalog.int8, pg_catalog.text, pg_catalog.int8) FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.debit_request(pg_catalog.int8, pg_catalog.text, pg_catalog.int8) FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.consume_once(pg_catalog.text, pg_catalog.uuid, pg_catalog.int8, pg_catalog.int8, pg_catalog.jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.idempotency_grant_changed() FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.idempotency_privilege() FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.idempotency_follow_grants(pg_catalog.regrole) FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.grant_idempotency(pg_catalog.regrole, pg_catalog.text, pg_catalog.text[], pg_catalog.text) FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.revoke_idempotency(pg_catalog.regrole, pg_catalog.text) FROM PUBLIC;
