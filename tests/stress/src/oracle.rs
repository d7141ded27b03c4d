//! Holds the tables against what the clients know, and the balances against the tables.

use std::collections::BTreeMap;

use anyhow::Result;

use crate::call::{Call, Identity, Reply};
use crate::ledger::Evidence;
use crate::session::Session;

struct Record {
    account: i64,
    amount: i64,
    /// None for a message.
    response: Option<String>,
}

pub async fn check(
    session: &Session,
    accounts: &[(i64, i64)],
    evidence: &BTreeMap<Identity, Evidence>,
) -> Result<Vec<String>> {
    let records = records(session).await?;
    let mut violations = balances(session, accounts, &records).await?;
    for (identity, known) in evidence {
        violations.extend(hold(identity, known, records.get(identity)));
    }
    violations.extend(replay_all(session, accounts, &records).await?);
    println!(
        "  {:>7} records, {} of them known to clients",
        records.len(),
        evidence.len()
    );
    Ok(violations)
}

/// Initial balance, minus distinct debits, plus distinct messages.
async fn balances(
    session: &Session,
    accounts: &[(i64, i64)],
    records: &BTreeMap<Identity, Record>,
) -> Result<Vec<String>> {
    let mut violations = Vec::new();
    for &(account, initial) in accounts {
        let moved: i64 = records
            .iter()
            .filter(|(_, record)| record.account == account)
            .map(|(identity, record)| match identity {
                Identity::Debit { .. } => -record.amount,
                Identity::Message { .. } => record.amount,
            })
            .sum();
        let balance = session
            .number(&format!(
                "SELECT balance FROM account WHERE account_id = {account}"
            ))
            .await?;
        if balance != initial + moved {
            violations.push(format!(
                "account {account} holds {balance}, its records make {}",
                initial + moved
            ));
        }
        if balance < 0 {
            violations.push(format!("account {account} is below zero: {balance}"));
        }
    }
    Ok(violations)
}

fn hold(identity: &Identity, known: &Evidence, record: Option<&Record>) -> Vec<String> {
    let Some(record) = record else {
        return vec![format!(
            "{identity:?} was answered or refused to a client and has no record"
        )];
    };
    let mut violations = Vec::new();
    if known.amounts.iter().any(|amount| *amount != record.amount) {
        violations.push(format!(
            "{identity:?} has {} and answered for {:?}",
            record.amount, known.amounts
        ));
    }
    if known.refused.contains(&record.amount) {
        violations.push(format!(
            "{identity:?} has {} and refused just that",
            record.amount
        ));
    }
    if known.effects > 1 {
        violations.push(format!(
            "{identity:?} had its effect {} times",
            known.effects
        ));
    }
    if let Some(response) = &record.response {
        if known.responses.iter().any(|reply| reply != response) {
            violations.push(format!(
                "{identity:?} stored {response} and answered {:?}",
                known.responses
            ));
        }
    }
    violations
}

/// Everything once more: each is answered as stored, and nothing moves.
async fn replay_all(
    session: &Session,
    accounts: &[(i64, i64)],
    records: &BTreeMap<Identity, Record>,
) -> Result<Vec<String>> {
    let mut violations = Vec::new();
    for (identity, record) in records {
        let call = Call {
            identity: identity.clone(),
            account: record.account,
            amount: record.amount,
            tells_replay: true,
        };
        match (session.call(&call).await, &record.response) {
            (
                Ok(Reply::Debited {
                    response,
                    replayed: Some(true),
                }),
                Some(stored),
            ) if response == *stored => {}
            (Ok(Reply::Redelivered), None) => {}
            (other, stored) => violations.push(format!(
                "{identity:?} stored {stored:?}, then answered {other:?}"
            )),
        }
    }
    violations.extend(balances(session, accounts, records).await?);
    Ok(violations)
}

async fn records(session: &Session) -> Result<BTreeMap<Identity, Record>> {
    let mut records = BTreeMap::new();
    let debits = "SELECT account_id, request_key, (request ->> 'amount')::bigint, response::text
                    FROM request_result WHERE operation = 'debit:v1' AND account_id < 1000";
    for row in session.rows(debits).await? {
        let account = row.get(0);
        let identity = Identity::Debit {
            account,
            key: row.get(1),
        };
        records.insert(
            identity,
            Record {
                account,
                amount: row.get(2),
                response: row.get(3),
            },
        );
    }
    let messages = "SELECT subscriber, message_id::text, account_id, amount
                      FROM processed_message WHERE account_id < 1000";
    for row in session.rows(messages).await? {
        let identity = Identity::Message {
            subscriber: row.get(0),
            id: row.get(1),
        };
        records.insert(
            identity,
            Record {
                account: row.get(2),
                amount: row.get(3),
                response: None,
            },
        );
    }
    Ok(records)
}
