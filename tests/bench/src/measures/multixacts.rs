//! Multixacts: what a foreign key's share lock and an update of the same row cost on hot accounts.

use anyhow::Result;

use crate::load::{Contender, Length, Load, BY_HAND, DEBIT};
use crate::report::{Reach, Report};
use crate::rounds;
use crate::server::NEXT_MULTIXACT;
use crate::{Bench, DATABASE};

const CLIENTS: u64 = 16;
const ACCOUNTS: u64 = 8;

pub fn run(bench: &Bench, report: &mut Report) -> Result<()> {
    let load = Load {
        database: DATABASE,
        clients: CLIENTS,
        length: Length::Seconds(bench.seconds),
        accounts: ACCOUNTS,
        synchronous: false,
        seed: None,
    };
    let next = || {
        // What can be asked for is as of the latest checkpoint.
        bench.server.run(DATABASE, "CHECKPOINT")?;
        bench.server.number(DATABASE, NEXT_MULTIXACT)
    };
    let a_call = |contender: Contender, _| {
        let before = next()?;
        let done = load.run(&bench.server, contender)?;
        Ok((next()? - before) as f64 / done.transactions as f64)
    };
    bench.server.settle(DATABASE)?;
    let found = rounds::alternate(&[DEBIT, BY_HAND], 1, a_call)?;
    found.tell(report, "multixacts a debit, 16 clients on 8 accounts", "");
    report.figure(
        "multixacts a debit, 16 clients on 8 accounts",
        Reach::AtMost(0.0),
        found.of(DEBIT).to_vec(),
    );
    Ok(())
}
