//! May this call come in: are its arguments there, and of a size to be stored.

use crate::error::{Error, Result};
use crate::identity;
use crate::value::Text;

/// What a debit needs, admitted.
pub struct Debit<'a> {
    pub account_id: i64,
    pub request_key: Text<'a>,
    pub amount: i64,
}

/// What a consumption needs, admitted.
pub struct Consumption<'a> {
    pub subscriber: Text<'a>,
    pub message_id: &'a [u8; 16],
    pub account_id: i64,
    pub amount: i64,
}

pub fn debit(
    account_id: Option<i64>,
    request_key: Option<Text<'_>>,
    amount: Option<i64>,
) -> Result<Debit<'_>> {
    let request_key = request_key
        .filter(|key| !key.bytes().is_empty())
        .ok_or(Error::KeyAndAmount)?;
    Ok(Debit {
        amount: positive(amount)?,
        request_key: identity::bounded("request_key", request_key)?,
        account_id: identity::required("account_id", account_id)?,
    })
}

pub fn consumption<'a>(
    subscriber: Option<Text<'a>>,
    message_id: Option<&'a [u8; 16]>,
    account_id: Option<i64>,
    amount: Option<i64>,
) -> Result<Consumption<'a>> {
    Ok(Consumption {
        subscriber: identity::name("subscriber", subscriber)?,
        message_id: identity::required("message_id", message_id)?,
        account_id: identity::required("account_id", account_id)?,
        amount: positive(amount)?,
    })
}

fn positive(amount: Option<i64>) -> Result<i64> {
    amount
        .filter(|&amount| amount > 0)
        .ok_or(Error::KeyAndAmount)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_and_amount_are_refused_before_anything_else() {
        let key = [&[0; 4], b"k".as_slice()].concat();
        let key = Some(Text::from_image(&key));
        let empty = Some(Text::from_image(&[0; 4]));
        for (key, amount) in [
            (None, Some(1)),
            (empty, Some(1)),
            (key, None),
            (key, Some(0)),
            (key, Some(-1)),
            (key, Some(i64::MIN)),
        ] {
            assert_eq!(debit(None, key, amount).err(), Some(Error::KeyAndAmount));
        }
        assert!(debit(None, key, Some(1)).is_err());
        assert!(debit(Some(1), key, Some(i64::MAX)).is_ok());
    }
}
