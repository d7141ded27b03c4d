//! Functions of Postgres's without the boundary that each of pgrx's bindings is wrapped in, for
//! steps that are taken together behind one.
//!
//! To be called only inside `pg_guard_ffi_boundary`: an error raised in one of them unwinds to
//! there, and past whatever Rust has on the stack in between.

use core::ffi::{c_int, c_void};
use pgrx::pg_sys::{
    CmdType, CommandId, Datum, IndexInfo, IndexScanDesc, IndexUniqueCheck, ItemPointer, List,
    Numeric, Oid, RegProcedure, Relation, ScanDirection, ScanKey, Snapshot, TransactionId,
    TupleDesc, TupleTableSlot, TupleTableSlotOps,
};

unsafe extern "C-unwind" {
    /// The setting of this name.
    pub static bytea_output: c_int;

    pub fn palloc0(size: usize) -> *mut c_void;
    pub fn int64_to_numeric(number: i64) -> Numeric;

    pub fn CommandCounterIncrement();
    pub fn GetCurrentCommandId(used: bool) -> CommandId;
    pub fn GetCurrentTransactionId() -> TransactionId;
    pub fn PushActiveSnapshot(snapshot: Snapshot);
    pub fn PopActiveSnapshot();
    pub fn GetTransactionSnapshot() -> Snapshot;
    pub fn GetActiveSnapshot() -> Snapshot;

    pub fn LockRelationOid(relation: Oid, lock: c_int);
    pub fn relation_open(relation: Oid, lock: c_int) -> Relation;
    pub fn relation_close(relation: Relation, lock: c_int);
    pub fn index_open(index: Oid, lock: c_int) -> Relation;
    pub fn index_close(index: Relation, lock: c_int);
    pub fn CheckCmdReplicaIdentity(relation: Relation, command: CmdType::Type);
    #[cfg(feature = "pg18")]
    pub fn RelationGetPrimaryKeyIndex(table: Relation, deferrable_too: bool) -> Oid;
    #[cfg(not(feature = "pg18"))]
    pub fn RelationGetPrimaryKeyIndex(table: Relation) -> Oid;

    pub fn table_slot_create(table: Relation, registered: *mut *mut List) -> *mut TupleTableSlot;
    pub fn MakeSingleTupleTableSlot(
        descriptor: TupleDesc,
        kind: *const TupleTableSlotOps,
    ) -> *mut TupleTableSlot;
    pub fn ExecStoreVirtualTuple(slot: *mut TupleTableSlot) -> *mut TupleTableSlot;
    pub fn ExecDropSingleTupleTableSlot(slot: *mut TupleTableSlot);
    pub fn slot_getsomeattrs_int(slot: *mut TupleTableSlot, last: c_int);

    pub fn ScanKeyInit(
        key: ScanKey,
        column: i16,
        strategy: u16,
        equality: RegProcedure,
        value: Datum,
    );
    #[cfg(feature = "pg18")]
    pub fn index_beginscan(
        table: Relation,
        index: Relation,
        snapshot: Snapshot,
        instrumentation: *mut pgrx::pg_sys::IndexScanInstrumentation,
        key_count: c_int,
        order_count: c_int,
    ) -> IndexScanDesc;
    #[cfg(not(feature = "pg18"))]
    pub fn index_beginscan(
        table: Relation,
        index: Relation,
        snapshot: Snapshot,
        key_count: c_int,
        order_count: c_int,
    ) -> IndexScanDesc;
    pub fn index_rescan(
        scan: IndexScanDesc,
        keys: ScanKey,
        key_count: c_int,
        orders: ScanKey,
        order_count: c_int,
    );
    pub fn index_getnext_tid(scan: IndexScanDesc, direction: ScanDirection::Type) -> ItemPointer;
    pub fn index_fetch_heap(scan: IndexScanDesc, slot: *mut TupleTableSlot) -> bool;
    pub fn index_getnext_slot(
        scan: IndexScanDesc,
        direction: ScanDirection::Type,
        slot: *mut TupleTableSlot,
    ) -> bool;
    pub fn index_endscan(scan: IndexScanDesc);

    pub fn SpeculativeInsertionLockAcquire(transaction: TransactionId) -> u32;
    pub fn SpeculativeInsertionLockRelease(transaction: TransactionId);
    pub fn index_insert(
        index: Relation,
        values: *mut Datum,
        nulls: *mut bool,
        place: ItemPointer,
        table: Relation,
        check: IndexUniqueCheck::Type,
        unchanged: bool,
        info: *mut IndexInfo,
    ) -> bool;
}
