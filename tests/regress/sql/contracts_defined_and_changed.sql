-- define_operation, alter_operation, drop_operation, and the contracts in force.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\set helper :regress '/sql/helpers/effects.psql'
\i :helper
CREATE EXTENSION idempotency;
\pset null '(null)'

-- Nothing defined: the built-in operation with its defaults.
\x
SELECT * FROM idempotency_operations;
SELECT define_operation('order:v1');
SELECT * FROM idempotency_operations WHERE operation = 'order:v1';
-- Everything set.
SELECT define_operation('all:v12',
    retention => '30 days',
    tombstone_retention => '1 year',
    save_refusals => true,
    refusal_sqlstates => '{P0001,AB123}',
    key_required => false,
    max_key_bytes => 1024,
    max_request_bytes => 1000,
    max_response_bytes => 2000,
    lease => '30 seconds',
    repeatable => true,
    ignored_paths => '{/trace,/a~1b/0/~0}',
    default_values => '{"currency": "EUR", "n": {"x": 1.0}}',
    keep_request => 'redacted',
    redacted_request_paths => '{/card}',
    keep_response => 'redacted',
    redacted_response_paths => '{/token,/a/0}');
SELECT * FROM idempotency_operations WHERE operation = 'all:v12';
SELECT * FROM operation_contract WHERE operation = 'all:v12';
-- What is passed is set, what is reset goes back to its default, the rest stays.
SELECT alter_operation('all:v12', max_key_bytes => 1, repeatable => false, retention => '40 days',
    reset => '{lease,keep_request,redacted_request_paths,default_values}');
SELECT * FROM idempotency_operations WHERE operation = 'all:v12';
SELECT alter_operation('all:v12', reset => '{retention,tombstone_retention,save_refusals,refusal_sqlstates,key_required,max_key_bytes,max_request_bytes,max_response_bytes,lease,repeatable,ignored_paths,default_values,keep_request,redacted_request_paths,keep_response,redacted_response_paths}');
SELECT * FROM idempotency_operations WHERE operation = 'all:v12';
-- Of a debit only the retention can be set.
SELECT define_operation('debit:v1', retention => '90 days');
SELECT * FROM idempotency_operations WHERE operation = 'debit:v1';
\x
SELECT alter_operation('debit:v1', retention => '91 days');
SELECT operation, built_in, defined, retention FROM idempotency_operations ORDER BY operation;
SELECT drop_operation('all:v12');
SELECT drop_operation('debit:v1');
SELECT operation, built_in, defined, retention FROM idempotency_operations ORDER BY operation;
TABLE operation_contract;
-- In a transaction that is rolled back nothing was defined, altered or dropped.
BEGIN;
SELECT define_operation('gone:v1', max_key_bytes => 2);
SELECT alter_operation('order:v1', max_key_bytes => 2);
SELECT o.code FROM t.outcome($$SELECT * FROM run_once('s', 'gone:v1', 'long', '{}', 'pay(jsonb)')$$) AS o;
SELECT o.code FROM t.outcome($$SELECT * FROM run_once('s', 'order:v1', 'long', '{}', 'pay(jsonb)')$$) AS o;
ROLLBACK;
SELECT o.state FROM t.outcome($$SELECT * FROM run_once('s', 'gone:v1', 'long', '{}', 'pay(jsonb)')$$) AS o;
SELECT o.state FROM t.outcome($$SELECT * FROM run_once('s', 'order:v1', 'long', '{}', 'pay(jsonb)')$$) AS o;
BEGIN;
SELECT alter_operation('order:v1', max_key_bytes => 2);
SAVEPOINT s;
SELECT alter_operation('order:v1', max_key_bytes => 1);
SELECT o.code FROM t.outcome($$SELECT * FROM run_once('s', 'order:v1', 'ab', '{}', 'pay(jsonb)')$$) AS o;
ROLLBACK TO s;
SELECT o.state, o.code FROM t.outcome($$SELECT * FROM run_once('s', 'order:v1', 'ab', '{}', 'pay(jsonb)')$$) AS o;
SELECT o.state, o.code FROM t.outcome($$SELECT * FROM run_once('s', 'order:v1', 'abc', '{}', 'pay(jsonb)')$$) AS o;
ROLLBACK;

-- Defined twice, altered or dropped without being defined.
SELECT a.code, a.reason, a.message, a.hint <> '' AS hinted FROM (VALUES
    (1, $$SELECT define_operation('order:v1')$$),
    (2, $$SELECT define_operation('order:v1', retention => '1 year')$$),
    (3, $$SELECT alter_operation('order:v2', retention => '1 year')$$),
    (4, $$SELECT alter_operation('debit:v1', retention => '1 year')$$),
    (5, $$SELECT alter_operation('Order:v1', retention => '1 year')$$),
    (6, $$SELECT drop_operation('order:v2')$$),
    (7, $$SELECT drop_operation('debit:v1')$$),
    (8, $$SELECT drop_operation('')$$),
    (11, $$SELECT define_operation(NULL)$$),
    (12, $$SELECT alter_operation(NULL, retention => '1 year')$$),
    (13, $$SELECT drop_operation(NULL)$$)) AS v (n, statement),
       t.attempt(statement) AS a
 ORDER BY n;

-- Bad values: 22023, each with its reason, and nothing is changed; by define, by alter and by plain SQL.
CREATE TABLE bad (n int, setting text);
INSERT INTO bad VALUES
    (1, $$retention => '0'$$), (2, $$retention => '-1 day'$$), (3, $$tombstone_retention => '0 seconds'$$),
    (4, $$tombstone_retention => '-1 second'$$), (5, $$lease => '0'$$), (6, $$lease => '-1 hour'$$),
    (7, $$retention => '1 month -31 days'$$),
    (11, $$max_key_bytes => 0$$), (12, $$max_key_bytes => -1$$), (13, $$max_key_bytes => 1025$$),
    (14, $$max_key_bytes => 2147483647$$), (15, $$max_request_bytes => 0$$), (16, $$max_request_bytes => -1$$),
    (17, $$max_response_bytes => 0$$), (18, $$max_response_bytes => -2147483648$$),
    (21, $$refusal_sqlstates => '{P001}'$$), (22, $$refusal_sqlstates => '{P00001}'$$),
    (23, $$refusal_sqlstates => '{p0001}'$$), (24, $$refusal_sqlstates => '{P0001,NULL}'$$),
    (25, $$refusal_sqlstates => '{""}'$$), (26, $$refusal_sqlstates => '{raise_exception}'$$),
    (27, $$refusal_sqlstates => '{P0001,40001}'$$), (28, $$refusal_sqlstates => '{57014}'$$),
    (29, $$refusal_sqlstates => '{"P000 "}'$$),
    (31, $$ignored_paths => '{trace}'$$), (32, $$ignored_paths => '{/a,""}'$$), (33, $$ignored_paths => '{NULL}'$$),
    (34, $$ignored_paths => '{$.trace}'$$), (35, $$ignored_paths => '{" /a"}'$$),
    (41, $$default_values => '[]'$$), (42, $$default_values => '1'$$), (43, $$default_values => 'null'$$),
    (44, $$default_values => '"x"'$$),
    (51, $$keep_request => 'all'$$), (52, $$keep_request => ''$$), (53, $$keep_request => 'WHOLE'$$),
    (54, $$keep_response => 'none'$$), (55, $$keep_request => 'redacted'$$), (56, $$keep_response => 'redacted'$$),
    (57, $$redacted_request_paths => '{/a}'$$), (58, $$redacted_response_paths => '{/a}'$$),
    (59, $$keep_request => 'digest', redacted_request_paths => '{/a}'$$),
    (60, $$keep_request => 'redacted', redacted_request_paths => '{a}'$$),
    (61, $$keep_response => 'redacted', redacted_response_paths => '{/a,NULL}'$$),
    (62, $$keep_response => 'redacted', redacted_request_paths => '{/a}'$$);
SELECT n, setting, a.code, a.reason, a.message, strpos(a.detail, a.reason) > 0 AS reason_in_detail, a.hint <> '' AS hinted
  FROM bad, t.attempt(format($$SELECT define_operation('bad:v1', %s)$$, setting)) AS a ORDER BY n;
SELECT count(*) FROM bad, t.attempt(format($$SELECT alter_operation('order:v1', %s)$$, setting)) AS a
 WHERE a.code = '22023' AND a.reason = 'idempotency_invalid_argument';
SELECT count(*) FROM bad;
SELECT a.code, a.reason FROM t.attempt($$INSERT INTO operation_contract (operation, max_key_bytes) VALUES ('sql:v1', 0)$$) AS a;
SELECT a.code, a.reason FROM t.attempt($$UPDATE operation_contract SET lease = '0'$$) AS a;
SELECT reset, a.code, a.reason FROM (VALUES
    (1, '{no_such_setting}'), (2, '{retention,operation}'), (3, '{NULL}'), (4, '{""}'), (5, '{Retention}'),
    (6, '{}')) AS v (n, reset),
       t.attempt(format($$SELECT alter_operation('order:v1', reset => %L)$$, reset)) AS a
 ORDER BY n;
-- A tilde in a JSON pointer is written ~0 and begins an escape otherwise.
SELECT n, a.code, a.reason FROM (VALUES (1, '{/a~2}'), (2, '{/a~}'), (3, '{/a/~/b}'), (4, '{/a~0~1,/~01}')) AS v (n, paths),
       t.attempt(format($$SELECT alter_operation('order:v1', ignored_paths => %L)$$, paths)) AS a
 ORDER BY n;
SELECT ignored_paths FROM idempotency_operations WHERE operation = 'order:v1';

-- Ill-formed operations.
SELECT n, a.code, a.reason FROM (VALUES
    (1, ''), (2, ' '), (3, 'order'), (4, 'order:1'), (5, 'order:v'), (6, 'Order:v1'), (7, ':v1'), (8, '-order:v1'),
    (9, 'order:v1 '), (10, ' order:v1'), (11, 'order:v1x'), (12, 'a:b:v1'), (13, 'größe:v1'), (14, E'order:v1\n'),
    (15, 'order v:v1'), (16, 'order:V1'), (17, 'order:v-1'), (18, repeat('o', 253) || ':v1')) AS v (n, name),
       t.attempt(format($$SELECT define_operation(%L)$$, name)) AS a
 ORDER BY n;
SELECT n, a.code FROM (VALUES
    (1, 'o:v0'), (2, '0:v1'), (3, 'a.b_c-d:v007'), (4, repeat('o', 252) || ':v1')) AS v (n, name),
       t.attempt(format($$SELECT define_operation(%L)$$, name)) AS a
 ORDER BY n;
-- Nothing but the retention can be said of a built-in operation.
SELECT setting, a.code, a.reason, a.message FROM (VALUES
    (1, 'save_refusals => true'), (2, 'save_refusals => false'), (3, $$refusal_sqlstates => '{P0001}'$$),
    (4, 'key_required => false'), (5, 'max_key_bytes => 10'), (6, 'max_request_bytes => 10'),
    (7, 'max_response_bytes => 10'), (8, $$lease => '1 hour'$$), (9, 'repeatable => true'),
    (10, $$ignored_paths => '{/a}'$$), (11, $$default_values => '{}'$$), (12, $$keep_request => 'digest'$$),
    (13, $$keep_response => 'digest'$$), (14, $$retention => '1 year', max_key_bytes => 10$$)) AS v (n, setting),
       t.attempt(format($$SELECT define_operation('debit:v1', %s)$$, setting)) AS a
 ORDER BY n;
SELECT operation, defined FROM idempotency_operations WHERE length(operation) < 20 ORDER BY operation;

-- A retention that a late retry may outlive: a warning where it is set.
SELECT define_operation('short:v1', retention => '23 hours');
SELECT alter_operation('short:v1', retention => '1 second');
SELECT alter_operation('short:v1', retention => '1 day');
SELECT define_operation('long:v1', retention => '100 years', tombstone_retention => '1 second');

-- Operations that nobody has defined.
SHOW idempotency.unknown_operations;
SELECT state FROM run_once('s', 'unknown:v1', 'k', '{}', 'pay(jsonb)');
SET idempotency.unknown_operations = 'refuse';
SELECT statement, a.result, a.code, a.reason, a.message FROM (VALUES
    (1, $$SELECT state FROM run_once('s', 'unknown:v2', 'k', '{}', 'pay(jsonb)')$$),
    (2, $$SELECT state FROM run_sql_once('s', 'unknown:v2', 'k', '{}', 'SELECT 1')$$),
    (3, $$SELECT state FROM reserve_request('s', 'unknown:v2', 'k', '{}')$$),
    (4, $$SELECT state FROM abandon_request('s', 'unknown:v2', 'k')$$),
    (5, $$SELECT state FROM run_once('s', 'order:v1', 'k', '{}', 'pay(jsonb)')$$),
    (6, $$SELECT state FROM find_request('1', 'debit:v1', 'k')$$),
    (7, $$SELECT define_operation('unknown:v3')$$),
    (8, $$SELECT state FROM run_once('s', 'unknown:v3', 'k', '{}', 'pay(jsonb)')$$)) AS v (n, statement),
       t.attempt(statement) AS a
 ORDER BY n;
INSERT INTO account VALUES (1, 1000);
SELECT debit_once(1, 'k', 100);
SELECT a.code FROM t.attempt($$SET idempotency.unknown_operations = 'perhaps'$$) AS a;
RESET idempotency.unknown_operations;
CREATE ROLE app;
SELECT grant_idempotency('app', 'use', scopes => '{*}');
\set VERBOSITY sqlstate
SET ROLE app;
SET idempotency.unknown_operations = 'allow';
SELECT define_operation('mine:v1');
SELECT alter_operation('order:v1', max_key_bytes => 1);
SELECT drop_operation('order:v1');
RESET ROLE;
\set VERBOSITY terse
SELECT revoke_idempotency('app');
