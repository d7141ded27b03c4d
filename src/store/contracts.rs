//! Reading contracts, and keeping what was read until one changes.

use super::execute::{self, Run};
use super::statements::{Action, Rights, Statements};
use super::tables::Kind;
use crate::contract::Contract;
use crate::error::Result;
use crate::pg::installation::Installation;
use crate::pg::{jsonb, roles, values};
use crate::request::comparison::{Comparison, Keep, Path};
use crate::value::Value;
use core::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// How many contracts a session remembers; a client that makes operations up gets no more memory.
const MOST: usize = 1000;

#[derive(Default)]
struct Remembered {
    /// The installation, and its state, that they are of.
    epoch: u64,
    contracts: HashMap<Box<[u8]>, Rc<Contract>>,
}

thread_local! {
    static REMEMBERED: RefCell<Remembered> = RefCell::default();
}

/// The contract of an operation in force now.
pub fn of(installation: &Installation, operation: &[u8]) -> Result<Rc<Contract>> {
    let remembered = REMEMBERED.with_borrow_mut(|remembered| {
        if remembered.epoch != installation.epoch() || remembered.contracts.len() >= MOST {
            remembered.contracts.clear();
            remembered.epoch = installation.epoch();
        }
        remembered.contracts.get(operation).cloned()
    });
    if let Some(contract) = remembered {
        return Ok(contract);
    }
    let contract = Rc::new(read(installation, operation)?);
    REMEMBERED.with_borrow_mut(|remembered| {
        if remembered.epoch == installation.epoch() {
            remembered
                .contracts
                .insert(operation.into(), Rc::clone(&contract));
        }
    });
    Ok(contract)
}

fn read(installation: &Installation, operation: &[u8]) -> Result<Contract> {
    let table = installation.contracts()?;
    let plan = || Statements::plan(installation, Action::Contract, Rights::Owner);
    let kinds = [
        Kind::Int,
        Kind::Int,
        Kind::Int,
        Kind::Int,
        Kind::Int,
        Kind::Json,
        Kind::Json,
        Kind::Json,
        Kind::Text,
        Kind::Json,
        Kind::Text,
        Kind::Json,
    ];
    let arguments = [values::bytes(operation)];
    let run = Run {
        arguments: &arguments,
        answer: &kinds,
        table: installation.named(table),
    };
    let rows = roles::as_owner(table.owner, || execute::read_latest(plan, &run))?;
    let mut contract = Contract::default();
    let Some(
        [required, key, request, response, save, sqlstates, ignored, defaults, keep_request, redacted_request, keep_response, redacted_response],
    ) = rows
        .first()
        .and_then(|row| <[Value<'_>; 12]>::try_from(row.as_slice()).ok())
    else {
        return Ok(contract);
    };
    contract.defined = true;
    set(&mut contract.key_required, boolean(required));
    set(&mut contract.max_key_bytes, size(key));
    set(&mut contract.max_request_bytes, size(request));
    set(&mut contract.max_response_bytes, size(response));
    set(&mut contract.save_refusals, boolean(save));
    set(&mut contract.refusal_sqlstates, strings(sqlstates));
    set(&mut contract.keep_request, keep(keep_request));
    set(&mut contract.keep_response, keep(keep_response));
    set(&mut contract.redacted_request, paths(redacted_request));
    set(&mut contract.redacted_response, paths(redacted_response));
    contract.comparison = Comparison {
        ignored: paths(ignored).unwrap_or_default(),
        defaults: match defaults {
            Value::Json(json) => Some(jsonb::tree(json)),
            _ => None,
        },
    };
    Ok(contract)
}

/// Replaces a default by what a DBA has set, if he has.
fn set<T>(default: &mut T, set: Option<T>) {
    if let Some(set) = set {
        *default = set;
    }
}

fn boolean(value: Value<'_>) -> Option<bool> {
    match value {
        Value::Int(n) => Some(n != 0),
        _ => None,
    }
}

fn size(value: Value<'_>) -> Option<usize> {
    match value {
        Value::Int(n) => usize::try_from(n).ok(),
        _ => None,
    }
}

fn keep(value: Value<'_>) -> Option<Keep> {
    match value {
        Value::Text(name) => Keep::named(name.bytes()),
        _ => None,
    }
}

fn strings(value: Value<'_>) -> Option<Vec<String>> {
    let Value::Json(json) = value else {
        return None;
    };
    let tree = jsonb::tree(json);
    Some(
        tree.strings(tree.root)
            .into_iter()
            .map(str::to_owned)
            .collect(),
    )
}

fn paths(value: Value<'_>) -> Option<Vec<Path>> {
    Some(
        strings(value)?
            .iter()
            .filter_map(|path| Path::parse(path))
            .collect(),
    )
}
