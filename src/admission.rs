//! May this call come in: this caller, in this scope, with arguments that are there and of a size
//! to be stored.

use crate::error::{Error, Result};
use crate::identity;
use crate::value::Text;
use core::cell::LazyCell;
use core::ffi::CStr;
use std::ffi::CString;

/// What a grant lets a role do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Use,
    Read,
    Operate,
}

impl Access {
    pub fn named(name: &[u8]) -> Option<Self> {
        match name {
            b"use" => Some(Access::Use),
            b"read" => Some(Access::Read),
            b"operate" => Some(Access::Operate),
            _ => None,
        }
    }
}

/// For which scopes a grant is.
#[derive(Debug, PartialEq, Eq)]
pub enum Scopes {
    Every,
    One(Box<[u8]>),
    /// The one that this setting names at the call.
    Setting(CString),
}

/// A grant to a role whose privileges the caller has.
#[derive(Debug, PartialEq, Eq)]
pub struct Grant {
    pub access: Access,
    pub scopes: Scopes,
}

/// Refuses a scope that none of the grants is for. An unset or empty setting names no scope. The
/// scope is asked for where it matters which it is.
pub fn scope(
    grants: &[Grant],
    access: Access,
    scope: impl FnOnce() -> Vec<u8>,
    setting: impl Fn(&CStr) -> Option<Vec<u8>>,
) -> Result<()> {
    let scope = LazyCell::new(scope);
    let allowed = grants.iter().any(|grant| {
        grant.access == access
            && match &grant.scopes {
                Scopes::Every => true,
                Scopes::One(one) => **one == **scope,
                Scopes::Setting(name) => {
                    !scope.is_empty() && setting(name).is_some_and(|value| value == *scope)
                }
            }
    });
    if allowed {
        Ok(())
    } else {
        Err(Error::Scope)
    }
}

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

    fn grants(scopes: Scopes) -> [Grant; 1] {
        [Grant {
            access: Access::Use,
            scopes,
        }]
    }

    #[test]
    fn a_scope_is_granted_bytewise_and_for_one_access() {
        let unset = |_: &CStr| None;
        assert_eq!(
            scope(&[], Access::Use, || b"7".to_vec(), unset),
            Err(Error::Scope)
        );
        let seven = grants(Scopes::One(b"7".as_slice().into()));
        assert_eq!(scope(&seven, Access::Use, || b"7".to_vec(), unset), Ok(()));
        assert_eq!(
            scope(&seven, Access::Use, || b"07".to_vec(), unset),
            Err(Error::Scope)
        );
        assert_eq!(
            scope(&seven, Access::Operate, || b"7".to_vec(), unset),
            Err(Error::Scope)
        );
        let every = grants(Scopes::Every);
        assert_eq!(
            scope(&every, Access::Use, || b"anything".to_vec(), unset),
            Ok(())
        );
        assert_eq!(
            scope(&every, Access::Read, || b"anything".to_vec(), unset),
            Err(Error::Scope)
        );
    }

    #[test]
    fn a_setting_names_one_scope_and_fails_closed() {
        let set_to = |value: &'static [u8]| move |_: &CStr| Some(value.to_vec());
        let tenant = grants(Scopes::Setting(c"app.tenant_id".into()));
        assert_eq!(
            scope(&tenant, Access::Use, || b"7".to_vec(), set_to(b"7")),
            Ok(())
        );
        assert_eq!(
            scope(&tenant, Access::Use, || b"8".to_vec(), set_to(b"7")),
            Err(Error::Scope)
        );
        assert_eq!(
            scope(&tenant, Access::Use, || b"*".to_vec(), set_to(b"7")),
            Err(Error::Scope)
        );
        assert_eq!(
            scope(&tenant, Access::Use, || b"7".to_vec(), set_to(b"*")),
            Err(Error::Scope)
        );
        assert_eq!(
            scope(&tenant, Access::Use, || b"".to_vec(), set_to(b"")),
            Err(Error::Scope)
        );
        assert_eq!(
            scope(&tenant, Access::Use, || b"7".to_vec(), |_: &CStr| None),
            Err(Error::Scope)
        );
    }

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
