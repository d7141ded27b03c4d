//! Where the extension's tables are, remembered until something changes.
//!
//! The schema is the called function's own, so that two calls in one session find the right
//! tables even when the extension was dropped between them and created again elsewhere.

use crate::error::{Error, Result};
use crate::store::execute::Named;
use crate::store::tables::{ACCOUNT, CONTRACT, GRANT, TABLES};
use core::cell::{Cell, RefCell};
use core::ffi::CStr;
use pgrx::pg_sys::{self, Oid};
use std::ffi::CString;
use std::rc::Rc;

/// How many tables there are: grants, contracts, `account`, then the record tables by number.
const RELATIONS: usize = 3 + TABLES.len();

/// A table, as far as calling it needs to know.
#[derive(Clone, Copy, Debug)]
pub struct Relation {
    pub name: &'static str,
    pub oid: Oid,
    pub owner: Oid,
}

/// One installation of the extension.
#[derive(Debug)]
pub struct Installation {
    namespace: Oid,
    epoch: u64,
    pub schema: String,
    relations: [Option<Relation>; RELATIONS],
}

thread_local! {
    static CURRENT: RefCell<Option<Rc<Installation>>> = const { RefCell::new(None) };
    /// The tables whose change matters.
    static WATCHED: Cell<[Oid; RELATIONS]> = const { Cell::new([Oid::INVALID; RELATIONS]) };
    /// Counts the changes.
    static EPOCH: Cell<u64> = const { Cell::new(0) };
}

/// The name of the table at a place in [`Installation::relations`].
fn table_name(place: usize) -> &'static str {
    match place {
        0 => GRANT,
        1 => CONTRACT,
        2 => ACCOUNT,
        record => TABLES[record - 3].name,
    }
}

impl Installation {
    /// The installation that a function belongs to.
    pub fn of(function: Oid) -> Result<Rc<Installation>> {
        // SAFETY: hears of what other sessions have committed, a revoked grant above all, as every
        // lock on a table does; then a look-up in the system cache.
        let namespace = unsafe {
            pg_sys::AcceptInvalidationMessages();
            pg_sys::get_func_namespace(function)
        };
        let current = CURRENT.with_borrow(Option::clone);
        if let Some(current) = current {
            if current.namespace == namespace && current.epoch == EPOCH.get() {
                return Ok(current);
            }
        }
        let found = Rc::new(Installation::look_up(function, namespace)?);
        // Membership in an extension changes without a message, so that a table that is missing is
        // looked for at each call.
        if found.relations.iter().all(Option::is_some) {
            CURRENT.replace(Some(Rc::clone(&found)));
        }
        Ok(found)
    }

    fn look_up(function: Oid, namespace: Oid) -> Result<Installation> {
        // Taken first: what changes while we look makes the result stale.
        let epoch = EPOCH.get();
        // SAFETY: answers a NUL-terminated copy, or null where there is no such schema.
        let schema = unsafe {
            let name = pg_sys::get_namespace_name(namespace);
            if name.is_null() {
                return Err(Error::NoTable {
                    schema: String::new(),
                    table: ACCOUNT,
                });
            }
            CStr::from_ptr(name).to_string_lossy().into_owned()
        };
        let extension = extension_of(pg_sys::ProcedureRelationId, function);
        let mut relations = [None; RELATIONS];
        for (place, relation) in relations.iter_mut().enumerate() {
            // A table that merely has the name, beside a function that was moved there, is
            // somebody else's.
            *relation = look_up_table(table_name(place), namespace).filter(|found| {
                extension != Oid::INVALID
                    && extension_of(pg_sys::RelationRelationId, found.oid) == extension
            });
        }
        WATCHED.set(relations.map(|relation| relation.map_or(Oid::INVALID, |found| found.oid)));
        Ok(Installation {
            namespace,
            epoch,
            schema,
            relations,
        })
    }

    /// A table with the name by which statements call it.
    pub fn named(&self, table: Relation) -> Named<'_> {
        Named {
            schema: &self.schema,
            name: table.name,
            oid: table.oid,
        }
    }

    /// Changes whenever one of the tables, or a grant, may have changed.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Whether nothing has changed since this was looked up.
    pub fn is_current(&self) -> bool {
        self.epoch == EPOCH.get()
    }

    pub fn grants(&self) -> Result<Relation> {
        self.relation(0)
    }

    pub fn account(&self) -> Result<Relation> {
        self.relation(2)
    }

    pub fn contracts(&self) -> Result<Relation> {
        self.relation(1)
    }

    /// A record table, by its number.
    pub fn record_table(&self, number: usize) -> Result<Relation> {
        self.relation(number + 3)
    }

    fn relation(&self, place: usize) -> Result<Relation> {
        self.relations[place].ok_or_else(|| Error::NoTable {
            schema: self.schema.clone(),
            table: table_name(place),
        })
    }
}

/// The extension that an object belongs to, or an invalid OID.
fn extension_of(class: Oid, object: Oid) -> Oid {
    // SAFETY: reads the catalog of dependencies.
    unsafe { pg_sys::getExtensionOfObject(class, object) }
}

fn look_up_table(table: &'static str, namespace: Oid) -> Option<Relation> {
    let name = CString::new(table).ok()?;
    // SAFETY: the name is NUL-terminated; the relation is open, and so in the relation cache,
    // while its row of pg_class is read.
    unsafe {
        let oid = pg_sys::get_relname_relid(name.as_ptr(), namespace);
        if oid == Oid::INVALID {
            return None;
        }
        let relation = pg_sys::try_relation_open(oid, pg_sys::AccessShareLock as i32);
        if relation.is_null() {
            return None;
        }
        let owner = (*(*relation).rd_rel).relowner;
        let is_table = (*(*relation).rd_rel).relkind as u8 == pg_sys::RELKIND_RELATION;
        pg_sys::relation_close(relation, pg_sys::NoLock as i32);
        is_table.then_some(Relation {
            name: table,
            oid,
            owner,
        })
    }
}

/// Makes every session, this one included, look again at a table when this transaction commits.
pub fn announce_change(table: Oid) {
    // SAFETY: queues an invalidation message; the table is locked by the statement that changed it.
    unsafe { pg_sys::CacheInvalidateRelcacheByRelid(table) };
}

/// Asks Postgres to tell when a table or a schema changes. Called once a backend.
pub fn watch() {
    // SAFETY: both callbacks live as long as the library, which is never unloaded.
    unsafe {
        pg_sys::CacheRegisterRelcacheCallback(Some(relation_changed), pg_sys::Datum::null());
        pg_sys::CacheRegisterSyscacheCallback(
            pg_sys::SysCacheIdentifier::NAMESPACEOID as i32,
            Some(schema_changed),
            pg_sys::Datum::null(),
        );
    }
}

// Neither callback calls Postgres or panics, so that neither needs a guard.

unsafe extern "C-unwind" fn relation_changed(_argument: pg_sys::Datum, relation: Oid) {
    // An invalid OID means that everything may have changed. A table that was not there has an
    // invalid OID as well, so look again at every change until it is found.
    let watched = WATCHED.get();
    if relation == Oid::INVALID || watched.contains(&relation) || watched.contains(&Oid::INVALID) {
        EPOCH.set(EPOCH.get() + 1);
    }
}

unsafe extern "C-unwind" fn schema_changed(_argument: pg_sys::Datum, _cache: i32, _hash: u32) {
    EPOCH.set(EPOCH.get() + 1);
}
