//! Calls a second through connections of their own, with prepared statements.

use anyhow::Result;

use crate::load::{
    Length, Load, BARE, BY_APP, BY_HAND, DEBIT, DEBIT_SPI, EFFECT, REPLAY, REPLAY_BY_HAND,
    REPLAY_SPI, RUN_ONCE, RUN_SQL_ONCE, STORED_REPLY,
};
use crate::report::{Reach, Report};
use crate::rounds;
use crate::{Bench, DATABASE};

const UNIT: &str = "/s";
/// What contends for the hot account.
const CROWD: u64 = 32;

fn load(bench: &Bench) -> Load<'static> {
    Load {
        database: DATABASE,
        clients: bench.clients,
        length: Length::Seconds(bench.seconds),
        accounts: bench.accounts,
        synchronous: false,
        seed: None,
    }
}

pub fn asynchronous(bench: &Bench, report: &mut Report) -> Result<()> {
    bench.server.settle(DATABASE)?;
    let contenders = [
        BARE,
        DEBIT,
        EFFECT,
        RUN_ONCE,
        RUN_SQL_ONCE,
        DEBIT_SPI,
        BY_HAND,
        BY_APP,
    ];
    let rounds = rounds::rates(&bench.server, load(bench), &contenders, bench.rounds)?;
    rounds.tell(report, "new calls, async commit", UNIT);
    report.figure(
        "new debit / bare UPDATE, async commit",
        Reach::AtLeast(0.85),
        rounds.ratios(DEBIT, BARE),
    );
    report.figure(
        "new debit / PL/pgSQL by hand, async commit",
        Reach::AtLeast(2.2),
        rounds.ratios(DEBIT, BY_HAND),
    );
    report.figure(
        "run_once with that UPDATE / bare UPDATE, async commit",
        Reach::AtLeast(0.7),
        rounds.ratios(RUN_ONCE, BARE),
    );
    report.figure(
        "run_sql_once with that UPDATE / bare UPDATE, async commit",
        Reach::AtLeast(0.7),
        rounds.ratios(RUN_SQL_ONCE, BARE),
    );
    Ok(())
}

pub fn synchronous(bench: &Bench, report: &mut Report) -> Result<()> {
    bench.server.settle(DATABASE)?;
    let load = Load {
        synchronous: true,
        ..load(bench)
    };
    let rounds = rounds::rates(&bench.server, load, &[BARE, DEBIT, BY_HAND], bench.rounds)?;
    rounds.tell(report, "new calls, sync commit", UNIT);
    report.figure(
        "new debit / bare UPDATE, sync commit",
        Reach::AtLeast(0.95),
        rounds.ratios(DEBIT, BARE),
    );
    Ok(())
}

pub fn replays(bench: &Bench, report: &mut Report) -> Result<()> {
    bench.server.settle(DATABASE)?;
    let contenders = [STORED_REPLY, REPLAY, REPLAY_SPI, REPLAY_BY_HAND];
    let rounds = rounds::rates(&bench.server, load(bench), &contenders, bench.rounds)?;
    rounds.tell(report, "replays", UNIT);
    report.figure(
        "replay / primary-key SELECT of the reply",
        Reach::AtLeast(0.9),
        rounds.ratios(REPLAY, STORED_REPLY),
    );
    Ok(())
}

pub fn hot(bench: &Bench, report: &mut Report) -> Result<()> {
    bench.server.settle(DATABASE)?;
    let load = Load {
        clients: CROWD,
        accounts: 1,
        ..load(bench)
    };
    let rounds = rounds::rates(&bench.server, load, &[BARE, DEBIT], bench.rounds)?;
    rounds.tell(report, "one hot account, 32 clients", UNIT);
    report.figure(
        "hot account, 32 clients / bare UPDATE on it",
        Reach::AtLeast(0.9),
        rounds.ratios(DEBIT, BARE),
    );
    Ok(())
}
