//! Every outcome that is an error: its SQLSTATE, reason, message, detail and hint.
//!
//! The reason is the error's constraint-name field, and stands in DETAIL too, since some drivers
//! drop that field. No text here shows a stored request, a reply or another scope's key.

use crate::request::Difference;

pub type Result<T> = core::result::Result<T, Error>;

/// What a call ends with when it does not end with an answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Error {
    /// A missing or empty key, or a missing or non-positive amount.
    KeyAndAmount,
    /// Another argument that cannot be used: what is wrong with it, and what to do.
    Argument { message: String, hint: &'static str },
    /// The key was used before, for another request.
    Mismatch(Vec<Difference>),
    /// A business refusal: the account does not hold the amount.
    InsufficientBalance,
    /// The account does not exist, or row security hides it. Worded as the server words it.
    NoAccount {
        schema: String,
        table: &'static str,
        constraint: &'static str,
        account_id: i64,
    },
    /// The balance would not fit. Worded as the server words it.
    Overflow,
    /// The balance may be seen and suffices, but a trigger, rule or policy kept it unchanged.
    BalanceUnchanged,
    /// No grant, or none for this scope.
    Scope,
    /// Another transaction holds the key, and the caller would not wait longer.
    InProgress,
    /// The same key is being worked on further up in this very transaction.
    OwnEffect,
    /// This many reservations of the transaction are neither completed nor refused.
    Unfinished(usize),
    /// The record is not in the state that the call needs: how it is, and what to do.
    WrongState {
        detail: &'static str,
        hint: &'static str,
    },
    /// The key was burnt by `abandon_request`.
    Abandoned,
    /// The key was used, and its record has been purged.
    Gone,
    /// The effect's function does not exist.
    NoEffect,
    /// Won and lost in turn too often, or met a unique index while it was being rebuilt.
    Unsettled,
    /// A table of the extension is not where it should be.
    NoTable { schema: String, table: &'static str },
    /// A column of one of the extension's tables is not of the type that it was made with.
    ColumnType,
    /// The database does not hold UTF-8.
    Encoding,
}

/// An error in the fields that Postgres reports.
#[derive(Debug, PartialEq, Eq)]
pub struct Report {
    pub sqlstate: &'static str,
    pub message: String,
    pub detail: Option<String>,
    pub hint: Option<&'static str>,
    /// The constraint-name field: the reason, or the constraint where there is one.
    pub constraint: Option<&'static str>,
    pub schema: Option<String>,
    pub table: Option<&'static str>,
}

impl Report {
    fn new(sqlstate: &'static str, message: impl Into<String>) -> Self {
        Report {
            sqlstate,
            message: message.into(),
            detail: None,
            hint: None,
            constraint: None,
            schema: None,
            table: None,
        }
    }

    fn reason(mut self, reason: &'static str) -> Self {
        self.constraint = Some(reason);
        self.detail = Some(format!("Reason: {reason}."));
        self
    }

    fn hint(mut self, hint: &'static str) -> Self {
        self.hint = Some(hint);
        self
    }

    fn more_detail(mut self, more: &str) -> Self {
        let detail = self.detail.get_or_insert_default();
        if !detail.is_empty() {
            detail.push(' ');
        }
        detail.push_str(more);
        self
    }
}

impl Error {
    pub fn argument(message: impl Into<String>, hint: &'static str) -> Self {
        Error::Argument {
            message: message.into(),
            hint,
        }
    }

    pub fn report(self) -> Report {
        match self {
            Error::KeyAndAmount => Report::new("22023", "key and positive amount required")
                .reason("idempotency_invalid_argument")
                .hint("Pass a key that is not empty and an amount of at least 1."),
            Error::Argument { message, hint } => Report::new("22023", message)
                .reason("idempotency_invalid_argument")
                .hint(hint),
            Error::Mismatch(differences) => {
                Report::new("22023", "idempotency key reused with different request")
                    .reason("idempotency_request_mismatch")
                    .more_detail(&crate::request::describe(&differences))
                    .hint("Send the original request again, or use a new key for a new request.")
            }
            Error::InsufficientBalance => Report::new("P0001", "insufficient balance")
                .reason("idempotency_insufficient_balance")
                .hint("Nothing was stored: the same key may be used again once the account holds the amount."),
            Error::NoAccount {
                schema,
                table,
                constraint,
                account_id,
            } => Report {
                constraint: Some(constraint),
                schema: Some(schema),
                table: Some(table),
                ..Report::new(
                    "23503",
                    format!("insert or update on table \"{table}\" violates foreign key constraint \"{constraint}\""),
                )
                .more_detail(&format!("Key (account_id)=({account_id}) is not present in table \"account\"."))
            },
            Error::Overflow => Report::new("22003", "bigint out of range"),
            Error::BalanceUnchanged => Report::new("55000", "balance could not be changed")
                .reason("idempotency_wrong_state")
                .hint("Look for a trigger, a rule or a row security policy on table \"account\" that suppresses the update."),
            Error::Scope => Report::new("42501", "permission denied for the scope of an idempotency key")
                .reason("idempotency_scope")
                .hint("The owner of the extension's tables can give it with grant_idempotency()."),
            Error::InProgress => Report::new("55P03", "another transaction holds the idempotency key")
                .reason("idempotency_in_progress")
                .hint("Retry with the same key later, or raise \"idempotency.wait_timeout\"."),
            Error::OwnEffect => Report::new("55000", "idempotency key used inside its own effect")
                .reason("idempotency_unfinished")
                .hint("Use another key for the inner call, or make the call after the outer one has ended."),
            Error::Unfinished(open) => Report::new("55000", "unfinished idempotency reservation")
                .reason("idempotency_unfinished")
                .more_detail(&format!("Reservations that are neither completed nor refused: {open}."))
                .hint("Call complete_request() or refuse_request() for each before the transaction ends, or roll it back."),
            Error::WrongState { detail, hint } => {
                Report::new("55000", "idempotency key is in the wrong state for this call")
                    .reason("idempotency_wrong_state")
                    .more_detail(detail)
                    .hint(hint)
            }
            Error::Abandoned => Report::new("55000", "idempotency key was abandoned")
                .reason("idempotency_abandoned")
                .hint("The client gave this request up: do not perform it. Use a new key for a new request."),
            Error::Gone => Report::new("55000", "idempotency key was used and its record is gone")
                .reason("idempotency_gone")
                .hint("The request was finished longer ago than its retention: do not perform it again."),
            Error::NoEffect => Report::new("42883", "effect does not exist")
                .reason("idempotency_invalid_argument")
                .hint("Name an existing function, as in 'place_order(jsonb)'."),
            Error::Unsettled => Report::new("40001", "could not serialize access to an idempotency key")
                .hint("Retry the transaction with the same key."),
            Error::NoTable { schema, table } => Report {
                schema: Some(schema.clone()),
                table: Some(table),
                ..Report::new(
                    "42P01",
                    format!("table \"{table}\" of extension \"idempotency\" is missing from schema \"{schema}\""),
                )
                .hint("Restore the table from a backup, or drop the extension and create it again.")
            },
            Error::ColumnType => Report::new("42804", "a column of a table of extension \"idempotency\" has another type than it was made with")
                .hint("Change the column's type back; put attributes of your own into a side table."),
            Error::Encoding => Report::new("0A000", "extension \"idempotency\" needs a database with encoding UTF8")
                .hint("Create the database with ENCODING 'UTF8' TEMPLATE template0."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_fixed_messages_are_exact() {
        for (error, sqlstate, message) in [
            (
                Error::KeyAndAmount,
                "22023",
                "key and positive amount required",
            ),
            (
                Error::Mismatch(vec![]),
                "22023",
                "idempotency key reused with different request",
            ),
            (Error::InsufficientBalance, "P0001", "insufficient balance"),
        ] {
            let report = error.report();
            assert_eq!(
                (report.sqlstate, report.message.as_str()),
                (sqlstate, message)
            );
        }
    }

    #[test]
    fn a_reason_stands_in_the_constraint_and_in_the_detail() {
        for error in [
            Error::KeyAndAmount,
            Error::argument("x", "y"),
            Error::Mismatch(vec![]),
            Error::InsufficientBalance,
            Error::BalanceUnchanged,
            Error::InProgress,
            Error::OwnEffect,
            Error::Scope,
        ] {
            let report = error.report();
            let reason = report.constraint.unwrap_or_default();
            assert!(reason.starts_with("idempotency_"));
            assert!(report.detail.unwrap_or_default().contains(reason));
            assert!(report.hint.is_some());
        }
    }
}
