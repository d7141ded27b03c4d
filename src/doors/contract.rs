//! What contracts say where nobody has said anything, for the view of the effective values.

use super::door;
use crate::contract::Contract;
use crate::error::Result;
use crate::pg::call::Call;
use crate::pg::values;
use crate::value::Value;
use pgrx::pg_sys::Datum;

door!(
    idempotency_contract_defaults,
    "pg_finfo_idempotency_contract_defaults",
    defaults
);

fn defaults(call: &Call<'_>) -> Result<Datum> {
    let contract = Contract::default();
    let size = |bytes: usize| Value::Int(i32::try_from(bytes).unwrap_or(i32::MAX));
    let row = [
        Value::Bool(contract.key_required),
        size(contract.max_key_bytes),
        size(contract.max_request_bytes),
        size(contract.max_response_bytes),
        Value::Bool(contract.save_refusals),
        values::text(&contract.refusal_sqlstates.join(",")),
        values::text(contract.keep_request.name()),
        values::text(contract.keep_response.name()),
    ];
    Ok(call.rows([row.as_slice()]))
}
