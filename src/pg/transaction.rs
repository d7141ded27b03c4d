//! What Postgres tells of transactions and subtransactions.

use crate::guard;
use crate::pg::errors;
use core::ffi::{c_void, CStr};
use core::ptr::null_mut;
use pgrx::pg_sys::{self, SubXactEvent, XactEvent};

/// The number of the current (sub)transaction.
pub fn level() -> guard::Level {
    // SAFETY: reads the transaction's state.
    unsafe { pg_sys::GetCurrentSubTransactionId() }
}

/// Whether the transaction may not write, as on a standby.
pub fn is_read_only() -> bool {
    // SAFETY: reads a variable of the backend.
    unsafe { pg_sys::XactReadOnly }
}

/// Raises where the transaction may not write, as the executor does.
pub fn prevent_if_read_only(command: &CStr) {
    if is_read_only() {
        // SAFETY: raises an error that names the command, which is NUL-terminated.
        unsafe { pg_sys::PreventCommandIfReadOnly(command.as_ptr()) };
    }
}

/// Makes this transaction's commit durable before it is answered.
pub fn force_synchronous_commit() {
    // SAFETY: sets a flag of the transaction.
    unsafe { pg_sys::ForceSyncCommit() };
}

/// The clock, not the transaction's start, in microseconds since 2000-01-01 UTC.
pub fn clock() -> i64 {
    // SAFETY: reads the clock.
    unsafe { pg_sys::GetCurrentTimestamp() }
}

/// Asks Postgres to tell of the end of transactions. Called once a backend.
pub fn watch() {
    // SAFETY: both callbacks live as long as the library, which is never unloaded. The raw ones,
    // since pgrx's own are not cleared by PREPARE.
    unsafe {
        pg_sys::RegisterXactCallback(Some(transaction_event), null_mut());
        pg_sys::RegisterSubXactCallback(Some(subtransaction_event), null_mut());
    }
}

#[pgrx::pg_guard]
unsafe extern "C-unwind" fn transaction_event(event: XactEvent::Type, _argument: *mut c_void) {
    match event {
        // Both come after deferred triggers, which may still reserve.
        XactEvent::XACT_EVENT_PRE_COMMIT | XactEvent::XACT_EVENT_PRE_PREPARE => {
            if let Err(error) = guard::check() {
                errors::raise(error.report());
            }
        }
        XactEvent::XACT_EVENT_COMMIT
        | XactEvent::XACT_EVENT_ABORT
        | XactEvent::XACT_EVENT_PREPARE => guard::clear(),
        _ => {}
    }
}

#[pgrx::pg_guard]
unsafe extern "C-unwind" fn subtransaction_event(
    event: SubXactEvent::Type,
    level: pg_sys::SubTransactionId,
    parent: pg_sys::SubTransactionId,
    _argument: *mut c_void,
) {
    match event {
        SubXactEvent::SUBXACT_EVENT_COMMIT_SUB => guard::level_ended(level, Some(parent)),
        SubXactEvent::SUBXACT_EVENT_ABORT_SUB => guard::level_ended(level, None),
        _ => {}
    }
}
