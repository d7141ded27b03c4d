//! What the `idempotency` extension costs, measured side by side with doing it without.
//!
//! `make bench` builds, starts a throwaway server and runs this. Each measure is a file in
//! `measures/`; `load.rs` runs pgbench, `rounds.rs` alternates the contenders, `report.rs` and
//! `chart.rs` write what came out. A measure that fails is reported and fails the run; a figure that
//! is missed does not.

mod chart;
mod circumstances;
mod database;
mod load;
mod measures;
mod report;
mod rounds;
mod server;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{bail, Context, Result};
use clap::Parser;

use crate::measures::MEASURES;
use crate::report::{Failure, Report};
use crate::server::Server;

#[derive(Parser)]
#[command(about = "Benchmark of the idempotency extension")]
struct Options {
    /// The folder of the server's Unix socket. The server must be this machine's.
    #[arg(long)]
    host: String,
    #[arg(long, default_value_t = 5432)]
    port: u16,
    #[arg(long, default_value = "pgbench")]
    pgbench: PathBuf,
    /// The folder for figures.md and figures.svg.
    #[arg(long)]
    out: PathBuf,
    /// Which state of the source this is, for the report.
    #[arg(long, default_value = "")]
    commit: String,
    /// Of one run of one contender; each round has one of each.
    #[arg(long, default_value_t = 3)]
    seconds: u64,
    #[arg(long, default_value_t = 4)]
    clients: u64,
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    #[arg(long, default_value_t = 100_000)]
    accounts: u64,
    /// Records after which space is measured, 200,000; --long makes it a million.
    #[arg(long)]
    rows: Option<u64>,
    /// Measures growth to ten million records instead of one, and space and memory after a million.
    #[arg(long)]
    long: bool,
    /// Only these measures (see --list), separated by commas; printed and not kept.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Lists the measures.
    #[arg(long)]
    list: bool,
}

/// What every measure works with.
pub struct Bench {
    server: Server,
    seconds: u64,
    clients: u64,
    rounds: usize,
    accounts: u64,
    rows: u64,
    long: bool,
}

/// The database that most measures share.
const DATABASE: &str = "bench";

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Whether everything could be measured.
fn run() -> Result<bool> {
    let options = Options::parse();
    if options.list {
        for measure in MEASURES {
            println!("{:12} {}", measure.name, measure.title);
        }
        return Ok(true);
    }
    if let Some(unknown) = options
        .only
        .iter()
        .find(|name| !MEASURES.iter().any(|measure| measure.name == **name))
    {
        bail!("no measure '{unknown}'; --list tells them");
    }
    if options.rounds == 0 || options.seconds == 0 || options.clients == 0 || options.accounts == 0
    {
        bail!("seconds, clients, rounds and accounts must be positive");
    }
    let bench = Bench {
        server: Server {
            host: options.host,
            port: options.port,
            pgbench: options.pgbench,
        },
        seconds: options.seconds,
        clients: options.clients,
        rounds: options.rounds,
        accounts: options.accounts,
        rows: options
            .rows
            .unwrap_or(if options.long { 1_000_000 } else { 200_000 }),
        long: options.long,
    };
    let mut report = Report {
        circumstances: circumstances::tell(&bench, &options.commit)?,
        ..Report::default()
    };

    step("accounts and first calls", || {
        database::roles(&bench.server)?;
        database::create(&bench.server, DATABASE, bench.accounts)?;
        database::seed(&bench.server, DATABASE, bench.accounts)?;
        database::check_ways(&bench.server, DATABASE)
    })?;
    for measure in MEASURES {
        if !options.only.is_empty() && !options.only.iter().any(|name| name == measure.name) {
            continue;
        }
        if let Err(error) = step(measure.title, || (measure.run)(&bench, &mut report)) {
            println!("  FAILED: {error:#}");
            report.failures.push(Failure {
                measure: measure.title,
                error: format!("{error:#}"),
            });
        }
    }

    println!("\n{}", report.markdown());
    // A part must not take the place of the whole.
    if options.only.is_empty() {
        keep(&options.out, &report)?;
    }
    Ok(report.failures.is_empty())
}

fn keep(out: &Path, report: &Report) -> Result<()> {
    fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
    let figures = out.join("figures.md");
    let chart = out.join("figures.svg");
    fs::write(&figures, report.markdown())
        .with_context(|| format!("cannot write {}", figures.display()))?;
    chart::draw(&chart, report)?;
    println!("kept in {} and {}", figures.display(), chart.display());
    Ok(())
}

fn step<T>(title: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let started = Instant::now();
    println!("{title} ...");
    let done = work();
    println!("  {:.0} s", started.elapsed().as_secs_f64());
    done
}
