//! Who calls, what that role may, and acting as the owner of a table for a constant statement.

use core::cell::Cell;
use pgrx::pg_sys;

thread_local! {
    /// Counts the changes to roles and memberships.
    static MEMBERSHIPS: Cell<u64> = const { Cell::new(0) };
}

/// The role in whose name statements run now.
pub fn current_user() -> pg_sys::Oid {
    // SAFETY: reads a variable of the backend.
    unsafe { pg_sys::GetUserId() }
}

/// Whether a role has the privileges of another: is it, inherits them, or is a superuser.
pub fn has_privileges_of(member: pg_sys::Oid, role: pg_sys::Oid) -> bool {
    // SAFETY: reads the system caches.
    unsafe { pg_sys::has_privs_of_role(member, role) }
}

/// Changes whenever a role or a membership may have changed.
pub fn memberships_epoch() -> u64 {
    MEMBERSHIPS.get()
}

/// Asks Postgres to tell when a role or a membership changes. Called once a backend.
pub fn watch() {
    for cache in [
        pg_sys::SysCacheIdentifier::AUTHMEMROLEMEM,
        pg_sys::SysCacheIdentifier::AUTHOID,
        // The owner of the database is a member of pg_database_owner.
        pg_sys::SysCacheIdentifier::DATABASEOID,
    ] {
        // SAFETY: the callback lives as long as the library, which is never unloaded.
        unsafe {
            pg_sys::CacheRegisterSyscacheCallback(
                cache as i32,
                Some(memberships_changed),
                pg_sys::Datum::null(),
            );
        }
    }
}

// Calls nothing of Postgres's and does not panic, so that it needs no guard.
unsafe extern "C-unwind" fn memberships_changed(_argument: pg_sys::Datum, _cache: i32, _hash: u32) {
    MEMBERSHIPS.set(MEMBERSHIPS.get() + 1);
}

/// Runs `f` in the name of `owner`, as foreign keys do, and without the search path of a caller who
/// is somebody else; the owner's own call is plain SQL of his. A trigger, check or policy on the table may name things without a schema, and would otherwise run a function or an operator of the caller's own with the owner's rights.
///
/// An error leaves both to the end of the (sub)transaction, which restores them.
pub fn as_owner<T>(owner: pg_sys::Oid, f: impl FnOnce() -> T) -> T {
    as_role(owner, 0, f)
}

/// The same, without the policies that the owner has forced upon himself: for a caller to whom
/// none apply.
pub fn as_exempt_owner<T>(owner: pg_sys::Oid, f: impl FnOnce() -> T) -> T {
    as_role(owner, pg_sys::SECURITY_NOFORCE_RLS as i32, f)
}

fn as_role<T>(owner: pg_sys::Oid, flags: i32, f: impl FnOnce() -> T) -> T {
    // SAFETY: what is set here is set back below, or by the abort of the (sub)transaction.
    unsafe {
        let mut user = pg_sys::InvalidOid;
        let mut context = 0;
        pg_sys::GetUserIdAndSecContext(&mut user, &mut context);
        let own = user == owner && !is_lent(context);
        let mut inside = context | flags;
        if !own {
            inside |= pg_sys::SECURITY_LOCAL_USERID_CHANGE as i32;
        }
        if user != owner && may_more(owner, user) {
            inside |= pg_sys::SECURITY_RESTRICTED_OPERATION as i32;
        }
        pg_sys::SetUserIdAndSecContext(owner, inside);
        let answer = if own { f() } else { without_search_path(f) };
        pg_sys::SetUserIdAndSecContext(user, context);
        answer
    }
}

/// Runs `f` with the current user's own rights and search path.
pub fn as_caller<T>(f: impl FnOnce() -> T) -> T {
    let mut user = pg_sys::InvalidOid;
    let mut context = 0;
    // SAFETY: reads variables of the backend.
    unsafe { pg_sys::GetUserIdAndSecContext(&mut user, &mut context) };
    if is_lent(context) {
        without_search_path(f)
    } else {
        f()
    }
}

/// Whether the current user is only lent to somebody, as inside a SECURITY DEFINER function: then
/// the search path may be its caller's.
fn is_lent(context: i32) -> bool {
    context & pg_sys::SECURITY_LOCAL_USERID_CHANGE as i32 != 0
}

/// Whether the caller, or whoever logged in, may do something that the owner may not. Then a trigger
/// of the owner's must leave nothing behind that would later run in the caller's name: a cursor
/// WITH HOLD, a deferred trigger, a temporary object.
fn may_more(owner: pg_sys::Oid, user: pg_sys::Oid) -> bool {
    // SAFETY: reads the system caches and a variable of the backend.
    unsafe {
        !pg_sys::superuser_arg(owner)
            && (pg_sys::superuser_arg(pg_sys::GetAuthenticatedUserId())
                || !pg_sys::has_privs_of_role(owner, user))
    }
}

/// Runs `f` with nothing but the system catalog on the search path.
pub fn without_search_path<T>(f: impl FnOnce() -> T) -> T {
    // SAFETY: both texts are static and NUL-terminated; the nest level of settings is ended below,
    // or by the abort of the (sub)transaction.
    unsafe {
        let level = pg_sys::NewGUCNestLevel();
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
        let answer = f();
        pg_sys::AtEOXact_GUC(false, level);
        answer
    }
}
