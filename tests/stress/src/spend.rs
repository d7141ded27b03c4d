//! 50 sessions with keys of their own spend more than there is: never below zero, and the sums match.

use anyhow::Result;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::call::{Call, Reply};
use crate::session::{Failure, Session, Target};

const SESSIONS: usize = 50;
const DEBITS: usize = 20;
const ACCOUNT: i64 = 2001;
const BALANCE: i64 = 5000;

/// What one session did: spent in all, the refused calls, what may not happen.
type Spent = (i64, Vec<Call>, Vec<String>);

pub async fn run(target: &Target, seed: u64) -> Result<Vec<String>> {
    let control = Session::open(target).await?;
    control
        .batch(&format!(
            "INSERT INTO account VALUES ({ACCOUNT}, {BALANCE})"
        ))
        .await?;
    let mut sessions = Vec::new();
    for number in 0..SESSIONS {
        let session = Session::open(target).await?;
        sessions.push(tokio::spawn(spend(
            session,
            number,
            seed.wrapping_add(number as u64),
        )));
    }
    let (mut spent, mut refused, mut violations) = (0, Vec::new(), Vec::new());
    for session in sessions {
        let (amount, calls, found) = session.await?;
        spent += amount;
        refused.extend(calls);
        violations.extend(found);
    }

    let of_account = |sql: &str| format!("{sql} WHERE account_id = {ACCOUNT}");
    let balance = control
        .number(&of_account("SELECT balance FROM account"))
        .await?;
    let recorded = control
        .number(&of_account(
            "SELECT COALESCE(sum((request ->> 'amount')::bigint), 0)::bigint FROM request_result",
        ))
        .await?;
    if balance < 0 || balance != BALANCE - spent || spent != recorded {
        violations.push(format!(
            "{BALANCE} held, {spent} spent, {recorded} recorded, {balance} left"
        ));
    }
    if refused.is_empty() {
        violations.push("nobody was refused: the test tests nothing".to_owned());
    }
    // Nobody pays in, so whoever was refused then is refused now, and a key that was refused is free.
    for call in &refused {
        match control.call(call).await {
            Err(Failure::Insufficient) => {}
            other => violations.push(format!(
                "refused before, now {other:?}: {call:?}, {balance} left"
            )),
        }
    }
    println!(
        "  {spent:>7} of {BALANCE} spent by {SESSIONS} sessions, {} debits refused",
        refused.len()
    );
    Ok(violations)
}

async fn spend(session: Session, number: usize, seed: u64) -> Spent {
    let mut rng = StdRng::seed_from_u64(seed);
    let (mut spent, mut refused, mut violations) = (0, Vec::new(), Vec::new());
    for debit in 0..DEBITS {
        let call = Call::debit(
            ACCOUNT,
            format!("session-{number}-{debit}"),
            rng.random_range(1..=20),
        );
        match session.call(&call).await {
            Ok(Reply::Debited {
                replayed: Some(false),
                ..
            }) => spent += call.amount,
            Err(Failure::Insufficient) => refused.push(call),
            other => violations.push(format!("a first call was answered {other:?}: {call:?}")),
        }
    }
    (spent, refused, violations)
}
