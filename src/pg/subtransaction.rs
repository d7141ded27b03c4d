//! Trying something that may be undone.

use crate::error::Result;
use crate::pg::errors::Raised;
use core::panic::AssertUnwindSafe;
use core::ptr::null;
use pgrx::pg_sys::panic::CaughtError;
use pgrx::{pg_sys, PgTryBuilder};

/// Where a subtransaction was begun, to return to when it ends.
#[derive(Clone, Copy)]
struct Outside {
    context: pg_sys::MemoryContext,
    owner: pg_sys::ResourceOwner,
}

impl Outside {
    fn begin() -> Self {
        // SAFETY: a subtransaction changes the context and the resource owner; the context is set
        // back here, so that what is made inside outlives it.
        unsafe {
            let outside = Outside {
                context: pg_sys::CurrentMemoryContext,
                owner: pg_sys::CurrentResourceOwner,
            };
            pg_sys::BeginInternalSubTransaction(null());
            pg_sys::MemoryContextSwitchTo(outside.context);
            outside
        }
    }

    fn commit(self) {
        // SAFETY: ends the subtransaction that `begin` began.
        unsafe { pg_sys::ReleaseCurrentSubTransaction() };
        self.restore();
    }

    fn roll_back(self) {
        // SAFETY: as above. Undoes also the switch to another user and to other settings.
        unsafe { pg_sys::RollbackAndReleaseCurrentSubTransaction() };
        self.restore();
    }

    fn restore(self) {
        // SAFETY: both are older than the subtransaction and so still there.
        unsafe {
            pg_sys::MemoryContextSwitchTo(self.context);
            pg_sys::CurrentResourceOwner = self.owner;
        }
    }
}

/// Runs `f` in a subtransaction, which any error undoes. An error of Postgres's goes to `settle`,
/// which answers in its place or throws it again.
pub fn run<T>(f: impl FnOnce() -> Result<T>, settle: impl Fn(Raised) -> Result<T>) -> Result<T> {
    let inside = Outside::begin();
    let outside = AssertUnwindSafe(inside);
    let settle = AssertUnwindSafe(settle);
    let body = AssertUnwindSafe(move || {
        let result = f();
        match result {
            Ok(_) => inside.commit(),
            Err(_) => inside.roll_back(),
        }
        result
    });
    PgTryBuilder::new(body)
        .catch_others(move |cause| {
            let (outside, settle) = (&outside, &settle);
            if !matches!(cause, CaughtError::PostgresError(_)) {
                outside.roll_back();
                cause.rethrow()
            }
            // SAFETY: an error is being caught; its copy goes into the outer context, and the
            // error stack is left before anything else that could raise.
            let raised = unsafe {
                pg_sys::MemoryContextSwitchTo(outside.context);
                let raised = Raised::copy();
                pg_sys::FlushErrorState();
                raised
            };
            outside.roll_back();
            settle.0(raised)
        })
        .execute()
}
