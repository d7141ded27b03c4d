//! The way that a call takes to its tables.

use super::direct::Direct;
use super::spi::Spi;
use super::tables::RecordTable;
use super::{Insert, Insertion, Move, Patience, Store};
use crate::error::Result;
use crate::pg::installation::Installation;
use crate::value::{Row, Value};
use core::cell::Cell;

/// The store of one call, on one of the two ways.
pub enum Way {
    Spi(Spi),
    Direct(Direct),
}

thread_local! {
    /// The way that the latest call took, to be asked for.
    static LATEST: Cell<Option<&'static str>> = const { Cell::new(None) };
}

/// The way that the latest call of this session took.
pub fn latest() -> Option<&'static str> {
    LATEST.get()
}

impl Way {
    /// Takes the fast way to a record table where it is the same, and else the other.
    pub fn to(table: &'static RecordTable, spi: Spi) -> Result<Self> {
        let way = match Direct::over(spi, table)? {
            Ok(direct) => Way::Direct(direct),
            Err(spi) => Way::Spi(spi),
        };
        LATEST.set(Some(match way {
            Way::Spi(_) => "spi",
            Way::Direct(_) => "direct",
        }));
        Ok(way)
    }

    /// The other way, for a record that leaves its account alone: the foreign key has to lock it.
    pub fn spi(&self) -> &Spi {
        match self {
            Way::Spi(spi) => spi,
            Way::Direct(direct) => direct.spi(),
        }
    }

    pub fn installation(&self) -> &Installation {
        match self {
            Way::Spi(spi) => spi.installation(),
            Way::Direct(direct) => direct.spi().installation(),
        }
    }
}

/// Hands a question on to the store of the way.
macro_rules! ask {
    ($way:expr, $store:ident => $question:expr) => {
        match $way {
            Way::Spi($store) => $question,
            Way::Direct($store) => $question,
        }
    };
}

impl<'a> Store<'a> for Way {
    fn find(&self, table: &'static RecordTable, identity: &[Value<'a>]) -> Result<Option<Row<'a>>> {
        ask!(self, store => store.find(table, identity))
    }

    fn wait_for_holder(
        &self,
        table: &'static RecordTable,
        identity: &[Value<'a>],
        patience: Patience,
    ) -> Result<bool> {
        ask!(self, store => store.wait_for_holder(table, identity, patience))
    }

    fn foresee(&self, account_id: i64, amount: i64, way: Move) -> Result<Option<i64>> {
        ask!(self, store => store.foresee(account_id, amount, way))
    }

    fn insert(&self, insert: &Insert<'_, 'a>) -> Result<Insertion<'a>> {
        ask!(self, store => store.insert(insert))
    }

    fn finish(
        &self,
        table: &'static RecordTable,
        identity: &[Value<'a>],
        result: &[Value<'a>],
    ) -> Result<Value<'a>> {
        ask!(self, store => store.finish(table, identity, result))
    }

    fn balance(&self, account_id: i64) -> Result<Option<i64>> {
        ask!(self, store => store.balance(account_id))
    }

    fn move_balance(&self, account_id: i64, amount: i64, way: Move) -> Result<Option<i64>> {
        ask!(self, store => store.move_balance(account_id, amount, way))
    }

    fn account_is_guarded(&self) -> bool {
        ask!(self, store => store.account_is_guarded())
    }

    fn level(&self) -> u32 {
        ask!(self, store => store.level())
    }

    fn schema(&self) -> &str {
        ask!(self, store => store.schema())
    }
}
