//! A table and its primary key's index, open for one operation.

use super::shape::Columns;
use crate::pg::probe::Keys;
use crate::pg::{raw, values, versions};
use crate::value::{Row, Value};
use pgrx::pg_sys::{self, Oid};

/// A table and its index that are open, and to be closed.
#[derive(Clone, Copy)]
pub struct Handle {
    pub table: pg_sys::Relation,
    pub index: pg_sys::Relation,
    /// The strongest lock that was asked for on the table.
    lock: u32,
}

/// An open table, for one operation.
pub struct Open<'s> {
    pub handle: Handle,
    pub columns: &'s Columns,
}

/// What a look-up found.
pub enum Found<T> {
    Row(T),
    /// No row that the look-up may see, though some version of one may be there.
    NotSeen,
    /// Not even an entry in the index.
    NoEntry,
}

impl<T> Found<T> {
    pub fn row(self) -> Option<T> {
        match self {
            Found::Row(row) => Some(row),
            Found::NotSeen | Found::NoEntry => None,
        }
    }
}

impl Handle {
    /// Locks a table and opens it with its primary key, or does what is missing of that. Answers
    /// nothing where it has no primary key, or where `is_current` denies after the lock was had,
    /// which tells of what others have committed before they let go of theirs.
    pub fn open(
        oid: Oid,
        lock: u32,
        kept: Option<Self>,
        is_current: impl Fn() -> bool + Copy,
    ) -> Option<Self> {
        if let Some(handle) = kept.filter(|handle| handle.lock >= lock) {
            return Some(handle);
        }
        let (access_share, no_lock) = (pg_sys::AccessShareLock as i32, pg_sys::NoLock as i32);
        // SAFETY: the table is locked before it is opened; both are closed by `close`, or by the
        // end of the (sub)transaction. The steps are taken behind one boundary, with nothing on the
        // stack that would have to be dropped.
        unsafe {
            pg_sys::ffi::pg_guard_ffi_boundary(|| {
                raw::LockRelationOid(oid, lock as i32);
                if !is_current() {
                    if let Some(handle) = kept {
                        handle.close_raw();
                    }
                    return None;
                }
                if let Some(handle) = kept {
                    return Some(Handle { lock, ..handle });
                }
                let table = raw::relation_open(oid, no_lock);
                let key = versions::primary_key(table);
                if key == Oid::INVALID {
                    raw::relation_close(table, no_lock);
                    return None;
                }
                let index = raw::index_open(key, access_share);
                Some(Handle { table, index, lock })
            })
        }
    }

    /// # Safety
    /// Called behind a boundary, once.
    unsafe fn close_raw(self) {
        // SAFETY: opened by `open`. The locks stay until the transaction ends.
        unsafe {
            raw::index_close(self.index, pg_sys::NoLock as i32);
            raw::relation_close(self.table, pg_sys::NoLock as i32);
        }
    }
}

/// Closes what is open; the locks stay until the transaction ends.
pub fn close(handles: [Option<Handle>; 2]) {
    if handles.iter().all(Option::is_none) {
        return;
    }
    // SAFETY: each handle was taken from where it was kept, so that it is closed once.
    unsafe {
        pg_sys::ffi::pg_guard_ffi_boundary(|| {
            for handle in handles.into_iter().flatten() {
                handle.close_raw();
            }
        });
    }
}

impl Open<'_> {
    pub fn table(&self) -> pg_sys::Relation {
        self.handle.table
    }

    /// Looks a row up by the primary key, with a snapshot of now, and gives it to `read`.
    pub fn fetch<T>(
        &self,
        identity: &[Value<'_>],
        read: impl FnOnce(*mut pg_sys::TupleTableSlot) -> T,
    ) -> Found<T> {
        let Handle { table, index, .. } = self.handle;
        // SAFETY: the snapshot is active until everything that refers to it is gone; the scan is
        // ended before it, and the slot, which keeps its page pinned, after the row was read; the
        // keys name the primary key's columns in its order. The scan's steps are taken behind one
        // boundary, with nothing on the stack that would have to be dropped. An error leaves all of
        // it to the end of the (sub)transaction.
        unsafe {
            let (slot, found) = pg_sys::ffi::pg_guard_ffi_boundary(|| {
                // What an earlier part of the same statement has written is to be seen.
                raw::CommandCounterIncrement();
                raw::PushActiveSnapshot(raw::GetTransactionSnapshot());
                let slot = raw::table_slot_create(table, core::ptr::null_mut());
                let scan = Keys::of(identity).begin(table, index, raw::GetActiveSnapshot());
                let forward = pg_sys::ScanDirection::ForwardScanDirection;
                let found = if raw::index_getnext_tid(scan, forward).is_null() {
                    Found::NoEntry
                } else if raw::index_fetch_heap(scan, slot)
                    || raw::index_getnext_slot(scan, forward, slot)
                {
                    Found::Row(())
                } else {
                    Found::NotSeen
                };
                raw::index_endscan(scan);
                (slot, found)
            });
            let answer = match found {
                Found::Row(()) => Found::Row(read(slot)),
                Found::NotSeen => Found::NotSeen,
                Found::NoEntry => Found::NoEntry,
            };
            pg_sys::ffi::pg_guard_ffi_boundary(|| {
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
            deform(slot, self.columns.last());
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

    /// When a fetched record was made.
    ///
    /// # Safety
    /// The slot holds a row of this table, and the table is one of records.
    pub unsafe fn stamp<'a>(&self, slot: *mut pg_sys::TupleTableSlot) -> Value<'a> {
        // SAFETY: the column's number was read from the catalog; it is a timestamp, and not null.
        unsafe {
            deform(slot, self.columns.stamp);
            let datum = *(*slot).tts_values.add(self.columns.stamp as usize - 1);
            Value::Timestamp(datum.value() as i64)
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
            deform(slot, number);
            (*(*slot).tts_values.add(number as usize - 1)).value() as i64 == account_id
        }
    }

    /// Whether a fetched row is in no index but the primary key's.
    ///
    /// # Safety
    /// The slot holds a row of this table.
    pub unsafe fn is_in_key_only(&self, slot: *mut pg_sys::TupleTableSlot) -> bool {
        // SAFETY: the column's number was read from the catalog.
        unsafe {
            self.columns.also_indexed.is_none_or(|number| {
                deform(slot, number);
                *(*slot).tts_isnull.add(number as usize - 1)
            })
        }
    }
}

/// Makes a row's columns readable up to this one.
///
/// # Safety
/// The slot holds a row, and has this column.
unsafe fn deform(slot: *mut pg_sys::TupleTableSlot, last: i16) {
    // SAFETY: the caller's promise.
    unsafe {
        if (*slot).tts_nvalid < last {
            pg_sys::slot_getsomeattrs_int(slot, i32::from(last));
        }
    }
}
