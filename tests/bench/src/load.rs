//! One run of the server's own pgbench: cheap, so that the clients cost the measure little.

use std::path::Path;
use std::process::Command;

use anyhow::{bail, Context, Result};

use crate::server::{Server, CALLER, SPI_CALLER};

/// A script of `scripts/`, and who runs it.
#[derive(Clone, Copy)]
pub struct Contender {
    pub name: &'static str,
    pub script: &'static str,
    pub user: &'static str,
}

const fn contender(name: &'static str, script: &'static str) -> Contender {
    Contender {
        name,
        script,
        user: CALLER,
    }
}

pub const BARE: Contender = contender("bare UPDATE", "bare_update");
pub const DEBIT: Contender = contender("debit_once", "debit_once");
pub const DEBIT_SPI: Contender = Contender {
    user: SPI_CALLER,
    ..contender("debit_once, table_access = spi", "debit_once")
};
pub const BY_HAND: Contender = contender("PL/pgSQL by hand", "by_hand");
pub const BY_APP: Contender = contender("application, 5 round trips", "by_app");
pub const EFFECT: Contender = contender("the effect of run_once alone", "effect");
pub const RUN_ONCE: Contender = contender("run_once", "run_once");
pub const RUN_SQL_ONCE: Contender = contender("run_sql_once", "run_sql_once");
pub const STORED_REPLY: Contender = contender("primary-key SELECT", "stored_reply");
pub const REPLAY: Contender = contender("replay", "replay");
pub const REPLAY_SPI: Contender = Contender {
    user: SPI_CALLER,
    ..contender("replay, table_access = spi", "replay")
};
pub const REPLAY_BY_HAND: Contender = contender("replay, PL/pgSQL by hand", "replay_by_hand");

#[derive(Clone, Copy)]
pub enum Length {
    Seconds(u64),
    /// Of all clients together.
    Transactions(u64),
}

#[derive(Clone, Copy)]
pub struct Load<'a> {
    pub database: &'a str,
    pub clients: u64,
    pub length: Length,
    /// The accounts 1 to this are drawn from.
    pub accounts: u64,
    /// Whether a commit waits for the disk.
    pub synchronous: bool,
    /// Equal seeds draw equal accounts and keys.
    pub seed: Option<u64>,
}

pub struct Done {
    pub rate: f64,
    pub transactions: u64,
}

impl Load<'_> {
    pub fn run(&self, server: &Server, contender: Contender) -> Result<Done> {
        let script = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("scripts")
            .join(contender.script)
            .with_extension("sql");
        let operation = match contender.script {
            "run_once" | "run_sql_once" => "take:v1",
            _ => "debit:v1",
        };
        // More threads than processors would only get in each other's way.
        let processors = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
        let mut command = Command::new(&server.pgbench);
        command
            .args(["--no-vacuum", "--protocol=prepared"])
            .arg(format!("--file={}", script.display()))
            .arg(format!("--client={}", self.clients))
            .arg(format!("--jobs={}", processors.min(self.clients)))
            .arg(format!("--define=accounts={}", self.accounts))
            .arg("--define=amount=1")
            .arg(format!("--define=operation={operation}"))
            .arg("--define=seeded=replay")
            .arg(format!("--host={}", server.host))
            .arg(format!("--port={}", server.port))
            .arg(format!("--username={}", contender.user))
            .env(
                "PGOPTIONS",
                format!(
                    "-c synchronous_commit={}",
                    if self.synchronous { "on" } else { "off" }
                ),
            );
        match self.length {
            Length::Seconds(seconds) => command.arg(format!("--time={seconds}")),
            Length::Transactions(all) => command.arg(format!(
                "--transactions={}",
                all.div_ceil(self.clients).max(1)
            )),
        };
        if let Some(seed) = self.seed {
            command.arg(format!("--random-seed={seed}"));
        }
        let output = command
            .arg(self.database)
            .output()
            .with_context(|| format!("cannot run {}", server.pgbench.display()))?;
        let told = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            bail!("pgbench, {}: {}", contender.name, errors.trim());
        }
        Ok(Done {
            rate: figure(&told, "tps = ")?,
            transactions: figure(&told, "number of transactions actually processed: ")? as u64,
        })
    }
}

/// The number after a label of pgbench's report.
fn figure(report: &str, label: &str) -> Result<f64> {
    let number = report
        .split_once(label)
        .and_then(|(_, rest)| rest.split([' ', '/', '\n']).next())
        .with_context(|| format!("pgbench did not tell '{label}'"))?;
    Ok(number.parse()?)
}
