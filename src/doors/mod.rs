//! The functions that SQL calls: each unpacks its arguments, calls the rules, packs the answer.
//!
//! The SQL declarations are in `sql/functions.sql`.

pub mod consume;
pub mod debit;

/// Exports a door to Postgres under its SQL function's name.
macro_rules! door {
    ($name:ident, $info:literal, $body:path) => {
        #[doc(hidden)]
        #[export_name = $info]
        pub extern "C" fn info() -> &'static pgrx::pg_sys::Pg_finfo_record {
            const VERSION_1: pgrx::pg_sys::Pg_finfo_record =
                pgrx::pg_sys::Pg_finfo_record { api_version: 1 };
            &VERSION_1
        }

        #[doc(hidden)]
        #[no_mangle]
        #[pgrx::pg_guard]
        pub extern "C-unwind" fn $name(
            frame: pgrx::pg_sys::FunctionCallInfo,
        ) -> pgrx::pg_sys::Datum {
            // SAFETY: Postgres calls this as a function of version 1, as declared above.
            unsafe { $crate::pg::call::Call::answer(frame, |call| $body(call)) }
        }
    };
}
use door;
