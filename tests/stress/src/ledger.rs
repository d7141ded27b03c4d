//! What the clients know for certain, against which the tables are held at the end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use crate::call::{Call, Identity, Reply};

/// What is known of one key or message.
#[derive(Default, Clone)]
pub struct Evidence {
    /// Amounts of calls that were answered; more than one would be a violation.
    pub amounts: BTreeSet<i64>,
    /// Replies; more than one would be a violation.
    pub responses: BTreeSet<String>,
    /// Committed calls that said they had the effect; more than one would be a violation.
    pub effects: u32,
    /// Amounts refused because a record of another amount was there.
    pub refused: BTreeSet<i64>,
}

#[derive(Default)]
pub struct Ledger {
    evidence: Mutex<BTreeMap<Identity, Evidence>>,
    violations: Mutex<Vec<String>>,
}

impl Ledger {
    /// The call was answered so, and that stands: its transaction committed, or the answer came from
    /// a record that another transaction had committed.
    pub fn answered(&self, call: &Call, reply: &Reply) {
        self.note(call, |evidence| {
            evidence.amounts.insert(call.amount);
            if let Reply::Debited { response, .. } = reply {
                evidence.responses.insert(response.clone());
            }
            if reply.is_effect() {
                evidence.effects += 1;
            }
        });
    }

    /// The call was refused because another transaction had committed another request.
    pub fn refused(&self, call: &Call) {
        self.note(call, |evidence| {
            evidence.refused.insert(call.amount);
        });
    }

    pub fn violation(&self, text: String) {
        self.violations
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .push(text);
    }

    pub fn take(self) -> (BTreeMap<Identity, Evidence>, Vec<String>) {
        (
            self.evidence
                .into_inner()
                .unwrap_or_else(|poisoned| poisoned.into_inner()),
            self.violations
                .into_inner()
                .unwrap_or_else(|poisoned| poisoned.into_inner()),
        )
    }

    fn note(&self, call: &Call, change: impl FnOnce(&mut Evidence)) {
        let mut evidence = self
            .evidence
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        change(evidence.entry(call.identity.clone()).or_default());
    }
}
