-- find_request reads and writes nothing; abandon_request tells whether it was committed, or burns the key.
\set VERBOSITY terse
\set SHOW_CONTEXT never
\getenv regress PG_ABS_SRCDIR
\set helper :regress '/sql/helpers/attempt.psql'
\i :helper
\set helper :regress '/sql/helpers/effects.psql'
\i :helper
CREATE EXTENSION idempotency;
\pset null '(null)'
INSERT INTO account VALUES (1, 1000), (2, 1000);
SELECT define_operation('pay:v1', save_refusals => true);
SELECT state FROM run_once('s', 'pay:v1', 'done', '{"amount": 1}', 'pay(jsonb)', 201);
SELECT state FROM run_once('s', 'pay:v1', 'refused', '{"raise": "P0001"}', 'pay(jsonb)');
SELECT debit_once(1, 'done', 100);

-- find_request: finished, a debit, none.
SELECT state, replayed, response, http_status, sqlstate, message, detail, hint, created_at IS NOT NULL AS created,
       completed_at >= created_at AS ends_after FROM find_request('s', 'pay:v1', 'done');
SELECT state, replayed, response, http_status, sqlstate, message, detail, hint, created_at IS NOT NULL AS created,
       completed_at >= created_at AS ends_after FROM find_request('s', 'pay:v1', 'refused');
SELECT state, replayed, response, http_status, sqlstate, created_at IS NOT NULL AS created, completed_at >= created_at AS ends_after
  FROM find_request('1', 'debit:v1', 'done');
SELECT * FROM find_request('s', 'pay:v1', 'none');
SELECT * FROM find_request('2', 'debit:v1', 'done');
SELECT * FROM find_request('1', 'debit:v1', 'none');
SELECT * FROM find_request('99', 'debit:v1', 'done');
SELECT * FROM find_request('s2', 'pay:v1', 'done');
SELECT * FROM find_request('s', 'pay:v2', 'done');
SELECT * FROM find_request('s', 'pay:v1', 'DONE');
-- No transaction id, whatever it finds; in a read-only transaction, at every isolation level.
BEGIN;
SELECT f.state FROM find_request('s', 'pay:v1', 'done') AS f;
SELECT f.state FROM find_request('1', 'debit:v1', 'done') AS f;
SELECT count(*) FROM find_request('s', 'pay:v1', 'none');
SELECT pg_current_xact_id_if_assigned();
COMMIT;
BEGIN READ ONLY;
SELECT f.state FROM find_request('s', 'pay:v1', 'refused') AS f;
SELECT count(*) FROM find_request('s', 'pay:v1', 'none');
SELECT f.state FROM find_request('1', 'debit:v1', 'done') AS f;
COMMIT;
BEGIN ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE;
SELECT f.state FROM find_request('s', 'pay:v1', 'done') AS f;
SELECT pg_current_xact_id_if_assigned();
COMMIT;
-- What this transaction has open is acquired; what it has finished is finished; and back, with a savepoint.
BEGIN;
SELECT state FROM reserve_request('s', 'pay:v1', 'own', '{}');
SELECT state, replayed, response, http_status, created_at IS NOT NULL AS created, completed_at FROM find_request('s', 'pay:v1', 'own');
SAVEPOINT a;
SELECT state FROM complete_request('1');
SELECT state, response FROM find_request('s', 'pay:v1', 'own');
ROLLBACK TO a;
SELECT state, response FROM find_request('s', 'pay:v1', 'own');
ROLLBACK;
SELECT count(*) FROM find_request('s', 'pay:v1', 'own');

-- abandon_request: what is finished is answered, and stays.
SELECT state, replayed, response, http_status FROM abandon_request('s', 'pay:v1', 'done');
SELECT state, replayed, response, http_status, sqlstate FROM abandon_request('s', 'pay:v1', 'refused');
SELECT state, replayed, response, http_status FROM abandon_request('1', 'debit:v1', 'done');
BEGIN;
SELECT state FROM abandon_request('s', 'pay:v1', 'done');
SELECT state FROM abandon_request('1', 'debit:v1', 'done');
SELECT pg_current_xact_id_if_assigned();
COMMIT;
BEGIN READ ONLY;
SELECT state FROM abandon_request('s', 'pay:v1', 'done');
SELECT a.code FROM t.attempt($$SELECT abandon_request('s', 'pay:v1', 'never')$$) AS a;
SELECT a.code FROM t.attempt($$SELECT abandon_request('1', 'debit:v1', 'never')$$) AS a;
COMMIT;
SELECT replayed, response FROM run_once('s', 'pay:v1', 'done', '{"amount": 1}', 'pay(jsonb)');
-- None: the key is burnt, and a late original is refused by every door.
SELECT state, replayed, response, http_status, sqlstate, message, created_at IS NOT NULL AS created, completed_at >= created_at AS ends_after
  FROM abandon_request('s', 'pay:v1', 'never');
SELECT state, replayed, response, http_status, sqlstate, message, created_at IS NOT NULL AS created, completed_at >= created_at AS ends_after
  FROM abandon_request('s', 'pay:v1', 'never');
SELECT state, replayed, response, http_status FROM find_request('s', 'pay:v1', 'never');
SELECT n, o.code, o.reason, o.message FROM (VALUES
    (1, $$SELECT * FROM run_once('s', 'pay:v1', 'never', '{"amount": 1}', 'pay(jsonb)')$$),
    (2, $$SELECT * FROM run_once('s', 'pay:v1', 'never', 'null', 'pay(jsonb)')$$),
    (3, $$SELECT * FROM run_sql_once('s', 'pay:v1', 'never', '{"amount": 1}', 'SELECT pay($1)')$$),
    (4, $$SELECT * FROM reserve_request('s', 'pay:v1', 'never', '{"amount": 1}')$$),
    (5, $$SELECT * FROM reserve_request('s', 'pay:v1', 'never', '{"amount": 1}', '0')$$)) AS v (n, statement),
    t.outcome(statement) AS o ORDER BY n;
SELECT a.code, a.reason, a.detail, a.hint FROM t.attempt($$SELECT run_once('s', 'pay:v1', 'never', '{"amount": 1}', 'pay(jsonb)')$$) AS a;
SELECT o.code, o.reason FROM t.outcome($$SELECT * FROM complete_request('s', 'pay:v1', 'never', '1')$$) AS o;
SELECT request_key, state, request, response, http_status, ends_after_it_began FROM t.kept() WHERE request_key = 'never';
-- A refusal of an abandoned key is not saved as one of the contract's either, though it is called from an effect.
SELECT alter_operation('pay:v1', refusal_sqlstates => '{P0001,55000}');
SELECT o.code, o.reason FROM t.outcome($$SELECT * FROM run_once('s', 'pay:v1', 'never', '{"amount": 1}', 'pay(jsonb)')$$) AS o;
SELECT state FROM find_request('s', 'pay:v1', 'never');
-- A debit.
SELECT state, replayed, response, http_status, created_at IS NOT NULL AS created, completed_at IS NOT NULL AS completed
  FROM abandon_request('2', 'debit:v1', 'never');
SELECT state, replayed, response, http_status, created_at IS NOT NULL AS created, completed_at IS NOT NULL AS completed
  FROM abandon_request('2', 'debit:v1', 'never');
SELECT state, replayed, response, http_status FROM find_request('2', 'debit:v1', 'never');
SELECT a.result, a.code, a.reason FROM t.attempt($$SELECT debit_once(2, 'never', 100)$$) AS a;
SELECT a.result, a.code, a.reason FROM t.attempt($$SELECT state FROM debit_request(2, 'never', 100)$$) AS a;
SELECT account_id, request_key, request, response FROM request_result ORDER BY account_id, request_key;
SELECT * FROM t.store();
-- Other keys are as free as ever.
SELECT debit_once(2, 'never 2', 100);
SELECT state FROM run_once('s', 'pay:v1', 'never 2', '{"amount": 1}', 'pay(jsonb)');
-- It binds at the commit: rolled back, the key is free.
BEGIN;
SELECT state FROM abandon_request('s', 'pay:v1', 'undone');
SELECT o.code, o.reason FROM t.outcome($$SELECT * FROM run_once('s', 'pay:v1', 'undone', '{"amount": 1}', 'pay(jsonb)')$$) AS o;
ROLLBACK;
SELECT state FROM run_once('s', 'pay:v1', 'undone', '{"amount": 1}', 'pay(jsonb)');
BEGIN;
SAVEPOINT a;
SELECT state FROM abandon_request('1', 'debit:v1', 'undone');
ROLLBACK TO a;
SELECT debit_once(1, 'undone', 1);
COMMIT;
-- In a transaction with other work, prepared, and from within an effect.
BEGIN;
SELECT state FROM run_once('s', 'pay:v1', 'other work', '{"amount": 1}', 'pay(jsonb)');
SELECT state FROM abandon_request('s', 'pay:v1', 'with other work');
COMMIT;
BEGIN;
SELECT state FROM abandon_request('s', 'pay:v1', 'prepared');
PREPARE TRANSACTION 'idempotency abandon';
COMMIT PREPARED 'idempotency abandon';
SELECT state, replayed FROM abandon_request('s', 'pay:v1', 'prepared');
SELECT response FROM run_sql_once('s', 'give-up:v1', 'k', '{}', $$SELECT state FROM abandon_request('s', 'pay:v1', 'within')$$);
SELECT state FROM find_request('s', 'pay:v1', 'within');
-- What this transaction reserved cannot be abandoned by it; what it has finished is answered.
BEGIN;
SELECT state FROM reserve_request('s', 'pay:v1', 'mine', '{}');
SELECT a.code, a.reason, a.detail, a.hint FROM t.attempt($$SELECT abandon_request('s', 'pay:v1', 'mine')$$) AS a;
SELECT state FROM complete_request('"mine"');
SELECT state, replayed, response FROM abandon_request('s', 'pay:v1', 'mine');
COMMIT;
-- Abandoned and reserved in one transaction: refused.
BEGIN;
SELECT state FROM abandon_request('s', 'pay:v1', 'both');
SELECT o.code, o.reason FROM t.outcome($$SELECT * FROM reserve_request('s', 'pay:v1', 'both', '{}')$$) AS o;
COMMIT;
-- The commit is synchronous, whatever the setting: see that it is flushed.
SET synchronous_commit = off;
BEGIN;
SELECT state FROM abandon_request('s', 'pay:v1', 'flushed');
SELECT pg_current_wal_insert_lsn() AS written \gset
COMMIT;
SELECT pg_current_wal_flush_lsn() >= :'written' AS flushed;
RESET synchronous_commit;

-- An attempt that another release, or the operator, has left: its state is what it is.
INSERT INTO idempotency_record (scope, operation, request_key, state, request, attempt, lease_until) VALUES
    ('s', 'charge:v1', 'live', 'pending', '{}', 1, clock_timestamp() + interval '1 hour'),
    ('s', 'charge:v1', 'expired', 'pending', '{}', 1, clock_timestamp() - interval '1 hour'),
    ('s', 'charge:v1', 'unknown', 'unknown', '{}', 2, NULL),
    ('s', 'charge:v1', 'gone', 'gone', NULL, NULL, NULL);
SELECT k, f.state, f.replayed, f.response FROM unnest('{live,expired,unknown,gone}'::text[]) AS k, find_request('s', 'charge:v1', k) AS f;
SELECT k, r.code AS reserve, r.reason, o.code AS run, o.reason, a.state AS abandoned, a.code AS abandon, a.reason
  FROM unnest('{live,expired,unknown,gone}'::text[]) WITH ORDINALITY AS v (k, n),
       t.outcome(format('SELECT * FROM reserve_request(''s'', ''charge:v1'', %L, ''{}'')', k)) AS r,
       t.outcome(format('SELECT * FROM run_once(''s'', ''charge:v1'', %L, ''{}'', ''pay(jsonb)'')', k)) AS o,
       t.outcome(format('SELECT * FROM abandon_request(''s'', ''charge:v1'', %L)', k)) AS a ORDER BY n;
SELECT k, m.code, m.reason FROM unnest('{live,expired,unknown}'::text[]) WITH ORDINALITY AS v (k, n),
       t.outcome(format('SELECT * FROM reserve_request(''s'', ''charge:v1'', %L, ''{"other": 1}'')', k)) AS m ORDER BY n;
SELECT o.code, o.reason FROM t.outcome($$SELECT * FROM complete_request('s', 'charge:v1', 'live', '1')$$) AS o;
