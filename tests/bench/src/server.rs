//! The server that is measured: sessions on it, and what it says about itself.

use std::path::PathBuf;

use anyhow::{Context, Result};
use postgres::{Client, Config, NoTls};

/// Who sets up and looks; superuser.
pub const OWNER: &str = "postgres";
/// Who makes the calls that are measured: an ordinary role with a grant.
pub const CALLER: &str = "bench";
/// The same, with every table reached through SPI.
pub const SPI_CALLER: &str = "bench_spi";

pub struct Server {
    pub host: String,
    pub port: u16,
    pub pgbench: PathBuf,
}

impl Server {
    pub fn session(&self, database: &str, user: &str) -> Result<Client> {
        Config::new()
            .host(&self.host)
            .port(self.port)
            .dbname(database)
            .user(user)
            .application_name("bench")
            .connect(NoTls)
            .with_context(|| format!("cannot connect to {database} as {user}"))
    }

    /// A look at the server that must not disturb what is looked at: one short query.
    pub fn number(&self, database: &str, query: &str) -> Result<i64> {
        number(&mut self.session(database, OWNER)?, query)
    }

    pub fn run(&self, database: &str, commands: &str) -> Result<()> {
        self.session(database, OWNER)?
            .batch_execute(commands)
            .with_context(|| first_line(commands))
    }

    /// Dead rows gone, statistics fresh, everything written: where each measure begins.
    pub fn settle(&self, database: &str) -> Result<()> {
        self.run(database, "VACUUM (ANALYZE)")?;
        self.run(database, "CHECKPOINT")
    }

    pub fn version(&self) -> Result<String> {
        let row = self
            .session("postgres", OWNER)?
            .query_one("SELECT current_setting('server_version')", &[])?;
        Ok(row.get(0))
    }
}

/// Where the next record of the write-ahead log goes, in bytes.
pub const WAL_POSITION: &str = "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint";
/// The next transaction id, as far as the finished ones tell.
pub const NEXT_TRANSACTION: &str = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text::bigint";
/// The next multixact id, as of the latest checkpoint.
pub const NEXT_MULTIXACT: &str =
    "SELECT next_multixact_id::text::bigint FROM pg_control_checkpoint()";

pub fn number(session: &mut Client, query: &str) -> Result<i64> {
    let row = session
        .query_one(query, &[])
        .with_context(|| first_line(query))?;
    Ok(row.get(0))
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}
