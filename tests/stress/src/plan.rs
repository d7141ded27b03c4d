//! What one transaction does, drawn beforehand, so that a retry does the same.

use rand::rngs::StdRng;
use rand::Rng;

use crate::call::Call;

#[derive(Clone, Debug)]
pub struct Plan {
    /// No explicit transaction: the one call is its own.
    pub is_single: bool,
    pub level: &'static str,
    pub steps: Vec<Step>,
    pub ending: Ending,
}

#[derive(Clone, Debug)]
pub struct Step {
    pub call: Call,
    pub savepoint: Option<Savepoint>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Savepoint {
    Released,
    RolledBack,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Commit,
    Rollback,
    /// Drop the connection with the last call, or the commit, under way for so many microseconds.
    VanishInCall(u64),
    VanishInCommit(u64),
}

impl Plan {
    pub fn single(call: Call) -> Self {
        let steps = vec![Step {
            call,
            savepoint: None,
        }];
        Self {
            is_single: true,
            level: "READ COMMITTED",
            steps,
            ending: Ending::Commit,
        }
    }

    pub fn random(rng: &mut StdRng, transaction: usize) -> Self {
        if rng.random_bool(0.4) {
            let mut plan = Self::single(Call::random(rng, transaction));
            if rng.random_bool(0.03) {
                plan.ending = Ending::VanishInCall(rng.random_range(0..3000));
            }
            return plan;
        }
        let level = match rng.random_range(0..10) {
            0..6 => "READ COMMITTED",
            6..8 => "REPEATABLE READ",
            _ => "SERIALIZABLE",
        };
        let mut steps: Vec<Step> = (0..rng.random_range(1..=4))
            .map(|_| Step {
                call: Call::random(rng, transaction),
                savepoint: savepoint(rng),
            })
            .collect();
        // A retry within the transaction, of what may have been rolled back to a savepoint.
        if rng.random_bool(0.3) {
            let again = steps[rng.random_range(0..steps.len())].call.clone();
            steps.push(Step {
                call: again,
                savepoint: savepoint(rng),
            });
        }
        let ending = match rng.random_range(0..100) {
            0..78 => Ending::Commit,
            78..92 => Ending::Rollback,
            92..96 => Ending::VanishInCall(rng.random_range(0..3000)),
            _ => Ending::VanishInCommit(rng.random_range(0..600)),
        };
        Self {
            is_single: false,
            level,
            steps,
            ending,
        }
    }
}

fn savepoint(rng: &mut StdRng) -> Option<Savepoint> {
    match rng.random_range(0..10) {
        0..2 => Some(Savepoint::RolledBack),
        2..4 => Some(Savepoint::Released),
        _ => None,
    }
}
