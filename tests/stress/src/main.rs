//! Many real backends at once against the `idempotency` extension, and the totals they must keep.
//!
//! Needs a database of its own; creates the extension in it if it is not there. Each worker draws
//! its calls from `seed + worker`, so the calls of a run are repeated by its seed (their
//! interleaving is the server's). Exits with 1 and one line for each violation found.

mod call;
mod counts;
mod ledger;
mod mixed;
mod oracle;
mod plan;
mod same_key;
mod session;
mod spend;
mod worker;

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{bail, Context, Result};
use clap::{Parser, ValueEnum};

use crate::mixed::Length;
use crate::session::{Session, Target};

#[derive(Parser)]
#[command(about = "Stress test of the idempotency extension")]
struct Options {
    /// What to run; everything if none is given.
    mode: Option<Mode>,
    /// Host name, or the folder of a Unix socket.
    #[arg(long, env = "PGHOST", default_value = "/tmp")]
    host: String,
    #[arg(long, env = "PGPORT", default_value_t = 5432)]
    port: u16,
    /// A superuser: it creates the extension and ends backends.
    #[arg(long, env = "PGUSER", default_value = "postgres")]
    user: String,
    #[arg(long, env = "PGDATABASE", default_value = "postgres")]
    dbname: String,
    /// Random when left out; always printed.
    #[arg(long)]
    seed: Option<u64>,
    /// Workers of the mixed workload.
    #[arg(long, default_value_t = 24)]
    clients: usize,
    /// Transactions of each worker of the mixed workload; 500, or no limit where seconds are given.
    #[arg(long)]
    calls: Option<usize>,
    /// Seconds after which the workers of the mixed workload stop.
    #[arg(long)]
    seconds: Option<u64>,
    /// Rounds of the same-key mode.
    #[arg(long, default_value_t = 40)]
    rounds: usize,
    /// Seconds after which a mode counts as hanging.
    #[arg(long, default_value_t = 180)]
    patience: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Mode {
    /// Random calls, retries, roll-backs, savepoints, levels, disconnects.
    Mixed,
    /// 64 sessions send one key at once, round after round.
    SameKey,
    /// 50 sessions with keys of their own spend more than there is.
    Spend,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("FAILED: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<()> {
    let options = Options::parse();
    let seed = options.seed.unwrap_or_else(|| rand::random::<u32>().into());
    println!("seed {seed} (repeat with --seed {seed})");
    let target = Target::new(&options.host, options.port, &options.user, &options.dbname);
    prepare(&target).await?;

    let modes = match options.mode {
        Some(mode) => vec![mode],
        None => vec![Mode::SameKey, Mode::Spend, Mode::Mixed],
    };
    let length = Length {
        calls: options.calls.unwrap_or(if options.seconds.is_some() {
            usize::MAX
        } else {
            500
        }),
        time: options.seconds.map_or(Duration::MAX, Duration::from_secs),
    };
    let mut violations = Vec::new();
    for mode in modes {
        println!("{}", name(mode));
        let run = async {
            match mode {
                Mode::Mixed => mixed::run(&target, seed, options.clients, length).await,
                Mode::SameKey => same_key::run(&target, options.rounds).await,
                Mode::Spend => spend::run(&target, seed).await,
            }
        };
        match tokio::time::timeout(Duration::from_secs(options.patience), run).await {
            Ok(found) => violations.extend(found.with_context(|| name(mode))?),
            Err(_) => violations.push(format!(
                "{} hangs: no end in {} s",
                name(mode),
                options.patience
            )),
        }
    }
    if violations.is_empty() {
        println!("ok");
        return Ok(());
    }
    for violation in violations.iter().take(20) {
        println!("VIOLATION: {violation}");
    }
    bail!("{} violations, seed {seed}", violations.len())
}

fn name(mode: Mode) -> String {
    mode.to_possible_value()
        .map(|value| value.get_name().to_owned())
        .unwrap_or_default()
}

async fn prepare(target: &Target) -> Result<()> {
    target
        .install()
        .await
        .context("cannot connect and create the extension")?;
    let session = Session::open(target).await?;
    if session.number("SELECT count(*) FROM account").await? != 0 {
        bail!("table account is not empty: this needs a database of its own");
    }
    Ok(())
}
