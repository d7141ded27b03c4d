-- Nobody but the owner may call anything until he grants it. The functions belong to whoever
-- installs, as the tables do, so that he can grant them.

ALTER FUNCTION @extschema@.debit_once(pg_catalog.int8, pg_catalog.text, pg_catalog.int8) OWNER TO @extowner@;
ALTER FUNCTION @extschema@.debit_request(pg_catalog.int8, pg_catalog.text, pg_catalog.int8) OWNER TO @extowner@;
ALTER FUNCTION @extschema@.consume_once(pg_catalog.text, pg_catalog.uuid, pg_catalog.int8, pg_catalog.int8, pg_catalog.jsonb) OWNER TO @extowner@;
ALTER FUNCTION @extschema@.idempotency_announce_change() OWNER TO @extowner@;
ALTER FUNCTION @extschema@.run_once(pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.jsonb, pg_catalog.regprocedure, pg_catalog.int4, pg_catalog.interval) OWNER TO @extowner@;
ALTER FUNCTION @extschema@.run_sql_once(pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.jsonb, pg_catalog.text, pg_catalog.int4, pg_catalog.interval) OWNER TO @extowner@;
ALTER FUNCTION @extschema@.reserve_request(pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.jsonb, pg_catalog.interval) OWNER TO @extowner@;
ALTER FUNCTION @extschema@.complete_request(pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.jsonb, pg_catalog.int4) OWNER TO @extowner@;
ALTER FUNCTION @extschema@.complete_request(pg_catalog.jsonb, pg_catalog.int4) OWNER TO @extowner@;
ALTER FUNCTION @extschema@.refuse_request(pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.jsonb, pg_catalog.int4) OWNER TO @extowner@;
ALTER FUNCTION @extschema@.find_request(pg_catalog.text, pg_catalog.text, pg_catalog.text) OWNER TO @extowner@;
ALTER FUNCTION @extschema@.abandon_request(pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.interval) OWNER TO @extowner@;
ALTER FUNCTION @extschema@.current_request() OWNER TO @extowner@;

REVOKE ALL ON FUNCTION @extschema@.debit_once(pg_catalog.int8, pg_catalog.text, pg_catalog.int8) FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.debit_request(pg_catalog.int8, pg_catalog.text, pg_catalog.int8) FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.consume_once(pg_catalog.text, pg_catalog.uuid, pg_catalog.int8, pg_catalog.int8, pg_catalog.jsonb) FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.idempotency_announce_change() FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.run_once(pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.jsonb, pg_catalog.regprocedure, pg_catalog.int4, pg_catalog.interval) FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.run_sql_once(pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.jsonb, pg_catalog.text, pg_catalog.int4, pg_catalog.interval) FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.reserve_request(pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.jsonb, pg_catalog.interval) FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.complete_request(pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.jsonb, pg_catalog.int4) FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.complete_request(pg_catalog.jsonb, pg_catalog.int4) FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.refuse_request(pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.jsonb, pg_catalog.int4) FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.find_request(pg_catalog.text, pg_catalog.text, pg_catalog.text) FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.abandon_request(pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.interval) FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.current_request() FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.idempotency_privilege() FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.idempotency_follow_grants(pg_catalog.regrole) FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.grant_idempotency(pg_catalog.regrole, pg_catalog.text, pg_catalog.text[], pg_catalog.text) FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.revoke_idempotency(pg_catalog.regrole, pg_catalog.text) FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.idempotency_check_contract() FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.idempotency_contract_defaults() FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.define_operation(pg_catalog.text, pg_catalog.interval, pg_catalog.interval, pg_catalog.bool, pg_catalog.text[], pg_catalog.bool, pg_catalog.int4, pg_catalog.int4, pg_catalog.int4, pg_catalog.interval, pg_catalog.bool, pg_catalog.text[], pg_catalog.jsonb, pg_catalog.text, pg_catalog.text[], pg_catalog.text, pg_catalog.text[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.alter_operation(pg_catalog.text, pg_catalog.interval, pg_catalog.interval, pg_catalog.bool, pg_catalog.text[], pg_catalog.bool, pg_catalog.int4, pg_catalog.int4, pg_catalog.int4, pg_catalog.interval, pg_catalog.bool, pg_catalog.text[], pg_catalog.jsonb, pg_catalog.text, pg_catalog.text[], pg_catalog.text, pg_catalog.text[], pg_catalog.text[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.drop_operation(pg_catalog.text) FROM PUBLIC;
ALTER FUNCTION @extschema@.idempotency_table_access() OWNER TO @extowner@;
ALTER FUNCTION @extschema@.idempotency_latest_access() OWNER TO @extowner@;
REVOKE ALL ON FUNCTION @extschema@.idempotency_table_access() FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.idempotency_latest_access() FROM PUBLIC;
