//! `consume_once`: a message's amount onto an account, once for a subscriber.

use super::{account_scope, door, enter};
use crate::admission::{self, Access};
use crate::error::{Error, Result};
use crate::local::{self, Once};
use crate::pg::call::Call;
use crate::pg::jsonb;
use crate::request::{self, Difference};
use crate::settings;
use crate::store::tables::PROCESSED_MESSAGE;
use crate::store::{Move, Patience};
use crate::value::{Json, Value};
use pgrx::pg_sys::Datum;

door!(consume_once, "pg_finfo_consume_once", body);

fn body(call: &Call<'_>) -> Result<Datum> {
    let message = call.json(4);
    let admitted =
        admission::consumption(call.text(0), call.uuid(1), call.bigint(2), call.bigint(3))?;
    let store = enter(call, &PROCESSED_MESSAGE, Access::Use, || {
        account_scope(admitted.account_id)
    })?;
    let asked = [
        Value::Bigint(admitted.account_id),
        Value::Bigint(admitted.amount),
        message.map_or(Value::Null, Value::Json),
    ];
    let consumption = local::Call {
        table: &PROCESSED_MESSAGE,
        identity: &[
            Value::Text(admitted.subscriber),
            Value::Uuid(admitted.message_id),
        ],
        request: &|| asked.to_vec(),
        account_id: Some(admitted.account_id),
        patience: Patience::of(settings::wait_timeout()),
    };
    let once = local::once(
        &store,
        &consumption,
        || Ok(None),
        || {
            let balance = local::move_balance(
                &store,
                &PROCESSED_MESSAGE,
                admitted.account_id,
                admitted.amount,
                Move::Credit,
            )?;
            Ok((vec![], balance))
        },
    )?;
    match once {
        Once::Performed(balance, _) => Ok(call.value(Value::Bigint(balance))),
        Once::Found(kept) => {
            compare(&kept.request, &asked)?;
            Ok(call.value(Value::Null))
        }
    }
}

/// Compares what was retained: a row that a statement of the application's own inserted holds the
/// account alone.
fn compare(kept: &[Value<'_>], asked: &[Value<'_>]) -> Result<()> {
    let [account, amount, message] = kept else {
        return Err(Error::Mismatch(vec![]));
    };
    let mut found = Vec::new();
    if *account != asked[0] {
        found.push(Difference::column("account_id"));
    }
    if *amount != Value::Null {
        if *amount != asked[1] {
            found.push(Difference::column("amount"));
        }
        found.extend(match (*message, asked[2]) {
            (Value::Json(kept), Value::Json(asked)) => messages(kept, asked),
            (Value::Null, Value::Null) => vec![],
            _ => vec![Difference::column("message")],
        });
    }
    found.truncate(request::MAX_DIFFERENCES);
    if found.is_empty() {
        Ok(())
    } else {
        Err(Error::Mismatch(found))
    }
}

fn messages(kept: Json<'_>, asked: Json<'_>) -> Vec<Difference> {
    if jsonb::equal(kept, asked) {
        return vec![];
    }
    request::differences("message", &jsonb::tree(kept), &jsonb::tree(asked))
}
