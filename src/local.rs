//! The rules for an effect in the caller's own transaction: reserve, look up, effect, finish.
//!
//! The primary key arbitrates. A look-up comes first only as the replay's fast path; whoever wins
//! the insert executes, and whoever loses it looks again, in a separate read with a new snapshot.

use crate::error::{Error, Result};
use crate::store::tables::RecordTable;
use crate::store::{Insertion, Move, Patience, Store};
use crate::value::{Row, Value};

/// How often a call may lose the key to one that then takes it away again. Each loss has waited
/// for another transaction, so that this many mean that something else is wrong.
const ROUNDS: usize = 100;

/// One call: its identity and its request, in a record table.
pub struct Call<'c, 'a> {
    pub table: &'static RecordTable,
    pub identity: &'c [Value<'a>],
    pub request: &'c [Value<'a>],
    /// The account that the effect is about.
    pub account_id: i64,
    /// How long to wait for another transaction that holds the key.
    pub patience: Patience,
}

/// A record, split as the table's descriptor names it.
pub struct Kept<'a> {
    pub request: Row<'a>,
    pub result: Row<'a>,
    pub stamp: Value<'a>,
}

/// What a call ended with.
pub struct Answer<'a> {
    /// Whether an earlier call performed the effect.
    pub replayed: bool,
    pub result: Row<'a>,
    pub stamp: Value<'a>,
}

enum Reservation<'a> {
    /// The key is ours since now: its stamp.
    Acquired(Value<'a>),
    Found(Kept<'a>),
}

/// Performs `effect` if this call is the first under its identity, and answers with its result;
/// answers any later call with the stored one, after `compare` has accepted what is kept.
pub fn once<'a, S: Store<'a>>(
    store: &S,
    call: &Call<'_, 'a>,
    compare: impl FnOnce(&[Value<'a>]) -> Result<()>,
    effect: impl FnOnce() -> Result<Row<'a>>,
) -> Result<Answer<'a>> {
    // First, so that nobody learns from a replay, a mismatch or a wait what row security hides.
    if store.account_is_guarded()? && store.balance(call.account_id)?.is_none() {
        return Err(no_account(store, call));
    }
    match reserve(store, call)? {
        Reservation::Acquired(stamp) => {
            let result = effect()?;
            if !result.is_empty() {
                store.finish(call.table, call.identity, &result)?;
            }
            Ok(Answer {
                replayed: false,
                result,
                stamp,
            })
        }
        Reservation::Found(kept) => {
            compare(&kept.request)?;
            Ok(Answer {
                replayed: true,
                result: kept.result,
                stamp: kept.stamp,
            })
        }
    }
}

fn reserve<'a, S: Store<'a>>(store: &S, call: &Call<'_, 'a>) -> Result<Reservation<'a>> {
    let mut patience = call.patience;
    for _ in 0..ROUNDS {
        if let Some(row) = store.find(call.table, call.identity)? {
            return Ok(Reservation::Found(split(call.table, row)));
        }
        if call.patience.is_bounded()
            && !store.wait_for_holder(call.table, call.identity, call.patience)?
        {
            return Err(Error::InProgress);
        }
        match store.insert(call.table, call.identity, call.request, patience)? {
            Insertion::Won(stamp) => return Ok(Reservation::Acquired(stamp)),
            Insertion::Taken => {}
            // Either somebody took the key since the look at its holder, which the next look
            // will tell, or it was no key that was waited for, but the account: for that there
            // is no limit of ours.
            Insertion::TimedOut => patience = Patience::FOR_EVER,
        }
    }
    Err(Error::Unsettled)
}

fn split<'a>(table: &RecordTable, mut row: Row<'a>) -> Kept<'a> {
    let stamp = row.pop().unwrap_or(Value::Null);
    let result = row.split_off(table.request.len().min(row.len()));
    Kept {
        request: row,
        result,
        stamp,
    }
}

/// Moves an amount and answers the new balance, or says why that was not possible.
pub fn move_balance<'a, S: Store<'a>>(
    store: &S,
    call: &Call<'_, 'a>,
    amount: i64,
    way: Move,
) -> Result<i64> {
    for _ in 0..ROUNDS {
        if let Some(balance) = store.move_balance(call.account_id, amount, way)? {
            return Ok(balance);
        }
        // The update and this look at the balance are two statements: between them the balance
        // may have risen, which deserves another try.
        match store.balance(call.account_id)? {
            None => return Err(no_account(store, call)),
            Some(balance) if way == Move::Debit && balance < amount => {
                return Err(Error::InsufficientBalance)
            }
            Some(_) => {}
        }
    }
    Err(Error::BalanceUnchanged)
}

fn no_account<'a, S: Store<'a>>(store: &S, call: &Call<'_, 'a>) -> Error {
    Error::NoAccount {
        schema: store.schema().to_owned(),
        table: call.table.name,
        constraint: call.table.account_key,
        account_id: call.account_id,
    }
}

#[cfg(test)]
mod tests;
