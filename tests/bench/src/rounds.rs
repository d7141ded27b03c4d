//! Contenders side by side: short runs that alternate, so that whatever else the machine does meets
//! all of them alike, and ratios that are taken within a round.

use anyhow::Result;

use crate::load::{Contender, Length, Load};
use crate::report::{Rate, Report};
use crate::server::Server;

/// One sample a round for each contender.
pub struct Rounds(Vec<(Contender, Vec<f64>)>);

/// Runs each contender once a round, in an order that turns round with every round.
pub fn alternate(
    contenders: &[Contender],
    rounds: usize,
    mut run: impl FnMut(Contender, usize) -> Result<f64>,
) -> Result<Rounds> {
    let mut samples: Vec<_> = contenders.iter().map(|c| (*c, Vec::new())).collect();
    for round in 0..rounds {
        for place in 0..samples.len() {
            let at = match round % 2 {
                0 => place,
                _ => samples.len() - 1 - place,
            };
            let sample = run(samples[at].0, round)?;
            samples[at].1.push(sample);
        }
    }
    Ok(Rounds(samples))
}

/// Calls a second of each contender under the same load, after a run of each that does not count:
/// pages are then cached, and their first images since the checkpoint logged.
pub fn rates(
    server: &Server,
    load: Load<'_>,
    contenders: &[Contender],
    rounds: usize,
) -> Result<Rounds> {
    let warming = Load {
        length: Length::Seconds(1),
        ..load
    };
    for contender in contenders {
        warming.run(server, *contender)?;
    }
    alternate(contenders, rounds, |contender, _| {
        Ok(load.run(server, contender)?.rate)
    })
}

impl Rounds {
    pub fn of(&self, contender: Contender) -> &[f64] {
        self.0
            .iter()
            .find(|(other, _)| other.name == contender.name)
            .map_or(&[], |(_, samples)| samples)
    }

    /// The first against the second, round by round.
    pub fn ratios(&self, first: Contender, second: Contender) -> Vec<f64> {
        self.of(first)
            .iter()
            .zip(self.of(second))
            .map(|(a, b)| a / b)
            .collect()
    }

    /// Adds every contender's own samples to the report, under a heading.
    pub fn tell(&self, report: &mut Report, group: &'static str, unit: &'static str) {
        for (contender, samples) in &self.0 {
            report.rates.push(Rate {
                group,
                name: contender.name.to_owned(),
                unit,
                samples: samples.clone(),
            });
        }
    }
}
