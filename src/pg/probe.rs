//! Who holds a key right now, seen through uncommitted changes, without waiting for it.

use crate::pg::{raw, values, versions};
use crate::store::tables::{Column, Kind};
use crate::value::Value;
use pgrx::pg_sys::{self, Oid, TransactionId};
use std::ffi::CString;

/// What stands at a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    /// No other transaction is at work on it.
    Nobody,
    /// A transaction that has inserted or is deleting it.
    Transaction(TransactionId),
    /// A transaction that is inserting it at this moment and may find that it lost.
    Speculative(TransactionId, u32),
}

/// Looks a whole primary key up with a dirty snapshot. Where the key is not as it was made there
/// is nothing to look it up by, and the insert itself has to find out.
pub fn holder(table: Oid, columns: &[Column], identity: &[Value<'_>]) -> Holder {
    // SAFETY: relations, scan and slot are closed in the reverse order in which they were opened,
    // or by the end of the transaction; the keys name the columns of the primary key in its order,
    // and their datums outlive the scan. A dirty snapshot needs no more than its type.
    unsafe {
        let heap = pg_sys::relation_open(table, pg_sys::AccessShareLock as i32);
        let key = pg_sys::ffi::pg_guard_ffi_boundary(|| versions::primary_key(heap));
        let holder = if key == Oid::INVALID {
            Holder::Nobody
        } else {
            let index = pg_sys::index_open(key, pg_sys::AccessShareLock as i32);
            let holder = if is_over(index, table, columns) {
                scan(heap, index, identity)
            } else {
                Holder::Nobody
            };
            pg_sys::index_close(index, pg_sys::NoLock as i32);
            holder
        };
        pg_sys::relation_close(heap, pg_sys::NoLock as i32);
        holder
    }
}

/// Whether an index is over exactly these columns, in this order, of the types they were made with.
///
/// # Safety
/// `index` is an open index of `table`.
unsafe fn is_over(index: pg_sys::Relation, table: Oid, columns: &[Column]) -> bool {
    // SAFETY: the caller's promise; the arrays of an open index have as many elements as it has
    // key columns.
    unsafe {
        let form = (*index).rd_index;
        (*form).indnkeyatts as usize == columns.len()
            && (*form).indnatts == (*form).indnkeyatts
            && columns.iter().enumerate().all(|(place, column)| {
                let Ok(name) = CString::new(column.name) else {
                    return false;
                };
                let collation = if column.kind == Kind::Text {
                    pg_sys::C_COLLATION_OID
                } else {
                    Oid::INVALID
                };
                (*form).indkey.values.as_slice(columns.len())[place]
                    == pg_sys::get_attnum(table, name.as_ptr())
                    && *(*index).rd_opcintype.add(place) == values::type_of(column.kind)
                    && *(*index).rd_indcollation.add(place) == collation
            })
    }
}

/// # Safety
/// `index` is the primary key of `heap`, both open; `identity` has its columns' types.
unsafe fn scan(heap: pg_sys::Relation, index: pg_sys::Relation, identity: &[Value<'_>]) -> Holder {
    // SAFETY: as in `holder`. The steps are taken behind one boundary, with nothing on the stack
    // that would have to be dropped.
    unsafe {
        pg_sys::ffi::pg_guard_ffi_boundary(|| {
            let mut keys = Keys::of(identity);
            let mut dirty = pg_sys::SnapshotData {
                snapshot_type: pg_sys::SnapshotType::SNAPSHOT_DIRTY,
                ..Default::default()
            };
            let slot = raw::table_slot_create(heap, core::ptr::null_mut());
            let scan = keys.begin(heap, index, &mut dirty);
            let mut holder = Holder::Nobody;
            while holder == Holder::Nobody
                && raw::index_getnext_slot(scan, pg_sys::ScanDirection::ForwardScanDirection, slot)
            {
                // The check of each tuple leaves here who is at work on it, if somebody else is.
                holder = match (dirty.xmin, dirty.xmax) {
                    (pg_sys::InvalidTransactionId, pg_sys::InvalidTransactionId) => Holder::Nobody,
                    (pg_sys::InvalidTransactionId, deleter) => Holder::Transaction(deleter),
                    (inserter, _) if dirty.speculativeToken != 0 => {
                        Holder::Speculative(inserter, dirty.speculativeToken)
                    }
                    (inserter, _) => Holder::Transaction(inserter),
                };
            }
            raw::index_endscan(scan);
            raw::ExecDropSingleTupleTableSlot(slot);
            holder
        })
    }
}

/// How many columns a primary key has at most.
pub const MOST_KEYS: usize = 3;

/// Scan keys for a whole primary key. Texts are compared as the columns are, by `COLLATE "C"`,
/// which is what ScanKeyInit sets.
pub struct Keys {
    keys: [pg_sys::ScanKeyData; MOST_KEYS],
    count: i32,
}

impl Keys {
    /// # Safety
    /// Called behind a boundary; the identity's values outlive the scan.
    pub unsafe fn of(identity: &[Value<'_>]) -> Self {
        let mut keys = [pg_sys::ScanKeyData::default(); MOST_KEYS];
        let mut count = 0;
        for (key, value) in keys.iter_mut().zip(identity) {
            count += 1;
            let equality = match value {
                Value::Text(_) => pg_sys::F_TEXTEQ,
                Value::Uuid(_) => pg_sys::F_UUID_EQ,
                _ => pg_sys::F_INT8EQ,
            };
            // SAFETY: fills in the key from the equality function's own catalog entry.
            unsafe {
                raw::ScanKeyInit(
                    key,
                    count,
                    pg_sys::BTEqualStrategyNumber as u16,
                    Oid::from(equality),
                    values::datum(*value).unwrap_or(pg_sys::Datum::null()),
                );
            }
        }
        Keys {
            keys,
            count: i32::from(count),
        }
    }

    /// Begins a scan for them; it copies them.
    ///
    /// # Safety
    /// Called behind a boundary; both relations are open and locked, and the snapshot outlives the
    /// scan.
    pub unsafe fn begin(
        &mut self,
        table: pg_sys::Relation,
        index: pg_sys::Relation,
        snapshot: pg_sys::Snapshot,
    ) -> pg_sys::IndexScanDesc {
        // SAFETY: the caller's promise.
        unsafe {
            let scan = versions::index_beginscan(table, index, snapshot, self.count);
            let (keys, none) = (self.keys.as_mut_ptr(), core::ptr::null_mut());
            raw::index_rescan(scan, keys, self.count, none, 0);
            scan
        }
    }
}
