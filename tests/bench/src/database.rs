//! The databases that are measured in.

use anyhow::{bail, Context, Result};
use postgres::Client;

use crate::server::{Server, CALLER, OWNER, SPI_CALLER};

/// What an account has to begin with: more than will ever be taken.
const BALANCE: i64 = 1_000_000_000_000;

/// Every table of accounts; each contender has its own.
const ACCOUNTS: [&str; 5] = ["public", "bare", "effect", "by_hand", "by_app"];

/// Roles belong to the server and not to a database: once a run.
pub fn roles(server: &Server) -> Result<()> {
    server.run("postgres", include_str!("../sql/roles.sql"))
}

/// Makes a database with that many accounts for each contender and no records.
pub fn create(server: &Server, name: &str, accounts: u64) -> Result<()> {
    server.run(
        "postgres",
        &format!("CREATE DATABASE {name} TEMPLATE template0"),
    )?;
    server.run(name, include_str!("../sql/database.sql"))?;
    for schema in ACCOUNTS {
        server.run(
            name,
            &format!(
                "INSERT INTO {schema}.account SELECT n, {BALANCE} FROM generate_series(1, {accounts}) AS n"
            ),
        )?;
    }
    Ok(())
}

pub fn drop(server: &Server, name: &str) -> Result<()> {
    server.run("postgres", &format!("DROP DATABASE {name} WITH (FORCE)"))
}

/// Gives every account one finished record under the key 'replay', with every contender: the
/// retries' first calls, and something for the planner to know the tables by.
pub fn seed(server: &Server, name: &str, accounts: u64) -> Result<()> {
    server.run(
        name,
        &format!(
            "SELECT count(debit_once(n, 'replay', 1)) FROM generate_series(1, {accounts}) AS n;
             INSERT INTO by_hand.request_result SELECT * FROM request_result;
             INSERT INTO by_app.request_result SELECT * FROM request_result;
             INSERT INTO idempotency_record
                    (scope, operation, request_key, state, request, response, http_status, completed_at)
             SELECT account_id::text, 'take:v1', request_key, 'completed', request, response, 200, created_at
               FROM request_result"
        ),
    )?;
    server.settle(name)
}

/// The measures would mean something else if a call did not go the way it is said to go.
pub fn check_ways(server: &Server, name: &str) -> Result<()> {
    let calls = [
        "SELECT debit_once(1, $1, 1)",
        "SELECT response FROM run_once('1', 'take:v1', $1, '{\"account_id\": 1, \"amount\": 1}', 'effect.take(jsonb)')",
    ];
    for (user, expected) in [(CALLER, "direct"), (SPI_CALLER, "spi")] {
        let mut session = server.session(name, user)?;
        for call in calls {
            session.query(call, &[&user]).context(call)?;
            let way: Option<String> = session
                .query_one("SELECT idempotency_latest_access()", &[])?
                .get(0);
            if way.as_deref() != Some(expected) {
                bail!(
                    "'{call}' went {way:?} and not {expected}: {}",
                    reasons(&mut server.session(name, OWNER)?)?
                );
            }
        }
    }
    Ok(())
}

fn reasons(session: &mut Client) -> Result<String> {
    let rows = session.query(
        "SELECT format('%s: %s (%s)', table_name, access, reason) FROM idempotency_table_access()",
        &[],
    )?;
    let lines: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
    Ok(lines.join("; "))
}
