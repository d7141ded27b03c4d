//! Who holds a key right now, seen through uncommitted changes, without waiting for it.

use crate::pg::{values, versions};
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
        let key = versions::primary_key(heap);
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
    // SAFETY: as in `holder`.
    unsafe {
        let mut keys = keys(identity);
        let mut dirty = pg_sys::SnapshotData {
            snapshot_type: pg_sys::SnapshotType::SNAPSHOT_DIRTY,
            ..Default::default()
        };
        let slot = pg_sys::table_slot_create(heap, core::ptr::null_mut());
        let scan = versions::index_beginscan(heap, index, &mut dirty, keys.len() as i32);
        pg_sys::index_rescan(
            scan,
            keys.as_mut_ptr(),
            keys.len() as i32,
            core::ptr::null_mut(),
            0,
        );
        let mut holder = Holder::Nobody;
        while holder == Holder::Nobody
            && pg_sys::index_getnext_slot(scan, pg_sys::ScanDirection::ForwardScanDirection, slot)
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
        pg_sys::index_endscan(scan);
        pg_sys::ExecDropSingleTupleTableSlot(slot);
        holder
    }
}

/// Scan keys for a whole primary key. Texts are compared as the columns are, by `COLLATE "C"`,
/// which is what ScanKeyInit sets.
pub fn keys(identity: &[Value<'_>]) -> Vec<pg_sys::ScanKeyData> {
    identity
        .iter()
        .zip(1..)
        .map(|(value, column)| {
            let equality = match value {
                Value::Text(_) => pg_sys::F_TEXTEQ,
                Value::Uuid(_) => pg_sys::F_UUID_EQ,
                _ => pg_sys::F_INT8EQ,
            };
            let mut key = pg_sys::ScanKeyData::default();
            // SAFETY: fills in the key from the equality function's own catalog entry.
            unsafe {
                pg_sys::ScanKeyInit(
                    &mut key,
                    column,
                    pg_sys::BTEqualStrategyNumber as u16,
                    Oid::from(equality),
                    values::datum(*value).unwrap_or(pg_sys::Datum::null()),
                );
            }
            key
        })
        .collect()
}
