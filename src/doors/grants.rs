//! The trigger on the table of grants.

use super::door;
use crate::error::Result;
use crate::pg::call::Call;
use crate::pg::installation;
use pgrx::pg_sys::Datum;

door!(
    idempotency_grant_changed,
    "pg_finfo_idempotency_grant_changed",
    changed
);

fn changed(call: &Call<'_>) -> Result<Datum> {
    if let Some(table) = call.triggering_table() {
        installation::announce_change(table);
    }
    Ok(call.nothing())
}
