//! Which way calls take to the tables, for tests and for whoever wonders why one is slow.

use super::door;
use crate::error::Result;
use crate::pg::call::Call;
use crate::pg::values;
use crate::store::direct;
use crate::store::direct::shape::{Shape, Shapes};
use crate::store::spi::Spi;
use crate::store::tables::{ACCOUNT, TABLES};
use crate::store::{way, Store};
use crate::value::Value;
use pgrx::pg_sys::Datum;

door!(
    idempotency_table_access,
    "pg_finfo_idempotency_table_access",
    ways
);
door!(
    idempotency_latest_access,
    "pg_finfo_idempotency_latest_access",
    latest
);

fn latest(call: &Call<'_>) -> Result<Datum> {
    Ok(call.value(way::latest().map_or(Value::Null, values::text)))
}

/// One row a table: the way that a call in this transaction would take to it, and why.
fn ways(call: &Call<'_>) -> Result<Datum> {
    let store = Spi::open(call.function())?;
    let installation = store.installation();
    let shapes = Shapes::of(installation);
    let everywhere = direct::obstacle();
    let at_account = store
        .account_is_guarded()
        .then_some("row security on account applies to the caller");
    let row = |name: &str, shape: &Shape, is_of_account: bool| {
        let changed = match shape {
            Shape::Made(_) => None,
            Shape::Changed(part) => Some(format!("its {part} are not as they were made")),
        };
        let obstacle = everywhere.or(at_account.filter(|_| is_of_account));
        let reason = obstacle.map(str::to_owned).or(changed);
        vec![
            values::text(name),
            values::text(if reason.is_none() { "direct" } else { "spi" }),
            reason.map_or(Value::Null, |reason| values::text(&reason)),
        ]
    };
    let mut rows = vec![row(ACCOUNT, shapes.account(installation)?, true)];
    for table in TABLES {
        let shape = shapes.record(installation, table)?;
        rows.push(row(table.name, shape, table.account_key.is_some()));
    }
    Ok(call.rows(rows.iter().map(Vec::as_slice)))
}
