//! One client: draws plans, carries them out, retries as a client should, and tells the ledger only
//! what it knows for certain.

use std::collections::HashSet;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use rand::rngs::StdRng;
use rand::SeedableRng;

use crate::call::{Call, Identity, Reply};
use crate::counts::Counts;
use crate::ledger::Ledger;
use crate::mixed::Length;
use crate::plan::{Ending, Plan, Savepoint, Step};
use crate::session::{Failure, Session, Target};

/// Enough for a fair server; a plan that needs more is given up, and counted.
const ATTEMPTS: u32 = 100;

pub struct Worker {
    pub target: Target,
    pub session: Option<Session>,
    /// Where the reaper finds whom to end.
    pub pid: Arc<AtomicI32>,
    pub ledger: Arc<Ledger>,
    pub counts: Arc<Counts>,
}

/// How an attempt at a plan ended.
enum End {
    Committed,
    /// On purpose, or because a call was refused: nothing stands.
    Undone,
    /// Start again.
    Again,
    /// Committed or not: the connection went first.
    Unknown,
}

/// An answer within a transaction that is still open.
struct Seen {
    call: Call,
    reply: Reply,
    /// The transaction had used the same key before, so the answer may be its own.
    is_own: bool,
    stands: bool,
}

impl Worker {
    pub async fn run(mut self, seed: u64, length: Length) -> Result<()> {
        let mut rng = StdRng::seed_from_u64(seed);
        let started = Instant::now();
        for transaction in 0..length.calls {
            if started.elapsed() > length.time {
                break;
            }
            let plan = Plan::random(&mut rng, transaction);
            if matches!(self.carry_out(&plan).await?, End::Unknown) {
                self.find_out(&plan).await?;
            }
        }
        Ok(())
    }

    /// After an unknown outcome a client sends the same requests again, and is told the truth.
    async fn find_out(&mut self, plan: &Plan) -> Result<()> {
        for step in &plan.steps {
            let single = Plan::single(step.call.clone());
            while matches!(self.carry_out(&single).await?, End::Unknown) {}
        }
        Ok(())
    }

    async fn carry_out(&mut self, plan: &Plan) -> Result<End> {
        for _ in 0..ATTEMPTS {
            let mut seen = Vec::new();
            let end = self.attempt(plan, &mut seen).await?;
            for one in &seen {
                let is_anothers = one.reply.is_replay() && !one.is_own;
                if is_anothers || (one.stands && matches!(end, End::Committed)) {
                    self.ledger.answered(&one.call, &one.reply);
                }
            }
            self.counts.add(match end {
                End::Committed => "transactions committed",
                End::Undone => "transactions rolled back",
                End::Again => "transactions started again",
                End::Unknown => "transactions of unknown outcome",
            });
            if !matches!(end, End::Again) {
                return Ok(end);
            }
        }
        self.counts.add("transactions given up");
        Ok(End::Undone)
    }

    async fn attempt(&mut self, plan: &Plan, seen: &mut Vec<Seen>) -> Result<End> {
        let session = match self.session.take() {
            Some(session) => session,
            None => match Session::open(&self.target).await {
                Ok(session) => session,
                // The reaper may meet a connection that is only being opened.
                Err(_) => return Ok(End::Again),
            },
        };
        self.pid.store(session.pid, Ordering::Relaxed);
        let end = match self.transact(&session, plan, seen).await {
            Ok(Some(end)) => end,
            Ok(None) => {
                self.pid.store(0, Ordering::Relaxed);
                session.vanish();
                self.counts.add("connections dropped by the client");
                return Ok(unless_never_committed(plan));
            }
            Err(Failure::Lost) => {
                self.pid.store(0, Ordering::Relaxed);
                self.counts.add("connections lost");
                return Ok(End::Unknown);
            }
            Err(failure) => {
                self.judge(plan, &failure);
                let again = matches!(failure, Failure::Again(_));
                if !plan.is_single && session.batch("ROLLBACK").await.is_err() {
                    return Ok(if again { End::Again } else { End::Undone });
                }
                if again {
                    End::Again
                } else {
                    End::Undone
                }
            }
        };
        self.session = Some(session);
        Ok(end)
    }

    /// `None`: the client is to vanish now.
    async fn transact(
        &self,
        session: &Session,
        plan: &Plan,
        seen: &mut Vec<Seen>,
    ) -> Result<Option<End>, Failure> {
        if !plan.is_single {
            session
                .batch(&format!("BEGIN ISOLATION LEVEL {}", plan.level))
                .await?;
        }
        let mut touched = HashSet::new();
        for (number, step) in plan.steps.iter().enumerate() {
            let is_last = number + 1 == plan.steps.len();
            if let (Ending::VanishInCall(after), true) = (plan.ending, is_last) {
                let _ =
                    tokio::time::timeout(Duration::from_micros(after), session.call(&step.call))
                        .await;
                return Ok(None);
            }
            self.step(session, plan, step, &mut touched, seen).await?;
        }
        match plan.ending {
            _ if plan.is_single => Ok(Some(End::Committed)),
            Ending::Rollback => {
                session.batch("ROLLBACK").await?;
                Ok(Some(End::Undone))
            }
            Ending::VanishInCommit(after) => {
                let _ = tokio::time::timeout(Duration::from_micros(after), session.batch("COMMIT"))
                    .await;
                Ok(None)
            }
            Ending::Commit | Ending::VanishInCall(_) => {
                session.batch("COMMIT").await?;
                Ok(Some(End::Committed))
            }
        }
    }

    async fn step(
        &self,
        session: &Session,
        plan: &Plan,
        step: &Step,
        touched: &mut HashSet<Identity>,
        seen: &mut Vec<Seen>,
    ) -> Result<(), Failure> {
        let savepoint = if plan.is_single { None } else { step.savepoint };
        if savepoint.is_some() {
            session.batch("SAVEPOINT around").await?;
        }
        let is_own = !touched.insert(step.call.identity.clone());
        let answer = session.call(&step.call).await;
        match answer {
            Ok(reply) => {
                self.counts.add(label(&reply));
                let stands = savepoint != Some(Savepoint::RolledBack);
                seen.push(Seen {
                    call: step.call.clone(),
                    reply,
                    is_own,
                    stands,
                });
            }
            Err(failure @ (Failure::Mismatch | Failure::Insufficient)) => {
                if matches!(failure, Failure::Mismatch) && !is_own {
                    self.ledger.refused(&step.call);
                }
                if savepoint.is_none() {
                    return Err(failure);
                }
                self.judge(plan, &failure);
                return session.batch("ROLLBACK TO around; RELEASE around").await;
            }
            Err(failure) => return Err(failure),
        }
        match savepoint {
            Some(Savepoint::Released) => session.batch("RELEASE around").await,
            Some(Savepoint::RolledBack) => session.batch("ROLLBACK TO around").await,
            None => Ok(()),
        }
    }

    /// Counts a failure, and calls it a violation where it may not happen.
    fn judge(&self, plan: &Plan, failure: &Failure) {
        match failure {
            Failure::Lost => {}
            Failure::Again(state) => {
                self.counts.add(&format!("{state} at {}", plan.level));
                if state == "40001" && plan.level == "READ COMMITTED" {
                    self.ledger.violation(format!(
                        "40001 at READ COMMITTED, with nothing purged: {plan:?}"
                    ));
                }
            }
            Failure::Mismatch => self.counts.add("22023 refused: another request"),
            Failure::Insufficient => {
                self.counts.add("P0001 refused: insufficient balance");
                if plan
                    .steps
                    .iter()
                    .all(|step| matches!(step.call.identity, Identity::Message { .. }))
                {
                    self.ledger
                        .violation(format!("a delivery was refused for its balance: {plan:?}"));
                }
            }
            Failure::Unexpected(text) => self.ledger.violation(format!("{text}: {plan:?}")),
        }
    }
}

/// A transaction whose commit was never sent is rolled back for certain.
fn unless_never_committed(plan: &Plan) -> End {
    if !plan.is_single && matches!(plan.ending, Ending::VanishInCall(_)) {
        End::Undone
    } else {
        End::Unknown
    }
}

fn label(reply: &Reply) -> &'static str {
    match reply {
        Reply::Debited {
            replayed: Some(false),
            ..
        } => "debits executed (debit_request)",
        Reply::Debited {
            replayed: Some(true),
            ..
        } => "debits replayed (debit_request)",
        Reply::Debited { replayed: None, .. } => "debits answered (debit_once)",
        Reply::Accepted => "messages accepted",
        Reply::Redelivered => "messages redelivered",
    }
}
