//! The mixed workload: random calls over few accounts and a small key space, while a reaper ends
//! backends at random moments.

use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::call::ACCOUNTS;
use crate::counts::Counts;
use crate::ledger::Ledger;
use crate::oracle;
use crate::session::{Session, Target};
use crate::worker::Worker;

/// How long each worker goes on: whichever is reached first.
#[derive(Clone, Copy)]
pub struct Length {
    pub calls: usize,
    pub time: Duration,
}

const REAPER_PAUSE: Duration = Duration::from_millis(60);

pub async fn run(
    target: &Target,
    seed: u64,
    clients: usize,
    length: Length,
) -> Result<Vec<String>> {
    let control = Session::open(target).await?;
    for (account, balance) in ACCOUNTS {
        control
            .batch(&format!(
                "INSERT INTO account VALUES ({account}, {balance})"
            ))
            .await?;
    }

    let ledger = Arc::new(Ledger::default());
    let counts = Arc::new(Counts::default());
    let pids: Vec<_> = (0..clients).map(|_| Arc::new(AtomicI32::new(0))).collect();
    let workers: Vec<_> = pids
        .iter()
        .enumerate()
        .map(|(number, pid)| {
            let worker = Worker {
                target: target.clone(),
                session: None,
                pid: pid.clone(),
                ledger: ledger.clone(),
                counts: counts.clone(),
            };
            tokio::spawn(worker.run(seed.wrapping_add(number as u64), length))
        })
        .collect();

    let is_over = Arc::new(AtomicBool::new(false));
    let reaper = tokio::spawn(reap(target.clone(), seed, pids, is_over.clone()));
    for worker in workers {
        worker.await??;
    }
    is_over.store(true, Ordering::Relaxed);
    let ended = reaper.await??;

    counts.print();
    println!("  {ended:>7} backends ended by the reaper");
    wait_for_the_abandoned(&control).await?;
    let ledger =
        Arc::try_unwrap(ledger).map_err(|_| anyhow::anyhow!("a worker still holds the ledger"))?;
    let (evidence, mut violations) = ledger.take();
    violations.extend(oracle::check(&control, &ACCOUNTS, &evidence).await?);
    Ok(violations)
}

async fn reap(
    target: Target,
    seed: u64,
    pids: Vec<Arc<AtomicI32>>,
    is_over: Arc<AtomicBool>,
) -> Result<u64> {
    let session = Session::open(&target).await?;
    let mut rng = StdRng::seed_from_u64(!seed);
    let mut ended = 0;
    while !is_over.load(Ordering::Relaxed) {
        tokio::time::sleep(REAPER_PAUSE).await;
        let pid = pids[rng.random_range(0..pids.len())].load(Ordering::Relaxed);
        if pid != 0 {
            session
                .batch(&format!("SELECT pg_terminate_backend({pid})"))
                .await?;
            ended += 1;
        }
    }
    Ok(ended)
}

/// A backend that waits for a lock notices only afterwards that its client is gone.
async fn wait_for_the_abandoned(control: &Session) -> Result<()> {
    let others = "SELECT count(*) FROM pg_stat_activity
                   WHERE application_name = 'stress' AND pid <> pg_backend_pid()
                     AND (xact_start IS NOT NULL OR state <> 'idle')";
    while control.number(others).await? != 0 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}
