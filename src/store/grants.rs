//! Reading the grants, and keeping what was read until they change.

use super::execute::{self, Run};
use super::statements::{Action, Rights, Statements};
use super::tables::Kind;
use crate::admission::{Access, Grant, Scopes};
use crate::error::Result;
use crate::pg::installation::{Installation, Relation};
use crate::pg::roles;
use crate::value::Value;
use core::cell::RefCell;
use core::ffi::CStr;
use pgrx::pg_sys;
use std::ffi::CString;
use std::rc::Rc;

/// What one user may do in one installation.
#[derive(Debug)]
pub struct Permit {
    user: pg_sys::Oid,
    installation: u64,
    memberships: u64,
    /// The owner, his members and superusers are free.
    pub free: bool,
    pub grants: Vec<Grant>,
}

thread_local! {
    static PERMIT: RefCell<Option<Rc<Permit>>> = const { RefCell::new(None) };
}

impl Permit {
    /// What the current user may do now.
    pub fn of_current_user(installation: &Installation) -> Result<Rc<Permit>> {
        let user = roles::current_user();
        let memberships = roles::memberships_epoch();
        let kept = PERMIT.with_borrow(Option::clone).filter(|permit| {
            permit.user == user
                && permit.installation == installation.epoch()
                && permit.memberships == memberships
        });
        if let Some(kept) = kept {
            return Ok(kept);
        }
        let table = installation.grants()?;
        let owner = table.owner;
        let free = roles::has_privileges_of(user, owner);
        let grants = if free {
            Vec::new()
        } else {
            read(installation, table)?
                .into_iter()
                .filter(|(role, _)| roles::has_privileges_of(user, *role))
                .map(|(_, grant)| grant)
                .collect()
        };
        let permit = Rc::new(Permit {
            user,
            installation: installation.epoch(),
            memberships,
            free,
            grants,
        });
        PERMIT.replace(Some(Rc::clone(&permit)));
        Ok(permit)
    }
}

/// Every grant with its role, one for each scope.
fn read(installation: &Installation, table: Relation) -> Result<Vec<(pg_sys::Oid, Grant)>> {
    let plan = || Statements::plan(installation, Action::Grants, Rights::Owner);
    let run = Run {
        arguments: &[],
        answer: &[Kind::Bigint, Kind::Text, Kind::Text, Kind::Text],
        table: installation.named(table),
    };
    let rows = roles::as_owner(table.owner, || execute::read_latest(plan, &run))?;
    let grants = rows
        .iter()
        .filter_map(|row| {
            let [Value::Bigint(role), Value::Text(access), scope, setting] = row[..] else {
                return None;
            };
            let scopes = match (scope, setting) {
                (Value::Text(scope), _) if scope.bytes() == b"*" => Scopes::Every,
                (Value::Text(scope), _) => Scopes::One(scope.bytes().into()),
                (_, Value::Text(name)) => Scopes::Setting(CString::new(name.bytes()).ok()?),
                _ => return None,
            };
            let access = Access::named(access.bytes())?;
            let role = pg_sys::Oid::from(u32::try_from(role).ok()?);
            Some((role, Grant { access, scopes }))
        })
        .collect();
    Ok(grants)
}

/// A setting's value at this moment, or nothing where it is unset.
pub fn setting(name: &CStr) -> Option<Vec<u8>> {
    // SAFETY: the name is NUL-terminated; the answer is NUL-terminated or null, and copied before
    // anything could change it.
    unsafe {
        let value = pg_sys::GetConfigOption(name.as_ptr(), true, false);
        (!value.is_null()).then(|| CStr::from_ptr(value).to_bytes().to_vec())
    }
}
