//! What identifies one intention: scope, operation, request key. Pure grammar.
//!
//! All three are compared bytewise: no case folding, no normalisation, no trimming.

use crate::error::{Error, Result};
use crate::value::Text;

/// The operation of `debit_once`.
pub const DEBIT: &str = "debit:v1";

/// The longest key, subscriber or scope, in bytes. A longer one would near what an index entry
/// can hold, and is a sign that something else than an identity was passed.
pub const MAX_KEY_BYTES: usize = 255;

/// The operation that `consume_once` shows as in `current_request()`.
pub const CONSUME: &str = "consume:v1";

/// Refuses a scope that is missing, blank or over-long.
pub fn scope(text: Option<Text<'_>>) -> Result<Text<'_>> {
    let text = name("scope", text)?;
    if text.bytes().iter().all(u8::is_ascii_whitespace) {
        return Err(Error::argument(
            "scope must not be blank",
            "Pass who the key belongs to, such as an account or a tenant.",
        ));
    }
    Ok(text)
}

/// Refuses an operation that is missing, ill-formed or over-long: `^[a-z0-9][a-z0-9_.-]*:v[0-9]+$`.
pub fn operation(text: Option<Text<'_>>) -> Result<Text<'_>> {
    let text = name("operation", text)?;
    if !is_operation(text.bytes()) {
        return Err(Error::argument(
            "operation must be a name and a version, as in place-order:v1",
            "A name has lower-case letters, digits, dots, dashes and underscores, and begins with a letter or digit.",
        ));
    }
    Ok(text)
}

fn is_operation(text: &[u8]) -> bool {
    let lower = |c: &u8| c.is_ascii_lowercase() || c.is_ascii_digit();
    let Some(colon) = text.iter().rposition(|&c| c == b':') else {
        return false;
    };
    let (name, version) = (&text[..colon], &text[colon + 1..]);
    name.first().is_some_and(lower)
        && name.iter().all(|c| lower(c) || b"_.-".contains(c))
        && version.first() == Some(&b'v')
        && version.len() > 1
        && version[1..].iter().all(u8::is_ascii_digit)
}

/// Refuses a request key that is missing, empty or longer than its contract allows.
pub fn request_key(text: Option<Text<'_>>, most: usize) -> Result<Text<'_>> {
    let text = required("request_key", text)?;
    if text.bytes().is_empty() {
        return Err(empty("request_key"));
    }
    within("request_key", text, most)
}

/// Refuses a name that is missing, empty or over-long. `what` is the argument's name.
pub fn name<'a>(what: &str, text: Option<Text<'a>>) -> Result<Text<'a>> {
    let text = required(what, text)?;
    if text.bytes().is_empty() {
        return Err(empty(what));
    }
    bounded(what, text)
}

fn empty(what: &str) -> Error {
    Error::argument(
        format!("{what} must not be empty"),
        "Pass the identity that the client keeps on every retry.",
    )
}

/// Refuses an argument that is NULL.
pub fn required<T>(what: &str, value: Option<T>) -> Result<T> {
    value.ok_or_else(|| {
        Error::argument(
            format!("{what} must not be null"),
            "Pass a value for every argument that has no default.",
        )
    })
}

/// Refuses a text of more than [`MAX_KEY_BYTES`] bytes.
pub fn bounded<'a>(what: &str, text: Text<'a>) -> Result<Text<'a>> {
    within(what, text, MAX_KEY_BYTES)
}

fn within<'a>(what: &str, text: Text<'a>, most: usize) -> Result<Text<'a>> {
    let length = text.bytes().len();
    if length > most {
        return Err(Error::argument(
            format!("{what} is too long: {length} bytes, at most {most} are allowed"),
            "Use a shorter identity, such as a UUID or a digest of the long one.",
        ));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(content: &str) -> Vec<u8> {
        [&[0; crate::value::VARLENA_HEADER], content.as_bytes()].concat()
    }

    #[test]
    fn the_limit_counts_bytes_and_not_characters() {
        let fits = text(&"é".repeat(127));
        let over = text(&"é".repeat(128));
        assert!(name("request_key", Some(Text::from_image(&fits))).is_ok());
        let error = name("request_key", Some(Text::from_image(&over))).unwrap_err();
        assert_eq!(
            error.report().message,
            "request_key is too long: 256 bytes, at most 255 are allowed"
        );
    }

    #[test]
    fn an_operation_is_a_name_and_a_version() {
        for good in ["debit:v1", "a:v0", "0.x_y-z:v12"] {
            assert!(is_operation(good.as_bytes()), "{good}");
        }
        for bad in [
            "", "debit", "debit:v", "debit:1", "Debit:v1", ":v1", "-x:v1", "a b:v1", "a:v1 ",
            "a:b:v1", "a:v1x", "é:v1",
        ] {
            assert!(!is_operation(bad.as_bytes()), "{bad}");
        }
    }

    #[test]
    fn blanks_are_kept_and_emptiness_is_refused() {
        let blank = text(" ");
        let empty = text("");
        assert!(name("request_key", Some(Text::from_image(&blank))).is_ok());
        assert!(name("request_key", Some(Text::from_image(&empty))).is_err());
        assert!(name("request_key", None).is_err());
    }
}
