-- An application's role and not a superuser, so that grants are looked up as they would be; and the
-- same once more for going through SPI.
CREATE ROLE bench LOGIN;
CREATE ROLE bench_spi LOGIN;
ALTER ROLE bench_spi SET idempotency.table_access = 'spi';
GRANT pg_read_all_stats TO bench, bench_spi;
