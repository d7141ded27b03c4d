//! The rules for an effect in the caller's own transaction: reserve, look up, effect, finish.
//!
//! The primary key arbitrates. A look-up comes first only as the replay's fast path; whoever wins
//! the insert executes, and whoever loses it looks again, in a separate read with a new snapshot.

use crate::error::{Error, Result};
use crate::guard::{self, How, Identity};
use crate::identity::CONSUME;
use crate::store::tables::RecordTable;
use crate::store::{Insert, Insertion, Move, Patience, Store};
use crate::value::{Row, Value};
use std::io::Write;

/// How often a call may lose the key to one that then takes it away again. Each loss has waited
/// for another transaction, so that this many mean that something else is wrong.
const ROUNDS: usize = 100;

/// One call: its identity and its request, in a record table.
pub struct Call<'c, 'a> {
    pub table: &'static RecordTable,
    pub identity: &'c [Value<'a>],
    /// What a record keeps of the request, asked for where one is made.
    pub request: &'c dyn Fn() -> Row<'a>,
    /// The account that the effect is about, where there is one.
    pub account_id: Option<i64>,
    /// How long to wait for another transaction that holds the key.
    pub patience: Patience,
}

/// A record, split as the table's descriptor names it.
pub struct Kept<'a> {
    pub request: Row<'a>,
    pub result: Row<'a>,
    pub attempt: Row<'a>,
    pub stamp: Value<'a>,
}

pub enum Reservation<'a> {
    /// The key is ours since now: its stamp, and the result where it is stored already.
    Acquired(Value<'a>, Option<Row<'a>>),
    Found(Kept<'a>),
}

/// What a call ended with.
pub enum Once<'a, T> {
    /// This call performed the effect, which told this; the record's stamp.
    Performed(T, Value<'a>),
    /// An earlier call did, and left this.
    Found(Kept<'a>),
}

/// Performs `effect` if this call is the first under its identity. The effect answers what is to
/// be stored, and what it tells the caller. What `foresee` answers is stored with the reservation,
/// and nothing more where the effect then answers the same.
pub fn once<'a, S: Store<'a>, T>(
    store: &S,
    call: &Call<'_, 'a>,
    foresee: impl Fn() -> Result<Option<Row<'a>>>,
    effect: impl FnOnce() -> Result<(Row<'a>, T)>,
) -> Result<Once<'a, T>> {
    match reserve(store, call, foresee)? {
        Reservation::Found(kept) => Ok(Once::Found(kept)),
        Reservation::Acquired(stamp, stored) => {
            guard::open(identity(call), How::Running, store.level());
            let (result, told) = effect()?;
            if !result.is_empty() && stored.as_ref() != Some(&result) {
                store.finish(call.table, call.identity, &result)?;
            }
            guard::close_running();
            Ok(Once::Performed(told, stamp))
        }
    }
}

/// An identity as triggers, audit rows and outbox rows are told it.
pub fn identity(call: &Call<'_, '_>) -> Identity {
    const CONSUMPTION: Value<'_> = Value::Null;
    let parts = match call.identity {
        [scope, operation, request_key] => [*scope, *operation, *request_key],
        [subscriber, message_id] => [*subscriber, CONSUMPTION, *message_id],
        _ => return Identity::default(),
    };
    Identity::of(parts, |part, bytes| match part {
        // Writing to memory does not fail.
        Value::Bigint(n) => drop(write!(bytes, "{n}")),
        Value::Text(text) => bytes.extend_from_slice(text.bytes()),
        Value::Uuid(uuid) => write_uuid(uuid, bytes),
        _ => bytes.extend_from_slice(CONSUME.as_bytes()),
    })
}

fn write_uuid(uuid: &[u8; 16], bytes: &mut Vec<u8>) {
    for (place, byte) in uuid.iter().enumerate() {
        if [4, 6, 8, 10].contains(&place) {
            bytes.push(b'-');
        }
        drop(write!(bytes, "{byte:02x}"));
    }
}

/// Wins the key, or answers what stands at it.
///
/// `foresee` is asked before each insert, and may refuse a first call.
pub fn reserve<'a, S: Store<'a>>(
    store: &S,
    call: &Call<'_, 'a>,
    mut foresee: impl FnMut() -> Result<Option<Row<'a>>>,
) -> Result<Reservation<'a>> {
    if guard::is_busy() && guard::is_open(&identity(call)) == Some(How::Running) {
        return Err(Error::OwnEffect);
    }
    // Before all else, so that nobody learns from a replay, a mismatch or a wait what row security hides.
    if let Some(account_id) = call.account_id {
        if store.account_is_guarded() && store.balance(account_id)?.is_none() {
            return Err(no_account(store, call.table, account_id));
        }
    }
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
        let foreseen = foresee()?;
        let request = (call.request)();
        let insert = Insert {
            table: call.table,
            identity: call.identity,
            request: &request,
            foreseen: foreseen.as_deref(),
            account_id: call.account_id,
            patience,
        };
        match store.insert(&insert)? {
            Insertion::Won { stamp, whole } => {
                return Ok(Reservation::Acquired(stamp, foreseen.filter(|_| whole)))
            }
            Insertion::Taken => {}
            // Either somebody took the key since the look at its holder, which the next look
            // will tell, or it was no key that was waited for, but the account: for that there
            // is no limit of ours.
            Insertion::TimedOut => patience = Patience::FOR_EVER,
        }
    }
    Err(Error::Unsettled)
}

/// Looks a record up.
pub fn find<'a, S: Store<'a>>(
    store: &S,
    table: &'static RecordTable,
    identity: &[Value<'a>],
) -> Result<Option<Kept<'a>>> {
    Ok(store.find(table, identity)?.map(|row| split(table, row)))
}

fn split<'a>(table: &RecordTable, mut row: Row<'a>) -> Kept<'a> {
    let stamp = row.pop().unwrap_or(Value::Null);
    let mut result = row.split_off(table.request.len().min(row.len()));
    let attempt = result.split_off(table.result.len().min(result.len()));
    Kept {
        request: row,
        result,
        attempt,
        stamp,
    }
}

/// Moves an amount and answers the new balance, or says why that was not possible.
pub fn move_balance<'a, S: Store<'a>>(
    store: &S,
    table: &'static RecordTable,
    account_id: i64,
    amount: i64,
    way: Move,
) -> Result<i64> {
    for _ in 0..ROUNDS {
        if let Some(balance) = store.move_balance(account_id, amount, way)? {
            return Ok(balance);
        }
        // The update and this look at the balance are two statements: between them the balance
        // may have risen, which deserves another try.
        match store.balance(account_id)? {
            None => return Err(no_account(store, table, account_id)),
            Some(balance) if way == Move::Debit && balance < amount => {
                return Err(Error::InsufficientBalance)
            }
            Some(_) => {}
        }
    }
    Err(Error::BalanceUnchanged)
}

fn no_account<'a, S: Store<'a>>(store: &S, table: &RecordTable, account_id: i64) -> Error {
    Error::NoAccount {
        schema: store.schema().to_owned(),
        table: table.name,
        constraint: table.account_key.unwrap_or_default(),
        account_id,
    }
}

#[cfg(test)]
mod tests;
