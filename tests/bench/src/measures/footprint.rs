//! WAL bytes a debit, and heap and index bytes a record, against the routine by hand: the same
//! accounts and keys, in slices that alternate, each from a checkpoint on.

use anyhow::Result;

use crate::database;
use crate::load::{Contender, Length, Load, BY_HAND, DEBIT};
use crate::report::{number, Reach, Report};
use crate::rounds;
use crate::server::{Server, WAL_POSITION};
use crate::Bench;

const DATABASE: &str = "footprint";
/// So that the planner knows the tables.
const SEEDS: u64 = 1_000;

pub fn run(bench: &Bench, report: &mut Report) -> Result<()> {
    let server = &bench.server;
    database::create(server, DATABASE, bench.accounts)?;
    database::seed(server, DATABASE, SEEDS.min(bench.accounts))?;

    let contenders = [DEBIT, BY_HAND];
    let before = contenders.map(|contender| Space::of(server, contender));
    let mut debits = 0;
    let slice = bench.rows.div_ceil(bench.rounds as u64);
    let wal = rounds::alternate(&contenders, bench.rounds, |contender, round| {
        let load = Load {
            database: DATABASE,
            clients: bench.clients,
            length: Length::Transactions(slice),
            accounts: bench.accounts,
            synchronous: false,
            seed: Some(round as u64 + 1),
        };
        server.run(DATABASE, "CHECKPOINT")?;
        let start = server.number(DATABASE, WAL_POSITION)?;
        let done = load.run(server, contender)?;
        debits += done.transactions;
        let bytes = server.number(DATABASE, WAL_POSITION)? - start;
        Ok(bytes as f64 / done.transactions as f64)
    })?;
    let after = contenders.map(|contender| Space::of(server, contender));
    wal.tell(report, "WAL a debit", "bytes");
    report.figure(
        "WAL bytes a debit / PL/pgSQL by hand",
        Reach::AtMost(0.9),
        wal.ratios(DEBIT, BY_HAND),
    );

    let records = (debits / contenders.len() as u64) as f64;
    let mut grown = Vec::new();
    for (before, after) in before.into_iter().zip(after) {
        grown.push(after?.less(before?, records));
    }
    let (ours, theirs) = (&grown[0], &grown[1]);
    let records = number(records);
    for (what, ours, theirs) in [
        ("heap", ours.heap, theirs.heap),
        ("index", ours.index, theirs.index),
    ] {
        report.figure(
            format!("{what} bytes a record / PL/pgSQL by hand, {records} records"),
            Reach::AtMost(1.0),
            vec![ours / theirs],
        );
    }
    tell_space(report, &contenders, &grown);
    database::drop(server, DATABASE)
}

struct Space {
    heap: f64,
    index: f64,
}

impl Space {
    fn of(server: &Server, contender: Contender) -> Result<Self> {
        let schema = match contender.script {
            "by_hand" => "by_hand",
            _ => "public",
        };
        let size = |relation: &str| {
            let query = format!("SELECT pg_relation_size('{schema}.{relation}')");
            server.number(DATABASE, &query).map(|bytes| bytes as f64)
        };
        Ok(Self {
            heap: size("request_result")?,
            index: size("request_result_pkey")?,
        })
    }

    fn less(&self, before: Self, records: f64) -> Self {
        Self {
            heap: (self.heap - before.heap) / records,
            index: (self.index - before.index) / records,
        }
    }
}

fn tell_space(report: &mut Report, contenders: &[Contender], grown: &[Space]) {
    for (contender, space) in contenders.iter().zip(grown) {
        for (group, bytes) in [
            ("heap a record", space.heap),
            ("index a record", space.index),
        ] {
            report.rate(group, contender.name, "bytes", vec![bytes]);
        }
    }
}
