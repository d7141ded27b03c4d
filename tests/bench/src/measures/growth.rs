//! Whether a debit gets slower as records pile up: two databases that differ in nothing else.

use anyhow::Result;

use crate::database;
use crate::load::{Length, Load, DEBIT};
use crate::report::{number, Reach, Report};
use crate::server::Server;
use crate::Bench;

const FEW: u64 = 100_000;
const FEW_DATABASE: &str = "few";
const MANY_DATABASE: &str = "many";

pub fn run(bench: &Bench, report: &mut Report) -> Result<()> {
    let server = &bench.server;
    let many = if bench.long { 10_000_000 } else { 1_000_000 };
    for (database, records) in [(FEW_DATABASE, FEW), (MANY_DATABASE, many)] {
        database::create(server, database, bench.accounts)?;
        fill(server, database, records, bench.accounts)?;
        server.settle(database)?;
    }
    let load = |database, length| Load {
        database,
        clients: bench.clients,
        length,
        accounts: bench.accounts,
        synchronous: false,
        seed: None,
    };
    // Over a checkpoint's interval nearly every page has been logged whole long before a debit comes
    // to it. That state is measured: enough debits to come to every leaf of the index go before, and
    // no checkpoint follows.
    load(MANY_DATABASE, Length::Transactions(many / 20)).run(server, DEBIT)?;
    load(FEW_DATABASE, Length::Transactions(many / 20)).run(server, DEBIT)?;

    let mut rates = [Vec::new(), Vec::new()];
    for round in 0..bench.rounds {
        // What the rounds add is little to many, and would be much to few.
        fill(server, FEW_DATABASE, FEW, bench.accounts)?;
        let measured = load(FEW_DATABASE, Length::Seconds(bench.seconds));
        let mut order = [(0, FEW_DATABASE), (1, MANY_DATABASE)];
        if round % 2 == 1 {
            order.reverse();
        }
        for (place, database) in order {
            let rate = Load {
                database,
                ..measured
            }
            .run(server, DEBIT)?
            .rate;
            rates[place].push(rate);
        }
    }
    let [few, more] = rates;
    let ratios = more
        .iter()
        .zip(&few)
        .map(|(many, few)| many / few)
        .collect();
    report.figure(
        format!(
            "rate at {} records / at {}",
            number(many as f64),
            number(FEW as f64)
        ),
        Reach::AtLeast(0.9),
        ratios,
    );
    let group = "new debits as records grow, async commit";
    report.rate(group, format!("{} records", number(FEW as f64)), "/s", few);
    report.rate(
        group,
        format!("{} records", number(many as f64)),
        "/s",
        more,
    );
    database::drop(server, FEW_DATABASE)?;
    database::drop(server, MANY_DATABASE)
}

/// Leaves exactly that many records, as debits in random order would have.
fn fill(server: &Server, database: &str, records: u64, accounts: u64) -> Result<()> {
    server.run(
        database,
        &format!(
            "TRUNCATE request_result;
             -- The foreign key holds by construction.
             SET session_replication_role = replica;
             INSERT INTO request_result (account_id, operation, request_key, request, response)
             SELECT 1 + trunc(random() * {accounts})::bigint, 'debit:v1',
                    (1e18 + trunc(random() * 8e18))::numeric(19, 0)::text,
                    '{{\"amount\": 1}}', '{{\"balance\": 999999999999}}'
               FROM generate_series(1, {records})"
        ),
    )?;
    server.run(database, "VACUUM (ANALYZE) request_result")
}
