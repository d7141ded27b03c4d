-- Databases of other collations give equal results, in equal order.
\set VERBOSITY terse
\getenv regress PG_ABS_SRCDIR
\set calls :regress '/sql/helpers/collation_calls.psql'
SELECT current_database() AS here,
       EXISTS (SELECT FROM pg_collation WHERE collname = 'de-DE-x-icu') AS icu,
       EXISTS (SELECT FROM pg_collation WHERE collname = 'de_DE.utf8') AS german \gset
\i :calls
\set expected :digest

CREATE DATABASE idempotency_other TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8';
\c idempotency_other
\i :calls
SELECT :'digest' = :'expected' AS equal;
\c :here
DROP DATABASE idempotency_other;

-- Which of the two databases were made shows in the expected file (_1 ICU, _2 the C library, _3 both).
-- Where this server and machine have them: ICU's German and the C library's.
\set german_by_icu :expected
\set german_by_libc :expected
\o /dev/null
\if :icu
CREATE DATABASE idempotency_other TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'
    LOCALE_PROVIDER icu ICU_LOCALE 'de-DE';
\c idempotency_other
\i :calls
\set german_by_icu :digest
\c :here
DROP DATABASE idempotency_other;
\endif
\if :german
CREATE DATABASE idempotency_other TEMPLATE template0 ENCODING 'UTF8' LOCALE 'de_DE.utf8';
\c idempotency_other
\i :calls
\set german_by_libc :digest
\c :here
DROP DATABASE idempotency_other;
\endif
\o
SELECT :'german_by_icu' = :'expected' AS icu_equal, :'german_by_libc' = :'expected' AS libc_equal;
