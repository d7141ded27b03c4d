//! What the doors to `idempotency_record` share: who may come in, what a record keeps, and how one
//! is told again.

use super::enter;
use crate::admission::Access;
use crate::contract::Contract;
use crate::error::{Error, Result};
use crate::guard;
use crate::identity::{self, CONSUME, DEBIT};
use crate::local::{self, Kept};
use crate::outcome::{Outcome, Refusal};
use crate::pg::call::Call;
use crate::pg::{jsonb, transaction, values};
use crate::request::comparison;
use crate::settings;
use crate::store::tables::{IDEMPOTENCY_RECORD, REQUEST_RESULT};
use crate::store::way::Way;
use crate::store::{contracts, Patience};
use crate::value::{Json, Row, Text, Value};
use core::time::Duration;
use std::rc::Rc;

/// The longest request key that any contract may allow, in bytes.
const MOST_KEY_BYTES: usize = 1024;

/// An admitted call under a general identity.
pub struct Record<'a> {
    pub store: Way,
    pub contract: Rc<Contract>,
    pub scope: Text<'a>,
    pub operation: Text<'a>,
    /// Absent where the contract does without and the caller gave none.
    pub request_key: Option<Text<'a>>,
}

impl<'a> Record<'a> {
    /// Admits a call whose first three arguments are scope, operation and request key.
    pub fn enter(call: &Call<'a>) -> Result<Self> {
        Self::enter_as(call, call.text(0), call.text(1), call.text(2))
    }

    pub fn enter_as(
        call: &Call<'a>,
        scope: Option<Text<'a>>,
        operation: Option<Text<'a>>,
        request_key: Option<Text<'a>>,
    ) -> Result<Self> {
        let scope = identity::scope(scope)?;
        let operation = identity::operation(operation)?;
        let table = if operation.bytes() == DEBIT.as_bytes() {
            &REQUEST_RESULT
        } else {
            &IDEMPOTENCY_RECORD
        };
        let store = enter(call, table, Access::Use, || scope.bytes().to_vec())?;
        let contract = contracts::of(store.installation(), operation.bytes())?;
        let request_key = match request_key {
            None if !contract.key_required => None,
            key => {
                // A key that some contract could have allowed may have a record, whatever the
                // limit is now.
                let could_be = key.is_some_and(|key| key.bytes().len() <= MOST_KEY_BYTES);
                let most = if could_be {
                    MOST_KEY_BYTES
                } else {
                    contract.max_key_bytes
                };
                Some(identity::request_key(key, most)?)
            }
        };
        Ok(Record {
            store,
            contract,
            scope,
            operation,
            request_key,
        })
    }

    /// Whether this is the debit, whose records are kept with its account.
    pub fn is_debit(&self) -> bool {
        self.operation.bytes() == DEBIT.as_bytes()
    }

    /// Refuses the operations that only their own functions may perform.
    pub fn refuse_built_in(&self) -> Result<()> {
        if self.is_debit() || self.operation.bytes() == CONSUME.as_bytes() {
            return Err(Error::argument(
                "operation is a built-in one",
                "Call debit_once() or consume_once(), or name an operation of your own.",
            ));
        }
        Ok(())
    }

    /// The key, where the call cannot do without.
    pub fn key(&self) -> Result<Text<'a>> {
        identity::required("request_key", self.request_key)
    }

    pub fn columns(&self) -> Result<[Value<'a>; 3]> {
        Ok([
            Value::Text(self.scope),
            Value::Text(self.operation),
            Value::Text(self.key()?),
        ])
    }

    /// The same, as the guard knows it.
    pub fn identity(&self) -> Result<guard::Identity> {
        let key = self.key()?;
        Ok(guard::Identity::of_bytes([
            self.scope.bytes(),
            self.operation.bytes(),
            key.bytes(),
        ]))
    }

    /// What goes into a digest, so that equal requests under two keys do not show as equal.
    fn digested(&self) -> [&'a [u8]; 3] {
        let key = self.request_key.map_or(b"".as_slice(), Text::bytes);
        [self.scope.bytes(), self.operation.bytes(), key]
    }

    /// Refuses a key that is longer than the contract allows, where it has no record.
    pub fn admit_key(&self) -> Result<()> {
        if let Some(key) = self.request_key {
            identity::request_key(Some(key), self.contract.max_key_bytes)?;
        }
        Ok(())
    }

    /// Refuses what the contract does not allow to a first call. A retry is answered whatever the
    /// contract says by then.
    pub fn admit_first(&self, request: Option<Json<'a>>) -> Result<()> {
        if !self.contract.defined && !self.is_debit() && settings::refuses_unknown_operations() {
            return Err(Error::argument(
                "operation is not defined",
                "Define it with define_operation(), or correct its spelling.",
            ));
        }
        self.admit_key()?;
        request.map_or(Ok(()), |request| {
            within("request", request, self.contract.max_request_bytes)
        })
    }

    /// The columns that a record keeps of a request.
    pub fn request_columns(&self, request: Json<'a>) -> Row<'a> {
        let contract = &self.contract;
        if contract.comparison.is_plain() && contract.keep_request == comparison::Keep::Whole {
            return vec![Value::Json(request), Value::Null];
        }
        let tree = jsonb::tree(request);
        let kept = comparison::kept(contract.keep_request, &contract.redacted_request, &tree);
        let how = contract
            .comparison
            .describe(contract.keep_request, &tree, &self.digested());
        let json = |tree| Value::Json(jsonb::from_tree(&tree));
        vec![
            kept.map_or(Value::Null, json),
            how.map_or(Value::Null, json),
        ]
    }

    /// What a record keeps of a response.
    fn kept_response(&self, response: Value<'a>) -> Value<'a> {
        let contract = &self.contract;
        let Value::Json(json) = response else {
            return response;
        };
        match contract.keep_response {
            comparison::Keep::Whole => response,
            comparison::Keep::Digest => {
                let digest = crate::request::digest::of(&jsonb::tree(json), &self.digested());
                Value::Json(jsonb::from_tree(&comparison::digest_only(digest)))
            }
            keep => comparison::kept(keep, &contract.redacted_response, &jsonb::tree(json))
                .map_or(Value::Null, |tree| Value::Json(jsonb::from_tree(&tree))),
        }
    }

    /// The result's columns for a finished outcome.
    pub fn result_columns(&self, outcome: &Outcome<'a>) -> Vec<Value<'a>> {
        vec![
            outcome.state,
            self.kept_response(outcome.response),
            outcome.http_status,
            outcome.refusal.sqlstate,
            outcome.refusal.message,
            outcome.refusal.detail,
            outcome.refusal.hint,
            outcome.completed_at,
        ]
    }

    /// A reply that ends the request, refused where it is too large.
    pub fn finished(
        &self,
        state: &'static str,
        response: Json<'a>,
        http_status: i32,
    ) -> Result<Outcome<'a>> {
        within("response", response, self.contract.max_response_bytes)?;
        Ok(Outcome {
            state: values::text(state),
            replayed: false,
            response: Value::Json(response),
            http_status: Value::Int(http_status),
            refusal: Refusal::NONE,
            created_at: Value::Null,
            completed_at: Value::Timestamp(transaction::clock()),
        })
    }

    /// A call on `idempotency_record`.
    pub fn call<'c>(
        &self,
        identity: &'c [Value<'a>],
        request: &'c dyn Fn() -> Row<'a>,
        patience: Patience,
    ) -> local::Call<'c, 'a> {
        local::Call {
            table: &IDEMPOTENCY_RECORD,
            identity,
            request,
            account_id: None,
            patience,
        }
    }

    /// Answers a retry from what is kept, or says why it cannot be answered.
    pub fn replay(&self, kept: &Kept<'a>, given: Json<'a>) -> Result<Outcome<'a>> {
        let outcome = told(kept);
        match state(kept) {
            b"abandoned" => return Err(Error::Abandoned),
            b"gone" => return Err(Error::Gone),
            _ => {}
        }
        self.compare(kept, given)?;
        match state(kept) {
            b"completed" | b"refused" => Ok(outcome),
            _ => Err(unfinished(kept)),
        }
    }

    /// Refuses a request that is not the one that the record was made for.
    pub fn compare(&self, kept: &Kept<'a>, given: Json<'a>) -> Result<()> {
        let [request, how] = kept.request[..] else {
            return Err(Error::Mismatch(vec![]));
        };
        if let (Value::Json(request), Value::Null) = (request, how) {
            if jsonb::equal(request, given) {
                return Ok(());
            }
        }
        let how = match how {
            Value::Json(how) => comparison::Kept::read(&jsonb::tree(how)),
            _ => comparison::Kept::default(),
        };
        let request = match request {
            Value::Json(request) => Some(jsonb::tree(request)),
            _ => None,
        };
        match how.mismatch(request.as_ref(), jsonb::tree(given), &self.digested()) {
            None => Ok(()),
            Some(differences) => Err(Error::Mismatch(differences)),
        }
    }
}

fn within(what: &str, json: Json<'_>, most: usize) -> Result<()> {
    let size = json.image().len();
    if size > most {
        return Err(Error::argument(
            format!("{what} is too large: {size} bytes, at most {most} are allowed"),
            "Pass less, or raise the limit with define_operation() or alter_operation().",
        ));
    }
    Ok(())
}

/// The state of a record, as it is stored.
pub fn state<'a>(kept: &Kept<'a>) -> &'a [u8] {
    match kept.result.first() {
        Some(Value::Text(state)) => state.bytes(),
        _ => b"",
    }
}

/// Why a record that is not finished cannot be had.
pub fn unfinished(kept: &Kept<'_>) -> Error {
    match kept.attempt[..] {
        [Value::Int(_), Value::Timestamp(lease_until)] if lease_until > transaction::clock() => {
            Error::InProgress
        }
        [Value::Int(_), _] => Error::WrongState {
            detail: "An attempt has begun it, and its lease has run out or its outcome is unknown.",
            hint: "Take the attempt over, or reconcile it.",
        },
        _ => Error::OwnEffect,
    }
}

/// A record as an outcome.
pub fn told<'a>(kept: &Kept<'a>) -> Outcome<'a> {
    let column = |n: usize| kept.result.get(n).copied().unwrap_or(Value::Null);
    Outcome {
        state: column(0),
        replayed: true,
        response: column(1),
        http_status: column(2),
        refusal: Refusal {
            sqlstate: column(3),
            message: column(4),
            detail: column(5),
            hint: column(6),
        },
        created_at: kept.stamp,
        completed_at: column(7),
    }
}

/// How long to wait for the holder of a key: an argument where there is one, else the setting.
pub fn patience(call: &Call<'_>, argument: usize) -> Result<Patience> {
    let Some(interval) = call.interval(argument) else {
        return Ok(Patience::of(settings::wait_timeout()));
    };
    match u64::try_from(interval) {
        Ok(microseconds) => Ok(Patience::of(Some(Duration::from_micros(microseconds)))),
        Err(_) if interval > 0 => Ok(Patience::FOR_EVER),
        Err(_) => Err(Error::argument(
            "wait_timeout must not be negative",
            "Pass 0 not to wait at all, or no value to wait as the setting says.",
        )),
    }
}

/// Refuses a status that HTTP does not have.
pub fn http_status(status: Option<i32>) -> Result<i32> {
    let status = identity::required("http_status", status)?;
    if (100..=599).contains(&status) {
        Ok(status)
    } else {
        Err(Error::argument(
            format!("http_status must be between 100 and 599, not {status}"),
            "Pass the status that the reply was, or would have been, sent with.",
        ))
    }
}
