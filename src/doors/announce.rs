//! The trigger on the tables of grants and contracts.

use super::door;
use crate::error::Result;
use crate::pg::call::Call;
use crate::pg::installation;
use pgrx::pg_sys::Datum;

door!(
    idempotency_announce_change,
    "pg_finfo_idempotency_announce_change",
    changed
);

fn changed(call: &Call<'_>) -> Result<Datum> {
    if let Some(table) = call.triggering_table() {
        installation::announce_change(table);
    }
    Ok(call.nothing())
}
