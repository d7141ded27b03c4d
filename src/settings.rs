//! The settings that a session or a DBA can make.

use core::time::Duration;
use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting};

static WAIT_TIMEOUT: GucSetting<i32> = GucSetting::<i32>::new(-1);

/// Declares the settings. Called once a backend.
pub fn define() {
    GucRegistry::define_int_guc(
        c"idempotency.wait_timeout",
        c"Sets how long to wait for another transaction that holds the same idempotency key.",
        c"-1 waits for ever, 0 does not wait. A call that would wait longer fails with SQLSTATE 55P03.",
        &WAIT_TIMEOUT,
        -1,
        i32::MAX,
        GucContext::Userset,
        GucFlags::UNIT_MS,
    );
}

/// How long to wait for the holder of a key; `None` is for ever.
pub fn wait_timeout() -> Option<Duration> {
    u64::try_from(WAIT_TIMEOUT.get())
        .ok()
        .map(Duration::from_millis)
}
