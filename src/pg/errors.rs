//! Raising and recognising Postgres errors.
//!
//! pgrx's own report knows a closed set of SQLSTATEs and no constraint name, so errors are thrown
//! as `ErrorData`.

use crate::error::{Error, Report, Result};
use core::ffi::{c_char, c_int, CStr};
use core::panic::AssertUnwindSafe;
use pgrx::pg_sys::panic::CaughtError;
use pgrx::{pg_sys, PgLogLevel, PgTryBuilder};

/// Raises a report as a Postgres error.
pub fn raise(report: Report) -> ! {
    // SAFETY: the structure is zeroed memory of its own size, which is a valid ErrorData without
    // any optional field; every string is a NUL-terminated copy in the current memory context,
    // and ThrowErrorData copies them once more before it unwinds.
    unsafe {
        let data = pg_sys::palloc0(size_of::<pg_sys::ErrorData>()).cast::<pg_sys::ErrorData>();
        (*data).elevel = PgLogLevel::ERROR as c_int;
        (*data).sqlerrcode = encode(report.sqlstate);
        (*data).message = copy(Some(&report.message));
        (*data).detail = copy(report.detail.as_deref());
        (*data).hint = copy(report.hint);
        (*data).constraint_name = copy(report.constraint);
        (*data).schema_name = copy(report.schema.as_deref());
        (*data).table_name = copy(report.table);
        drop(report);
        pg_sys::ThrowErrorData(data);
    }
    unreachable!("an error was thrown and not raised")
}

/// A SQLSTATE as Postgres packs it: six bits a character.
fn encode(sqlstate: &str) -> c_int {
    sqlstate.bytes().rev().fold(0, |packed, c| {
        (packed << 6) | (c_int::from(c) - c_int::from(b'0')) & 0x3F
    })
}

fn copy(text: Option<&str>) -> *mut c_char {
    let Some(text) = text else {
        return core::ptr::null_mut();
    };
    // SAFETY: the length is the text's own, and pnstrdup adds the NUL.
    unsafe { pg_sys::pnstrdup(text.as_ptr().cast(), text.len()) }
}

/// What can be asked of an error that Postgres raised.
pub struct Raised {
    sqlstate: c_int,
    constraint: Option<String>,
    schema: Option<String>,
    table: Option<String>,
}

impl Raised {
    /// Whether this is a unique violation in `schema`.`table`; answers the constraint's name.
    pub fn unique_violation_of(&self, schema: &str, table: &str) -> Option<&str> {
        let same = |field: &Option<String>, name| field.as_deref() == Some(name);
        (self.sqlstate == encode("23505") && same(&self.schema, schema) && same(&self.table, table))
            .then_some(self.constraint.as_deref())
            .flatten()
    }
}

/// Calls `f`. An error that Postgres raises in it ends as whatever error `translate` makes of it,
/// and goes on unchanged where `translate` has no opinion. Nothing is rolled back here, so the
/// caller must pass the error on.
pub fn translating<T>(
    f: impl FnOnce() -> Result<T>,
    translate: impl Fn(&Raised) -> Option<Error>,
) -> Result<T> {
    // Both closures only read what they borrow; an error leaves nothing of it half-changed.
    let translate = AssertUnwindSafe(translate);
    PgTryBuilder::new(AssertUnwindSafe(f))
        .catch_others(move |cause| {
            let translate = &translate;
            if matches!(cause, CaughtError::PostgresError(_)) {
                if let Some(error) = translate.0(&raised()) {
                    return Err(error);
                }
            }
            cause.rethrow()
        })
        .execute()
}

/// The error on top of the server's error stack.
fn raised() -> Raised {
    // SAFETY: called only while an error is being caught, so that there is one to copy; the
    // copy's strings are NUL-terminated or null.
    unsafe {
        let data = pg_sys::CopyErrorData();
        let text = |field: *const c_char| {
            (!field.is_null()).then(|| CStr::from_ptr(field).to_string_lossy().into_owned())
        };
        let raised = Raised {
            sqlstate: (*data).sqlerrcode,
            constraint: text((*data).constraint_name),
            schema: text((*data).schema_name),
            table: text((*data).table_name),
        };
        pg_sys::FreeErrorData(data);
        raised
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_sqlstate_is_packed_as_postgres_packs_it() {
        assert_eq!(super::encode("00000"), 0);
        assert_eq!(super::encode("22023"), 2 + (2 << 6) + (2 << 18) + (3 << 24));
        assert_eq!(super::encode("P0001"), (80 - 48) + (1 << 24));
    }
}
