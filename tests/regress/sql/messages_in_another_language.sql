-- A message text in another language changes nothing.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
CREATE EXTENSION idempotency;
INSERT INTO account VALUES (1, 1000);
CREATE FUNCTION speak(locale text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('lc_messages', locale, false);
EXCEPTION WHEN OTHERS THEN
    NULL; -- not on this machine
END $$;
CREATE FUNCTION verdicts(key text) RETURNS SETOF text LANGUAGE sql AS $$
    SELECT concat_ws(' ', a.result, a.code, a.reason)
      FROM (VALUES
        (1, $q$SELECT replayed FROM debit_request(1, %L, 10)$q$),
        (2, $q$SELECT replayed FROM debit_request(1, %L, 10)$q$),
        (3, $q$SELECT debit_once(1, %L, 11)$q$),
        (4, $q$SELECT debit_once(1, %L || 'x', 1000000)$q$),
        (5, $q$SELECT debit_once(99, %L, 10)$q$),
        (6, $q$SELECT debit_once(1, %L, 0)$q$),
        (7, $q$SELECT consume_once(%L, '00000000-0000-0000-0000-000000000001', 1, 10) > 0$q$),
        (8, $q$SELECT consume_once(%L, '00000000-0000-0000-0000-000000000001', 1, 10)$q$),
        (9, $q$SELECT consume_once(%L, '00000000-0000-0000-0000-000000000001', 1, 11)$q$),
        (10, $q$SELECT consume_once(%L, '00000000-0000-0000-0000-000000000002', 99, 10)$q$),
        (11, $q$SELECT consume_once(%L, '00000000-0000-0000-0000-000000000003', 1,
                                    9223372036854775807)$q$)) AS v (n, statement),
           t.attempt(format(statement, key)) AS a
     ORDER BY n
$$;
SELECT speak('C');
SELECT * FROM verdicts('C');
SELECT speak('de_DE.UTF-8');
SELECT * FROM verdicts('de');
SELECT speak('ja_JP.UTF-8');
SELECT * FROM verdicts('ja');
