//! `debit_once` and `debit_request`: an amount off an account, once for a key.

use super::{account_scope, door, enter, pack};
use crate::admission::{self, Access};
use crate::error::{Error, Result};
use crate::identity::DEBIT;
use crate::local::{self, Kept, Once};
use crate::outcome::{Outcome, Refusal};
use crate::pg::call::Call;
use crate::pg::{jsonb, values};
use crate::request::differences;
use crate::settings;
use crate::store::tables::REQUEST_RESULT;
use crate::store::{Move, Patience, Store};
use crate::value::{Json, Value};
use core::cell::Cell;
use pgrx::pg_sys::Datum;

/// The status of a debit that was made, as `run_once` answers it by default.
const STATUS: i32 = 200;

door!(debit_once, "pg_finfo_debit_once", once);
door!(debit_request, "pg_finfo_debit_request", request);

fn once(call: &Call<'_>) -> Result<Datum> {
    let debited = debit(call)?;
    Ok(call.value(debited.reply))
}

fn request(call: &Call<'_>) -> Result<Datum> {
    let Debited {
        replayed,
        reply,
        stamp,
    } = debit(call)?;
    Ok(pack(call, Some(&completed(replayed, reply, stamp))))
}

/// A debit that was made, now or before.
struct Debited<'a> {
    replayed: bool,
    reply: Value<'a>,
    stamp: Value<'a>,
}

fn debit<'a>(call: &Call<'a>) -> Result<Debited<'a>> {
    let debit = admission::debit(call.bigint(0), call.text(1), call.bigint(2))?;
    let store = enter(call, &REQUEST_RESULT, Access::Use, || {
        account_scope(debit.account_id)
    })?;
    let asked = jsonb::object("amount", debit.amount);
    let call = local::Call {
        table: &REQUEST_RESULT,
        identity: &[
            Value::Bigint(debit.account_id),
            values::text(DEBIT),
            Value::Text(debit.request_key),
        ],
        request: &|| vec![Value::Json(asked)],
        account_id: Some(debit.account_id),
        patience: Patience::of(settings::wait_timeout()),
    };
    let (account_id, amount) = (debit.account_id, debit.amount);
    // The balance that was foreseen is nearly always the one that comes.
    let latest: Cell<Option<(i64, Value<'_>)>> = Cell::new(None);
    let reply = |balance| match latest.get() {
        Some((of, reply)) if of == balance => reply,
        _ => {
            let reply = Value::Json(jsonb::object("balance", balance));
            latest.set(Some((balance, reply)));
            reply
        }
    };
    let once = local::once(
        &store,
        &call,
        || {
            let balance = store.foresee(account_id, amount, Move::Debit)?;
            Ok(balance.map(|balance| vec![reply(balance)]))
        },
        || {
            let balance =
                local::move_balance(&store, &REQUEST_RESULT, account_id, amount, Move::Debit)?;
            let reply = reply(balance);
            Ok((vec![reply], reply))
        },
    )?;
    let (replayed, reply, stamp) = match once {
        Once::Performed(reply, stamp) => (false, reply, stamp),
        Once::Found(kept) => {
            compare(&kept, asked)?;
            (true, kept.result[0], kept.stamp)
        }
    };
    Ok(Debited {
        replayed,
        reply,
        stamp,
    })
}

fn completed<'a>(replayed: bool, response: Value<'a>, stamp: Value<'a>) -> Outcome<'a> {
    Outcome {
        state: values::text("completed"),
        replayed,
        response,
        http_status: Value::Int(STATUS),
        refusal: Refusal::NONE,
        created_at: stamp,
        completed_at: stamp,
    }
}

/// A record as an outcome.
pub fn told<'a>(kept: &Kept<'a>) -> Outcome<'a> {
    let whole = completed(true, kept.result[0], kept.stamp);
    match state(kept) {
        State::Completed => whole,
        State::Pending => Outcome {
            state: values::text("acquired"),
            replayed: false,
            response: Value::Null,
            http_status: Value::Null,
            completed_at: Value::Null,
            ..whole
        },
        State::Abandoned => Outcome {
            state: values::text("abandoned"),
            response: Value::Null,
            http_status: Value::Null,
            ..whole
        },
    }
}

/// What a record of an account's requests is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Completed,
    /// Ours since before the effect, and not finished.
    Pending,
    /// Burnt by `abandon_request`: it asks for nothing, and nothing will answer it.
    Abandoned,
}

fn state(kept: &Kept<'_>) -> State {
    let is_null = |value: &Value<'_>| matches!(value, Value::Json(json) if jsonb::is_null(*json));
    match (is_null(&kept.request[0]), is_null(&kept.result[0])) {
        (true, true) => State::Abandoned,
        (false, true) => State::Pending,
        _ => State::Completed,
    }
}

fn compare(kept: &Kept<'_>, asked: Json<'_>) -> Result<()> {
    match (state(kept), kept.request[0]) {
        (State::Abandoned, _) => Err(Error::Abandoned),
        (State::Completed, Value::Json(kept)) if jsonb::equal(kept, asked) => Ok(()),
        (_, Value::Json(kept)) if !jsonb::equal(kept, asked) => Err(Error::Mismatch(differences(
            "",
            &jsonb::tree(kept),
            &jsonb::tree(asked),
        ))),
        // This call is part of the effect that is being performed.
        _ => Err(Error::OwnEffect),
    }
}
