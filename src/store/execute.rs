//! Running a kept plan, and copying out what it answers.

use super::tables::Kind;
use crate::pg::values;
use crate::value::{Row, Value};
use core::ffi::c_char;
use pgrx::pg_sys;

/// Runs a statement with a new snapshot (the transaction's, above READ COMMITTED) and answers its
/// rows. `plan` is called with SPI connected.
pub fn execute<'a>(
    plan: impl FnOnce() -> pg_sys::SPIPlanPtr,
    arguments: &[Value<'_>],
    answer: &[Kind],
) -> Vec<Row<'a>> {
    // Asking for a writable run makes SPI take the new snapshot, and assigns no transaction id to
    // a statement that only reads.
    run(plan, arguments, answer, false)
}

/// Runs a reading statement with what is committed now, whatever the isolation level.
pub fn read_latest<'a>(
    plan: impl FnOnce() -> pg_sys::SPIPlanPtr,
    arguments: &[Value<'_>],
    answer: &[Kind],
) -> Vec<Row<'a>> {
    // SAFETY: the snapshot is pushed for the statement and popped after it; an error leaves that
    // to the end of the (sub)transaction.
    unsafe {
        pg_sys::PushActiveSnapshot(pg_sys::GetLatestSnapshot());
        let rows = run(plan, arguments, answer, true);
        pg_sys::PopActiveSnapshot();
        rows
    }
}

fn run<'a>(
    plan: impl FnOnce() -> pg_sys::SPIPlanPtr,
    arguments: &[Value<'_>],
    answer: &[Kind],
    read_only: bool,
) -> Vec<Row<'a>> {
    let mut nulls = Vec::with_capacity(arguments.len());
    let mut datums = Vec::with_capacity(arguments.len());
    for argument in arguments {
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
        pg_sys::SPI_execute_plan(plan, datums.as_mut_ptr(), nulls.as_ptr(), read_only, 0);
        let inside = pg_sys::MemoryContextSwitchTo(outside);
        let rows = if pg_sys::SPI_tuptable.is_null() {
            Vec::new()
        } else {
            (0..pg_sys::SPI_processed as usize)
                .map(|n| row(n, answer))
                .collect()
        };
        pg_sys::MemoryContextSwitchTo(inside);
        pg_sys::SPI_finish();
        rows
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
