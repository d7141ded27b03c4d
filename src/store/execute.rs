//! Running a kept plan, and copying out what it answers.

use super::tables::Kind;
use crate::error::{Error, Result};
use crate::pg::values;
use crate::value::{Row, Value};
use core::ffi::c_char;
use pgrx::pg_sys::{self, Oid};
use std::ffi::CString;

/// A statement that is to be run.
pub struct Run<'r, 'v> {
    pub arguments: &'r [Value<'v>],
    /// The types of the answer's columns.
    pub answer: &'r [Kind],
    /// The table that the statement's text must mean: a name may come to mean another one while the
    /// call runs.
    pub table: Named<'r>,
}

/// A table, and the name by which a statement's text calls it.
pub struct Named<'r> {
    pub schema: &'r str,
    pub name: &'r str,
    pub oid: Oid,
}

/// Runs a statement with a new snapshot (the transaction's, above READ COMMITTED) and answers its
/// rows. `plan` is called with SPI connected.
pub fn execute<'a>(
    plan: impl FnOnce() -> pg_sys::SPIPlanPtr,
    run: &Run<'_, '_>,
) -> Result<Vec<Row<'a>>> {
    // Asking for a writable run makes SPI take the new snapshot, and assigns no transaction id to
    // a statement that only reads.
    execute_plan(plan, run, false)
}

/// Runs a reading statement with what is committed now, whatever the isolation level.
pub fn read_latest<'a>(
    plan: impl FnOnce() -> pg_sys::SPIPlanPtr,
    run: &Run<'_, '_>,
) -> Result<Vec<Row<'a>>> {
    // SAFETY: the snapshot is pushed for the statement and popped after it; an error leaves that
    // to the end of the (sub)transaction.
    unsafe {
        pg_sys::PushActiveSnapshot(pg_sys::GetLatestSnapshot());
        let rows = execute_plan(plan, run, true);
        pg_sys::PopActiveSnapshot();
        rows
    }
}

fn execute_plan<'a>(
    plan: impl FnOnce() -> pg_sys::SPIPlanPtr,
    run: &Run<'_, '_>,
    read_only: bool,
) -> Result<Vec<Row<'a>>> {
    let mut nulls = Vec::with_capacity(run.arguments.len());
    let mut datums = Vec::with_capacity(run.arguments.len());
    for argument in run.arguments {
        let datum = values::datum(*argument);
        nulls.push(if datum.is_none() { b'n' } else { b' ' } as c_char);
        datums.push(datum.unwrap_or(pg_sys::Datum::null()));
    }
    // SAFETY: the datums are of the types that the statement was prepared with, and outlive it.
    // Everything read is copied out before SPI_finish frees it. An error leaves the connection to
    // the end of the (sub)transaction.
    unsafe {
        let outside = pg_sys::CurrentMemoryContext;
        pg_sys::SPI_connect();
        let plan = plan();
        if !means(plan, &run.table) {
            pg_sys::SPI_finish();
            return Err(Error::Unsettled);
        }
        pg_sys::SPI_execute_plan(plan, datums.as_mut_ptr(), nulls.as_ptr(), read_only, 0);
        let inside = pg_sys::MemoryContextSwitchTo(outside);
        let rows = if pg_sys::SPI_tuptable.is_null() {
            Ok(Vec::new())
        } else if !has_types(run.answer) {
            Err(Error::ColumnType)
        } else {
            Ok((0..pg_sys::SPI_processed as usize)
                .map(|n| row(n, run.answer))
                .collect())
        };
        pg_sys::MemoryContextSwitchTo(inside);
        pg_sys::SPI_finish();
        rows
    }
}

/// Makes a plan valid, and tells whether the name in its text means this table. The look takes the
/// plan's locks, so that the run finds it unchanged.
///
/// # Safety
/// SPI is connected, and the plan is kept and has one statement.
unsafe fn means(plan: pg_sys::SPIPlanPtr, table: &Named<'_>) -> bool {
    // SAFETY: the caller's promise; the reference to the cached plan is given back to the owner
    // that it was taken for; both names are NUL-terminated.
    unsafe {
        let cached = pg_sys::SPI_plan_get_cached_plan(plan);
        if cached.is_null() {
            return false;
        }
        pg_sys::ReleaseCachedPlan(cached, pg_sys::CurrentResourceOwner);
        let (Ok(schema), Ok(name)) = (CString::new(table.schema), CString::new(table.name)) else {
            return false;
        };
        let namespace = pg_sys::get_namespace_oid(schema.as_ptr(), true);
        let named = pg_sys::get_relname_relid(name.as_ptr(), namespace);
        // A schema's new name makes every plan invalid. One that is valid still was made when the
        // name meant what it has just been seen to mean.
        named == table.oid && pg_sys::SPI_plan_is_valid(plan)
    }
}

/// Whether the answer's columns are of these types: a table's owner may have changed them.
///
/// # Safety
/// SPI holds an answer.
unsafe fn has_types(kinds: &[Kind]) -> bool {
    // SAFETY: the caller's promise; SPI counts columns from one.
    unsafe {
        let descriptor = (*pg_sys::SPI_tuptable).tupdesc;
        (*descriptor).natts as usize == kinds.len()
            && kinds.iter().zip(1..).all(|(&kind, column)| {
                pg_sys::getBaseType(pg_sys::SPI_gettypeid(descriptor, column))
                    == values::type_of(kind)
            })
    }
}

/// # Safety
/// SPI holds more than `n` rows, with columns of these kinds, and the current memory context
/// outlives `'a`.
unsafe fn row<'a>(n: usize, kinds: &[Kind]) -> Row<'a> {
    // SAFETY: the caller's promise; SPI counts columns from one.
    unsafe {
        let table = pg_sys::SPI_tuptable;
        let tuple = *(*table).vals.add(n);
        kinds
            .iter()
            .zip(1..)
            .map(|(&kind, column)| {
                let mut null = false;
                let datum = pg_sys::SPI_getbinval(tuple, (*table).tupdesc, column, &mut null);
                if null {
                    Value::Null
                } else {
                    values::copied(kind, datum)
                }
            })
            .collect()
    }
}
