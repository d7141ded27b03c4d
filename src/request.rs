//! Whether two requests are the same, and where they differ.
//!
//! Requests are compared as `jsonb` values: key order and white space do not matter, `1` equals
//! `1.0`, and 2^53 is not 2^53+1.

pub mod comparison;
pub mod differences;
pub mod digest;
pub mod tree;

pub use differences::{describe, differences, Difference, MAX_DIFFERENCES};
