//! One line on what was measured where, without which no figure means anything.

use std::fs;

use anyhow::Result;

use crate::report::number;
use crate::Bench;

pub fn tell(bench: &Bench, commit: &str) -> Result<String> {
    let mut text = format!(
        "PostgreSQL {}, {}, {} clients, {} rounds of {} s each, {} accounts",
        bench.server.version()?,
        machine(),
        bench.clients,
        bench.rounds,
        bench.seconds,
        number(bench.accounts as f64),
    );
    if !commit.is_empty() {
        text.push_str(&format!(", at {commit}"));
    }
    text.push_str(
        ". Medians of the rounds; figures are ratios within a round unless they have a unit; the spread \
         is the lowest and the highest round.",
    );
    Ok(text)
}

fn machine() -> String {
    let processors = std::thread::available_parallelism().map_or(1, |n| n.get());
    let model = fs::read_to_string("/proc/cpuinfo")
        .ok()
        .and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("model name"))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        })
        .unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    format!("{processors} processors ({model})")
}
