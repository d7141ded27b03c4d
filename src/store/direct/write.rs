//! Inserting and updating rows through the table access method, as the executor does it.

use super::relation::Open;
use crate::pg::versions;
use crate::value::Value;
use pgrx::pg_sys::{self, ItemPointerData, TupleTableSlot};

/// What the executor's own functions need to enter rows into indexes.
struct Target {
    state: *mut pg_sys::EState,
    info: *mut pg_sys::ResultRelInfo,
    arbiters: *mut pg_sys::List,
}

impl Target {
    fn open(open: &Open<'_>, speculative: bool) -> Self {
        // SAFETY: the executor's state owns what is made here and is freed by `close`, or with its
        // memory context by the end of the (sub)transaction. A zeroed node with its tag is what
        // makeNode makes. The table is locked for writing.
        unsafe {
            let state = pg_sys::CreateExecutorState();
            let before = pg_sys::MemoryContextSwitchTo((*state).es_query_cxt);
            let info =
                pg_sys::palloc0(size_of::<pg_sys::ResultRelInfo>()).cast::<pg_sys::ResultRelInfo>();
            (*info).type_ = pg_sys::NodeTag::T_ResultRelInfo;
            pg_sys::InitResultRelInfo(info, open.table, 1, core::ptr::null_mut(), 0);
            pg_sys::ExecOpenIndices(info, speculative);
            let arbiters = if speculative {
                pg_sys::lappend_oid(core::ptr::null_mut(), open.key)
            } else {
                core::ptr::null_mut()
            };
            pg_sys::MemoryContextSwitchTo(before);
            Target {
                state,
                info,
                arbiters,
            }
        }
    }

    fn close(self) {
        // SAFETY: made by `open`.
        unsafe {
            pg_sys::ExecCloseIndices(self.info);
            pg_sys::FreeExecutorState(self.state);
        }
    }
}

/// Inserts a row unless its key is taken, after waiting for whoever else is inserting it. Answers
/// where it was inserted.
pub fn insert(open: &Open<'_>, columns: &[(i16, Value<'_>)]) -> Option<ItemPointerData> {
    let slot = open.build(columns);
    let target = Target::open(open, true);
    let inserted = loop {
        // SAFETY: as in the executor's INSERT ... ON CONFLICT DO NOTHING: look for a conflict and
        // wait for it, insert speculatively under a token that others can wait for, enter the row
        // into the indexes, and either confirm it or take it back, where another was faster.
        unsafe {
            if !versions::is_key_free(target.info, slot, target.state, target.arbiters) {
                break None;
            }
            let transaction = pg_sys::GetCurrentTransactionId();
            let token = pg_sys::SpeculativeInsertionLockAcquire(transaction);
            insert_speculatively(open.table, slot, token);
            let lost =
                versions::enter_into_indexes(target.info, slot, target.state, target.arbiters);
            settle(open.table, slot, token, !lost);
            pg_sys::SpeculativeInsertionLockRelease(transaction);
            if !lost {
                break Some((*slot).tts_tid);
            }
        }
    };
    target.close();
    // SAFETY: made by `build`; what was written becomes visible to the next look.
    unsafe {
        pg_sys::ExecDropSingleTupleTableSlot(slot);
        pg_sys::CommandCounterIncrement();
    }
    inserted
}

/// # Safety
/// The table is open and locked for writing, and the slot has its descriptor.
unsafe fn insert_speculatively(table: pg_sys::Relation, slot: *mut TupleTableSlot, token: u32) {
    // SAFETY: the caller's promise; called behind a boundary, with nothing on the stack that would
    // have to be dropped.
    unsafe {
        (*slot).tts_tableOid = (*table).rd_id;
        let command = pg_sys::GetCurrentCommandId(true);
        if let Some(insert) = (*(*table).rd_tableam).tuple_insert_speculative {
            pg_sys::ffi::pg_guard_ffi_boundary(|| {
                insert(table, slot, command, 0, core::ptr::null_mut(), token);
            });
        }
    }
}

/// # Safety
/// The slot's row was inserted speculatively under this token.
unsafe fn settle(table: pg_sys::Relation, slot: *mut TupleTableSlot, token: u32, won: bool) {
    // SAFETY: as above.
    unsafe {
        if let Some(complete) = (*(*table).rd_tableam).tuple_complete_speculative {
            pg_sys::ffi::pg_guard_ffi_boundary(|| complete(table, slot, token, won));
        }
    }
}

/// How an update ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update {
    Done,
    /// Another transaction has changed the row; it needed this lock.
    Overtaken(pg_sys::LockTupleMode::Type),
    /// Another transaction has deleted it.
    Deleted,
    /// Not to be had in this way.
    Odd,
}

/// Updates the row at `tid` to what `slot` holds, after waiting for whoever else is at it.
///
/// # Safety
/// `tid` was read from this table in this transaction, and the slot has its descriptor.
pub unsafe fn update(
    open: &Open<'_>,
    tid: &mut ItemPointerData,
    slot: *mut TupleTableSlot,
) -> Update {
    // SAFETY: the caller's promise; the table is locked for writing.
    unsafe {
        pg_sys::CheckCmdReplicaIdentity(open.table, pg_sys::CmdType::CMD_UPDATE);
        (*slot).tts_tableOid = (*open.table).rd_id;
        let command = pg_sys::GetCurrentCommandId(true);
        let updated = versions::update(open.table, tid, slot, command);
        match updated.result {
            pg_sys::TM_Result::TM_Ok => {
                if updated.enter {
                    let target = Target::open(open, false);
                    versions::enter_into_indexes(
                        target.info,
                        slot,
                        target.state,
                        core::ptr::null_mut(),
                    );
                    target.close();
                }
                pg_sys::CommandCounterIncrement();
                Update::Done
            }
            pg_sys::TM_Result::TM_Updated => Update::Overtaken(updated.lock),
            pg_sys::TM_Result::TM_Deleted => Update::Deleted,
            _ => Update::Odd,
        }
    }
}

/// Locks the latest version of a row that was overtaken and gives it to `read`; nothing where it
/// was deleted.
pub fn lock_latest<T>(
    open: &Open<'_>,
    tid: &ItemPointerData,
    mode: pg_sys::LockTupleMode::Type,
    read: impl FnOnce(*mut TupleTableSlot) -> T,
) -> Option<T> {
    // SAFETY: `tid` was read from this table; the slot is of the kind that the access method asks
    // for; the function is called behind a boundary, with nothing on the stack that would have to
    // be dropped.
    unsafe {
        let lock = (*(*open.table).rd_tableam).tuple_lock?;
        let slot = pg_sys::table_slot_create(open.table, core::ptr::null_mut());
        let mut failure = pg_sys::TM_FailureData::default();
        let mut at = *tid;
        let command = pg_sys::GetCurrentCommandId(false);
        pg_sys::PushActiveSnapshot(pg_sys::GetTransactionSnapshot());
        let snapshot = pg_sys::GetActiveSnapshot();
        let result = pg_sys::ffi::pg_guard_ffi_boundary(|| {
            lock(
                open.table,
                &mut at,
                snapshot,
                slot,
                command,
                mode,
                pg_sys::LockWaitPolicy::LockWaitBlock,
                pg_sys::TUPLE_LOCK_FLAG_FIND_LAST_VERSION as u8,
                &mut failure,
            )
        });
        let answer = (result == pg_sys::TM_Result::TM_Ok).then(|| read(slot));
        pg_sys::ExecDropSingleTupleTableSlot(slot);
        pg_sys::PopActiveSnapshot();
        answer
    }
}

/// Gives a row that this transaction has inserted to `read`, by its place.
pub fn fetch_own<T>(
    open: &Open<'_>,
    tid: &ItemPointerData,
    read: impl FnOnce(*mut TupleTableSlot) -> T,
) -> Option<T> {
    // SAFETY: a row of an open transaction stays in its place; whether it is still the latest
    // version is for the update to find out. Called behind a boundary, with nothing on the stack
    // that would have to be dropped.
    unsafe {
        let fetch = (*(*open.table).rd_tableam).tuple_fetch_row_version?;
        let slot = pg_sys::table_slot_create(open.table, core::ptr::null_mut());
        let mut at = *tid;
        let any = &raw mut pg_sys::SnapshotAnyData;
        let found = pg_sys::ffi::pg_guard_ffi_boundary(|| fetch(open.table, &mut at, any, slot));
        let answer = found.then(|| read(slot));
        pg_sys::ExecDropSingleTupleTableSlot(slot);
        answer
    }
}
