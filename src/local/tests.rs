//! The rules against a store that plays the races which a single session cannot.

use super::*;
use crate::store::tables::PROCESSED_MESSAGE;
use crate::value::Text;
use std::cell::{Cell, RefCell};
use std::time::Duration;

/// What happens at each insert, in turn.
#[derive(Clone, Copy)]
enum Race {
    Wins,
    /// Lost to a winner that committed.
    Loses,
    /// Lost to a winner whose record is gone again.
    LosesToAGhost,
    /// Waited too long for some lock.
    TimesOut,
}

#[derive(Default)]
struct Fake {
    inserts: RefCell<Vec<Race>>,
    record: Cell<Option<i64>>,
    balance: Cell<Option<i64>>,
    suppressed: bool,
    guarded: bool,
    finds: Cell<usize>,
    finishes: Cell<usize>,
    held: bool,
    whole: bool,
    patience: Option<Duration>,
}

impl<'a> Store<'a> for Fake {
    fn find(&self, _: &'static RecordTable, _: &[Value<'a>]) -> Result<Option<Row<'a>>> {
        self.finds.set(self.finds.get() + 1);
        Ok(self.record.get().map(|amount| {
            vec![
                Value::Bigint(1),
                Value::Bigint(amount),
                Value::Null,
                Value::Timestamp(7),
            ]
        }))
    }

    fn wait_for_holder(
        &self,
        _: &'static RecordTable,
        _: &[Value<'a>],
        _: Patience,
    ) -> Result<bool> {
        Ok(!self.held)
    }

    fn foresee(&self, _: i64, _: i64, _: Move) -> Result<Option<i64>> {
        Ok(None)
    }

    fn insert(&self, insert: &Insert<'_, 'a>) -> Result<Insertion<'a>> {
        let Value::Bigint(amount) = insert.request[1] else {
            return Ok(Insertion::Taken);
        };
        match self.inserts.borrow_mut().pop() {
            Some(Race::Wins) => {
                self.record.set(Some(amount));
                Ok(Insertion::Won {
                    stamp: Value::Timestamp(7),
                    whole: self.whole && insert.foreseen.is_some(),
                })
            }
            Some(Race::Loses) => {
                self.record.set(Some(amount));
                Ok(Insertion::Taken)
            }
            Some(Race::LosesToAGhost) | None => Ok(Insertion::Taken),
            Some(Race::TimesOut) => {
                assert!(insert.patience.is_bounded());
                Ok(Insertion::TimedOut)
            }
        }
    }

    fn finish(
        &self,
        _: &'static RecordTable,
        _: &[Value<'a>],
        _: &[Value<'a>],
    ) -> Result<Value<'a>> {
        self.finishes.set(self.finishes.get() + 1);
        Ok(Value::Timestamp(7))
    }

    fn balance(&self, _: i64) -> Result<Option<i64>> {
        Ok(self.balance.get())
    }

    fn move_balance(&self, _: i64, amount: i64, way: Move) -> Result<Option<i64>> {
        let moved = match (self.balance.get(), way) {
            _ if self.suppressed => None,
            (Some(held), Move::Debit) => (held >= amount).then(|| held - amount),
            (Some(held), Move::Credit) => Some(held + amount),
            (None, _) => None,
        };
        if moved.is_some() {
            self.balance.set(moved);
        }
        Ok(moved)
    }

    fn account_is_guarded(&self) -> bool {
        self.guarded
    }

    fn level(&self) -> u32 {
        1
    }

    fn schema(&self) -> &str {
        "s"
    }
}

fn fake(inserts: &[Race], balance: Option<i64>) -> Fake {
    Fake {
        inserts: RefCell::new(inserts.iter().rev().copied().collect()),
        balance: Cell::new(balance),
        ..Fake::default()
    }
}

/// A credit of 5: whether it was replayed, and how often the effect ran.
fn credit(store: &Fake) -> Result<(bool, usize)> {
    let runs = Cell::new(0);
    let request = [Value::Bigint(1), Value::Bigint(5), Value::Null];
    let call = Call {
        table: &PROCESSED_MESSAGE,
        identity: &[],
        request: &|| request.to_vec(),
        account_id: Some(1),
        patience: Patience::of(store.patience),
    };
    let once = once(
        store,
        &call,
        || Ok(None),
        || {
            runs.set(runs.get() + 1);
            move_balance(store, &PROCESSED_MESSAGE, 1, 5, Move::Credit)?;
            Ok((vec![], ()))
        },
    );
    guard::clear();
    match once? {
        Once::Performed((), _) => Ok((false, runs.get())),
        Once::Found(kept) if kept.request[..2] == request[..2] => Ok((true, runs.get())),
        Once::Found(_) => Err(Error::Mismatch(vec![])),
    }
}

#[test]
fn the_first_call_executes() {
    let store = fake(&[Race::Wins], Some(10));
    assert_eq!(credit(&store), Ok((false, 1)));
    assert_eq!(store.balance.get(), Some(15));
}

#[test]
fn a_retry_is_answered_without_an_insert() {
    let store = fake(&[], Some(10));
    store.record.set(Some(5));
    assert_eq!(credit(&store), Ok((true, 0)));
    assert_eq!(store.balance.get(), Some(10));
}

#[test]
fn a_loser_looks_again_and_is_answered() {
    let store = fake(&[Race::Loses], Some(10));
    assert_eq!(credit(&store), Ok((true, 0)));
    assert_eq!(store.finds.get(), 2);
}

#[test]
fn a_loser_that_finds_nothing_reserves_again() {
    let store = fake(
        &[Race::LosesToAGhost, Race::LosesToAGhost, Race::Wins],
        Some(10),
    );
    assert_eq!(credit(&store), Ok((false, 1)));
}

#[test]
fn losing_for_ever_ends_in_a_serialization_failure() {
    let store = fake(&[], Some(10));
    assert_eq!(credit(&store), Err(Error::Unsettled));
    assert_eq!(Error::Unsettled.report().sqlstate, "40001");
}

#[test]
fn another_request_under_the_key_is_refused() {
    let store = fake(&[], Some(10));
    store.record.set(Some(6));
    assert!(matches!(credit(&store), Err(Error::Mismatch(_))));
}

#[test]
fn a_hidden_account_answers_as_a_missing_one_even_when_it_would_be_a_replay() {
    let store = Fake {
        guarded: true,
        ..fake(&[], None)
    };
    store.record.set(Some(5));
    assert!(matches!(credit(&store), Err(Error::NoAccount { .. })));
    assert_eq!(store.finds.get(), 0);
}

#[test]
fn a_suppressed_update_is_told_from_a_missing_account() {
    let store = Fake {
        suppressed: true,
        ..fake(&[Race::Wins], Some(10))
    };
    assert_eq!(credit(&store), Err(Error::BalanceUnchanged));
    let store = fake(&[Race::Wins], None);
    assert!(matches!(credit(&store), Err(Error::NoAccount { .. })));
}

#[test]
fn a_debit_beyond_the_balance_is_refused() {
    let store = fake(&[], Some(4));
    let debit = |amount| move_balance(&store, &PROCESSED_MESSAGE, 1, amount, Move::Debit);
    assert_eq!(debit(5), Err(Error::InsufficientBalance));
    assert_eq!(debit(4), Ok(0));
}

#[test]
fn an_identity_is_told_as_text() {
    let subscriber = [&[0; 4], b"mailer".as_slice()].concat();
    let message_id = [
        0x12, 0x3e, 0x45, 0x67, 0xe8, 0x9b, 0x12, 0xd3, 0xa4, 0x56, 0x42, 0x66, 0x14, 0x17, 0x40, 0,
    ];
    let told = identity(&Call {
        table: &PROCESSED_MESSAGE,
        identity: &[
            Value::Text(Text::from_image(&subscriber)),
            Value::Uuid(&message_id),
        ],
        request: &Vec::new,
        account_id: Some(1),
        patience: Patience::FOR_EVER,
    });
    assert_eq!(told.scope(), b"mailer");
    assert_eq!(told.operation(), CONSUME.as_bytes());
    assert_eq!(told.request_key(), b"123e4567-e89b-12d3-a456-426614174000");
}

#[test]
fn a_held_key_is_waited_for_only_as_long_as_the_caller_would() {
    let store = Fake {
        held: true,
        ..fake(&[Race::Wins], Some(10))
    };
    assert_eq!(
        credit(&store),
        Ok((false, 1)),
        "without a limit the insert itself waits"
    );
    let store = Fake {
        held: true,
        patience: Some(Duration::ZERO),
        ..fake(&[Race::Wins], Some(10))
    };
    assert_eq!(credit(&store), Err(Error::InProgress));
    assert_eq!(store.inserts.borrow().len(), 1, "nothing was inserted");
}

#[test]
fn a_wait_for_the_account_is_not_limited() {
    let store = Fake {
        patience: Some(Duration::ZERO),
        ..fake(&[Race::TimesOut, Race::Wins], Some(10))
    };
    assert_eq!(credit(&store), Ok((false, 1)));
}

#[test]
fn a_result_that_was_foreseen_is_stored_once() {
    let call = Call {
        table: &PROCESSED_MESSAGE,
        identity: &[],
        request: &|| vec![Value::Bigint(1), Value::Bigint(5)],
        account_id: Some(1),
        patience: Patience::FOR_EVER,
    };
    let finishes = |foreseen: i64, whole: bool| {
        let store = Fake {
            whole,
            ..fake(&[Race::Wins], Some(10))
        };
        let once = once(
            &store,
            &call,
            || Ok(Some(vec![Value::Bigint(foreseen)])),
            || Ok((vec![Value::Bigint(5)], ())),
        );
        guard::clear();
        assert!(once.is_ok());
        store.finishes.get()
    };
    assert_eq!(finishes(5, true), 0);
    assert_eq!(finishes(6, true), 1);
    assert_eq!(finishes(5, false), 1, "the store did not store it");
}
