//! The settings that a session or a DBA can make.

use core::time::Duration;
use pgrx::{GucContext, GucFlags, GucRegistry, GucSetting, PostgresGucEnum};

/// What to do with an operation that nobody has defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PostgresGucEnum)]
pub enum UnknownOperations {
    #[name = c"allow"]
    Allow,
    #[name = c"refuse"]
    Refuse,
}

/// The way to the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PostgresGucEnum)]
pub enum TableAccess {
    #[name = c"auto"]
    Auto,
    #[name = c"spi"]
    Spi,
}

static TABLE_ACCESS: GucSetting<TableAccess> = GucSetting::<TableAccess>::new(TableAccess::Auto);

static UNKNOWN_OPERATIONS: GucSetting<UnknownOperations> =
    GucSetting::<UnknownOperations>::new(UnknownOperations::Allow);

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
    GucRegistry::define_enum_guc(
        c"idempotency.table_access",
        c"Sets the way that calls take to the extension's tables.",
        c"auto uses the table access method where that is the same as SQL, and spi always uses SQL.",
        &TABLE_ACCESS,
        GucContext::Suset,
        GucFlags::default(),
    );
    GucRegistry::define_enum_guc(
        c"idempotency.unknown_operations",
        c"Sets whether an operation may be used that define_operation() has not defined.",
        c"With refuse, a mistyped operation fails with SQLSTATE 22023 instead of being a new one.",
        &UNKNOWN_OPERATIONS,
        GucContext::Suset,
        GucFlags::default(),
    );
    // SAFETY: refuses other names that begin so; the text is static and NUL-terminated.
    unsafe { pgrx::pg_sys::MarkGUCPrefixReserved(c"idempotency".as_ptr()) };
}

/// How long to wait for the holder of a key; `None` is for ever.
pub fn wait_timeout() -> Option<Duration> {
    u64::try_from(WAIT_TIMEOUT.get())
        .ok()
        .map(Duration::from_millis)
}

/// Whether an operation that nobody has defined is refused.
pub fn refuses_unknown_operations() -> bool {
    UNKNOWN_OPERATIONS.get() == UnknownOperations::Refuse
}

/// Whether every call goes by SQL.
pub fn table_access_is_spi() -> bool {
    TABLE_ACCESS.get() == TableAccess::Spi
}
