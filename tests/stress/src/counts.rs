//! How often each outcome was seen, printed at the end of a mode.

use std::collections::BTreeMap;
use std::sync::Mutex;

#[derive(Default)]
pub struct Counts(Mutex<BTreeMap<String, u64>>);

impl Counts {
    pub fn add(&self, what: &str) {
        let mut counts = self
            .0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        *counts.entry(what.to_owned()).or_default() += 1;
    }

    pub fn print(&self) {
        let counts = self
            .0
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner());
        for (what, count) in counts.iter() {
            println!("  {count:>7} {what}");
        }
    }
}
