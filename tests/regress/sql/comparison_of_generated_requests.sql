-- Generated pairs of requests: the extension's verdict is that of Postgres's own jsonb equality.
-- SEED=0.123 in the environment repeats a run; the server's log and a disagreement tell the seed.
\set VERBOSITY terse
\set SHOW_CONTEXT never
CREATE EXTENSION idempotency;
\getenv seed SEED
\if :{?seed}
\else
SELECT round(random()::numeric, 12) AS seed \gset
\endif
SELECT set_config('t.seed', :'seed', false) IS NOT NULL AS seeded, setseed(:'seed') IS NULL AS set_seed \gset
\pset null '(null)'

CREATE FUNCTION any_of(VARIADIC choices text[]) RETURNS text LANGUAGE sql VOLATILE
    AS $$ SELECT choices[1 + floor(random() * cardinality(choices))::int] $$;
CREATE FUNCTION one_in(n int) RETURNS boolean LANGUAGE sql VOLATILE AS $$ SELECT random() * n < 1 $$;

CREATE FUNCTION any_scalar() RETURNS text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    RETURN CASE floor(random() * 7)::int
        WHEN 0 THEN floor(random() * 4)::text
        WHEN 1 THEN any_of('9007199254740992', '9007199254740993', '18446744073709551616', '18446744073709551617', '-9223372036854775808',
                           repeat('9', 300), '1' || repeat('0', 300), '1e400', '1e-400', '-0', '0.0', '0e10')
        WHEN 2 THEN round((random() * 100)::numeric, floor(random() * 20)::int)::text
        WHEN 3 THEN (floor(random() * 2000) - 1000)::text || any_of('', '.0', '.50', '.000001', 'e2', 'e-3', '.10e1')
        WHEN 4 THEN any_of('null', 'true', 'false', '""', '[]', '{}')
        WHEN 5 THEN any_of('"a"', '"A"', '"a "', '"1"', '"1.0"', '"null"', '"é"', '"e\u0301"', '"\u00e9"', '"😀"', '"\ud83d\ude00"', '"/"', '"\/"', '"\\"', '"[redacted]"')
        ELSE to_json(left(md5(random()::text), floor(random() * 8)::int))::text END;
END $$;

-- A request as text, with names twice, any spelling of numbers and any order.
CREATE FUNCTION any_json(depth int) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    parts text[] := '{}';
BEGIN
    IF depth = 0 OR one_in(5) THEN
        RETURN any_scalar();
    ELSIF one_in(3) THEN
        FOR n IN 1..floor(random() * 4) LOOP
            parts := parts || any_json(depth - 1);
        END LOOP;
        RETURN '[' || array_to_string(parts, ',') || ']';
    END IF;
    FOR n IN 1..floor(random() * 5) LOOP
        parts := parts || (any_of('"a"', '"b"', '"A"', '""', '"ig"', '"d"', '"a/b"', '"~"', '"0"', '"é"', '"e\u0301"') || ':' || any_json(depth - 1));
    END LOOP;
    RETURN '{' || array_to_string(parts, ', ') || '}';
END $$;

-- The same value in another spelling.
CREATE FUNCTION respelt(value jsonb) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    plain text;
BEGIN
    CASE jsonb_typeof(value)
    WHEN 'object' THEN
        RETURN '{' || coalesce((SELECT string_agg(CASE WHEN one_in(6) THEN to_json(key)::text || ':' || any_scalar() || ',' ELSE '' END
                                                  || to_json(key)::text || ' : ' || respelt(e.value), ',' ORDER BY random())
                                  FROM jsonb_each(value) AS e), '') || '}';
    WHEN 'array' THEN
        RETURN '[' || coalesce((SELECT string_agg(respelt(e), any_of(',', ' , ')) FROM jsonb_array_elements(value) AS e), '') || ']';
    WHEN 'number' THEN
        plain := value::text;
        RETURN CASE floor(random() * 4)::int
            WHEN 0 THEN plain || CASE WHEN plain ~ '\.' THEN '' ELSE '.' END || repeat('0', 1 + floor(random() * 3)::int)
            WHEN 1 THEN plain || 'e0'
            WHEN 2 THEN trim_scale(plain::numeric)::text
            ELSE plain END;
    ELSE
        RETURN value::text;
    END CASE;
END $$;

-- A value that differs in one place, if at all.
CREATE FUNCTION altered(value jsonb) RETURNS jsonb LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    kind text := jsonb_typeof(value);
    keys text[];
    key text;
    size int;
BEGIN
    IF kind = 'object' THEN
        keys := ARRAY(SELECT jsonb_object_keys(value));
        key := any_of(VARIADIC keys);
        RETURN CASE
            WHEN key IS NULL OR one_in(6) THEN value || jsonb_build_object(any_of('a', 'b', 'A', '', 'ig', 'd', 'new'), any_scalar()::jsonb)
            WHEN one_in(6) THEN value - key
            WHEN one_in(6) THEN (value - key) || jsonb_build_object(key || any_of(' ', 'x', ''), value -> key)
            WHEN one_in(10) THEN jsonb_build_array(value)
            ELSE value || jsonb_build_object(key, altered(value -> key)) END;
    ELSIF kind = 'array' THEN
        size := jsonb_array_length(value);
        RETURN CASE
            WHEN size = 0 OR one_in(6) THEN value || any_scalar()::jsonb
            WHEN one_in(6) THEN value - (floor(random() * size)::int)
            WHEN one_in(6) THEN (SELECT jsonb_agg(e ORDER BY random()) FROM jsonb_array_elements(value) AS e)
            WHEN one_in(10) THEN value -> 0
            ELSE jsonb_set(value, ARRAY[(size - 1)::text], altered(value -> (size - 1))) END;
    ELSIF kind = 'number' THEN
        RETURN CASE floor(random() * 5)::int
            WHEN 0 THEN to_jsonb((value::text)::numeric + 1)
            WHEN 1 THEN to_jsonb((value::text)::numeric - 0.000000000000000000001)
            WHEN 2 THEN to_jsonb(- (value::text)::numeric)
            WHEN 3 THEN to_jsonb(value::text)
            ELSE to_jsonb(trim_scale((value::text)::numeric)) END;
    ELSIF kind = 'string' THEN
        RETURN CASE floor(random() * 4)::int
            WHEN 0 THEN to_jsonb((value #>> '{}') || ' ')
            WHEN 1 THEN to_jsonb(upper(value #>> '{}'))
            WHEN 2 THEN to_jsonb(reverse(value #>> '{}'))
            ELSE to_jsonb(ARRAY[value #>> '{}']) END;
    END IF;
    RETURN any_of('null', 'true', 'false', '0', '""', '[]', '{}')::jsonb;
END $$;

-- By jsonb's equality, by the extension's own comparison, and by a digest.
SELECT define_operation('whole:v1');
SELECT define_operation('tree:v1', ignored_paths => '{/not/there}');
SELECT define_operation('digest:v1', keep_request => 'digest', ignored_paths => '{/ig}');
SELECT define_operation('lenient:v1', ignored_paths => '{/ig}', default_values => '{"d": 1}');

-- As such a contract compares: Postgres's words for it.
CREATE FUNCTION compared(operation text, value jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE
        WHEN jsonb_typeof(value) <> 'object' OR operation IN ('whole:v1', 'tree:v1') THEN value
        WHEN operation = 'digest:v1' THEN value - 'ig'
        ELSE ('{"d": 1}' || value) - 'ig' END
$$;
CREATE TABLE seen (operation text, equal boolean, verdict text, count bigint, PRIMARY KEY (operation, equal, verdict));

CREATE PROCEDURE compare(bases int, each int) LANGUAGE plpgsql AS $$
DECLARE
    operations text[] := '{whole:v1,tree:v1,digest:v1,lenient:v1}';
    operation text;
    kept jsonb;
    given jsonb;
    verdict text;
    shown int := 0;
    tally jsonb := '{}';
    slot text;
BEGIN
    RAISE LOG 'seed of the generated requests: %', current_setting('t.seed');
    FOR base IN 1..bases LOOP
        kept := any_json(4);
        BEGIN
            FOREACH operation IN ARRAY operations LOOP
                PERFORM FROM reserve_request('s', operation, 'k', kept);
            END LOOP;
            FOR n IN 1..each LOOP
                given := CASE WHEN n <= each * 0.45 THEN respelt(kept)::jsonb
                              WHEN n < each THEN altered(kept)
                              ELSE any_json(2)::jsonb END;
                FOREACH operation IN ARRAY operations LOOP
                    BEGIN
                        SELECT state INTO verdict FROM reserve_request('s', operation, 'k', given);
                    EXCEPTION WHEN OTHERS THEN
                        verdict := SQLSTATE;
                    END;
                    slot := concat_ws(' ', operation, compared(operation, kept) = compared(operation, given), verdict);
                    tally := jsonb_set(tally, ARRAY[slot], to_jsonb(coalesce((tally ->> slot)::bigint, 0) + 1));
                    IF (verdict = 'acquired') <> (compared(operation, kept) = compared(operation, given)) AND shown < 5 THEN
                        shown := shown + 1;
                        RAISE WARNING 'seed %: % says % of % and %', current_setting('t.seed'), operation, verdict, left(kept::text, 300), left(given::text, 300);
                    END IF;
                END LOOP;
            END LOOP;
            RAISE EXCEPTION 'undone' USING ERRCODE = 'UNDO1';
        EXCEPTION WHEN SQLSTATE 'UNDO1' THEN
            NULL;
        END;
    END LOOP;
    INSERT INTO seen SELECT split_part(key, ' ', 1), split_part(key, ' ', 2)::boolean, split_part(key, ' ', 3), value::bigint
      FROM jsonb_each_text(tally);
END $$;
CALL compare(2600, 8);

-- Each pair was compared in four ways, most of them near misses, and both verdicts are well represented.
SELECT sum(count) / 4 >= 20000 AS enough FROM seen;
SELECT operation, equal, verdict, count > 4000 AS many FROM seen ORDER BY operation, equal, verdict;
SELECT count(*) FROM idempotency_record;
