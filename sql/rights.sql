-- Nobody but the installer may call anything until he grants it.

REVOKE ALL ON FUNCTION @extschema@.debit_once(pg_catalog.int8, pg_catalog.text, pg_catalog.int8) FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.debit_request(pg_catalog.int8, pg_catalog.text, pg_catalog.int8) FROM PUBLIC;
REVOKE ALL ON FUNCTION @extschema@.consume_once(pg_catalog.text, pg_catalog.uuid, pg_catalog.int8, pg_catalog.int8, pg_catalog.jsonb) FROM PUBLIC;
