//! The statements of the SPI store: their text, and the plans that are kept for them.
//!
//! A text is made once for each schema. Every name and operator in it is qualified, columns are
//! listed, and everything that a caller passes is a parameter.

use super::tables::{Column, Kind, Pending, RecordTable, ACCOUNT, CONTRACT, GRANT, TABLES};
use crate::pg::installation::Installation;
use crate::pg::values;
use core::cell::RefCell;
use pgrx::pg_sys;
use std::collections::HashMap;
use std::ffi::CString;

/// A statement. Record tables are meant by their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    Find(usize),
    Insert(usize),
    Finish(usize),
    Balance,
    Debit,
    Credit,
    Grants,
    Contract,
}

/// A statement's text and its parameters' types.
struct Statement {
    text: String,
    parameters: Vec<Kind>,
}

pub struct Statements {
    /// The schema that the plans are for, quoted.
    schema: String,
    plans: HashMap<(Action, Rights), pg_sys::SPIPlanPtr>,
}

/// In whose name a plan is run: the server tells row security's plans apart by the role, and not
/// by whether the owner is exempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rights {
    Owner,
    /// The caller's, who may be the owner himself.
    Caller,
}

thread_local! {
    static STATEMENTS: RefCell<Statements> = RefCell::new(Statements {
        schema: String::new(),
        plans: HashMap::new(),
    });
}

impl Statements {
    /// The kept plan of a statement, ready to be run. It is never freed: one that a schema's new
    /// name has made useless may be running further up.
    /// Called with SPI connected.
    pub fn plan(installation: &Installation, action: Action, rights: Rights) -> pg_sys::SPIPlanPtr {
        let kept = STATEMENTS.with_borrow_mut(|statements| {
            if statements.schema != installation.schema {
                statements.schema.clone_from(&installation.schema);
                statements.plans.clear();
            }
            statements.plans.get(&(action, rights)).copied()
        });
        // SAFETY: SPI is connected, and a snapshot is active in every call by SQL. No borrow is
        // held here, for preparing may re-enter.
        unsafe {
            match kept {
                Some(plan) => {
                    if !pg_sys::SPI_plan_is_valid(plan) {
                        settle(plan);
                    }
                    plan
                }
                None => {
                    let plan = prepare(&statement(action, &quoted(&installation.schema)));
                    settle(plan);
                    STATEMENTS.with_borrow_mut(|statements| {
                        if statements.schema == installation.schema {
                            statements.plans.insert((action, rights), plan);
                        }
                    });
                    plan
                }
            }
        }
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// # Safety
/// Called with SPI connected.
unsafe fn prepare(statement: &Statement) -> pg_sys::SPIPlanPtr {
    let text = CString::new(statement.text.as_str()).unwrap_or_default();
    let mut types: Vec<pg_sys::Oid> = statement
        .parameters
        .iter()
        .map(|&kind| values::type_of(kind))
        .collect();
    // SAFETY: text and types outlive the preparation, which copies them. A generic plan is asked
    // for since every statement is a look-up by a whole primary key.
    unsafe {
        let plan = pg_sys::SPI_prepare_cursor(
            text.as_ptr(),
            types.len() as i32,
            types.as_mut_ptr(),
            pg_sys::CURSOR_OPT_GENERIC_PLAN as i32,
        );
        pg_sys::SPI_keepplan(plan);
        plan
    }
}

/// Plans a statement now, by its index whatever the table's statistics say: a plan made while the
/// table was small would read all of it for as long as the plan is kept, and would at
/// SERIALIZABLE conflict with every other key.
///
/// # Safety
/// Called with SPI connected and a snapshot active, with a plan that is kept.
unsafe fn settle(plan: pg_sys::SPIPlanPtr) {
    /// Sets the setting back whether planning succeeds or raises.
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            // SAFETY: a variable of this single-threaded backend. Calls nothing.
            unsafe { pg_sys::enable_seqscan = self.0 };
        }
    }
    // SAFETY: as above; the plan's reference is given back to the owner that it was taken for.
    unsafe {
        let _restore = Restore(pg_sys::enable_seqscan);
        pg_sys::enable_seqscan = false;
        let cached = pg_sys::SPI_plan_get_cached_plan(plan);
        if !cached.is_null() {
            pg_sys::ReleaseCachedPlan(cached, pg_sys::CurrentResourceOwner);
        }
    }
}

fn statement(action: Action, schema: &str) -> Statement {
    match action {
        Action::Find(number) => find(TABLES[number], schema),
        Action::Insert(number) => insert(TABLES[number], schema),
        Action::Finish(number) => finish(TABLES[number], schema),
        Action::Balance => Statement {
            text: format!(
                "SELECT balance FROM {schema}.{ACCOUNT} \
                 WHERE account_id OPERATOR(pg_catalog.=) $1"
            ),
            parameters: vec![Kind::Bigint],
        },
        Action::Debit => Statement {
            text: format!(
                "UPDATE {schema}.{ACCOUNT} SET balance = balance OPERATOR(pg_catalog.-) $2 \
                 WHERE account_id OPERATOR(pg_catalog.=) $1 \
                 AND balance OPERATOR(pg_catalog.>=) $2 RETURNING balance"
            ),
            parameters: vec![Kind::Bigint; 2],
        },
        Action::Credit => Statement {
            text: format!(
                "UPDATE {schema}.{ACCOUNT} SET balance = balance OPERATOR(pg_catalog.+) $2 \
                 WHERE account_id OPERATOR(pg_catalog.=) $1 RETURNING balance"
            ),
            parameters: vec![Kind::Bigint; 2],
        },
        Action::Contract => Statement {
            text: format!(
                "SELECT key_required::pg_catalog.int4, max_key_bytes, max_request_bytes, \
                 max_response_bytes, save_refusals::pg_catalog.int4, \
                 pg_catalog.to_jsonb(refusal_sqlstates), pg_catalog.to_jsonb(ignored_paths), \
                 default_values, keep_request, pg_catalog.to_jsonb(redacted_request_paths), \
                 keep_response, pg_catalog.to_jsonb(redacted_response_paths) \
                 FROM {schema}.{CONTRACT} WHERE operation OPERATOR(pg_catalog.=) $1"
            ),
            parameters: vec![Kind::Text],
        },
        Action::Grants => Statement {
            text: format!(
                "SELECT g.role::pg_catalog.oid::pg_catalog.int8, g.access, s.scope, g.scope_setting \
                 FROM {schema}.{GRANT} AS g \
                 LEFT JOIN LATERAL pg_catalog.unnest(g.scopes) AS s (scope) ON true"
            ),
            parameters: vec![],
        },
    }
}

fn find(table: &RecordTable, schema: &str) -> Statement {
    Statement {
        text: format!(
            "SELECT {} FROM {schema}.{} WHERE {}",
            names(table.kept()),
            table.name,
            by_identity(table)
        ),
        parameters: kinds(table.identity.iter()),
    }
}

fn insert(table: &RecordTable, schema: &str) -> Statement {
    let given = || table.identity.iter().chain(table.request);
    let mut columns = names(given());
    let mut values: Vec<String> = (1..=given().count()).map(|n| format!("${n}")).collect();
    if let (Some(first), Some(pending)) = (table.result.first(), literal(table.pending)) {
        columns = format!("{columns}, {}", first.name);
        values.push(pending);
    }
    Statement {
        text: format!(
            "INSERT INTO {schema}.{} ({columns}) VALUES ({}) ON CONFLICT ({}) DO NOTHING RETURNING {}",
            table.name,
            values.join(", "),
            names(table.identity.iter()),
            table.stamp.name
        ),
        parameters: kinds(given()),
    }
}

fn finish(table: &RecordTable, schema: &str) -> Statement {
    let first = table.identity.len() + 1;
    let set: Vec<String> = table
        .result
        .iter()
        .zip(first..)
        .map(|(column, n)| format!("{} = ${n}", column.name))
        .collect();
    Statement {
        text: format!(
            "UPDATE {schema}.{} SET {} WHERE {} RETURNING {}",
            table.name,
            set.join(", "),
            by_identity(table),
            table.stamp.name
        ),
        parameters: kinds(table.identity.iter().chain(table.result)),
    }
}

fn literal(pending: Pending) -> Option<String> {
    match pending {
        Pending::Nothing => None,
        Pending::JsonNull => Some("'null'::pg_catalog.jsonb".to_owned()),
        Pending::Text(text) => Some(format!("'{text}'")),
    }
}

fn by_identity(table: &RecordTable) -> String {
    table
        .identity
        .iter()
        .zip(1..)
        .map(|(column, n)| format!("{} OPERATOR(pg_catalog.=) ${n}", column.name))
        .collect::<Vec<_>>()
        .join(" AND ")
}

fn names<'c>(columns: impl Iterator<Item = &'c Column>) -> String {
    columns
        .map(|column| column.name)
        .collect::<Vec<_>>()
        .join(", ")
}

fn kinds<'c>(columns: impl Iterator<Item = &'c Column>) -> Vec<Kind> {
    columns.map(|column| column.kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_quoted_whatever_its_name() {
        assert_eq!(quoted("a\"b; DROP"), "\"a\"\"b; DROP\"");
    }

    #[test]
    fn statements_name_their_columns_and_pass_values_as_parameters() {
        let of = |action| statement(action, "\"s\"").text;
        assert_eq!(
            of(Action::Find(0)),
            "SELECT request, response, created_at FROM \"s\".request_result \
             WHERE account_id OPERATOR(pg_catalog.=) $1 AND operation OPERATOR(pg_catalog.=) $2 \
             AND request_key OPERATOR(pg_catalog.=) $3"
        );
        assert_eq!(
            of(Action::Insert(0)),
            "INSERT INTO \"s\".request_result (account_id, operation, request_key, request, response) \
             VALUES ($1, $2, $3, $4, 'null'::pg_catalog.jsonb) \
             ON CONFLICT (account_id, operation, request_key) DO NOTHING RETURNING created_at"
        );
        assert_eq!(
            of(Action::Insert(1)),
            "INSERT INTO \"s\".processed_message (subscriber, message_id, account_id, amount, message) \
             VALUES ($1, $2, $3, $4, $5) ON CONFLICT (subscriber, message_id) DO NOTHING \
             RETURNING processed_at"
        );
        assert_eq!(
            of(Action::Finish(0)),
            "UPDATE \"s\".request_result SET response = $4 \
             WHERE account_id OPERATOR(pg_catalog.=) $1 AND operation OPERATOR(pg_catalog.=) $2 \
             AND request_key OPERATOR(pg_catalog.=) $3 RETURNING created_at"
        );
    }
}
