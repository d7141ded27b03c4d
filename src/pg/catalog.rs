//! What the catalog says of a table, as text: read from the server's own caches, for a query would
//! take longer to be planned than a session with one call lives.
//!
//! Names are printed with their schemas unless they are on the search path, which the caller sets.

use core::ffi::{c_char, CStr};
use pgrx::pg_sys::{self, Datum, Oid, SysCacheIdentifier};
use std::collections::HashMap;

/// A table that is open while it is looked at.
pub struct Table(pg_sys::Relation);

/// A column by its number and name, and what else there is to say of it.
pub struct Column {
    pub number: i16,
    pub name: String,
    pub text: String,
}

// Catalogs and indexes of them that pgrx does not name; these numbers are part of the server's
// interface and the same in every version.
const PG_CONSTRAINT: u32 = 2606;
const PG_CONSTRAINT_BY_TABLE: u32 = 2665;
const PG_INHERITS: u32 = 2611;
const PG_INHERITS_BY_PARENT: u32 = 2187;

impl Table {
    /// Opens a table that is locked already.
    pub fn open(oid: Oid) -> Self {
        // SAFETY: the caller holds a lock on the table. An error before `close` leaves that to the
        // end of the (sub)transaction.
        Table(unsafe { pg_sys::relation_open(oid, pg_sys::NoLock as i32) })
    }

    pub fn close(self) {
        // SAFETY: opened by `open`. The lock stays until the transaction ends.
        unsafe { pg_sys::relation_close(self.0, pg_sys::NoLock as i32) };
    }

    fn oid(&self) -> Oid {
        // SAFETY: the relation is open.
        unsafe { (*self.0).rd_id }
    }

    fn form(&self) -> pg_sys::FormData_pg_class {
        // SAFETY: an open relation has its row of pg_class, as long as it is open.
        unsafe { *(*self.0).rd_rel }
    }

    /// Its kind, access method and persistence, and what may come between a statement and its rows.
    pub fn kind(&self) -> String {
        let form = self.form();
        let mut words = vec![
            char::from(form.relkind as u8).to_string(),
            access_method(form.relam),
            char::from(form.relpersistence as u8).to_string(),
        ];
        let needed = [pg_sys::ACL_SELECT, pg_sys::ACL_INSERT, pg_sys::ACL_UPDATE];
        let may = |right: u32| {
            // SAFETY: looks up the privileges of the table's owner.
            let check =
                unsafe { pg_sys::pg_class_aclcheck(self.oid(), form.relowner, right.into()) };
            check == pg_sys::AclResult::ACLCHECK_OK
        };
        // SAFETY: the relation is open.
        let has_rules = unsafe { !(*self.0).rd_rules.is_null() };
        // SAFETY: looks an extension up by its name, which may be missing.
        let citus = unsafe { pg_sys::get_extension_oid(c"citus".as_ptr(), true) };
        words.extend(those_that_are_so([
            (form.relrowsecurity || form.relforcerowsecurity, "policies"),
            (form.relispartition, "partition"),
            (form.relhassubclass && self.has_children(), "children"),
            (has_rules, "rules"),
            (!needed.into_iter().all(may), "privileges"),
            (citus != Oid::INVALID, "distributed"),
        ]));
        words.join(" ")
    }

    fn has_children(&self) -> bool {
        let mut has = false;
        each_row(
            (PG_INHERITS, PG_INHERITS_BY_PARENT),
            c"inhparent",
            self.oid(),
            |_, _| has = true,
        );
        has
    }

    /// Its columns, in the order of their names.
    pub fn columns(&self) -> Vec<Column> {
        let defaults = self.defaults();
        let mut columns: Vec<Column> = (1..=self.form().relnatts)
            .filter_map(|number| column(self.oid(), number, defaults.get(&number)))
            .collect();
        columns.sort_by(|a, b| a.name.cmp(&b.name));
        columns
    }

    /// The defaults of columns, by number.
    fn defaults(&self) -> HashMap<i16, String> {
        // SAFETY: an open relation has a descriptor, whose constraints are missing or complete. They
        // are copied before anything is looked up, for a look-up may make the server build the
        // description of the relation anew.
        unsafe {
            let constraints = (*(*self.0).rd_att).constr;
            if constraints.is_null() {
                return HashMap::new();
            }
            let copied: Vec<_> = (0..usize::from((*constraints).num_defval))
                .map(|n| {
                    let default = (*constraints).defval.add(n);
                    ((*default).adnum, pg_sys::cstring_to_text((*default).adbin))
                })
                .collect();
            let print = |text: *mut pg_sys::text| {
                printed_text(pg_sys::OidFunctionCall2Coll(
                    pg_sys::F_PG_GET_EXPR_PG_NODE_TREE_OID,
                    Oid::INVALID,
                    Datum::from(text),
                    Datum::from(self.oid()),
                ))
            };
            copied
                .into_iter()
                .map(|(number, text)| (number, print(text)))
                .collect()
        }
    }

    /// The definitions of its indexes, in the order of their names, without the names of tables.
    pub fn indexes(&self) -> String {
        let mut indexes = Vec::new();
        // SAFETY: a list of OIDs of our own, each of an index that stays while the table is locked.
        unsafe {
            let list = pg_sys::RelationGetIndexList(self.0);
            let count = if list.is_null() { 0 } else { (*list).length };
            for n in 0..count as usize {
                let index = (*(*list).elements.add(n)).oid_value;
                let printed = pg_sys::OidFunctionCall1Coll(
                    pg_sys::F_PG_GET_INDEXDEF_OID,
                    Oid::INVALID,
                    Datum::from(index),
                );
                let mut text = without_table(&printed_text(printed));
                if !is_ready(index) {
                    text.push_str(" unready");
                }
                indexes.push((name(pg_sys::get_rel_name(index)), text));
            }
        }
        joined(indexes)
    }

    /// The definitions of its constraints but NOT NULL, in the order of their names, without the name
    /// of a schema.
    pub fn constraints(&self, schema: &CStr) -> String {
        // SAFETY: answers the name itself or a copy in quotes.
        let schema = unsafe { name(pg_sys::quote_identifier(schema.as_ptr())) };
        let prefix = format!("{schema}.");
        let mut constraints = Vec::new();
        each_row(
            (PG_CONSTRAINT, PG_CONSTRAINT_BY_TABLE),
            c"conrelid",
            self.oid(),
            |row, descriptor| {
                // SAFETY: the first, second and fourth columns of pg_constraint are its OID, name
                // and type, in every version, and not null. The constraint stays while the table is
                // locked.
                unsafe {
                    let type_ = column_of(row, descriptor, 4).value() as u8;
                    if type_ == b'n' {
                        return;
                    }
                    let found = name(column_of(row, descriptor, 2).cast_mut_ptr::<c_char>());
                    let printed = pg_sys::OidFunctionCall1Coll(
                        pg_sys::F_PG_GET_CONSTRAINTDEF_OID,
                        Oid::INVALID,
                        column_of(row, descriptor, 1),
                    );
                    let text = printed_text(printed).replace(&prefix, "");
                    constraints.push((found.clone(), format!("{found} {text}")));
                }
            },
        );
        joined(constraints)
    }

    /// The names of its triggers but those of foreign keys of other tables to it, and of its own one
    /// of this name.
    pub fn triggers(&self, own_key: &str) -> String {
        let mut triggers = Vec::new();
        // SAFETY: an open relation has a description of its triggers, or none; it is copied, as above.
        unsafe {
            let description = pg_sys::CopyTriggerDesc((*self.0).trigdesc);
            if description.is_null() {
                return String::new();
            }
            for n in 0..(*description).numtriggers as usize {
                let trigger = &*(*description).triggers.add(n);
                let of_key = trigger.tgisinternal
                    && match pg_sys::RI_FKey_trigger_type(trigger.tgfoid) as u32 {
                        pg_sys::RI_TRIGGER_PK if trigger.tgconstrrelid != self.oid() => true,
                        pg_sys::RI_TRIGGER_PK | pg_sys::RI_TRIGGER_FK => {
                            name(pg_sys::get_constraint_name(trigger.tgconstraint)) == own_key
                        }
                        _ => false,
                    };
                if !of_key {
                    let found = name(trigger.tgname);
                    triggers.push((found.clone(), found));
                }
            }
        }
        joined(triggers)
    }
}

/// The words of what is so.
fn those_that_are_so<const N: usize>(
    facts: [(bool, &str); N],
) -> impl Iterator<Item = String> + '_ {
    let words = facts.into_iter().filter(|(is_so, _)| *is_so);
    words.map(|(_, word)| word.to_owned())
}

fn joined(mut named: Vec<(String, String)>) -> String {
    named.sort();
    let texts: Vec<String> = named.into_iter().map(|(_, text)| text).collect();
    texts.join(", ")
}

/// An index's definition without the table that it is on.
fn without_table(definition: &str) -> String {
    match (definition.find(" ON "), definition.rfind(" USING ")) {
        (Some(on), Some(using)) if on < using => {
            format!(
                "{} {}",
                &definition[..on],
                &definition[using + " USING ".len()..]
            )
        }
        _ => definition.to_owned(),
    }
}

fn access_method(method: Oid) -> String {
    if method == Oid::INVALID {
        return String::new();
    }
    // SAFETY: answers a copy, or null where there is no such method.
    unsafe { name(pg_sys::get_am_name(method)) }
}

/// A column that has not been dropped.
fn column(table: Oid, number: i16, default: Option<&String>) -> Option<Column> {
    // SAFETY: the tuple is held while it is read, and its fixed part is a Form_pg_attribute.
    unsafe {
        let tuple = pg_sys::SearchSysCache2(
            SysCacheIdentifier::ATTNUM as i32,
            Datum::from(table),
            Datum::from(number),
        );
        if tuple.is_null() {
            return None;
        }
        let form = &*pg_sys::heap_tuple_get_struct::<pg_sys::FormData_pg_attribute>(tuple);
        let column = (!form.attisdropped).then(|| {
            let column = name(form.attname.data.as_ptr());
            let mut words = vec![column.clone(), name(pg_sys::format_type_be(form.atttypid))];
            match form.attcollation {
                Oid::INVALID => {}
                pg_sys::C_COLLATION_OID => words.push("C".to_owned()),
                _ => words.push("other collation".to_owned()),
            }
            words.extend(those_that_are_so([
                (form.attnotnull, "not null"),
                (form.attgenerated != 0 || form.attidentity != 0, "generated"),
                (form.atthasmissing, "missing"),
            ]));
            words.extend(default.map(|default| format!("= {default}")));
            Column {
                number,
                name: column,
                text: words.join(" "),
            }
        });
        pg_sys::ReleaseSysCache(tuple);
        column
    }
}

/// Whether an index answers and is kept up to date, at each statement.
fn is_ready(index: Oid) -> bool {
    // SAFETY: the tuple is held while it is read, and its fixed part is a Form_pg_index.
    unsafe {
        let tuple =
            pg_sys::SearchSysCache1(SysCacheIdentifier::INDEXRELID as i32, Datum::from(index));
        if tuple.is_null() {
            return false;
        }
        let form = &*pg_sys::heap_tuple_get_struct::<pg_sys::FormData_pg_index>(tuple);
        let is_ready = form.indisvalid && form.indisready && form.indislive && form.indimmediate;
        pg_sys::ReleaseSysCache(tuple);
        is_ready
    }
}

/// Reads the rows of a catalog in which this column is a table's OID, by an index on it.
fn each_row(
    (catalog, index): (u32, u32),
    column: &CStr,
    table: Oid,
    mut each: impl FnMut(pg_sys::HeapTuple, pg_sys::TupleDesc),
) {
    let (catalog, index) = (Oid::from(catalog), Oid::from(index));
    // SAFETY: the catalog is open while it is scanned, with a snapshot of now; the key names a
    // column of the type oid. An error leaves what is open to the end of the (sub)transaction.
    unsafe {
        let relation = pg_sys::table_open(catalog, pg_sys::AccessShareLock as i32);
        let mut key = pg_sys::ScanKeyData::default();
        pg_sys::ScanKeyInit(
            &mut key,
            pg_sys::get_attnum(catalog, column.as_ptr()),
            pg_sys::BTEqualStrategyNumber as u16,
            Oid::from(pg_sys::F_OIDEQ),
            Datum::from(table),
        );
        let snapshot = core::ptr::null_mut();
        let scan = pg_sys::systable_beginscan(relation, index, true, snapshot, 1, &mut key);
        loop {
            let row = pg_sys::systable_getnext(scan);
            if row.is_null() {
                break;
            }
            each(row, (*relation).rd_att);
        }
        pg_sys::systable_endscan(scan);
        pg_sys::table_close(relation, pg_sys::AccessShareLock as i32);
    }
}

/// # Safety
/// The row has this column, which is not null.
unsafe fn column_of(row: pg_sys::HeapTuple, descriptor: pg_sys::TupleDesc, number: i32) -> Datum {
    // SAFETY: the caller's promise.
    unsafe { pg_sys::heap_getattr(row, number, descriptor, &mut false) }
}

/// # Safety
/// A NUL-terminated text, or null, which is as good as empty.
unsafe fn name(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text).to_string_lossy().into_owned() }
}

/// # Safety
/// A datum of the type text, not null.
unsafe fn printed_text(printed: Datum) -> String {
    // SAFETY: the caller's promise.
    unsafe { name(pg_sys::text_to_cstring(printed.cast_mut_ptr())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_told_without_its_table() {
        assert_eq!(
            without_table("CREATE UNIQUE INDEX a_pkey ON s.\"t ON u\" USING btree (a)"),
            "CREATE UNIQUE INDEX a_pkey btree (a)"
        );
        assert_eq!(without_table("something else"), "something else");
    }
}
