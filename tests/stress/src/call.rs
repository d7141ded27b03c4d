//! One call: whose it is, what it asks, and what it answered.

use rand::rngs::StdRng;
use rand::Rng;

/// The accounts of the mixed workload, with what they hold at first: some plenty, some soon empty.
pub const ACCOUNTS: [(i64, i64); 6] = [
    (1, 1_000_000),
    (2, 1_000_000),
    (3, 1_000_000),
    (4, 3000),
    (5, 1000),
    (6, 40),
];
/// How many keys of an account, and messages of a subscriber, are in use at a time.
const KEYS: u32 = 60;
const MESSAGES: u32 = 100;
const SUBSCRIBERS: u32 = 2;
/// The window of those in use moves on by one in so many transactions.
const TRANSACTIONS_A_KEY: usize = 4;

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Identity {
    Debit { account: i64, key: String },
    Message { subscriber: String, id: String },
}

#[derive(Clone, Debug)]
pub struct Call {
    pub identity: Identity,
    pub account: i64,
    pub amount: i64,
    /// Ask by `debit_request`, which says whether it was replayed.
    pub tells_replay: bool,
}

#[derive(Clone, Debug)]
pub enum Reply {
    Debited {
        response: String,
        replayed: Option<bool>,
    },
    Accepted,
    Redelivered,
}

impl Reply {
    /// Surely answered from a record that was there before the call.
    pub fn is_replay(&self) -> bool {
        matches!(
            self,
            Self::Redelivered
                | Self::Debited {
                    replayed: Some(true),
                    ..
                }
        )
    }
    /// Surely the one that had the effect.
    pub fn is_effect(&self) -> bool {
        matches!(
            self,
            Self::Accepted
                | Self::Debited {
                    replayed: Some(false),
                    ..
                }
        )
    }
}

impl Call {
    pub fn debit(account: i64, key: String, amount: i64) -> Self {
        Self {
            identity: Identity::Debit { account, key },
            account,
            amount,
            tells_replay: true,
        }
    }

    pub fn message(subscriber: &str, number: u32, account: i64, amount: i64) -> Self {
        let id = format!("00000000-0000-0000-0000-{number:012}");
        let identity = Identity::Message {
            subscriber: subscriber.to_owned(),
            id,
        };
        Self {
            identity,
            account,
            amount,
            tells_replay: false,
        }
    }

    /// A key or message of a small space, which moves with the worker's transactions, so that there
    /// are first calls to the end. Its amount is fixed by its identity, but for the few calls that
    /// reuse it for another request.
    pub fn random(rng: &mut StdRng, transaction: usize) -> Self {
        let first = (transaction / TRANSACTIONS_A_KEY) as u32;
        let mut call = if rng.random_bool(0.6) {
            let account = ACCOUNTS[rng.random_range(0..ACCOUNTS.len())].0;
            let number = first + rng.random_range(0..KEYS);
            let amount = 1 + i64::from(number) * 7 % 19;
            Self::debit(account, format!("key-{number}"), amount)
        } else {
            let number = first + rng.random_range(0..MESSAGES);
            let account = ACCOUNTS[number as usize % ACCOUNTS.len()].0;
            let subscriber = format!("subscriber-{}", rng.random_range(0..SUBSCRIBERS));
            Self::message(&subscriber, number, account, 1 + i64::from(number) * 5 % 11)
        };
        call.tells_replay = rng.random_bool(0.5);
        if rng.random_bool(0.05) {
            call.amount += 1;
        }
        if matches!(call.identity, Identity::Debit { .. }) && rng.random_bool(0.02) {
            call.amount = 1_000_000_000; // beyond every balance: refused, and the key stays free
        }
        call
    }
}
