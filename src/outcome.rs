//! What a general function answers: one row of these columns, frozen from 0.1.0 on.

use crate::value::Value;

#[derive(Clone, Copy, Debug)]
pub struct Outcome<'a> {
    pub state: Value<'a>,
    /// Whether an earlier call performed the effect.
    pub replayed: bool,
    pub response: Value<'a>,
    pub http_status: Value<'a>,
    pub refusal: Refusal<'a>,
    pub created_at: Value<'a>,
    pub completed_at: Value<'a>,
}

/// The error that a stored refusal was, where it was one.
#[derive(Clone, Copy, Debug)]
pub struct Refusal<'a> {
    pub sqlstate: Value<'a>,
    pub message: Value<'a>,
    pub detail: Value<'a>,
    pub hint: Value<'a>,
}

impl Refusal<'_> {
    pub const NONE: Refusal<'static> = Refusal {
        sqlstate: Value::Null,
        message: Value::Null,
        detail: Value::Null,
        hint: Value::Null,
    };
}
