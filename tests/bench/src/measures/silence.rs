//! A replay writes nothing: no transaction id, no WAL.

use anyhow::Result;

use crate::report::{number as shown, Reach, Report};
use crate::server::{number, CALLER, NEXT_TRANSACTION, OWNER, WAL_POSITION};
use crate::{Bench, DATABASE};

const REPLAYS: u64 = 2_000;

pub fn run(bench: &Bench, report: &mut Report) -> Result<()> {
    bench.server.settle(DATABASE)?;
    let mut owner = bench.server.session(DATABASE, OWNER)?;
    let mut caller = bench.server.session(DATABASE, CALLER)?;
    let replay = caller.prepare("SELECT debit_once($1, 'replay', 1)")?;
    let replays = REPLAYS.min(bench.accounts);
    let mut pass = || -> Result<()> {
        for account in 1..=replays {
            caller.query_one(&replay, &[&(account as i64)])?;
        }
        Ok(())
    };

    // The first read may set hint bits, as that of a plain SELECT does.
    pass()?;
    let (mut transactions, mut bytes) = (Vec::new(), Vec::new());
    for _ in 0..bench.rounds {
        let before = (
            number(&mut owner, NEXT_TRANSACTION)?,
            number(&mut owner, WAL_POSITION)?,
        );
        pass()?;
        let after = (
            number(&mut owner, NEXT_TRANSACTION)?,
            number(&mut owner, WAL_POSITION)?,
        );
        transactions.push((after.0 - before.0) as f64);
        bytes.push((after.1 - before.1) as f64);
    }
    let replays = shown(replays as f64);
    report.figure(
        format!("transaction ids of {replays} replays"),
        Reach::AtMost(0.0),
        transactions,
    );
    report.figure_in(
        "bytes",
        format!("WAL of {replays} replays, after a first read"),
        Reach::AtMost(0.0),
        bytes,
    );
    Ok(())
}
