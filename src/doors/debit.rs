//! `debit_once` and `debit_request`: an amount off an account, once for a key.

use super::{account_scope, door, enter};
use crate::admission::{self, Access};
use crate::error::{Error, Result};
use crate::identity::DEBIT;
use crate::local::{self, Answer};
use crate::pg::call::Call;
use crate::pg::{jsonb, values};
use crate::request::differences;
use crate::settings;
use crate::store::tables::REQUEST_RESULT;
use crate::store::{Move, Patience};
use crate::value::{Json, Value};
use pgrx::pg_sys::Datum;

/// The status of a debit that was made, as `run_once` answers it by default.
const STATUS: i32 = 200;

door!(debit_once, "pg_finfo_debit_once", once);
door!(debit_request, "pg_finfo_debit_request", request);

fn once(call: &Call<'_>) -> Result<Datum> {
    let answer = debit(call)?;
    Ok(call.value(answer.result[0]))
}

fn request(call: &Call<'_>) -> Result<Datum> {
    let answer = debit(call)?;
    let stamp = values::datum(answer.stamp);
    Ok(call.row(&[
        values::datum(values::text("completed")),
        Some(Datum::from(answer.replayed)),
        values::datum(answer.result[0]),
        Some(Datum::from(STATUS)),
        None,
        None,
        None,
        None,
        stamp,
        stamp,
    ]))
}

fn debit<'a>(call: &Call<'a>) -> Result<Answer<'a>> {
    let debit = admission::debit(call.bigint(0), call.text(1), call.bigint(2))?;
    let store = enter(call, Access::Use, || account_scope(debit.account_id))?;
    let asked = jsonb::object("amount", debit.amount);
    let call = local::Call {
        table: &REQUEST_RESULT,
        identity: &[
            Value::Bigint(debit.account_id),
            values::text(DEBIT),
            Value::Text(debit.request_key),
        ],
        request: &[Value::Json(asked)],
        account_id: debit.account_id,
        patience: Patience::of(settings::wait_timeout()),
    };
    let answer = local::once(
        &store,
        &call,
        |kept| compare(kept, asked),
        || {
            let balance = local::move_balance(&store, &call, debit.amount, Move::Debit)?;
            Ok(vec![Value::Json(jsonb::object("balance", balance))])
        },
    )?;
    match answer.result[0] {
        // Ours since before the effect, and not finished: this call is part of that effect.
        Value::Json(reply) if jsonb::is_null(reply) => Err(Error::OwnEffect),
        _ => Ok(answer),
    }
}

fn compare(kept: &[Value<'_>], asked: Json<'_>) -> Result<()> {
    match kept {
        [Value::Json(kept)] if jsonb::equal(*kept, asked) => Ok(()),
        [Value::Json(kept)] => Err(Error::Mismatch(differences(
            "",
            &jsonb::tree(*kept),
            &jsonb::tree(asked),
        ))),
        _ => Err(Error::Mismatch(vec![])),
    }
}
