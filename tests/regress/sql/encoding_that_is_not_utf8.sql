-- A database whose encoding is not UTF8 is refused with an error that says what to do.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\set encoding :regress '/sql/helpers/foreign_encoding.psql'
SELECT current_database() AS here \gset
CREATE DATABASE idempotency_latin1 TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C';
CREATE DATABASE idempotency_ascii TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C';

-- CREATE EXTENSION may say so, or the first call.
\c idempotency_latin1
\i :helper
\i :encoding
SELECT * FROM t.first_error();
\c idempotency_ascii
\i :helper
\i :encoding
SELECT * FROM t.first_error();

\c :here
DROP DATABASE idempotency_latin1;
DROP DATABASE idempotency_ascii;
