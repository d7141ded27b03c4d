//! What is measured, in the order of the report.

mod backend;
mod footprint;
mod growth;
mod memory;
mod multixacts;
mod silence;
mod throughput;

use anyhow::Result;

use crate::report::Report;
use crate::Bench;

pub struct Measure {
    pub name: &'static str,
    pub title: &'static str,
    pub run: fn(&Bench, &mut Report) -> Result<()>,
}

const fn measure(
    name: &'static str,
    title: &'static str,
    run: fn(&Bench, &mut Report) -> Result<()>,
) -> Measure {
    Measure { name, title, run }
}

pub const MEASURES: &[Measure] = &[
    measure(
        "async",
        "new calls, asynchronous commit",
        throughput::asynchronous,
    ),
    measure(
        "sync",
        "new calls, synchronous commit",
        throughput::synchronous,
    ),
    measure("backend", "one call, in the backend", backend::run),
    measure("replay", "replays", throughput::replays),
    measure("silence", "what a replay writes", silence::run),
    measure("hot", "one hot account, 32 clients", throughput::hot),
    measure(
        "multixacts",
        "multixacts, 16 clients on 8 accounts",
        multixacts::run,
    ),
    measure("footprint", "WAL and space of a debit", footprint::run),
    measure("growth", "rate as records grow", growth::run),
    measure("memory", "memory that a backend keeps", memory::run),
];
