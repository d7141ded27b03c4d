//! What a backend still holds after very many calls in one statement: to Postgres's own books, and to
//! the operating system, which also sees what the extension allocates past them.

use std::fs;

use anyhow::{Context, Result};
use postgres::Client;

use crate::report::{number, Reach, Report};
use crate::server::{self, CALLER};
use crate::{Bench, DATABASE};

const MIB: f64 = 1024.0 * 1024.0;
/// One after the other in the same session: a leak would show in each, and only grow.
const STATEMENTS: i64 = 3;
const BOOKS: &str = "SELECT sum(total_bytes)::bigint FROM pg_backend_memory_contexts";

pub fn run(bench: &Bench, report: &mut Report) -> Result<()> {
    bench.server.settle(DATABASE)?;
    let debits: i64 = if bench.long { 1_000_000 } else { 200_000 };
    for (calls, what, key) in [
        (1_000_000_i64, "replays", "'replay'"),
        (debits, "debits", "'memory' || n"),
    ] {
        let mut session = bench.server.session(DATABASE, CALLER)?;
        // The numbers come one by one: as a table they would be kept, and counted as memory.
        let many = format!(
            "SELECT count(debit_once(1 + n % {}, {key}, 1)) \
             FROM (SELECT generate_series($1::bigint, $2) AS n) AS numbers",
            bench.accounts
        );
        let many = session.prepare(&many)?;
        // What a session holds anyway once it has called: caches, plans.
        for start in [0_i64, 1_000] {
            session.query_one(&many, &[&start, &(start + 999)])?;
        }
        Memory::of(&mut session)?;
        let before = Memory::of(&mut session)?;
        let (mut books, mut system) = (Vec::new(), Vec::new());
        for statement in 0..STATEMENTS {
            let start = 2_000 + statement * calls;
            session.query_one(&many, &[&start, &(start + calls - 1)])?;
            let after = Memory::of(&mut session)?;
            books.push((after.books - before.books) / MIB);
            system.push((after.system - before.system) / MIB);
        }
        report.figure_in(
            "MiB",
            format!(
                "memory kept after {} {what} in one statement",
                number(calls as f64)
            ),
            Reach::AtMost(1.0),
            books.iter().zip(&system).map(|(a, b)| a.max(*b)).collect(),
        );
        report.rate("memory kept", format!("{what}, to Postgres"), "MiB", books);
        report.rate(
            "memory kept",
            format!("{what}, to the system"),
            "MiB",
            system,
        );
    }
    Ok(())
}

struct Memory {
    books: f64,
    system: f64,
}

impl Memory {
    fn of(session: &mut Client) -> Result<Self> {
        let pid = server::number(session, "SELECT pg_backend_pid()::bigint")?;
        let books = server::number(session, BOOKS)? as f64;
        // Not the shared buffers that the backend has touched.
        let path = format!("/proc/{pid}/status");
        let status = fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
        let kilobytes: f64 = status
            .lines()
            .find_map(|line| line.strip_prefix("RssAnon:"))
            .and_then(|rest| rest.trim().strip_suffix("kB"))
            .with_context(|| format!("{path} does not tell RssAnon"))?
            .trim()
            .parse()?;
        Ok(Self {
            books,
            system: kilobytes * 1024.0,
        })
    }
}
