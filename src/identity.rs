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

/// Refuses a name that is missing, empty or over-long. `what` is the argument's name.
pub fn name<'a>(what: &str, text: Option<Text<'a>>) -> Result<Text<'a>> {
    let text = required(what, text)?;
    if text.bytes().is_empty() {
        return Err(Error::argument(
            format!("{what} must not be empty"),
            "Pass the identity that the client keeps on every retry.",
        ));
    }
    bounded(what, text)
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
    let length = text.bytes().len();
    if length > MAX_KEY_BYTES {
        return Err(Error::argument(
            format!("{what} is too long: {length} bytes, at most {MAX_KEY_BYTES} are allowed"),
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
    fn blanks_are_kept_and_emptiness_is_refused() {
        let blank = text(" ");
        let empty = text("");
        assert!(name("request_key", Some(Text::from_image(&blank))).is_ok());
        assert!(name("request_key", Some(Text::from_image(&empty))).is_err());
        assert!(name("request_key", None).is_err());
    }
}
