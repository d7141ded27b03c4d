//! `reserve_request` and what finishes it; `find_request`, `abandon_request`, `current_request`.

use super::record::{http_status, patience, state, told, unfinished, Record};
use super::{debit, door, pack};
use crate::error::{Error, Result};
use crate::guard::{self, How};
use crate::identity;
use crate::local::{self, Reservation};
use crate::outcome::{Outcome, Refusal};
use crate::pg::call::Call;
use crate::pg::{jsonb, transaction, values};
use crate::store::tables::{IDEMPOTENCY_RECORD, REQUEST_RESULT};
use crate::store::Store;
use crate::value::{Json, Value};
use pgrx::pg_sys::Datum;

door!(reserve_request, "pg_finfo_reserve_request", reserve);
door!(complete_request, "pg_finfo_complete_request", complete);
door!(
    complete_only_request,
    "pg_finfo_complete_only_request",
    complete_only
);
door!(refuse_request, "pg_finfo_refuse_request", refuse);
door!(find_request, "pg_finfo_find_request", find);
door!(abandon_request, "pg_finfo_abandon_request", abandon);
door!(current_request, "pg_finfo_current_request", current);

fn reserve(call: &Call<'_>) -> Result<Datum> {
    let record = Record::enter(call)?;
    record.refuse_built_in()?;
    let request = identity::required("request", call.json(3))?;
    let columns = record.columns()?;
    if guard::is_busy() && guard::is_open(&record.identity()?) == Some(How::Reserved) {
        let kept = local::find(&record.store, &IDEMPOTENCY_RECORD, &columns)?;
        let kept = kept.ok_or(Error::Unsettled)?;
        record.compare(&kept, request)?;
        return Ok(pack(call, Some(&acquired(kept.stamp))));
    }
    let kept = || record.request_columns(request);
    let reservation = local::reserve(
        &record.store,
        &record.call(&columns, &kept, patience(call, 4)?),
        || record.admit_first(Some(request)).map(|()| None),
    )?;
    let outcome = match reservation {
        Reservation::Acquired(stamp, _) => {
            guard::open(record.identity()?, How::Reserved, transaction::level());
            acquired(stamp)
        }
        Reservation::Found(kept) => record.replay(&kept, request)?,
    };
    Ok(pack(call, Some(&outcome)))
}

fn acquired<'a>(stamp: Value<'a>) -> Outcome<'a> {
    Outcome {
        state: values::text("acquired"),
        replayed: false,
        response: Value::Null,
        http_status: Value::Null,
        refusal: Refusal::NONE,
        created_at: stamp,
        completed_at: Value::Null,
    }
}

fn complete(call: &Call<'_>) -> Result<Datum> {
    let record = Record::enter(call)?;
    finish(call, &record, "completed", call.json(3), call.int(4))
}

fn refuse(call: &Call<'_>) -> Result<Datum> {
    let record = Record::enter(call)?;
    finish(call, &record, "refused", call.json(3), call.int(4))
}

/// Completes the only reservation that is open.
fn complete_only(call: &Call<'_>) -> Result<Datum> {
    let only = guard::only_reserved().map_err(|open| Error::WrongState {
        detail: if open == 0 {
            "No reservation of this transaction is open."
        } else {
            "Several reservations of this transaction are open."
        },
        hint: "Pass scope, operation and request key.",
    })?;
    let record = Record::enter_as(
        call,
        values::own_text(only.scope()),
        values::own_text(only.operation()),
        values::own_text(only.request_key()),
    )?;
    finish(call, &record, "completed", call.json(0), call.int(1))
}

fn finish<'a>(
    call: &Call<'a>,
    record: &Record<'a>,
    state: &'static str,
    response: Option<Json<'a>>,
    status: Option<i32>,
) -> Result<Datum> {
    let response = identity::required("response", response)?;
    let outcome = record.finished(state, response, http_status(status)?)?;
    let columns = record.columns()?;
    let identity = record.identity()?;
    if guard::is_open(&identity) == Some(How::Reserved) {
        let result = record.result_columns(&outcome);
        let created_at = record
            .store
            .finish(&IDEMPOTENCY_RECORD, &columns, &result)?;
        guard::finish(&identity, transaction::level());
        return Ok(pack(
            call,
            Some(&Outcome {
                created_at,
                ..outcome
            }),
        ));
    }
    if guard::has_finished(&identity) {
        // Finished before in this very transaction: harmless if it was the same way.
        if let Some(kept) = local::find(&record.store, &IDEMPOTENCY_RECORD, &columns)? {
            let mut again = record.result_columns(&outcome);
            again.pop();
            if again.iter().zip(&kept.result).all(|(a, b)| same(a, b)) {
                return Ok(pack(call, Some(&told(&kept))));
            }
        }
        return Err(Error::WrongState {
            detail: "It was finished before in this transaction, with another reply or status.",
            hint: "Finish a reservation once.",
        });
    }
    record.admit_key()?;
    Err(Error::WrongState {
        detail: "This transaction has not reserved it.",
        hint: "Call reserve_request() first, in the same transaction, and finish only what it answered as acquired.",
    })
}

fn same(a: &Value<'_>, b: &Value<'_>) -> bool {
    match (a, b) {
        (Value::Json(a), Value::Json(b)) => jsonb::equal(*a, *b),
        (Value::Text(a), Value::Text(b)) => a.bytes() == b.bytes(),
        (a, b) => a == b,
    }
}

fn find(call: &Call<'_>) -> Result<Datum> {
    let record = Record::enter(call)?;
    let identity = record.columns()?;
    if record.is_debit() {
        let account = account(&record)?;
        let identity = [Value::Bigint(account), identity[1], identity[2]];
        let guarded = record.store.account_is_guarded();
        if guarded && record.store.balance(account)?.is_none() {
            return Ok(pack(call, None));
        }
        let kept = local::find(&record.store, &REQUEST_RESULT, &identity)?;
        if kept.is_none() {
            record.admit_key()?;
        }
        return Ok(pack(call, kept.map(|kept| debit::told(&kept)).as_ref()));
    }
    let kept = local::find(&record.store, &IDEMPOTENCY_RECORD, &identity)?;
    if kept.is_none() {
        record.admit_key()?;
    }
    let outcome = kept.map(|kept| match state(&kept) {
        b"pending" if kept.attempt.first() == Some(&Value::Null) => acquired(kept.stamp),
        b"pending" | b"unknown" => Outcome {
            replayed: false,
            ..told(&kept)
        },
        _ => told(&kept),
    });
    Ok(pack(call, outcome.as_ref()))
}

/// The account that a debit's scope names.
fn account(record: &Record<'_>) -> Result<i64> {
    core::str::from_utf8(record.scope.bytes())
        .ok()
        .and_then(|scope| {
            scope
                .parse::<i64>()
                .ok()
                .filter(|id| id.to_string() == scope)
        })
        .ok_or_else(|| {
            Error::argument(
                "the scope of a debit must be an account's id",
                "Pass the id in digits, as account_id::text.",
            )
        })
}

fn abandon(call: &Call<'_>) -> Result<Datum> {
    let record = Record::enter(call)?;
    let mut identity = record.columns()?;
    if guard::is_busy() && guard::is_open(&record.identity()?).is_some() {
        return Err(Error::WrongState {
            detail: "This transaction is working on it.",
            hint: "Roll the transaction back instead.",
        });
    }
    let (table, account_id) = if record.is_debit() {
        let account = account(&record)?;
        identity[0] = Value::Bigint(account);
        (&REQUEST_RESULT, Some(account))
    } else {
        (&IDEMPOTENCY_RECORD, None)
    };
    // It asks for nothing.
    let request = || match account_id {
        Some(_) => vec![Value::Json(jsonb::null())],
        None => vec![Value::Null; 2],
    };
    let asked = local::Call {
        table,
        identity: &identity,
        request: &request,
        account_id,
        patience: patience(call, 3)?,
    };
    let admit = || record.admit_first(None).map(|()| None);
    let reservation = if account_id.is_some() {
        // Nothing follows that would lock the account, so that the foreign key has to.
        local::reserve(record.store.spi(), &asked, admit)?
    } else {
        local::reserve(&record.store, &asked, admit)?
    };
    let outcome = match reservation {
        Reservation::Acquired(stamp, _) => {
            let outcome = Outcome {
                state: values::text("abandoned"),
                created_at: stamp,
                completed_at: Value::Timestamp(transaction::clock()),
                ..acquired(stamp)
            };
            if account_id.is_none() {
                let result = record.result_columns(&outcome);
                record.store.finish(table, &identity, &result)?;
            }
            // The client will act on this answer, so that it must not be lost.
            transaction::force_synchronous_commit();
            outcome
        }
        Reservation::Found(kept) if account_id.is_some() => debit::told(&kept),
        Reservation::Found(kept) => match state(&kept) {
            b"pending" | b"unknown" => return Err(unfinished(&kept)),
            _ => told(&kept),
        },
    };
    Ok(pack(call, Some(&outcome)))
}

fn current(call: &Call<'_>) -> Result<Datum> {
    let row = guard::current().map(|identity| {
        [
            values::bytes(identity.scope()),
            values::bytes(identity.operation()),
            values::bytes(identity.request_key()),
            Value::Null,
        ]
    });
    Ok(call.rows(row.as_ref().map(<[Value<'_>; 4]>::as_slice)))
}
