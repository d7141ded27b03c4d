//! Functions of Postgres's without the boundary that each of pgrx's bindings is wrapped in, for
//! steps that are taken together behind one.
//!
//! To be called only inside `pg_guard_ffi_boundary`: an error raised in one of them unwinds to
//! there, and past whatever Rust has on the stack in between.

use pgrx::pg_sys::{
    IndexScanDesc, List, Relation, ScanDirection, ScanKey, Snapshot, TupleTableSlot,
};

unsafe extern "C-unwind" {
    pub fn CommandCounterIncrement();
    pub fn PushActiveSnapshot(snapshot: Snapshot);
    pub fn PopActiveSnapshot();
    pub fn GetTransactionSnapshot() -> Snapshot;
    pub fn GetActiveSnapshot() -> Snapshot;
    pub fn table_slot_create(table: Relation, registered: *mut *mut List) -> *mut TupleTableSlot;
    pub fn ExecDropSingleTupleTableSlot(slot: *mut TupleTableSlot);
    pub fn index_rescan(
        scan: IndexScanDesc,
        keys: ScanKey,
        key_count: core::ffi::c_int,
        orders: ScanKey,
        order_count: core::ffi::c_int,
    );
    pub fn index_getnext_slot(
        scan: IndexScanDesc,
        direction: ScanDirection::Type,
        slot: *mut TupleTableSlot,
    ) -> bool;
    pub fn index_endscan(scan: IndexScanDesc);
}
