//! Inserting and updating rows through the table access method, as the executor does it.

use super::relation::{Handle, Open};
use crate::pg::probe::MOST_KEYS;
use crate::pg::{raw, values, versions};
use crate::value::Value;
use pgrx::pg_sys::{self, Datum, IndexUniqueCheck, ItemPointerData, TupleTableSlot};

/// Columns of a row, by number.
pub type Columns<'c, 'a> = &'c [(i16, Value<'a>)];

/// Inserts a row unless its key is taken, after waiting for whoever else is inserting it. Answers
/// where it was inserted. `is_free` tells that the key had no entry when it was last looked up.
pub fn insert(
    open: &Open<'_>,
    columns: Columns<'_, '_>,
    mut is_free: bool,
) -> Option<ItemPointerData> {
    loop {
        if !is_free && !contention::is_key_free(open, columns) {
            return None;
        }
        let inserted = attempt(open, columns);
        if inserted.is_some() {
            return inserted;
        }
        is_free = false;
    }
}

/// Inserts a row, and takes it back where another was faster with its key.
///
/// As in the executor's INSERT ... ON CONFLICT DO NOTHING: insert speculatively under a token that
/// others can wait for, enter the row into the index of the primary key, and either confirm it or
/// take it back. The row is in no other index: see [`Open::is_in_key_only`].
fn attempt(open: &Open<'_>, columns: Columns<'_, '_>) -> Option<ItemPointerData> {
    let Handle { table, index, .. } = open.handle;
    // SAFETY: the table is locked for writing, and its index becomes so; the slot has the table's
    // descriptor. The steps are taken behind one boundary, with nothing on the stack that would
    // have to be dropped.
    unsafe {
        let access = (*table).rd_tableam;
        let insert = (*access).tuple_insert_speculative?;
        let complete = (*access).tuple_complete_speculative?;
        pg_sys::ffi::pg_guard_ffi_boundary(|| {
            raw::LockRelationOid((*index).rd_id, pg_sys::RowExclusiveLock as i32);
            let slot = row(table, core::ptr::null_mut(), columns);
            let transaction = raw::GetCurrentTransactionId();
            let token = raw::SpeculativeInsertionLockAcquire(transaction);
            let command = raw::GetCurrentCommandId(true);
            insert(table, slot, command, 0, core::ptr::null_mut(), token);
            let won = enter(open, slot, IndexUniqueCheck::UNIQUE_CHECK_PARTIAL, false);
            complete(table, slot, token, won);
            raw::SpeculativeInsertionLockRelease(transaction);
            let place = (*slot).tts_tid;
            raw::ExecDropSingleTupleTableSlot(slot);
            // What was written becomes visible to the next look.
            raw::CommandCounterIncrement();
            won.then_some(place)
        })
    }
}

/// A row of the table with these columns, the others as in `from`, or NULL where that is null. To
/// be dropped by the caller, and used no longer than `from`.
///
/// # Safety
/// Called behind a boundary. The table is open; `from` is null or holds a row of it; what the
/// columns borrow outlives the row.
unsafe fn row(
    table: pg_sys::Relation,
    from: *mut TupleTableSlot,
    columns: Columns<'_, '_>,
) -> *mut TupleTableSlot {
    // SAFETY: a fresh slot has room for every column of the table's descriptor; what a dropped one
    // holds is read by nobody.
    unsafe {
        let descriptor = (*table).rd_att;
        let count = (*descriptor).natts;
        let slot = raw::MakeSingleTupleTableSlot(descriptor, &raw const pg_sys::TTSOpsVirtual);
        if from.is_null() {
            for place in 0..count as usize {
                *(*slot).tts_isnull.add(place) = true;
                *(*slot).tts_values.add(place) = Datum::null();
            }
        } else {
            if i32::from((*from).tts_nvalid) < count {
                raw::slot_getsomeattrs_int(from, count);
            }
            for place in 0..count as usize {
                *(*slot).tts_isnull.add(place) = *(*from).tts_isnull.add(place);
                *(*slot).tts_values.add(place) = *(*from).tts_values.add(place);
            }
        }
        for (number, value) in columns {
            let place = *number as usize - 1;
            let datum = values::datum(*value);
            *(*slot).tts_isnull.add(place) = datum.is_none();
            *(*slot).tts_values.add(place) = datum.unwrap_or(Datum::null());
        }
        (*slot).tts_tableOid = (*table).rd_id;
        raw::ExecStoreVirtualTuple(slot)
    }
}

/// Enters a row into the index of the primary key; answers whether its key is the only one there.
///
/// # Safety
/// Called behind a boundary. The table and its index are locked for writing; the slot holds a row
/// that has a place in the table.
unsafe fn enter(
    open: &Open<'_>,
    slot: *mut TupleTableSlot,
    check: IndexUniqueCheck::Type,
    is_unchanged: bool,
) -> bool {
    let Handle { table, index, .. } = open.handle;
    let mut datums = [Datum::null(); MOST_KEYS];
    let mut nulls = [false; MOST_KEYS];
    // SAFETY: the identity's columns are the key's, in its order. No index of a B-tree asks for the
    // description of it.
    unsafe {
        for (datum, number) in datums.iter_mut().zip(&open.columns.identity) {
            *datum = *(*slot).tts_values.add(*number as usize - 1);
        }
        raw::index_insert(
            index,
            datums.as_mut_ptr(),
            nulls.as_mut_ptr(),
            &mut (*slot).tts_tid,
            table,
            check,
            is_unchanged,
            core::ptr::null_mut(),
        )
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

/// Updates the row at `tid`, after waiting for whoever else is at it: these columns are new, the
/// others stay as in `from`, or become NULL where that is null. The primary key stays.
///
/// # Safety
/// `tid` was read from this table in this transaction; `from` is null or holds a row of it; the
/// table is locked for writing.
pub unsafe fn update(
    open: &Open<'_>,
    tid: &mut ItemPointerData,
    from: *mut TupleTableSlot,
    columns: Columns<'_, '_>,
) -> Update {
    let Handle { table, index, .. } = open.handle;
    // SAFETY: the caller's promise. The steps are taken behind one boundary, with nothing on the
    // stack that would have to be dropped.
    unsafe {
        pg_sys::ffi::pg_guard_ffi_boundary(|| {
            raw::CheckCmdReplicaIdentity(table, pg_sys::CmdType::CMD_UPDATE);
            let slot = row(table, from, columns);
            let command = raw::GetCurrentCommandId(true);
            let updated = versions::update(table, tid, slot, command);
            if updated.result == pg_sys::TM_Result::TM_Ok {
                if updated.enter {
                    raw::LockRelationOid((*index).rd_id, pg_sys::RowExclusiveLock as i32);
                    enter(open, slot, IndexUniqueCheck::UNIQUE_CHECK_YES, true);
                }
                raw::CommandCounterIncrement();
            }
            raw::ExecDropSingleTupleTableSlot(slot);
            match updated.result {
                pg_sys::TM_Result::TM_Ok => Update::Done,
                pg_sys::TM_Result::TM_Updated => Update::Overtaken(updated.lock),
                pg_sys::TM_Result::TM_Deleted => Update::Deleted,
                _ => Update::Odd,
            }
        })
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
    let table = open.table();
    let mut at = *tid;
    // SAFETY: `tid` was read from this table; the slot is of the kind that the access method asks
    // for. The steps are taken behind one boundary, with nothing on the stack that would have to be
    // dropped.
    unsafe {
        let lock = (*(*table).rd_tableam).tuple_lock?;
        let (slot, result) = pg_sys::ffi::pg_guard_ffi_boundary(|| {
            let slot = raw::table_slot_create(table, core::ptr::null_mut());
            let mut failure = pg_sys::TM_FailureData::default();
            let command = raw::GetCurrentCommandId(false);
            raw::PushActiveSnapshot(raw::GetTransactionSnapshot());
            let result = lock(
                table,
                &mut at,
                raw::GetActiveSnapshot(),
                slot,
                command,
                mode,
                pg_sys::LockWaitPolicy::LockWaitBlock,
                pg_sys::TUPLE_LOCK_FLAG_FIND_LAST_VERSION as u8,
                &mut failure,
            );
            raw::PopActiveSnapshot();
            (slot, result)
        });
        let answer = (result == pg_sys::TM_Result::TM_Ok).then(|| read(slot));
        pg_sys::ExecDropSingleTupleTableSlot(slot);
        answer
    }
}

/// Gives a row that this transaction has inserted to `read`, by its place; nothing where it has
/// replaced or deleted it since.
pub fn fetch_own<T>(
    open: &Open<'_>,
    tid: &ItemPointerData,
    read: impl FnOnce(*mut TupleTableSlot) -> T,
) -> Option<T> {
    let table = open.table();
    let mut at = *tid;
    // SAFETY: a row of an open transaction stays in its place. The steps are taken behind one
    // boundary, with nothing on the stack that would have to be dropped.
    unsafe {
        let fetch = (*(*table).rd_tableam).tuple_fetch_row_version?;
        let (slot, found) = pg_sys::ffi::pg_guard_ffi_boundary(|| {
            let slot = raw::table_slot_create(table, core::ptr::null_mut());
            // Not a version that the effect itself has replaced or deleted: to update that one
            // would be an error.
            let own = &raw mut pg_sys::SnapshotSelfData;
            let found = fetch(table, &mut at, own, slot);
            (slot, found)
        });
        let answer = found.then(|| read(slot));
        pg_sys::ExecDropSingleTupleTableSlot(slot);
        answer
    }
}

/// Waiting for whoever holds a key, as the executor does it.
mod contention {
    use super::*;

    /// Whether no other row holds the key; waits for one that is being inserted.
    pub fn is_key_free(open: &Open<'_>, columns: Columns<'_, '_>) -> bool {
        let table = open.table();
        // SAFETY: the executor's state owns what is made here and is freed below, or with its memory
        // context by the end of the (sub)transaction. A zeroed node with its tag is what makeNode
        // makes. The table is locked for writing.
        unsafe {
            let slot =
                pg_sys::ffi::pg_guard_ffi_boundary(|| row(table, core::ptr::null_mut(), columns));
            let state = pg_sys::CreateExecutorState();
            let before = pg_sys::MemoryContextSwitchTo((*state).es_query_cxt);
            let info =
                pg_sys::palloc0(size_of::<pg_sys::ResultRelInfo>()).cast::<pg_sys::ResultRelInfo>();
            (*info).type_ = pg_sys::NodeTag::T_ResultRelInfo;
            pg_sys::InitResultRelInfo(info, table, 1, core::ptr::null_mut(), 0);
            pg_sys::ExecOpenIndices(info, true);
            let key = (*open.handle.index).rd_id;
            let arbiters = pg_sys::lappend_oid(core::ptr::null_mut(), key);
            pg_sys::MemoryContextSwitchTo(before);
            let is_free = versions::is_key_free(info, slot, state, arbiters);
            pg_sys::ExecCloseIndices(info);
            pg_sys::FreeExecutorState(state);
            pg_sys::ExecDropSingleTupleTableSlot(slot);
            is_free
        }
    }
}
