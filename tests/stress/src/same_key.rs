//! 64 sessions send one key at once: one effect, 64 equal replies, nothing else reaches anyone.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::Result;
use tokio::sync::Barrier;

use crate::call::{Call, Reply};
use crate::session::{Failure, Session, Target};

const SESSIONS: usize = 64;
const ACCOUNT: i64 = 1001;

pub async fn run(target: &Target, rounds: usize) -> Result<Vec<String>> {
    let control = Session::open(target).await?;
    control
        .batch(&format!("INSERT INTO account VALUES ({ACCOUNT}, 1000000)"))
        .await?;
    let barrier = Arc::new(Barrier::new(SESSIONS));
    let mut sessions = Vec::new();
    for _ in 0..SESSIONS {
        let session = Session::open(target).await?;
        let barrier = barrier.clone();
        sessions.push(tokio::spawn(async move {
            let mut replies = Vec::new();
            for round in 0..rounds {
                barrier.wait().await;
                replies.push(session.call(&call(round)).await);
            }
            replies
        }));
    }
    let mut by_round: Vec<Vec<Result<Reply, Failure>>> = (0..rounds).map(|_| Vec::new()).collect();
    for session in sessions {
        for (round, reply) in session.await?.into_iter().enumerate() {
            by_round[round].push(reply);
        }
    }
    let mut violations: Vec<String> = by_round
        .iter()
        .enumerate()
        .filter_map(|(round, replies)| {
            verdict(replies).map(|text| format!("round {round}: {text}"))
        })
        .collect();

    let expected = 1_000_000
        + (0..rounds)
            .map(|round| if is_debit(round) { -1 } else { 2 })
            .sum::<i64>();
    let balance = control
        .number(&format!(
            "SELECT balance FROM account WHERE account_id = {ACCOUNT}"
        ))
        .await?;
    if balance != expected {
        violations.push(format!(
            "{rounds} effects make {expected}, the account holds {balance}"
        ));
    }
    println!(
        "  {:>7} calls in {rounds} rounds, {rounds} effects",
        rounds * SESSIONS
    );
    Ok(violations)
}

fn is_debit(round: usize) -> bool {
    round % 2 == 0
}

fn call(round: usize) -> Call {
    if is_debit(round) {
        Call::debit(ACCOUNT, format!("round-{round}"), 1)
    } else {
        Call::message("same-key", round as u32, ACCOUNT, 2)
    }
}

fn verdict(replies: &[Result<Reply, Failure>]) -> Option<String> {
    let mut effects = 0;
    let mut responses = BTreeSet::new();
    for reply in replies {
        match reply {
            Ok(reply) => {
                effects += usize::from(reply.is_effect());
                if let Reply::Debited { response, .. } = reply {
                    responses.insert(response);
                }
            }
            Err(failure) => return Some(format!("a session was told {failure}")),
        }
    }
    if effects != 1 {
        return Some(format!("{effects} sessions had the effect"));
    }
    (responses.len() > 1).then(|| format!("different replies: {responses:?}"))
}
