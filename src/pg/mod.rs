//! Every unsafe thing outside the stores, each small.

pub mod call;
pub mod catalog;
pub mod commands;
pub mod effects;
pub mod errors;
pub mod installation;
pub mod jsonb;
pub mod probe;
pub mod raw;
pub mod roles;
pub mod subtransaction;
pub mod transaction;
pub mod values;
pub mod versions;
pub mod waiting;
