//! Running a caller's own command as an effect, with his rights and his search path.
//!
//! A session keeps the plans of its commands, as it does for those of PL/pgSQL, where that cannot be
//! told from preparing them anew: see [`means_the_same_later`].

use crate::error::{Error, Result};
use crate::pg::{jsonb, raw, roles, values};
use crate::value::Json;
use core::cell::{Cell, RefCell};
use core::ffi::CStr;
use core::ptr::null;
use pgrx::pg_sys::{self, Datum, Oid};
use std::collections::HashMap;
use std::ffi::CString;
use std::rc::Rc;

/// How many plans a session keeps.
const MOST_KEPT: usize = 100;

/// The longest command whose plan is kept, in bytes.
const LONGEST_KEPT: usize = 16 * 1024;

/// What a command is understood by, besides what the server itself watches for a kept plan.
#[derive(PartialEq, Eq, Hash)]
struct Meaning {
    text: CString,
    /// Some rights are looked at when a command is prepared.
    user: Oid,
    /// The settings by which its text is read and its constants are printed.
    settings: [i32; 5],
}

struct Kept {
    plan: pg_sys::SPIPlanPtr,
    /// How many runs of it are under way.
    running: Rc<Cell<usize>>,
    /// When it was last asked for, in askings.
    asked: u64,
    /// What names meant when it was prepared.
    names: (u64, u64),
}

#[derive(Default)]
struct Plans {
    kept: HashMap<Meaning, Kept>,
    askings: u64,
}

thread_local! {
    static PLANS: RefCell<Plans> = RefCell::default();
}

/// A plan, ready to be run.
struct Plan {
    pointer: pg_sys::SPIPlanPtr,
    /// Counts this run while it lasts, of a plan that is kept.
    running: Option<Rc<Cell<usize>>>,
}

impl Plan {
    fn kept(pointer: pg_sys::SPIPlanPtr, running: &Rc<Cell<usize>>) -> Self {
        running.set(running.get() + 1);
        Plan {
            pointer,
            running: Some(Rc::clone(running)),
        }
    }
}

impl Drop for Plan {
    // Calls nothing of Postgres's, so that it may run while an error unwinds.
    fn drop(&mut self) {
        if let Some(running) = &self.running {
            running.set(running.get() - 1);
        }
    }
}

impl Plans {
    fn ask(&mut self, meaning: &Meaning) -> Option<Plan> {
        self.askings += 1;
        let kept = self.kept.get_mut(meaning)?;
        if kept.names != names() {
            return None;
        }
        kept.asked = self.askings;
        Some(Plan::kept(kept.plan, &kept.running))
    }

    fn is_at_work(&self, meaning: &Meaning) -> bool {
        let kept = self.kept.get(meaning);
        kept.is_some_and(|kept| kept.running.get() > 0)
    }

    /// Keeps a plan, and answers it with one that is kept no longer, if there are too many.
    fn keep(
        &mut self,
        meaning: Meaning,
        plan: pg_sys::SPIPlanPtr,
        names: (u64, u64),
    ) -> (Plan, Option<pg_sys::SPIPlanPtr>) {
        let mut oldest = self.kept.remove(&meaning).map(|stale| stale.plan);
        if oldest.is_none() && self.kept.len() >= MOST_KEPT {
            let idle = self.kept.iter().filter(|(_, kept)| kept.running.get() == 0);
            oldest = idle.min_by_key(|(_, kept)| kept.asked).map(|(_, k)| k.plan);
            self.kept.retain(|_, kept| Some(kept.plan) != oldest);
        }
        let running = Rc::default();
        let ready = Plan::kept(plan, &running);
        let asked = self.askings;
        let kept = Kept {
            plan,
            running,
            asked,
            names,
        };
        self.kept.insert(meaning, kept);
        (ready, oldest)
    }
}

/// Runs a command, in which `$1` is the request. Its last row's first column is the reply.
pub fn command<'a>(command: &[u8], request: Json<'a>) -> Result<Json<'a>> {
    let meaning = Meaning {
        text: CString::new(command).unwrap_or_default(),
        user: roles::current_user(),
        // SAFETY: reads settings.
        settings: unsafe {
            [
                pg_sys::standard_conforming_strings.into(),
                pg_sys::Transform_null_equals.into(),
                pg_sys::Array_nulls.into(),
                pg_sys::extra_float_digits,
                raw::bytea_output,
            ]
        },
    };
    let kept = PLANS.with_borrow_mut(|plans| plans.ask(&meaning));
    run(request, || kept.map_or_else(|| prepare(meaning), Ok))
}

thread_local! {
    /// Counts the changes by which a name may have come to mean another object.
    static NAMES: Cell<u64> = const { Cell::new(0) };
}

/// Changes whenever a name may mean another object, or a role's memberships may have changed.
fn names() -> (u64, u64) {
    (NAMES.get(), roles::memberships_epoch())
}

/// Asks Postgres to tell when a name may mean another object. Called once a backend.
pub fn watch() {
    for cache in [
        pg_sys::SysCacheIdentifier::RELNAMENSP,
        pg_sys::SysCacheIdentifier::PROCNAMEARGSNSP,
        pg_sys::SysCacheIdentifier::TYPENAMENSP,
        pg_sys::SysCacheIdentifier::COLLNAMEENCNSP,
        pg_sys::SysCacheIdentifier::CASTSOURCETARGET,
    ] {
        // SAFETY: the callback lives as long as the library, which is never unloaded.
        unsafe {
            pg_sys::CacheRegisterSyscacheCallback(cache as i32, Some(names_changed), Datum::null());
        }
    }
}

// Calls nothing of Postgres's and does not panic, so that it needs no guard.
unsafe extern "C-unwind" fn names_changed(_argument: Datum, _cache: i32, _hash: u32) {
    NAMES.set(NAMES.get() + 1);
}

/// Prepares a command, with SPI connected.
fn prepare(meaning: Meaning) -> Result<Plan> {
    let mut types = [pg_sys::JSONBOID];
    // Taken first: what changes while the text is read makes the plan stale.
    let names = names();
    // SAFETY: called with SPI connected; text and types outlive the preparation. A prepared plan
    // has a list of its statements' sources, which may be null. No borrow is held where Postgres
    // is called, for it may re-enter.
    unsafe {
        let plan = pg_sys::SPI_prepare(meaning.text.as_ptr(), 1, types.as_mut_ptr());
        if plan.is_null() {
            return Err(refused_command());
        }
        let sources = pg_sys::SPI_plan_get_plan_sources(plan);
        let statements = if sources.is_null() {
            0
        } else {
            (*sources).length
        };
        if statements != 1 {
            return Err(Error::argument(
                format!("command must be one statement, not {statements}"),
                "Put several statements into a function, and call that with run_once().",
            ));
        }
        // A stale one may be at work further out: this run does without.
        let is_at_work = PLANS.with_borrow(|plans| plans.is_at_work(&meaning));
        if is_at_work
            || meaning.text.as_bytes().len() > LONGEST_KEPT
            || !means_the_same_later(first(sources).cast())
        {
            return Ok(Plan {
                pointer: plan,
                running: None,
            });
        }
        pg_sys::SPI_keepplan(plan);
        let (ready, oldest) = PLANS.with_borrow_mut(|plans| plans.keep(meaning, plan, names));
        if let Some(oldest) = oldest {
            pg_sys::SPI_freeplan(oldest);
        }
        Ok(ready)
    }
}

/// The first element of a list that has one.
///
/// # Safety
/// The list is one of pointers and is not empty.
unsafe fn first(list: *const pg_sys::List) -> *mut core::ffi::c_void {
    // SAFETY: the caller's promise.
    unsafe { (*(*list).elements).ptr_value }
}

/// The types whose constants are read from a command's text without regard to a setting or to the
/// clock: not those of dates and times, of which one may say `'now'`.
const SETTLED: [Oid; 20] = [
    pg_sys::BOOLOID,
    pg_sys::BYTEAOID,
    pg_sys::CHAROID,
    pg_sys::NAMEOID,
    pg_sys::INT8OID,
    pg_sys::INT2OID,
    pg_sys::INT4OID,
    pg_sys::TEXTOID,
    pg_sys::OIDOID,
    pg_sys::FLOAT4OID,
    pg_sys::FLOAT8OID,
    pg_sys::UNKNOWNOID,
    pg_sys::BPCHAROID,
    pg_sys::VARCHAROID,
    pg_sys::NUMERICOID,
    pg_sys::UUIDOID,
    pg_sys::JSONOID,
    pg_sys::JSONBOID,
    pg_sys::TEXTARRAYOID,
    // A sequence's or a table's name, of which the server tells when it is dropped.
    pg_sys::REGCLASSOID,
];

/// Whether a command would be understood later as it was now. The server itself prepares a kept
/// plan anew when a table, a function or the search path has changed. It does not when a setting
/// or the clock has, by which some constants were read.
///
/// # Safety
/// A source of a prepared plan, of whose statement the queries have been made.
unsafe fn means_the_same_later(source: *const pg_sys::CachedPlanSource) -> bool {
    // SAFETY: the caller's promise; the printed form of a tree is a NUL-terminated text.
    unsafe {
        let queries = (*source).query_list;
        if queries.is_null() || (*queries).length < 1 {
            return false;
        }
        let query = first(queries).cast::<pg_sys::Query>();
        if (*query).commandType == pg_sys::CmdType::CMD_UTILITY {
            return false;
        }
        let printed = pg_sys::nodeToString(queries.cast());
        let is_settled = has_settled_constants(CStr::from_ptr(printed).to_bytes());
        pg_sys::pfree(printed.cast());
        is_settled
    }
}

/// Whether every constant of a printed tree is of a settled type.
fn has_settled_constants(printed: &[u8]) -> bool {
    const LABEL: &[u8] = b":consttype ";
    let mut rest = printed;
    while let Some(at) = rest.windows(LABEL.len()).position(|part| part == LABEL) {
        rest = &rest[at + LABEL.len()..];
        let digits = rest.iter().take_while(|c| c.is_ascii_digit()).count();
        let number = core::str::from_utf8(&rest[..digits]).ok();
        let number = number.and_then(|number| number.parse::<u32>().ok());
        if !number.is_some_and(|number| SETTLED.contains(&Oid::from(number))) {
            return false;
        }
    }
    true
}

fn refused_command() -> Error {
    Error::argument(
        "command must not control a transaction or copy",
        "Use a statement such as INSERT, UPDATE, DELETE, MERGE, SELECT or CALL.",
    )
}

/// Runs a plan of one jsonb parameter and answers what it replied; nothing is JSON's null.
fn run<'a>(request: Json<'a>, plan: impl FnOnce() -> Result<Plan>) -> Result<Json<'a>> {
    let mut arguments = [Datum::from(request.image().as_ptr())];
    // SAFETY: the argument outlives the run; what is answered is copied out before SPI_finish
    // frees it. An error of Postgres's leaves the connection to the end of the (sub)transaction.
    unsafe {
        let outside = pg_sys::CurrentMemoryContext;
        pg_sys::SPI_connect();
        let plan = match plan() {
            Ok(plan) => plan,
            Err(error) => {
                pg_sys::SPI_finish();
                return Err(error);
            }
        };
        let result =
            pg_sys::SPI_execute_plan(plan.pointer, arguments.as_mut_ptr(), null(), false, 0);
        if result < 0 {
            pg_sys::SPI_finish();
            return Err(refused_command());
        }
        let reply = last_value().map(|datum| {
            let inside = pg_sys::MemoryContextSwitchTo(outside);
            let reply = Json::from_image(values::copied_image(datum));
            pg_sys::MemoryContextSwitchTo(inside);
            reply
        });
        pg_sys::SPI_finish();
        Ok(reply.unwrap_or_else(jsonb::null))
    }
}

/// The first column of the last row that SPI holds, as jsonb.
///
/// # Safety
/// SPI is connected and has just run a plan.
unsafe fn last_value() -> Option<Datum> {
    // SAFETY: the table holds as many rows as were processed, and has a column.
    unsafe {
        let table = pg_sys::SPI_tuptable;
        if table.is_null() || pg_sys::SPI_processed == 0 || (*(*table).tupdesc).natts < 1 {
            return None;
        }
        let last = *(*table).vals.add(pg_sys::SPI_processed as usize - 1);
        let mut null = false;
        let datum = pg_sys::SPI_getbinval(last, (*table).tupdesc, 1, &mut null);
        if null {
            return None;
        }
        let mut type_ = pg_sys::SPI_gettypeid((*table).tupdesc, 1);
        if type_ == pg_sys::JSONBOID {
            return Some(datum);
        }
        let mut value = datum;
        pg_sys::SPI_execute_with_args(
            c"SELECT pg_catalog.to_jsonb($1)".as_ptr(),
            1,
            &mut type_,
            &mut value,
            core::ptr::null(),
            false,
            1,
        );
        let table = pg_sys::SPI_tuptable;
        let datum = pg_sys::SPI_getbinval(*(*table).vals, (*table).tupdesc, 1, &mut null);
        (!null).then_some(datum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_told_by_their_types() {
        let printed = |types: &[u32]| {
            let constants: String = types
                .iter()
                .map(|oid| format!("{{CONST :consttype {oid} :consttypmod -1}}"))
                .collect();
            format!("({{QUERY :targetList ({constants})}})").into_bytes()
        };
        assert!(has_settled_constants(&printed(&[])));
        assert!(has_settled_constants(&printed(&[25, 20, 3802])));
        assert!(!has_settled_constants(&printed(&[25, 1184])), "a time");
        assert!(!has_settled_constants(&printed(&[1082, 25])), "a date");
        assert!(!has_settled_constants(b":consttype "), "something else");
    }
}
