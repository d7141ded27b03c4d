//! Whether a table is as it was made: only then is direct access provably the same as SQL.
//!
//! Asked of the catalog, once for each change of a table. What is compared is everything that
//! could make a statement do more than store the row: kind, columns, defaults, indexes,
//! constraints, triggers, rules, policies, children, and the owner's own privileges.

use crate::error::Result;
use crate::pg::installation::{Installation, Relation};
use crate::pg::{jsonb, roles, values};
use crate::store::execute::{self, Run};
use crate::store::statements::{Action, Rights, Statements};
use crate::store::tables::{Column, Kind, RecordTable, ACCOUNT, TABLES};
use crate::value::{Json, Value};
use core::cell::{OnceCell, RefCell};
use pgrx::pg_sys;
use std::collections::HashMap;
use std::rc::Rc;

/// Answers what a table is, in five parts, and at which numbers its columns are.
pub const QUERY: &str = r#"
SELECT pg_catalog.concat_ws(' ',
         c.relkind, a.amname, c.relpersistence,
         CASE WHEN c.relrowsecurity OR c.relforcerowsecurity THEN 'policies' END,
         CASE WHEN c.relispartition THEN 'partition' END,
         CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_inherits AS h WHERE h.inhparent = c.oid) THEN 'children' END,
         CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_rewrite AS r WHERE r.ev_class = c.oid) THEN 'rules' END,
         CASE WHEN NOT (pg_catalog.has_table_privilege(c.relowner, c.oid, 'SELECT')
                        AND pg_catalog.has_table_privilege(c.relowner, c.oid, 'INSERT')
                        AND pg_catalog.has_table_privilege(c.relowner, c.oid, 'UPDATE')) THEN 'privileges' END,
         CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_extension AS x WHERE x.extname = 'citus') THEN 'distributed' END),
       (SELECT pg_catalog.string_agg(pg_catalog.concat_ws(' ',
                 t.attname, t.atttypid::pg_catalog.regtype,
                 CASE WHEN l.collnamespace = 'pg_catalog'::pg_catalog.regnamespace THEN l.collname::pg_catalog.text
                      WHEN t.attcollation <> 0 THEN 'other collation' END,
                 CASE WHEN t.attnotnull THEN 'not null' END,
                 CASE WHEN t.attgenerated <> '' OR t.attidentity <> '' THEN 'generated' END,
                 CASE WHEN t.atthasmissing THEN 'missing' END,
                 '= ' || pg_catalog.pg_get_expr(d.adbin, d.adrelid)), ', ' ORDER BY t.attname)
          FROM pg_catalog.pg_attribute AS t
          LEFT JOIN pg_catalog.pg_collation AS l ON l.oid = t.attcollation
          LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid = t.attrelid AND d.adnum = t.attnum
         WHERE t.attrelid = c.oid AND t.attnum > 0 AND NOT t.attisdropped),
       (SELECT pg_catalog.string_agg(
                 pg_catalog.regexp_replace(pg_catalog.pg_get_indexdef(i.indexrelid), ' ON .* USING ', ' ')
                 || CASE WHEN i.indisvalid AND i.indisready AND i.indislive AND i.indimmediate THEN '' ELSE ' unready' END,
                 ', ' ORDER BY x.relname)
          FROM pg_catalog.pg_index AS i
          JOIN pg_catalog.pg_class AS x ON x.oid = i.indexrelid
         WHERE i.indrelid = c.oid AND i.indislive),
       (SELECT pg_catalog.string_agg(k.conname || ' ' || pg_catalog.replace(
                 pg_catalog.pg_get_constraintdef(k.oid), pg_catalog.quote_ident($1) || '.', ''),
                 ', ' ORDER BY k.conname)
          FROM pg_catalog.pg_constraint AS k
         WHERE k.conrelid = c.oid AND k.contype <> 'n'),
       (SELECT pg_catalog.string_agg(g.tgname, ', ' ORDER BY g.tgname)
          FROM pg_catalog.pg_trigger AS g
          LEFT JOIN pg_catalog.pg_constraint AS k ON k.oid = g.tgconstraint AND k.contype = 'f'
         WHERE g.tgrelid = c.oid
           AND NOT (g.tgisinternal AND k.oid IS NOT NULL AND (k.confrelid = c.oid AND k.conrelid <> c.oid
                    OR k.conname = c.relname || '_account_id_fkey'))),
       (SELECT pg_catalog.jsonb_agg(pg_catalog.concat(t.attnum, ' ', t.attname))
          FROM pg_catalog.pg_attribute AS t
         WHERE t.attrelid = c.oid AND t.attnum > 0 AND NOT t.attisdropped)
  FROM pg_catalog.pg_class AS c
  JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
  LEFT JOIN pg_catalog.pg_am AS a ON a.oid = c.relam
 WHERE n.nspname = $1::pg_catalog.name AND c.relname = $2::pg_catalog.name
"#;

/// The parts that [`QUERY`] answers first, by name.
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
        // SAFETY: takes a lock before the snapshot of the look-up, so that what the look-up finds
        // is not taken away while it is printed.
        unsafe { pg_sys::LockRelationOid(relation.oid, pg_sys::AccessShareLock as i32) };
        let found = look_up(installation, relation.name)?;
        Ok(shape.get_or_init(|| found))
    }
}

fn look_up(installation: &Installation, name: &'static str) -> Result<Shape> {
    let plan = || Statements::plan(installation, Action::Shape, Rights::Caller);
    let arguments = [values::text(&installation.schema), values::text(name)];
    let kinds = [
        Kind::Text,
        Kind::Text,
        Kind::Text,
        Kind::Text,
        Kind::Text,
        Kind::Json,
    ];
    // Names are printed without a schema where they are on the search path.
    let run = Run {
        arguments: &arguments,
        answer: &kinds,
        table: None,
    };
    let rows = roles::without_search_path(|| execute::read_latest(plan, &run))?;
    let made = MADE
        .iter()
        .find(|(table, _)| *table == name)
        .map(|(_, parts)| parts);
    let (Some(row), Some(made)) = (rows.first(), made) else {
        return Ok(Shape::Changed("kind"));
    };
    for ((found, made), part) in row.iter().zip(made).zip(PARTS) {
        let found = match found {
            Value::Text(text) => text.bytes(),
            _ => b"",
        };
        if found != made.as_bytes() {
            return Ok(Shape::Changed(part));
        }
    }
    Ok(match row.get(PARTS.len()) {
        Some(Value::Json(numbers)) => Shape::Made(columns(name, *numbers)),
        _ => Shape::Changed("columns"),
    })
}

/// Reads texts of a number and a name. Of `account` the key is the identity, and the balance is
/// what is kept.
fn columns(table: &str, numbers: Json<'_>) -> Columns {
    let tree = jsonb::tree(numbers);
    let numbers: HashMap<&str, i16> = tree
        .strings(tree.root)
        .into_iter()
        .filter_map(|text| text.split_once(' '))
        .filter_map(|(number, name)| Some((name, number.parse().ok()?)))
        .collect();
    let at = |name: &str| numbers.get(name).copied().unwrap_or(0);
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
