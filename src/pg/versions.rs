//! What differs between the supported versions of Postgres, in one place.

use pgrx::pg_sys;

/// Begins an index scan that counts for no statistics of a plan.
///
/// # Safety
/// As `index_beginscan`: both relations are open and locked, the snapshot outlives the scan.
pub unsafe fn index_beginscan(
    table: pg_sys::Relation,
    index: pg_sys::Relation,
    snapshot: pg_sys::Snapshot,
    keys: i32,
) -> pg_sys::IndexScanDesc {
    // SAFETY: the caller's promise.
    unsafe {
        #[cfg(feature = "pg18")]
        return pg_sys::index_beginscan(table, index, snapshot, core::ptr::null_mut(), keys, 0);
        #[cfg(not(feature = "pg18"))]
        return pg_sys::index_beginscan(table, index, snapshot, keys, 0);
    }
}

/// Whether a transaction has ended, without waiting for it.
pub fn has_ended(transaction: pg_sys::TransactionId) -> bool {
    // SAFETY: takes and releases a share lock on the transaction, if it can have it at once.
    unsafe {
        #[cfg(feature = "pg18")]
        return pg_sys::ConditionalXactLockTableWait(transaction, false);
        #[cfg(not(feature = "pg18"))]
        return pg_sys::ConditionalXactLockTableWait(transaction);
    }
}

/// The index of a table's primary key, or an invalid OID.
///
/// # Safety
/// The relation is open and locked.
pub unsafe fn primary_key(table: pg_sys::Relation) -> pg_sys::Oid {
    // SAFETY: the caller's promise. A deferrable key cannot arbitrate and so does not count.
    unsafe {
        #[cfg(feature = "pg18")]
        return pg_sys::RelationGetPrimaryKeyIndex(table, false);
        #[cfg(not(feature = "pg18"))]
        return pg_sys::RelationGetPrimaryKeyIndex(table);
    }
}
