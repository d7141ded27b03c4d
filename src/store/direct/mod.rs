//! The fast way to a table: its access method, without the executor.
//!
//! Taken only where it is provably the same as plain SQL, and given up for the rest of a call as
//! soon as something is not as it was made.

mod relation;
pub mod shape;
mod write;

use super::spi::Spi;
use super::tables::RecordTable;
use super::{Insert, Insertion, Move, Patience, Store};
use crate::error::{Error, Result};
use crate::pg::installation::Relation;
use crate::pg::{transaction, waiting};
use crate::settings;
use crate::value::{Row, Value};
use core::cell::Cell;
use pgrx::pg_sys::{self, ItemPointerData};
use relation::{Found, Handle, Open};
use shape::{Columns, Shape, Shapes};
use std::rc::Rc;
use write::Update;

/// A row of `account` as it was last seen.
#[derive(Clone, Copy)]
struct Seen {
    account_id: i64,
    tid: ItemPointerData,
    balance: i64,
}

/// A store for the length of one call.
pub struct Direct {
    spi: Spi,
    shapes: Rc<Shapes>,
    /// Whether this call is on a table of an account's records.
    over_account: bool,
    /// Something has changed since the call began: the rest of it goes the other way.
    given_up: Cell<bool>,
    seen: Cell<Option<Seen>>,
    /// The key of the call had no entry when it was last looked up.
    is_free: Cell<bool>,
    /// Where this call has inserted its record.
    inserted: Cell<Option<ItemPointerData>>,
    /// What is kept open between two operations.
    record: Cell<Option<Handle>>,
    account: Cell<Option<Handle>>,
}

impl Drop for Direct {
    fn drop(&mut self) {
        // While an error unwinds, the end of the (sub)transaction closes them.
        if !std::thread::panicking() {
            self.close();
        }
    }
}

/// Why a call cannot take this way, whatever its tables are.
pub fn obstacle() -> Option<&'static str> {
    // SAFETY: reads variables of the backend.
    unsafe {
        if settings::table_access_is_spi() {
            Some("idempotency.table_access is spi")
        } else if pg_sys::XactIsoLevel != pg_sys::XACT_READ_COMMITTED as i32 {
            Some("the isolation level is not READ COMMITTED")
        } else if (*(&raw const pg_sys::ExecutorCheckPerms_hook)).is_some() {
            Some("another module checks the permissions of statements")
        } else {
            None
        }
    }
}

impl Direct {
    /// Takes this way for a call on a record table, or hands the store back.
    pub fn over(spi: Spi, table: &'static RecordTable) -> Result<core::result::Result<Self, Spi>> {
        if obstacle().is_some() {
            return Ok(Err(spi));
        }
        let installation = spi.installation();
        let shapes = Shapes::of(installation);
        let made = |shape: &Shape| matches!(shape, Shape::Made(_));
        let over_account = table.account_key.is_some();
        if made(shapes.record(installation, table)?)
            && (!over_account || made(shapes.account(installation)?))
        {
            return Ok(Ok(Direct {
                spi,
                shapes,
                over_account,
                given_up: Cell::new(false),
                seen: Cell::new(None),
                is_free: Cell::new(false),
                inserted: Cell::new(None),
                record: Cell::new(None),
                account: Cell::new(None),
            }));
        }
        Ok(Err(spi))
    }

    pub fn spi(&self) -> &Spi {
        &self.spi
    }

    /// Locks and opens a table, and gives this way up if anything has changed by then.
    fn open<'s>(
        &self,
        place: &Cell<Option<Handle>>,
        relation: Relation,
        columns: &'s Columns,
        lock: u32,
    ) -> Option<Open<'s>> {
        if self.given_up.get() {
            return None;
        }
        let installation = self.spi.installation();
        let is_current = || installation.is_current();
        match Handle::open(relation.oid, lock, place.take(), is_current) {
            Some(handle) => Some(Open { handle, columns }),
            None => {
                self.given_up.set(true);
                self.close();
                None
            }
        }
    }

    fn record(&self, table: &'static RecordTable, lock: u32) -> Option<Open<'_>> {
        let installation = self.spi.installation();
        let Ok(Shape::Made(columns)) = self.shapes.record(installation, table) else {
            return None;
        };
        let relation = installation.record_table(table.number).ok()?;
        self.open(&self.record, relation, columns, lock)
    }

    fn account(&self, lock: u32) -> Option<Open<'_>> {
        let installation = self.spi.installation();
        let Ok(Shape::Made(columns)) = self.shapes.account(installation) else {
            return None;
        };
        let relation = installation.account().ok()?;
        self.open(&self.account, relation, columns, lock)
    }

    /// Done with writing to a record table. It stays open for the rest of the call where no code of
    /// the caller's can follow; an effect of his must not meet a table held open.
    fn release(&self, table: &RecordTable, open: Open<'_>) {
        if table.account_key.is_some() {
            self.record.set(Some(open.handle));
        } else {
            relation::close([Some(open.handle), None]);
        }
    }

    fn close(&self) {
        relation::close([self.record.take(), self.account.take()]);
    }

    /// Reads the account as it is now. Its write lock is asked for where it is updated, after that of the
    /// record's table: calls on both ways take them in one order, and whoever waits holds its key.
    fn see(&self, account_id: i64) -> Option<Option<Seen>> {
        let open = self.account(pg_sys::AccessShareLock)?;
        let seen = open.fetch(&[Value::Bigint(account_id)], |slot| {
            // SAFETY: the slot holds a row of this table.
            unsafe { seen(&open, slot, account_id) }
        });
        let seen = seen.row();
        self.account.set(Some(open.handle));
        self.seen.set(seen);
        Some(seen)
    }
}

/// # Safety
/// The slot holds a row of `account`.
unsafe fn seen(open: &Open<'_>, slot: *mut pg_sys::TupleTableSlot, account_id: i64) -> Seen {
    // SAFETY: the caller's promise.
    unsafe {
        let balance = match open.kept(slot).first() {
            Some(Value::Bigint(balance)) => *balance,
            _ => 0,
        };
        Seen {
            account_id,
            tid: (*slot).tts_tid,
            balance,
        }
    }
}

/// What the balance becomes; nothing where a debit is more than it.
fn moved(balance: i64, amount: i64, way: Move) -> Result<Option<i64>> {
    match way {
        Move::Debit => Ok((balance >= amount).then(|| balance - amount)),
        Move::Credit => balance.checked_add(amount).map(Some).ok_or(Error::Overflow),
    }
}

impl<'a> Store<'a> for Direct {
    fn find(&self, table: &'static RecordTable, identity: &[Value<'a>]) -> Result<Option<Row<'a>>> {
        let Some(open) = self.record(table, pg_sys::AccessShareLock) else {
            return self.spi.find(table, identity);
        };
        // SAFETY: the slot holds a row of this table.
        let found = open.fetch(identity, |slot| unsafe { open.kept(slot) });
        self.record.set(Some(open.handle));
        self.is_free.set(matches!(found, Found::NoEntry));
        Ok(found.row())
    }

    fn wait_for_holder(
        &self,
        table: &'static RecordTable,
        identity: &[Value<'a>],
        patience: Patience,
    ) -> Result<bool> {
        self.spi.wait_for_holder(table, identity, patience)
    }

    fn foresee(&self, account_id: i64, amount: i64, way: Move) -> Result<Option<i64>> {
        match self.see(account_id).flatten() {
            Some(seen) => moved(seen.balance, amount, way),
            None => Ok(None),
        }
    }

    fn insert(&self, insert: &Insert<'_, 'a>) -> Result<Insertion<'a>> {
        transaction::prevent_if_read_only(c"INSERT");
        // Without the account the foreign key has something to say, in its own words.
        if let Some(account_id) = insert.account_id {
            let is_seen =
                |seen: Option<Seen>| seen.is_some_and(|seen| seen.account_id == account_id);
            if !is_seen(self.seen.get()) && !is_seen(self.see(account_id).flatten()) {
                return self.spi.insert(insert);
            }
        }
        let Some(open) = self.record(insert.table, pg_sys::RowExclusiveLock) else {
            return self.spi.insert(insert);
        };
        let stamp = Value::Timestamp(transaction::clock());
        let row = open.columns.of_insert(insert, stamp);
        let is_free = self.is_free.take();
        let inserted = match insert.patience.left() {
            None => Some(write::insert(&open, &row, is_free)),
            Some(limit) => waiting::limited(limit, || Ok(write::insert(&open, &row, is_free)))?,
        };
        self.release(insert.table, open);
        Ok(match inserted {
            None => Insertion::TimedOut,
            Some(None) => Insertion::Taken,
            Some(tid) => {
                self.inserted.set(tid);
                Insertion::Won {
                    stamp,
                    whole: insert.foreseen.is_some(),
                }
            }
        })
    }

    fn finish(
        &self,
        table: &'static RecordTable,
        identity: &[Value<'a>],
        result: &[Value<'a>],
    ) -> Result<Value<'a>> {
        transaction::prevent_if_read_only(c"UPDATE");
        let Some(open) = self.record(table, pg_sys::RowExclusiveLock) else {
            return self.spi.finish(table, identity, result);
        };
        let columns: Vec<(i16, Value<'_>)> = open
            .columns
            .result
            .iter()
            .copied()
            .zip(result.iter().copied())
            .collect();
        let finish = |slot: *mut pg_sys::TupleTableSlot| {
            // SAFETY: the slot holds a row of this table, and outlives the update.
            unsafe {
                let stamp = open.stamp(slot);
                let update = if open.is_in_key_only(slot) {
                    write::update(&open, &mut (*slot).tts_tid, slot, &columns)
                } else {
                    Update::Odd
                };
                (update, stamp)
            }
        };
        let done = match self.inserted.take() {
            Some(tid) => write::fetch_own(&open, &tid, finish),
            None => open.fetch(identity, finish).row(),
        };
        self.release(table, open);
        match done {
            Some((Update::Done, stamp)) => Ok(stamp),
            _ => self.spi.finish(table, identity, result),
        }
    }

    fn balance(&self, account_id: i64) -> Result<Option<i64>> {
        match self.see(account_id) {
            Some(seen) => Ok(seen.map(|seen| seen.balance)),
            None => self.spi.balance(account_id),
        }
    }

    fn move_balance(&self, account_id: i64, amount: i64, way: Move) -> Result<Option<i64>> {
        let seen = self
            .seen
            .take()
            .filter(|seen| seen.account_id == account_id);
        let see = || self.see(account_id).flatten();
        let Some(mut seen) = seen.or_else(see) else {
            return self.spi.move_balance(account_id, amount, way);
        };
        transaction::prevent_if_read_only(c"UPDATE");
        self.seen.set(None);
        let Some(open) = self.account(pg_sys::RowExclusiveLock) else {
            return self.spi.move_balance(account_id, amount, way);
        };
        let (id, balance) = (open.columns.identity[0], open.columns.kept[0].0);
        let answer = loop {
            let Some(after) = moved(seen.balance, amount, way)? else {
                break Ok(None);
            };
            let new = [
                (id, Value::Bigint(account_id)),
                (balance, Value::Bigint(after)),
            ];
            // SAFETY: the row was read from this table in this transaction, and as it was made it
            // has no other columns.
            let update =
                unsafe { write::update(&open, &mut seen.tid, core::ptr::null_mut(), &new) };
            match update {
                Update::Done => break Ok(Some(after)),
                Update::Overtaken(lock) => {
                    let latest = write::lock_latest(&open, &seen.tid, lock, |slot| {
                        // SAFETY: the slot holds a row of this table.
                        unsafe { open.is_account(slot, account_id) }
                            .then(|| unsafe { self::seen(&open, slot, account_id) })
                    });
                    match latest.flatten() {
                        Some(latest) => seen = latest,
                        None => break Ok(None),
                    }
                }
                Update::Deleted => break Ok(None),
                Update::Odd => {
                    relation::close([Some(open.handle), None]);
                    return self.spi.move_balance(account_id, amount, way);
                }
            }
        };
        self.account.set(Some(open.handle));
        answer
    }

    fn account_is_guarded(&self) -> bool {
        // As it was made, the account has no policies.
        !self.over_account && self.spi.account_is_guarded()
    }

    fn level(&self) -> u32 {
        self.spi.level()
    }

    fn schema(&self) -> &str {
        self.spi.schema()
    }
}
