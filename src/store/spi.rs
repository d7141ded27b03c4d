//! The always-right way to a table: kept SPI plans.

use super::execute::{self, Run};
use super::statements::{Action, Rights, Statements};
use super::tables::{Kind, RecordTable};
use super::{Insert, Insertion, Move, Patience, Store};
use crate::error::{Error, Result};
use crate::pg::errors::{self, Raised};
use crate::pg::installation::{Installation, Relation};
use crate::pg::probe::{self, Holder};
use crate::pg::{roles, transaction, waiting};
use crate::value::{Row, Value};
use core::cell::OnceCell;
use core::time::Duration;
use pgrx::pg_sys;
use std::rc::Rc;

/// A store for the length of one call.
pub struct Spi {
    installation: Rc<Installation>,
    /// Row security on `account` applies to the caller, who then acts for himself.
    guarded: OnceCell<bool>,
}

impl Spi {
    /// Opens the store of the installation that a function belongs to.
    pub fn open(function: pg_sys::Oid) -> Result<Self> {
        let installation = Installation::of(function)?;
        installation.account()?;
        Ok(Spi {
            installation,
            guarded: OnceCell::new(),
        })
    }

    pub fn installation(&self) -> &Installation {
        &self.installation
    }

    fn on_record<'a>(
        &self,
        action: Action,
        table: &'static RecordTable,
        arguments: &[Value<'a>],
        answer: &[Kind],
    ) -> Result<Option<Row<'a>>> {
        let relation = self.installation.record_table(table.number)?;
        roles::as_owner(relation.owner, || {
            self.run(relation, action, Rights::Owner, arguments, answer)
        })
    }

    fn on_account<'a>(&self, action: Action, arguments: &[Value<'a>]) -> Result<Option<i64>> {
        let account = self.installation.account()?;
        let balance = [Kind::Bigint];
        let row = if self.account_is_guarded() {
            roles::as_caller(|| self.run(account, action, Rights::Caller, arguments, &balance))?
        } else {
            roles::as_exempt_owner(account.owner, || {
                self.run(account, action, Rights::Owner, arguments, &balance)
            })?
        };
        Ok(row.and_then(|row| match row.first() {
            Some(Value::Bigint(balance)) => Some(*balance),
            _ => None,
        }))
    }

    /// Runs a statement on a table and answers its first row, if it has one.
    fn run<'a>(
        &self,
        relation: Relation,
        action: Action,
        rights: Rights,
        arguments: &[Value<'a>],
        answer: &[Kind],
    ) -> Result<Option<Row<'a>>> {
        let plan = || Statements::plan(&self.installation, action, rights);
        let run = Run {
            arguments,
            answer,
            table: self.installation.named(relation),
        };
        Ok(execute::execute(plan, &run)?.pop())
    }
}

impl<'a> Store<'a> for Spi {
    fn find(&self, table: &'static RecordTable, identity: &[Value<'a>]) -> Result<Option<Row<'a>>> {
        let kinds: Vec<Kind> = table.kept().map(|column| column.kind).collect();
        self.on_record(Action::Find(table.number), table, identity, &kinds)
    }

    fn wait_for_holder(
        &self,
        table: &'static RecordTable,
        identity: &[Value<'a>],
        patience: Patience,
    ) -> Result<bool> {
        let relation = self.installation.record_table(table.number)?;
        loop {
            match probe::holder(relation.oid, table.identity, identity) {
                Holder::Nobody => return Ok(true),
                Holder::Speculative(transaction, token) => {
                    waiting::for_speculation(transaction, token);
                }
                Holder::Transaction(transaction) => {
                    let limit = patience.left().unwrap_or(Duration::MAX);
                    return waiting::for_transaction(transaction, limit);
                }
            }
        }
    }

    fn foresee(&self, _: i64, _: i64, _: Move) -> Result<Option<i64>> {
        Ok(None)
    }

    fn insert(&self, insert: &Insert<'_, 'a>) -> Result<Insertion<'a>> {
        let table = insert.table;
        let arguments = [insert.identity, insert.request].concat();
        let patience = insert.patience;
        let insert = || {
            let stamp = [table.stamp.kind];
            self.on_record(Action::Insert(table.number), table, &arguments, &stamp)
        };
        // While the primary key's index is rebuilt concurrently, ON CONFLICT may arbitrate by one
        // index and meet the other.
        let unsettled = |raised: &Raised| {
            let constraint = raised.unique_violation_of(&self.installation.schema, table.name)?;
            table.is_arbiter(&constraint).then_some(Error::Unsettled)
        };
        let row = errors::translating(
            || match patience.left() {
                None => insert().map(Some),
                // Somebody may take the key between the probe and the insert, which then waits.
                Some(limit) => waiting::limited(limit, insert),
            },
            unsettled,
        )?;
        Ok(match row {
            None => Insertion::TimedOut,
            Some(None) => Insertion::Taken,
            Some(Some(row)) => Insertion::Won {
                stamp: row.first().copied().unwrap_or(Value::Null),
                whole: false,
            },
        })
    }

    fn finish(
        &self,
        table: &'static RecordTable,
        identity: &[Value<'a>],
        result: &[Value<'a>],
    ) -> Result<Value<'a>> {
        let arguments = [identity, result].concat();
        let stamp = [table.stamp.kind];
        match self.on_record(Action::Finish(table.number), table, &arguments, &stamp)? {
            Some(row) => Ok(row.first().copied().unwrap_or(Value::Null)),
            None => Err(Error::WrongState {
                detail: "The record is not there to be finished.",
                hint: "Look for a trigger, a rule or a row security policy that suppresses the update.",
            }),
        }
    }

    fn balance(&self, account_id: i64) -> Result<Option<i64>> {
        self.on_account(Action::Balance, &[Value::Bigint(account_id)])
    }

    fn move_balance(&self, account_id: i64, amount: i64, way: Move) -> Result<Option<i64>> {
        let action = match way {
            Move::Debit => Action::Debit,
            Move::Credit => Action::Credit,
        };
        self.on_account(action, &[Value::Bigint(account_id), Value::Bigint(amount)])
    }

    fn account_is_guarded(&self) -> bool {
        *self.guarded.get_or_init(|| {
            // SAFETY: reads the system caches; the third argument asks for no error.
            self.installation.account().is_ok_and(|account| unsafe {
                pg_sys::check_enable_rls(account.oid, pg_sys::InvalidOid, true)
                    == pg_sys::CheckEnableRlsResult::RLS_ENABLED as i32
            })
        })
    }

    fn level(&self) -> u32 {
        transaction::level()
    }

    fn schema(&self) -> &str {
        &self.installation.schema
    }
}
