//! `run_once` and `run_sql_once`: a caller's own effect, once for a key.

use super::record::{http_status, patience, Record};
use super::{door, pack};
use crate::error::{Error, Result};
use crate::identity;
use crate::local::{self, Once};
use crate::outcome::{Outcome, Refusal};
use crate::pg::call::Call;
use crate::pg::effects::Function;
use crate::pg::errors::Raised;
use crate::pg::{commands, jsonb, subtransaction, transaction, values};
use crate::request::tree::Node;
use crate::value::{Json, Value};
use pgrx::pg_sys::Datum;

/// The member of a reply by which an effect answers its own status. It is taken out of the reply.
const STATUS_MEMBER: &str = "$http_status";

/// The status of a refusal that was an error.
const REFUSED: i32 = 422;

door!(run_once, "pg_finfo_run_once", function);
door!(run_sql_once, "pg_finfo_run_sql_once", command);

fn function(call: &Call<'_>) -> Result<Datum> {
    let effect = Function::of(identity::required("effect", call.oid(4))?)?;
    run(call, |request| effect.call(request))
}

fn command(call: &Call<'_>) -> Result<Datum> {
    let text = identity::required("command", call.text(4))?;
    run(call, |request| commands::command(text.bytes(), request))
}

fn run<'a>(call: &Call<'a>, effect: impl FnOnce(Json<'a>) -> Result<Json<'a>>) -> Result<Datum> {
    let status = http_status(call.int(5))?;
    let record = Record::enter(call)?;
    record.refuse_built_in()?;
    let request = identity::required("request", call.json(3))?;
    let perform = || record.perform(status, || effect(request));
    if record.request_key.is_none() {
        record.admit_first(Some(request))?;
        return perform().map(|outcome| pack(call, Some(&outcome)));
    }
    let identity = record.columns()?;
    let kept = || record.request_columns(request);
    let once = local::once(
        &record.store,
        &record.call(&identity, &kept, patience(call, 6)?),
        || record.admit_first(Some(request)).map(|()| None),
        || {
            let outcome = perform()?;
            Ok((record.result_columns(&outcome), outcome))
        },
    )?;
    let outcome = match once {
        Once::Performed(outcome, stamp) => Outcome {
            created_at: stamp,
            ..outcome
        },
        Once::Found(kept) => record.replay(&kept, request)?,
    };
    Ok(pack(call, Some(&outcome)))
}

impl<'a> Record<'a> {
    /// Runs an effect. Where the contract saves refusals, an error that is one undoes the effect
    /// and becomes the outcome.
    fn perform(
        &self,
        status: i32,
        effect: impl FnOnce() -> Result<Json<'a>>,
    ) -> Result<Outcome<'a>> {
        let complete = || {
            let (reply, status) = own_status(effect()?, status)?;
            self.finished("completed", reply, status)
        };
        if !self.contract.save_refusals {
            return complete();
        }
        subtransaction::run(complete, |raised| {
            if self.contract.saves(&raised.sqlstate()) {
                Ok(refused(&raised))
            } else {
                raised.throw_again()
            }
        })
    }
}

/// A reply without its own status, and that status if it has one.
fn own_status(reply: Json<'_>, status: i32) -> Result<(Json<'_>, i32)> {
    if !jsonb::has_member(reply, STATUS_MEMBER) {
        return Ok((reply, status));
    }
    let mut tree = jsonb::tree(reply);
    let own = tree
        .take_member(STATUS_MEMBER)
        .and_then(|index| match tree.node(index) {
            Node::Number(number) => number.parse().ok(),
            _ => None,
        });
    match own {
        Some(own) => Ok((jsonb::from_tree(&tree), http_status(Some(own))?)),
        None => Err(Error::argument(
            "member $http_status of a reply must be a whole number",
            "Answer it as in {\"$http_status\": 201}.",
        )),
    }
}

fn refused<'a>(raised: &Raised) -> Outcome<'a> {
    let text = |field: Option<std::borrow::Cow<'_, str>>| {
        field.map_or(Value::Null, |text| values::text(&text))
    };
    Outcome {
        state: values::text("refused"),
        replayed: false,
        response: Value::Null,
        http_status: Value::Int(REFUSED),
        refusal: Refusal {
            sqlstate: values::text(&raised.sqlstate()),
            message: text(raised.message()),
            detail: text(raised.detail()),
            hint: text(raised.hint()),
        },
        created_at: Value::Null,
        completed_at: Value::Timestamp(transaction::clock()),
    }
}
