//! Waiting for a transaction, or for any lock, no longer than a limit of our own.
//!
//! The wait is the server's own, in its queue and under its deadlock detection; only its
//! `lock_timeout` is shortened while it lasts. A shorter one of the user's stays itself.

use crate::error::{Error, Result};
use crate::pg::{errors, subtransaction, versions};
use core::time::Duration;
use pgrx::pg_sys::{self, TransactionId};

/// Sets `lock_timeout` for a while, and back when it is dropped.
struct Limit {
    before: i32,
    ours: bool,
}

impl Limit {
    fn set(limit: Duration) -> Self {
        // Zero would mean no limit, so that the shortest is one millisecond.
        let limit = i32::try_from(limit.as_millis()).unwrap_or(i32::MAX).max(1);
        // SAFETY: a variable of this single-threaded backend.
        unsafe {
            let before = pg_sys::LockTimeout;
            let ours = before == 0 || limit < before;
            if ours {
                pg_sys::LockTimeout = limit;
            }
            Limit { before, ours }
        }
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        // SAFETY: as above. Calls nothing, so that it may run while an error unwinds.
        unsafe { pg_sys::LockTimeout = self.before };
    }
}

/// Waits for the end of a transaction; answers whether it came within the limit. After a `false`
/// the caller must raise an error.
pub fn for_transaction(transaction: TransactionId, limit: Duration) -> Result<bool> {
    if versions::has_ended(transaction) {
        return Ok(true);
    }
    if limit.is_zero() {
        return Ok(false);
    }
    let limit = Limit::set(limit);
    let ours = limit.ours;
    // Nothing was changed while waiting, and the call ends with an error.
    let waited = errors::translating(
        || {
            // SAFETY: waits for a lock on the transaction and releases it.
            unsafe {
                pg_sys::XactLockTableWait(
                    transaction,
                    core::ptr::null_mut(),
                    core::ptr::null_mut(),
                    pg_sys::XLTW_Oper::XLTW_None,
                );
            }
            Ok(())
        },
        move |raised| (ours && raised.is_lock_timeout()).then_some(Error::InProgress),
    );
    match waited {
        Ok(()) => Ok(true),
        Err(Error::InProgress) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Waits for the short moment in which another transaction finds out whether its insert won.
pub fn for_speculation(transaction: TransactionId, token: u32) {
    // SAFETY: waits for a lock that is held during one insert, and releases it.
    unsafe { pg_sys::SpeculativeInsertionWait(transaction, token) };
}

/// Runs `f`, in which no lock is waited for longer than the limit; where one would be, everything
/// that `f` did is undone and the answer is nothing.
pub fn limited<T>(limit: Duration, f: impl FnOnce() -> Result<T>) -> Result<Option<T>> {
    let limit = Limit::set(limit);
    let ours = limit.ours;
    subtransaction::run(
        || f().map(Some),
        move |raised| {
            if ours && raised.is_lock_timeout() {
                Ok(None)
            } else {
                raised.throw_again()
            }
        },
    )
}
