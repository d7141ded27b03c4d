-- Nobody may call anything until it is granted. The functions stay with whoever created them, in a
-- trusted installation the bootstrap superuser: the owner of a function may replace it, and a
-- superuser may call it. The installer gets the right to grant.

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
REVOKE ALL ON FUNCTION @extschema@.idempotency_require_owner() FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.idempotency_follow_grants(pg_catalog.regrole) FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.grant_idempotency(pg_catalog.regrole, pg_catalog.text, pg_catalog.text[], pg_catalog.text) FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.revoke_idempotency(pg_catalog.regrole, pg_catalog.text) FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.idempotency_check_contract() FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.idempotency_contract_defaults() FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.define_operation(pg_catalog.text, pg_catalog.interval, pg_catalog.interval, pg_catalog.bool, pg_catalog.text[], pg_catalog.bool, pg_catalog.int4, pg_catalog.int4, pg_catalog.int4, pg_catalog.interval, pg_catalog.bool, pg_catalog.text[], pg_catalog.jsonb, pg_catalog.text, pg_catalog.text[], pg_catalog.text, pg_catalog.text[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.alter_operation(pg_catalog.text, pg_catalog.interval, pg_catalog.interval, pg_catalog.bool, pg_catalog.text[], pg_catalog.bool, pg_catalog.int4, pg_catalog.int4, pg_catalog.int4, pg_catalog.interval, pg_catalog.bool, pg_catalog.text[], pg_catalog.jsonb, pg_catalog.text, pg_catalog.text[], pg_catalog.text, pg_catalog.text[], pg_catalog.text[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.drop_operation(pg_catalog.text) FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.idempotency_table_access() FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.idempotency_latest_access() FROM PUBLIC;

GRANT EXECUTE ON FUNCTION @extschema@.debit_once(pg_catalog.int8, pg_catalog.text, pg_catalog.int8) TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.debit_request(pg_catalog.int8, pg_catalog.text, pg_catalog.int8) TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.consume_once(pg_catalog.text, pg_catalog.uuid, pg_catalog.int8, pg_catalog.int8, pg_catalog.jsonb) TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.run_once(pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.jsonb, pg_catalog.regprocedure, pg_catalog.int4, pg_catalog.interval) TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.run_sql_once(pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.jsonb, pg_catalog.text, pg_catalog.int4, pg_catalog.interval) TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.reserve_request(pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.jsonb, pg_catalog.interval) TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.complete_request(pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.jsonb, pg_catalog.int4) TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.complete_request(pg_catalog.jsonb, pg_catalog.int4) TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.refuse_request(pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.jsonb, pg_catalog.int4) TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.find_request(pg_catalog.text, pg_catalog.text, pg_catalog.text) TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.abandon_request(pg_catalog.text, pg_catalog.text, pg_catalog.text, pg_catalog.interval) TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.current_request() TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.idempotency_require_owner() TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.idempotency_privilege() TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.idempotency_follow_grants(pg_catalog.regrole) TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.grant_idempotency(pg_catalog.regrole, pg_catalog.text, pg_catalog.text[], pg_catalog.text) TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.revoke_idempotency(pg_catalog.regrole, pg_catalog.text) TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.idempotency_contract_defaults() TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.define_operation(pg_catalog.text, pg_catalog.interval, pg_catalog.interval, pg_catalog.bool, pg_catalog.text[], pg_catalog.bool, pg_catalog.int4, pg_catalog.int4, pg_catalog.int4, pg_catalog.interval, pg_catalog.bool, pg_catalog.text[], pg_catalog.jsonb, pg_catalog.text, pg_catalog.text[], pg_catalog.text, pg_catalog.text[]) TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.alter_operation(pg_catalog.text, pg_catalog.interval, pg_catalog.interval, pg_catalog.bool, pg_catalog.text[], pg_catalog.bool, pg_catalog.int4, pg_catalog.int4, pg_catalog.int4, pg_catalog.interval, pg_catalog.bool, pg_catalog.text[], pg_catalog.jsonb, pg_catalog.text, pg_catalog.text[], pg_catalog.text, pg_catalog.text[], pg_catalog.text[]) TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.drop_operation(pg_catalog.text) TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.idempotency_table_access() TO @extowner@ WITH GRANT OPTION;
GRANT EXECUTE ON FUNCTION @extschema@.idempotency_latest_access() TO @extowner@ WITH GRANT OPTION;
GRANT SELECT ON @extschema@.idempotency_operations TO @extowner@ WITH GRANT OPTION;
