//! A table and its primary key's index, open for one operation.

use super::shape::Columns;
use crate::pg::{probe, raw, values, versions};
use crate::value::{Row, Value};
use pgrx::pg_sys::{self, Oid};

/// A table and its index that are open, and to be closed.
#[derive(Clone, Copy)]
pub struct Handle {
    table: pg_sys::Relation,
    index: pg_sys::Relation,
    key: Oid,
}

/// An open table, for one operation.
pub struct Open<'s> {
    pub handle: Handle,
    pub table: pg_sys::Relation,
    index: pg_sys::Relation,
    pub key: Oid,
    pub columns: &'s Columns,
}

impl Handle {
    /// Opens a table that is locked already, or nothing where it has no primary key.
    pub fn open(oid: Oid) -> Option<Self> {
        // SAFETY: the caller holds a lock on the table; both are closed by `close`, or by the end
        // of the (sub)transaction.
        unsafe {
            let table = pg_sys::relation_open(oid, pg_sys::NoLock as i32);
            let key = versions::primary_key(table);
            if key == Oid::INVALID {
                pg_sys::relation_close(table, pg_sys::NoLock as i32);
                return None;
            }
            let index = pg_sys::index_open(key, pg_sys::AccessShareLock as i32);
            Some(Handle { table, index, key })
        }
    }

    pub fn close(self) {
        // SAFETY: opened by `open`. The locks stay until the transaction ends.
        unsafe {
            pg_sys::index_close(self.index, pg_sys::NoLock as i32);
            pg_sys::relation_close(self.table, pg_sys::NoLock as i32);
        }
    }
}

impl<'s> Open<'s> {
    pub fn new(handle: Handle, columns: &'s Columns) -> Self {
        Open {
            handle,
            table: handle.table,
            index: handle.index,
            key: handle.key,
            columns,
        }
    }

    /// Looks a row up by the primary key, with a snapshot of now, and gives it to `read`.
    pub fn fetch<T>(
        &self,
        identity: &[Value<'_>],
        read: impl FnOnce(*mut pg_sys::TupleTableSlot) -> T,
    ) -> Option<T> {
        let mut keys = probe::keys(identity);
        let count = keys.len() as i32;
        let first = keys.as_mut_ptr();
        let (table, index) = (self.table, self.index);
        // SAFETY: the snapshot is active until everything that refers to it is gone; the scan is
        // ended before it, and the slot, which keeps its page pinned, after the row was read; the
        // keys name the primary key's columns in its order. The scan's steps are taken behind one
        // boundary, with nothing on the stack that would have to be dropped. An error leaves all of
        // it to the end of the (sub)transaction.
        unsafe {
            let (slot, found) = pg_sys::ffi::pg_guard_ffi_boundary(move || {
                // What an earlier part of the same statement has written is to be seen.
                raw::CommandCounterIncrement();
                raw::PushActiveSnapshot(raw::GetTransactionSnapshot());
                let slot = raw::table_slot_create(table, core::ptr::null_mut());
                let snapshot = raw::GetActiveSnapshot();
                let scan = versions::index_beginscan(table, index, snapshot, count);
                raw::index_rescan(scan, first, count, core::ptr::null_mut(), 0);
                let forward = pg_sys::ScanDirection::ForwardScanDirection;
                let found = raw::index_getnext_slot(scan, forward, slot);
                raw::index_endscan(scan);
                (slot, found)
            });
            let answer = found.then(|| read(slot));
            pg_sys::ffi::pg_guard_ffi_boundary(move || {
                raw::ExecDropSingleTupleTableSlot(slot);
                raw::PopActiveSnapshot();
            });
            answer
        }
    }

    /// The kept columns of a fetched row, copied.
    ///
    /// # Safety
    /// The slot holds a row of this table.
    pub unsafe fn kept<'a>(&self, slot: *mut pg_sys::TupleTableSlot) -> Row<'a> {
        // SAFETY: the columns' numbers and kinds were read from the catalog, and are not beyond
        // what is deformed here.
        unsafe {
            pg_sys::slot_getsomeattrs_int(slot, i32::from(self.columns.last()));
            self.columns
                .kept
                .iter()
                .map(|&(number, kind)| {
                    let place = number as usize - 1;
                    if *(*slot).tts_isnull.add(place) {
                        Value::Null
                    } else {
                        values::copied(kind, *(*slot).tts_values.add(place))
                    }
                })
                .collect()
        }
    }

    /// Whether a row of `account` is still this account's.
    ///
    /// # Safety
    /// The slot holds a row of this table, and the table is `account`.
    pub unsafe fn is_account(&self, slot: *mut pg_sys::TupleTableSlot, account_id: i64) -> bool {
        // SAFETY: the column's number was read from the catalog.
        unsafe {
            let number = self.columns.identity[0];
            pg_sys::slot_getsomeattrs_int(slot, i32::from(number));
            (*(*slot).tts_values.add(number as usize - 1)).value() as i64 == account_id
        }
    }

    /// A new row of this table with these columns, the others NULL. To be dropped by the caller.
    pub fn build(&self, columns: &[(i16, Value<'_>)]) -> *mut pg_sys::TupleTableSlot {
        // SAFETY: a fresh slot has room for every column of the table's descriptor; what the
        // values borrow outlives its use.
        unsafe {
            let descriptor = (*self.table).rd_att;
            let slot =
                pg_sys::MakeSingleTupleTableSlot(descriptor, &raw const pg_sys::TTSOpsVirtual);
            for place in 0..(*descriptor).natts as usize {
                *(*slot).tts_isnull.add(place) = true;
                *(*slot).tts_values.add(place) = pg_sys::Datum::null();
            }
            for (number, value) in columns {
                set(slot, *number, *value);
            }
            pg_sys::ExecStoreVirtualTuple(slot);
            slot
        }
    }

    /// A copy of a fetched row with some columns replaced. To be dropped by the caller, and used
    /// no longer than the fetched row.
    ///
    /// # Safety
    /// The slot holds a row of this table.
    pub unsafe fn replace(
        &self,
        from: *mut pg_sys::TupleTableSlot,
        columns: &[(i16, Value<'_>)],
    ) -> *mut pg_sys::TupleTableSlot {
        // SAFETY: both slots have the table's descriptor; a dropped column reads as NULL.
        unsafe {
            let descriptor = (*self.table).rd_att;
            let count = (*descriptor).natts;
            pg_sys::slot_getsomeattrs_int(from, count);
            let slot =
                pg_sys::MakeSingleTupleTableSlot(descriptor, &raw const pg_sys::TTSOpsVirtual);
            for place in 0..count as usize {
                *(*slot).tts_isnull.add(place) = *(*from).tts_isnull.add(place);
                *(*slot).tts_values.add(place) = *(*from).tts_values.add(place);
            }
            for (number, value) in columns {
                set(slot, *number, *value);
            }
            pg_sys::ExecStoreVirtualTuple(slot);
            slot
        }
    }
}

/// # Safety
/// The slot has a column of this number, of the value's type.
unsafe fn set(slot: *mut pg_sys::TupleTableSlot, number: i16, value: Value<'_>) {
    // SAFETY: the caller's promise; numbers count from one.
    unsafe {
        let place = number as usize - 1;
        let datum = values::datum(value);
        *(*slot).tts_isnull.add(place) = datum.is_none();
        *(*slot).tts_values.add(place) = datum.unwrap_or(pg_sys::Datum::null());
    }
}
