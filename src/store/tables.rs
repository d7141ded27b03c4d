//! What the record tables look like, so that one code serves them all.
//!
//! A record is found by its identity, which is the table's primary key; keeps a request, which is
//! compared on every retry; and gets a result, which answers the retry.

/// The type of a column that a store reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Bigint,
    Int,
    Text,
    Uuid,
    Json,
    Timestamp,
}

#[derive(Debug)]
pub struct Column {
    pub name: &'static str,
    pub kind: Kind,
}

/// What a column holds that is not NULL and has no value yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pending {
    Nothing,
    JsonNull,
    Text(&'static str),
}

/// A table of records.
#[derive(Debug)]
pub struct RecordTable {
    /// The place of this table in [`TABLES`].
    pub number: usize,
    pub name: &'static str,
    /// The constraint that arbitrates.
    pub primary_key: &'static str,
    /// The foreign key to `account`, where there is one.
    pub account_key: Option<&'static str>,
    /// The primary key's columns, in its order.
    pub identity: &'static [Column],
    pub request: &'static [Column],
    pub result: &'static [Column],
    /// What the first of the result's columns holds while the record is pending; the others are
    /// NULL.
    pub pending: Pending,
    /// What is told of a committed attempt.
    pub attempt: &'static [Column],
    /// Filled in by a default when the record is made.
    pub stamp: Column,
    /// The column of which another index takes in the rows where it is not NULL; no new record and
    /// no result has it.
    pub also_indexed: Option<&'static str>,
}

const fn column(name: &'static str, kind: Kind) -> Column {
    Column { name, kind }
}

/// Requests against one account, by operation and key: `debit_once`.
pub static REQUEST_RESULT: RecordTable = RecordTable {
    number: 0,
    name: "request_result",
    primary_key: "request_result_pkey",
    account_key: Some("request_result_account_id_fkey"),
    identity: &[
        column("account_id", Kind::Bigint),
        column("operation", Kind::Text),
        column("request_key", Kind::Text),
    ],
    request: &[column("request", Kind::Json)],
    result: &[column("response", Kind::Json)],
    pending: Pending::JsonNull,
    attempt: &[],
    stamp: column("created_at", Kind::Timestamp),
    also_indexed: None,
};

/// Messages applied to an account, by subscriber: `consume_once`.
pub static PROCESSED_MESSAGE: RecordTable = RecordTable {
    number: 1,
    name: "processed_message",
    primary_key: "processed_message_pkey",
    account_key: Some("processed_message_account_id_fkey"),
    identity: &[
        column("subscriber", Kind::Text),
        column("message_id", Kind::Uuid),
    ],
    request: &[
        column("account_id", Kind::Bigint),
        column("amount", Kind::Bigint),
        column("message", Kind::Json),
    ],
    result: &[],
    pending: Pending::Nothing,
    attempt: &[],
    stamp: column("processed_at", Kind::Timestamp),
    also_indexed: None,
};

/// Any operation's requests, by scope, operation and key.
pub static IDEMPOTENCY_RECORD: RecordTable = RecordTable {
    number: 2,
    name: "idempotency_record",
    primary_key: "idempotency_record_pkey",
    account_key: None,
    identity: &[
        column("scope", Kind::Text),
        column("operation", Kind::Text),
        column("request_key", Kind::Text),
    ],
    request: &[
        column("request", Kind::Json),
        column("comparison", Kind::Json),
    ],
    result: &[
        column("state", Kind::Text),
        column("response", Kind::Json),
        column("http_status", Kind::Int),
        column("sqlstate", Kind::Text),
        column("message", Kind::Text),
        column("detail", Kind::Text),
        column("hint", Kind::Text),
        column("completed_at", Kind::Timestamp),
    ],
    pending: Pending::Text("pending"),
    attempt: &[
        column("attempt", Kind::Int),
        column("lease_until", Kind::Timestamp),
    ],
    stamp: column("created_at", Kind::Timestamp),
    also_indexed: Some("lease_until"),
};

/// The record tables, each at its `number`.
pub static TABLES: [&RecordTable; 3] = [&REQUEST_RESULT, &PROCESSED_MESSAGE, &IDEMPOTENCY_RECORD];

/// The table of balances.
pub const ACCOUNT: &str = "account";

/// The table of grants.
pub const GRANT: &str = "idempotency_grant";

/// The table of contracts.
pub const CONTRACT: &str = "operation_contract";

impl RecordTable {
    /// What a store answers a look-up with, in this order.
    pub fn kept(&self) -> impl Iterator<Item = &Column> {
        self.request
            .iter()
            .chain(self.result)
            .chain(self.attempt)
            .chain(core::iter::once(&self.stamp))
    }

    /// Whether a constraint name means this table's primary key, or the twin that stands beside it
    /// while the index is rebuilt concurrently.
    pub fn is_arbiter(&self, constraint: &str) -> bool {
        constraint
            .strip_prefix(self.primary_key)
            .is_some_and(|rest| {
                rest.is_empty() || rest.starts_with("_ccnew") || rest.starts_with("_ccold")
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_table_stands_at_its_number() {
        for (place, table) in TABLES.iter().enumerate() {
            assert_eq!(table.number, place);
        }
    }

    #[test]
    fn only_the_arbiter_and_its_twins_are_the_arbiter() {
        assert!(REQUEST_RESULT.is_arbiter("request_result_pkey"));
        assert!(REQUEST_RESULT.is_arbiter("request_result_pkey_ccnew"));
        assert!(REQUEST_RESULT.is_arbiter("request_result_pkey_ccold1"));
        assert!(!REQUEST_RESULT.is_arbiter("request_result_pkey_of_mine"));
        assert!(!REQUEST_RESULT.is_arbiter("my_unique_index"));
    }
}
