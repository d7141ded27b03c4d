//! What an operation promises: defaults in code, and what a DBA has set instead.

use crate::request::comparison::{Comparison, Keep, Path};

/// The largest request and response, in bytes of `jsonb`, where nothing else is set.
pub const MAX_BODY_BYTES: usize = 16 * 1024 * 1024;

/// A contract in force.
#[derive(Debug)]
pub struct Contract {
    /// Whether a DBA has defined the operation.
    pub defined: bool,
    pub key_required: bool,
    pub max_key_bytes: usize,
    pub max_request_bytes: usize,
    pub max_response_bytes: usize,
    pub save_refusals: bool,
    pub refusal_sqlstates: Vec<String>,
    pub comparison: Comparison,
    pub keep_request: Keep,
    pub redacted_request: Vec<Path>,
    pub keep_response: Keep,
    pub redacted_response: Vec<Path>,
}

impl Default for Contract {
    fn default() -> Self {
        Contract {
            defined: false,
            key_required: true,
            max_key_bytes: crate::identity::MAX_KEY_BYTES,
            max_request_bytes: MAX_BODY_BYTES,
            max_response_bytes: MAX_BODY_BYTES,
            save_refusals: false,
            refusal_sqlstates: vec!["P0001".to_owned()],
            comparison: Comparison::default(),
            keep_request: Keep::Whole,
            redacted_request: Vec::new(),
            keep_response: Keep::Whole,
            redacted_response: Vec::new(),
        }
    }
}

impl Contract {
    /// Whether an error of this SQLSTATE is a business refusal that is to be stored.
    pub fn saves(&self, sqlstate: &str) -> bool {
        self.save_refusals
            && self
                .refusal_sqlstates
                .iter()
                .any(|listed| listed == sqlstate)
    }
}
