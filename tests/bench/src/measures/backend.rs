//! One call without client, network and commit: many in one statement of one session.

use std::time::Instant;

use anyhow::Result;

use crate::load::{Contender, BY_HAND, DEBIT, DEBIT_SPI, REPLAY, REPLAY_BY_HAND, REPLAY_SPI};
use crate::report::{Reach, Report};
use crate::rounds;
use crate::{Bench, DATABASE};

/// Calls of one statement, each on an account of its own.
const CALLS: u64 = 20_000;

pub fn run(bench: &Bench, report: &mut Report) -> Result<()> {
    bench.server.settle(DATABASE)?;
    // The first round warms up: plans, caches, the pages' first images.
    let new = in_backend(bench, &[DEBIT, BY_HAND, DEBIT_SPI])?;
    new.tell(report, "new debit, in backend", "us");
    report.figure(
        "PL/pgSQL by hand / new debit, time in backend",
        Reach::AtLeast(3.5),
        new.ratios(BY_HAND, DEBIT),
    );
    let replays = in_backend(bench, &[REPLAY, REPLAY_BY_HAND, REPLAY_SPI])?;
    replays.tell(report, "replay, in backend", "us");
    Ok(())
}

/// Microseconds a call.
fn in_backend(bench: &Bench, contenders: &[Contender]) -> Result<rounds::Rounds> {
    let calls = CALLS.min(bench.accounts);
    let mut sessions = Vec::new();
    for contender in contenders {
        let mut session = bench.server.session(DATABASE, contender.user)?;
        session.batch_execute("SET synchronous_commit = off")?;
        sessions.push((contender.name, session));
    }
    let mut run = |contender: Contender, key: &str| -> Result<f64> {
        let function = match contender.script {
            "by_hand" | "replay_by_hand" => "by_hand.debit_once",
            _ => "debit_once",
        };
        let session = sessions
            .iter_mut()
            .find(|(name, _)| *name == contender.name)
            .map(|(_, session)| session)
            .expect("a session for each contender");
        let key = match contender.script {
            "replay" | "replay_by_hand" => "replay".to_owned(),
            _ => format!("{}{key}", contender.user),
        };
        let statement = session.prepare(&format!(
            "SELECT count({function}(n, $1, 1)) FROM generate_series(1::bigint, $2) AS n"
        ))?;
        let started = Instant::now();
        session.query_one(&statement, &[&key, &(calls as i64)])?;
        Ok(started.elapsed().as_secs_f64() * 1e6 / calls as f64)
    };
    for contender in contenders {
        run(*contender, "warming")?;
    }
    rounds::alternate(contenders, bench.rounds, |contender, round| {
        run(contender, &format!("round{round}"))
    })
}
