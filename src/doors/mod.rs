//! The functions that SQL calls: each unpacks its arguments, calls the rules, packs the answer.
//!
//! The SQL declarations are in `sql/functions.sql`.

mod access;
mod announce;
mod consume;
mod contract;
mod debit;
mod record;
mod request;
mod run;

use crate::admission::{self, Access};
use crate::error::Result;
use crate::outcome::Outcome;
use crate::pg::call::Call;
use crate::store::grants::{setting, Permit};
use crate::store::spi::Spi;
use crate::store::tables::RecordTable;
use crate::store::way::Way;
use crate::value::Value;
use pgrx::pg_sys::Datum;

/// Opens the store for a call on a record table that may use a scope.
fn enter(
    call: &Call<'_>,
    table: &'static RecordTable,
    access: Access,
    scope: impl FnOnce() -> Vec<u8>,
) -> Result<Way> {
    let store = Spi::open(call.function())?;
    let permit = Permit::of_current_user(store.installation())?;
    if !permit.free {
        admission::scope(&permit.grants, access, scope, setting)?;
    }
    Way::to(table, store)
}

/// The scope that an account is: its id, in digits.
fn account_scope(account_id: i64) -> Vec<u8> {
    account_id.to_string().into_bytes()
}

/// Answers with an outcome, or with no row.
fn pack<'a>(call: &Call<'a>, outcome: Option<&Outcome<'a>>) -> Datum {
    let row = outcome.map(|outcome| {
        [
            outcome.state,
            Value::Bool(outcome.replayed),
            outcome.response,
            outcome.http_status,
            outcome.refusal.sqlstate,
            outcome.refusal.message,
            outcome.refusal.detail,
            outcome.refusal.hint,
            outcome.created_at,
            outcome.completed_at,
        ]
    });
    call.rows(row.as_ref().map(<[Value<'_>; 10]>::as_slice))
}

/// Exports a door to Postgres under its SQL function's name.
macro_rules! door {
    ($name:ident, $info:literal, $body:path) => {
        const _: () = {
            #[export_name = $info]
            extern "C" fn info() -> &'static pgrx::pg_sys::Pg_finfo_record {
                const VERSION_1: pgrx::pg_sys::Pg_finfo_record =
                    pgrx::pg_sys::Pg_finfo_record { api_version: 1 };
                &VERSION_1
            }

            #[no_mangle]
            #[pgrx::pg_guard]
            extern "C-unwind" fn $name(
                frame: pgrx::pg_sys::FunctionCallInfo,
            ) -> pgrx::pg_sys::Datum {
                // SAFETY: Postgres calls this as a function of version 1, as declared above.
                unsafe { $crate::pg::call::Call::answer(frame, |call| $body(call)) }
            }
        };
    };
}
use door;
