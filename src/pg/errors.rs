//! Raising and recognising Postgres errors.
//!
//! pgrx's own report knows a closed set of SQLSTATEs and no constraint name, so errors are thrown
//! as `ErrorData`.

use crate::error::{Error, Report, Result};
use core::ffi::{c_char, c_int, CStr};
use core::panic::AssertUnwindSafe;
use pgrx::pg_sys::panic::CaughtError;
use pgrx::{pg_sys, PgLogLevel, PgTryBuilder};
use std::borrow::Cow;

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

/// The reverse of [`encode`].
fn decode(packed: c_int) -> String {
    (0..5)
        .map(|n| (((packed >> (6 * n)) & 0x3F) as u8 + b'0') as char)
        .collect()
}

fn copy(text: Option<&str>) -> *mut c_char {
    let Some(text) = text else {
        return core::ptr::null_mut();
    };
    // SAFETY: the length is the text's own, and pnstrdup adds the NUL.
    unsafe { pg_sys::pnstrdup(text.as_ptr().cast(), text.len()) }
}

/// An error that Postgres raised, copied out of its error stack.
pub struct Raised(*mut pg_sys::ErrorData);

impl Raised {
    /// Copies the error on top of the error stack into the current memory context.
    ///
    /// # Safety
    /// Called while an error is being caught, and used no longer than that context lives.
    pub unsafe fn copy() -> Self {
        // SAFETY: the caller's promise.
        Raised(unsafe { pg_sys::CopyErrorData() })
    }

    fn data(&self) -> &pg_sys::ErrorData {
        // SAFETY: CopyErrorData answered a whole structure, which nobody else refers to.
        unsafe { &*self.0 }
    }

    fn field(field: *const c_char) -> Option<Cow<'static, str>> {
        // SAFETY: the strings of a copied error are NUL-terminated or null, and live as long as
        // the copy does.
        (!field.is_null()).then(|| unsafe { CStr::from_ptr(field) }.to_string_lossy())
    }

    /// The SQLSTATE, as five characters.
    pub fn sqlstate(&self) -> String {
        decode(self.data().sqlerrcode)
    }

    pub fn message(&self) -> Option<Cow<'static, str>> {
        Self::field(self.data().message)
    }

    pub fn detail(&self) -> Option<Cow<'static, str>> {
        Self::field(self.data().detail)
    }

    pub fn hint(&self) -> Option<Cow<'static, str>> {
        Self::field(self.data().hint)
    }

    /// Whether a lock was waited for longer than `lock_timeout` allows.
    pub fn is_lock_timeout(&self) -> bool {
        self.data().sqlerrcode == encode("55P03")
    }

    /// Whether this is a unique violation in `schema`.`table`; answers the constraint's name.
    pub fn unique_violation_of(&self, schema: &str, table: &str) -> Option<Cow<'static, str>> {
        let data = self.data();
        let same = |field: *const c_char, name: &str| Self::field(field).as_deref() == Some(name);
        (data.sqlerrcode == encode("23505")
            && same(data.schema_name, schema)
            && same(data.table_name, table))
        .then(|| Self::field(data.constraint_name))
        .flatten()
    }

    /// Raises the error again, whole.
    pub fn throw_again(self) -> ! {
        // SAFETY: ReThrowError copies the error onto the error stack and unwinds.
        unsafe { pg_sys::ReThrowError(self.0) };
        // Whether its binding says that it never returns depends on the version.
        #[allow(unreachable_code)]
        {
            unreachable!("an error was thrown and not raised")
        }
    }
}

/// Calls `f`. An error that Postgres raises in it ends as the error that `translate` makes of it,
/// and goes on unchanged where that is none. Nothing is rolled back here.
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
                // SAFETY: an error is being caught here.
                if let Some(error) = translate.0(&unsafe { Raised::copy() }) {
                    return Err(error);
                }
            }
            cause.rethrow()
        })
        .execute()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_sqlstate_is_packed_as_postgres_packs_it() {
        assert_eq!(super::encode("00000"), 0);
        assert_eq!(super::encode("22023"), 2 + (2 << 6) + (2 << 18) + (3 << 24));
        assert_eq!(super::encode("P0001"), (80 - 48) + (1 << 24));
        for sqlstate in ["00000", "22023", "P0001", "40P01", "XX000", "ZZ999"] {
            assert_eq!(super::decode(super::encode(sqlstate)), sqlstate);
        }
    }
}
