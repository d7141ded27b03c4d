//! Acting as the owner of a table, for a constant statement.

use pgrx::pg_sys;

/// The role in whose name statements run now.
pub fn current_user() -> pg_sys::Oid {
    // SAFETY: reads a variable of the backend.
    unsafe { pg_sys::GetUserId() }
}

/// Runs `f` in the name of `owner`, as foreign keys do, and without the caller's search path: a
/// trigger, check or policy on the table may name things without a schema, and would otherwise
/// run a function or an operator of the caller's own with the owner's rights.
///
/// An error leaves both to the end of the (sub)transaction, which restores them.
pub fn as_owner<T>(owner: pg_sys::Oid, f: impl FnOnce() -> T) -> T {
    if owner == current_user() {
        return f();
    }
    // SAFETY: what is set here is set back below, or by the abort of the (sub)transaction.
    unsafe {
        let mut user = pg_sys::InvalidOid;
        let mut context = 0;
        pg_sys::GetUserIdAndSecContext(&mut user, &mut context);
        pg_sys::SetUserIdAndSecContext(
            owner,
            context | pg_sys::SECURITY_LOCAL_USERID_CHANGE as i32,
        );
        let level = pg_sys::NewGUCNestLevel();
        restrict_search_path();
        let answer = f();
        pg_sys::AtEOXact_GUC(false, level);
        pg_sys::SetUserIdAndSecContext(user, context);
        answer
    }
}

/// # Safety
/// Called inside a nest level of settings.
unsafe fn restrict_search_path() {
    // SAFETY: both texts are static and NUL-terminated; the caller ends the nest level.
    unsafe {
        pg_sys::set_config_option(
            c"search_path".as_ptr(),
            c"pg_catalog, pg_temp".as_ptr(),
            pg_sys::GucContext::PGC_USERSET,
            pg_sys::GucSource::PGC_S_SESSION,
            pg_sys::GucAction::GUC_ACTION_SAVE,
            true,
            0,
            false,
        );
    }
}
