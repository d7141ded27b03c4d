//! What differs between the supported versions of Postgres, in one place.

use crate::pg::raw;
use pgrx::pg_sys;

/// Begins an index scan that counts for no statistics of a plan.
///
/// # Safety
/// As `index_beginscan`: both relations are open and locked, the snapshot outlives the scan. Called
/// behind a boundary.
pub unsafe fn index_beginscan(
    table: pg_sys::Relation,
    index: pg_sys::Relation,
    snapshot: pg_sys::Snapshot,
    keys: i32,
) -> pg_sys::IndexScanDesc {
    // SAFETY: the caller's promise.
    unsafe {
        #[cfg(feature = "pg18")]
        return raw::index_beginscan(table, index, snapshot, core::ptr::null_mut(), keys, 0);
        #[cfg(not(feature = "pg18"))]
        return raw::index_beginscan(table, index, snapshot, keys, 0);
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

/// Raises an error unless the current user may call a function, by the rights to it and its schema.
pub fn check_execute(function: pg_sys::Oid) {
    // SAFETY: looks up privileges, and raises an error where one is missing.
    unsafe {
        let user = pg_sys::GetUserId();
        let schema = pg_sys::get_func_namespace(function);
        let (usage, execute) = (pg_sys::ACL_USAGE.into(), pg_sys::ACL_EXECUTE.into());
        #[cfg(feature = "pg15")]
        let (usage, execute) = (
            pg_sys::pg_namespace_aclcheck(schema, user, usage),
            pg_sys::pg_proc_aclcheck(function, user, execute),
        );
        #[cfg(not(feature = "pg15"))]
        let (usage, execute) = (
            pg_sys::object_aclcheck(pg_sys::NamespaceRelationId, schema, user, usage),
            pg_sys::object_aclcheck(pg_sys::ProcedureRelationId, function, user, execute),
        );
        if usage != pg_sys::AclResult::ACLCHECK_OK {
            pg_sys::aclcheck_error(
                usage,
                pg_sys::ObjectType::OBJECT_SCHEMA,
                pg_sys::get_namespace_name(schema),
            );
        }
        if execute != pg_sys::AclResult::ACLCHECK_OK {
            pg_sys::aclcheck_error(
                execute,
                pg_sys::ObjectType::OBJECT_FUNCTION,
                pg_sys::get_func_name(function),
            );
        }
    }
}

/// The index of a table's primary key, or an invalid OID.
///
/// # Safety
/// The relation is open and locked. Called behind a boundary.
pub unsafe fn primary_key(table: pg_sys::Relation) -> pg_sys::Oid {
    // SAFETY: the caller's promise. A deferrable key cannot arbitrate and so does not count.
    unsafe {
        #[cfg(feature = "pg18")]
        return raw::RelationGetPrimaryKeyIndex(table, false);
        #[cfg(not(feature = "pg18"))]
        return raw::RelationGetPrimaryKeyIndex(table);
    }
}

/// Whether another row holds the arbiter's key; waits for one that is being inserted.
///
/// # Safety
/// As `ExecCheckIndexConstraints`.
pub unsafe fn is_key_free(
    target: *mut pg_sys::ResultRelInfo,
    slot: *mut pg_sys::TupleTableSlot,
    state: *mut pg_sys::EState,
    arbiters: *mut pg_sys::List,
) -> bool {
    // SAFETY: the caller's promise. No row of its own is to be left out of account.
    unsafe {
        let mut conflict = pg_sys::ItemPointerData::default();
        #[cfg(feature = "pg18")]
        return pg_sys::ExecCheckIndexConstraints(
            target,
            slot,
            state,
            &mut conflict,
            &mut invalid_tid(),
            arbiters,
        );
        #[cfg(not(feature = "pg18"))]
        return pg_sys::ExecCheckIndexConstraints(target, slot, state, &mut conflict, arbiters);
    }
}

#[cfg(feature = "pg18")]
fn invalid_tid() -> pg_sys::ItemPointerData {
    pg_sys::ItemPointerData {
        ip_blkid: pg_sys::BlockIdData {
            bi_hi: 0xFFFF,
            bi_lo: 0xFFFF,
        },
        ip_posid: 0,
    }
}

/// How an update of a row went.
pub struct Updated {
    pub result: pg_sys::TM_Result::Type,
    /// How strong a lock the update needed.
    pub lock: pg_sys::LockTupleMode::Type,
    /// Whether the new version must be entered into the indexes.
    pub enter: bool,
}

/// Updates a row through the table access method, after waiting for whoever else is at it.
///
/// # Safety
/// As `table_tuple_update`: the relation is open and locked, `tid` was read from it. Called behind
/// a boundary.
pub unsafe fn update(
    table: pg_sys::Relation,
    tid: *mut pg_sys::ItemPointerData,
    slot: *mut pg_sys::TupleTableSlot,
    command: pg_sys::CommandId,
) -> Updated {
    // SAFETY: the caller's promise. A heap reads the snapshot only to check for changes made in
    // between, which is not asked for.
    unsafe {
        let mut failure = pg_sys::TM_FailureData::default();
        let mut lock = pg_sys::LockTupleMode::LockTupleNoKeyExclusive;
        #[cfg(feature = "pg15")]
        let mut enter = false;
        #[cfg(not(feature = "pg15"))]
        let mut enter = pg_sys::TU_UpdateIndexes::TU_None;
        let result = match (*(*table).rd_tableam).tuple_update {
            Some(update) => update(
                table,
                tid,
                slot,
                command,
                core::ptr::null_mut(),
                core::ptr::null_mut(),
                true,
                &mut failure,
                &mut lock,
                &mut enter,
            ),
            None => pg_sys::TM_Result::TM_Invisible,
        };
        #[cfg(not(feature = "pg15"))]
        let enter = enter == pg_sys::TU_UpdateIndexes::TU_All;
        Updated {
            result,
            lock,
            enter,
        }
    }
}
