//! What the rules ask of a store. A store keeps and finds; it decides nothing.

pub mod spi;
mod statements;
pub mod tables;

use crate::error::Result;
use crate::value::{Row, Value};
use tables::RecordTable;

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

    /// Inserts a pending record, after waiting for whoever else is inserting it. Answers its
    /// stamp, or nothing where the key is taken.
    fn insert(
        &self,
        table: &'static RecordTable,
        identity: &[Value<'a>],
        request: &[Value<'a>],
    ) -> Result<Option<Value<'a>>>;

    /// Gives a record of this transaction its result.
    fn finish(
        &self,
        table: &'static RecordTable,
        identity: &[Value<'a>],
        result: &[Value<'a>],
    ) -> Result<()>;

    /// The account's balance, if the account exists and the caller may see it.
    fn balance(&self, account_id: i64) -> Result<Option<i64>>;

    /// Moves an amount, waiting for others that hold the account. Answers the new balance, or
    /// nothing where no row was changed.
    fn move_balance(&self, account_id: i64, amount: i64, way: Move) -> Result<Option<i64>>;

    /// Whether row security on `account` applies to the caller.
    fn account_is_guarded(&self) -> Result<bool>;

    /// The schema that the tables are in.
    fn schema(&self) -> &str;
}
