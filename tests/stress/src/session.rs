//! A connection that can be opened, used, and dropped as abruptly as a killed client drops it.

use std::time::{Duration, Instant};

use anyhow::{bail, Result};
use tokio::task::JoinHandle;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Config, Error, NoTls, Statement};

use crate::call::{Call, Identity, Reply};

#[derive(Clone)]
pub struct Target(Config);

impl Target {
    pub fn new(host: &str, port: u16, user: &str, dbname: &str) -> Self {
        let mut config = Config::new();
        config
            .host(host)
            .port(port)
            .user(user)
            .dbname(dbname)
            .application_name("stress");
        // Deadlocks are part of the workload; waiting a second for each is not.
        config.options("-c deadlock_timeout=20ms");
        Self(config)
    }

    /// Makes sure of the extension, which every session's statements need.
    pub async fn install(&self) -> Result<()> {
        let (client, connection) = self.0.connect(NoTls).await?;
        let driver = tokio::spawn(connection);
        client
            .batch_execute(
                "SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS idempotency",
            )
            .await?;
        drop(client);
        Ok(driver.await??)
    }
}

/// Why a statement did not answer.
#[derive(Debug)]
pub enum Failure {
    /// The connection is gone; what was under way is committed or not.
    Lost,
    /// 40001, 40P01 and the like: start the transaction again.
    Again(String),
    /// The key is taken by another request.
    Mismatch,
    /// The balance does not bear it.
    Insufficient,
    /// Nothing that may happen here.
    Unexpected(String),
}

pub struct Session {
    client: Client,
    driver: JoinHandle<()>,
    pub pid: i32,
    debit: Statement,
    request: Statement,
    deliver: Statement,
}

impl Session {
    pub async fn open(target: &Target) -> Result<Self> {
        let deadline = Instant::now() + Duration::from_secs(30);
        let (client, connection) = loop {
            match target.0.connect(NoTls).await {
                Ok(pair) => break pair,
                // Backends of abandoned connections may still hold their slots.
                Err(error)
                    if error.code() == Some(&SqlState::TOO_MANY_CONNECTIONS)
                        && Instant::now() < deadline =>
                {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                Err(error) => bail!("{}", describe(&error)),
            }
        };
        let driver = tokio::spawn(async move {
            // An ended connection shows at the client's next call.
            let _ = connection.await;
        });
        let pid = client
            .query_one("SELECT pg_backend_pid()", &[])
            .await?
            .get(0);
        Ok(Self {
            debit: client
                .prepare("SELECT debit_once($1, $2, $3)::text")
                .await?,
            request: client
                .prepare("SELECT replayed, response::text FROM debit_request($1, $2, $3)")
                .await?,
            deliver: client
                .prepare("SELECT consume_once($1, $2::text::uuid, $3, $4, $5::text::jsonb)")
                .await?,
            client,
            driver,
            pid,
        })
    }

    /// Closes the socket without a word, as the kernel does for a killed client.
    pub fn vanish(self) {
        self.driver.abort();
    }

    pub async fn call(&self, call: &Call) -> Result<Reply, Failure> {
        self.send(call).await.map_err(|error| classify(&error))
    }

    async fn send(&self, call: &Call) -> Result<Reply, Error> {
        match &call.identity {
            Identity::Debit { account, key } if call.tells_replay => {
                let row = self
                    .client
                    .query_one(&self.request, &[account, key, &call.amount])
                    .await?;
                Ok(Reply::Debited {
                    response: row.get(1),
                    replayed: row.get(0),
                })
            }
            Identity::Debit { account, key } => {
                let row = self
                    .client
                    .query_one(&self.debit, &[account, key, &call.amount])
                    .await?;
                // A NULL would be a violation; "" equals no stored reply and is found by the oracle.
                let response: Option<String> = row.get(0);
                Ok(Reply::Debited {
                    response: response.unwrap_or_default(),
                    replayed: None,
                })
            }
            Identity::Message { subscriber, id } => {
                let message = format!("{{\"amount\": {}}}", call.amount);
                let row = self
                    .client
                    .query_one(
                        &self.deliver,
                        &[subscriber, id, &call.account, &call.amount, &message],
                    )
                    .await?;
                let balance: Option<i64> = row.get(0);
                Ok(if balance.is_some() {
                    Reply::Accepted
                } else {
                    Reply::Redelivered
                })
            }
        }
    }

    pub async fn batch(&self, sql: &str) -> Result<(), Failure> {
        self.client
            .batch_execute(sql)
            .await
            .map_err(|error| classify(&error))
    }

    pub async fn number(&self, sql: &str) -> Result<i64, Failure> {
        let row = self
            .client
            .query_one(sql, &[])
            .await
            .map_err(|error| classify(&error))?;
        Ok(row.get(0))
    }

    pub async fn rows(&self, sql: &str) -> Result<Vec<tokio_postgres::Row>> {
        Ok(self.client.query(sql, &[]).await?)
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Lost => f.write_str("connection lost"),
            Self::Again(state) => write!(f, "{state}"),
            Self::Mismatch => f.write_str("22023 idempotency_request_mismatch"),
            Self::Insufficient => f.write_str("P0001 idempotency_insufficient_balance"),
            Self::Unexpected(text) => f.write_str(text),
        }
    }
}
impl std::error::Error for Failure {}

/// By SQLSTATE and reason, never by text.
fn classify(error: &Error) -> Failure {
    let Some(db) = error.as_db_error() else {
        return if error.is_closed() || std::error::Error::source(error).is_some() {
            Failure::Lost
        } else {
            Failure::Unexpected(error.to_string())
        };
    };
    match (db.code().code(), db.constraint()) {
        ("40001" | "40P01", _) => Failure::Again(db.code().code().to_owned()),
        // PostgreSQL's own, seen on 18.6 and with plain PL/pgSQL too: an update of a row whose updater
        // is just being rolled back may meet it in clog and in the list of running ones at once.
        ("XX000", _)
            if db
                .message()
                .starts_with("new multixact has more than one updating member") =>
        {
            Failure::Again("XX000 multixact of an update that is just being rolled back".to_owned())
        }
        ("57P01", _) => Failure::Lost,
        ("P0001", Some("idempotency_insufficient_balance")) => Failure::Insufficient,
        ("22023", Some("idempotency_request_mismatch")) => Failure::Mismatch,
        _ => Failure::Unexpected(describe(error)),
    }
}

fn describe(error: &Error) -> String {
    match error.as_db_error() {
        Some(db) => format!(
            "{} {} (constraint {})",
            db.code().code(),
            db.message(),
            db.constraint().unwrap_or("none")
        ),
        None => error.to_string(),
    }
}
