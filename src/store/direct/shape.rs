//! Whether a table is as it was made: only then is direct access provably the same as SQL.
//!
//! Read from the catalog, once for each change of a table. What is compared is everything that
//! could make a statement do more than store the row: kind, columns, defaults, indexes,
//! constraints, triggers, rules, policies, children, and the owner's own privileges.

use crate::error::Result;
use crate::pg::catalog::{self, Table};
use crate::pg::installation::{Installation, Relation};
use crate::pg::{jsonb, roles, values};
use crate::store::tables::{Column, Kind, Pending, RecordTable, ACCOUNT, TABLES};
use crate::store::Insert;
use crate::value::Value;
use core::cell::{OnceCell, RefCell};
use pgrx::pg_sys;
use std::ffi::CString;
use std::rc::Rc;

/// What is compared, by name.
const PARTS: [&str; 5] = ["kind", "columns", "indexes", "constraints", "triggers"];

/// What each table is when it was made and nothing has been added.
const MADE: [(&str, [&str; 5]); 4] = [
    (
        ACCOUNT,
        [
            "r heap p",
            "account_id bigint not null, balance bigint not null",
            "CREATE UNIQUE INDEX account_pkey btree (account_id)",
            "account_balance_check CHECK ((balance >= 0)), account_pkey PRIMARY KEY (account_id)",
            "",
        ],
    ),
    (
        "request_result",
        [
            "r heap p",
            "account_id bigint not null, created_at timestamp with time zone not null = clock_timestamp(), \
             operation text C not null, request jsonb not null, request_key text C not null, response jsonb not null",
            "CREATE UNIQUE INDEX request_result_pkey btree (account_id, operation, request_key)",
            "request_result_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(account_id), \
             request_result_pkey PRIMARY KEY (account_id, operation, request_key)",
            "",
        ],
    ),
    (
        "processed_message",
        [
            "r heap p",
            "account_id bigint not null, amount bigint, message jsonb, message_id uuid not null, \
             processed_at timestamp with time zone not null = clock_timestamp(), subscriber text C not null",
            "CREATE UNIQUE INDEX processed_message_pkey btree (subscriber, message_id)",
            "processed_message_account_id_fkey FOREIGN KEY (account_id) REFERENCES account(account_id), \
             processed_message_pkey PRIMARY KEY (subscriber, message_id)",
            "",
        ],
    ),
    (
        "idempotency_record",
        [
            "r heap p",
            "attempt integer, comparison jsonb, completed_at timestamp with time zone, \
             created_at timestamp with time zone not null = clock_timestamp(), detail text C, hint text C, \
             http_status integer, lease_until timestamp with time zone, message text C, operation text C not null, \
             provider_key text C, recovery_data jsonb, recovery_point text C, request jsonb, request_key text C not null, \
             response jsonb, scope text C not null, sqlstate text C, state text C not null = 'pending'::text",
            "CREATE UNIQUE INDEX idempotency_record_pkey btree (scope, operation, request_key), \
             CREATE INDEX idempotency_record_unfinished_idx btree (operation, lease_until) WHERE (lease_until IS NOT NULL)",
            "idempotency_record_pkey PRIMARY KEY (scope, operation, request_key), \
             idempotency_record_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'completed'::text, \
             'refused'::text, 'unknown'::text, 'abandoned'::text, 'gone'::text])))",
            "",
        ],
    ),
];

/// Where a table's columns are: their numbers, in the order of its descriptor.
#[derive(Debug, Default)]
pub struct Columns {
    pub identity: Vec<i16>,
    pub request: Vec<i16>,
    pub result: Vec<i16>,
    pub kept: Vec<(i16, Kind)>,
    pub stamp: i16,
    /// Where this is not NULL, the row is in another index as well.
    pub also_indexed: Option<i16>,
}

impl Columns {
    /// The highest number that is read.
    pub fn last(&self) -> i16 {
        self.kept
            .iter()
            .map(|(number, _)| *number)
            .max()
            .unwrap_or(0)
    }

    /// The columns of a new record, by number.
    pub fn of_insert<'a>(
        &self,
        insert: &Insert<'_, 'a>,
        stamp: Value<'a>,
    ) -> Vec<(i16, Value<'a>)> {
        fn pairs<'r, 'a>(
            numbers: &'r [i16],
            values: &'r [Value<'a>],
        ) -> impl Iterator<Item = (i16, Value<'a>)> + use<'r, 'a> {
            numbers.iter().copied().zip(values.iter().copied())
        }
        let pending;
        let result = match (insert.foreseen, insert.table.pending) {
            (Some(foreseen), _) => foreseen,
            (None, Pending::Nothing) => &[],
            (None, Pending::JsonNull) => {
                pending = [Value::Json(jsonb::null())];
                &pending
            }
            (None, Pending::Text(text)) => {
                pending = [values::text(text)];
                &pending
            }
        };
        let mut row = Vec::with_capacity(8);
        row.extend(pairs(&self.identity, insert.identity));
        row.extend(pairs(&self.request, insert.request));
        row.extend(pairs(&self.result, result));
        row.push((self.stamp, stamp));
        row
    }
}

/// A table as it was made, or what is different about it.
#[derive(Debug)]
pub enum Shape {
    Made(Columns),
    Changed(&'static str),
}

/// The shapes of one installation, each looked up when it is first asked for.
#[derive(Debug)]
pub struct Shapes {
    epoch: u64,
    /// `account` first, then the record tables by number.
    shapes: [OnceCell<Shape>; 1 + TABLES.len()],
}

thread_local! {
    static CURRENT: RefCell<Option<Rc<Shapes>>> = const { RefCell::new(None) };
}

impl Shapes {
    /// The shapes as they are now.
    pub fn of(installation: &Installation) -> Rc<Shapes> {
        let current = CURRENT.with_borrow(Option::clone);
        if let Some(current) = current.filter(|current| current.epoch == installation.epoch()) {
            return current;
        }
        let shapes = Rc::new(Shapes {
            epoch: installation.epoch(),
            shapes: Default::default(),
        });
        CURRENT.replace(Some(Rc::clone(&shapes)));
        shapes
    }

    pub fn account(&self, installation: &Installation) -> Result<&Shape> {
        self.shape(0, installation, installation.account()?)
    }

    pub fn record(&self, installation: &Installation, table: &RecordTable) -> Result<&Shape> {
        let relation = installation.record_table(table.number)?;
        self.shape(1 + table.number, installation, relation)
    }

    fn shape(
        &self,
        place: usize,
        installation: &Installation,
        relation: Relation,
    ) -> Result<&Shape> {
        let shape = &self.shapes[place];
        if let Some(known) = shape.get() {
            return Ok(known);
        }
        // SAFETY: takes a lock, so that what is read is not taken away while it is printed.
        unsafe { pg_sys::LockRelationOid(relation.oid, pg_sys::AccessShareLock as i32) };
        let found = look_up(installation, relation);
        Ok(shape.get_or_init(|| found))
    }
}

fn look_up(installation: &Installation, relation: Relation) -> Shape {
    let made = MADE
        .iter()
        .find(|(table, _)| *table == relation.name)
        .map(|(_, parts)| parts);
    let (Some(made), Ok(schema)) = (made, CString::new(installation.schema.as_str())) else {
        return Shape::Changed(PARTS[0]);
    };
    roles::without_search_path(|| {
        let table = Table::open(relation.oid);
        let columns = table.columns();
        let printed: Vec<&str> = columns.iter().map(|column| column.text.as_str()).collect();
        let found = [
            table.kind(),
            printed.join(", "),
            table.indexes(),
            table.constraints(&schema),
            table.triggers(&format!("{}_account_id_fkey", relation.name)),
        ];
        table.close();
        let parts = found.iter().zip(made).zip(PARTS);
        match parts.into_iter().find(|((found, made), _)| found != made) {
            Some((_, part)) => Shape::Changed(part),
            None => Shape::Made(numbers(relation.name, &columns)),
        }
    })
}

/// Where the columns are. Of `account` the key is the identity, and the balance is what is kept.
fn numbers(table: &str, columns: &[catalog::Column]) -> Columns {
    let at = |name: &str| {
        columns
            .iter()
            .find(|column| column.name == name)
            .map_or(0, |column| column.number)
    };
    let all = |columns: &[Column]| columns.iter().map(|column| at(column.name)).collect();
    match TABLES.iter().find(|record| record.name == table) {
        Some(record) => Columns {
            identity: all(record.identity),
            request: all(record.request),
            result: all(record.result),
            kept: record
                .kept()
                .map(|column| (at(column.name), column.kind))
                .collect(),
            stamp: at(record.stamp.name),
            also_indexed: record.also_indexed.map(at),
        },
        None => Columns {
            identity: vec![at("account_id")],
            kept: vec![(at("balance"), Kind::Bigint)],
            ..Columns::default()
        },
    }
}
