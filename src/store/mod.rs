//! What the rules ask of a store. A store keeps and finds; it decides nothing.

pub mod contracts;
pub mod direct;
pub mod execute;
pub mod grants;
pub mod spi;
mod statements;
pub mod tables;
pub mod way;

use crate::error::Result;
use crate::value::{Row, Value};
use std::time::{Duration, Instant};
use tables::RecordTable;

/// How long a call waits for another transaction that holds its key.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// `None` is for ever.
    until: Option<Instant>,
}

impl Patience {
    /// Counts from now; `None` is for ever.
    pub fn of(limit: Option<Duration>) -> Self {
        // A limit beyond what the clock can count is as good as for ever.
        Patience {
            until: limit.and_then(|limit| Instant::now().checked_add(limit)),
        }
    }

    pub const FOR_EVER: Patience = Patience { until: None };

    /// What is left; `None` is for ever.
    pub fn left(self) -> Option<Duration> {
        self.until
            .map(|until| until.saturating_duration_since(Instant::now()))
    }

    pub fn is_bounded(self) -> bool {
        self.until.is_some()
    }
}

/// A record to be inserted.
pub struct Insert<'c, 'a> {
    pub table: &'static RecordTable,
    pub identity: &'c [Value<'a>],
    pub request: &'c [Value<'a>],
    /// The result, where it is known before the effect; else the record is pending.
    pub foreseen: Option<&'c [Value<'a>]>,
    /// The account that the record belongs to, where there is one.
    pub account_id: Option<i64>,
    pub patience: Patience,
}

/// How an insert ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Insertion<'a> {
    /// The key is ours since now.
    Won {
        stamp: Value<'a>,
        /// Whether the foreseen result is stored with it; else the record is pending.
        whole: bool,
    },
    /// The key is in the table.
    Taken,
    /// Some lock was waited for longer than the patience lasted; nothing was done.
    TimedOut,
}

/// Which way an amount goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    /// Off the balance, if it holds the amount.
    Debit,
    /// Onto the balance.
    Credit,
}

pub trait Store<'a> {
    /// Reads a record with a new snapshot (the transaction's, above READ COMMITTED). Answers the
    /// table's [`RecordTable::kept`] columns. Writes nothing and waits for nobody.
    fn find(&self, table: &'static RecordTable, identity: &[Value<'a>]) -> Result<Option<Row<'a>>>;

    /// Waits for another transaction that has inserted the key or is deleting it. Answers false
    /// where it would have to wait longer than the patience lasts; the caller then ends the call.
    fn wait_for_holder(
        &self,
        table: &'static RecordTable,
        identity: &[Value<'a>],
        patience: Patience,
    ) -> Result<bool>;

    /// What an account's balance would become, where the store can tell without waiting.
    fn foresee(&self, account_id: i64, amount: i64, way: Move) -> Result<Option<i64>>;

    /// Inserts a record, after waiting for whoever else is inserting it.
    fn insert(&self, insert: &Insert<'_, 'a>) -> Result<Insertion<'a>>;

    /// Gives a record of this transaction its result, or fails where that changes no row. Answers
    /// its stamp.
    fn finish(
        &self,
        table: &'static RecordTable,
        identity: &[Value<'a>],
        result: &[Value<'a>],
    ) -> Result<Value<'a>>;

    /// The account's balance, if the account exists and the caller may see it.
    fn balance(&self, account_id: i64) -> Result<Option<i64>>;

    /// Moves an amount, waiting for others that hold the account. Answers the new balance, or
    /// nothing where no row was changed.
    fn move_balance(&self, account_id: i64, amount: i64, way: Move) -> Result<Option<i64>>;

    /// Whether row security on `account` applies to the caller.
    fn account_is_guarded(&self) -> bool;

    /// The number of the current (sub)transaction.
    fn level(&self) -> u32;

    /// The schema that the tables are in.
    fn schema(&self) -> &str;
}
