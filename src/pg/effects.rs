//! Running a caller's own effect: a function, or a command, with his rights and his search path.

use crate::error::{Error, Result};
use crate::pg::{jsonb, values, versions};
use crate::value::Json;
use core::ffi::CStr;
use core::ptr::null;
use pgrx::pg_sys::{self, Datum, Oid};
use std::ffi::CString;

/// A function that may be an effect: `f(jsonb) returns jsonb`.
pub struct Function {
    oid: Oid,
}

impl Function {
    /// Looks a function up and refuses one of another shape.
    pub fn of(function: Oid) -> Result<Self> {
        // SAFETY: the tuple is held while it is read, and its fixed part is a Form_pg_proc, whose
        // argument types follow as an oidvector of pronargs elements.
        unsafe {
            let tuple = pg_sys::SearchSysCache1(
                pg_sys::SysCacheIdentifier::PROCOID as i32,
                Datum::from(function),
            );
            if tuple.is_null() {
                return Err(Error::NoEffect);
            }
            let form = pg_sys::heap_tuple_get_struct::<pg_sys::FormData_pg_proc>(tuple);
            let right = (*form).prokind as u8 == pg_sys::PROKIND_FUNCTION
                && !(*form).proretset
                && (*form).prorettype == pg_sys::JSONBOID
                && (*form).pronargs == 1
                && (*form).proargtypes.values.as_slice(1)[0] == pg_sys::JSONBOID;
            pg_sys::ReleaseSysCache(tuple);
            if !right {
                return Err(Error::argument(
                    "effect must be a function of one jsonb argument that returns jsonb",
                    "It must not return a set, and must be neither an aggregate, a window function nor a procedure.",
                ));
            }
            Ok(Function { oid: function })
        }
    }

    /// Calls it, if the caller may. Through the function manager, as the executor does: a plan
    /// would add its own start and end, and nothing else.
    pub fn call<'a>(&self, request: Json<'a>) -> Result<Json<'a>> {
        versions::check_execute(self.oid);
        // SAFETY: the frame is zeroed memory with room for one argument, which is what the
        // function takes; the snapshot is of now, and popped after the call. An error leaves both
        // to the end of the (sub)transaction. The function is called behind a boundary, with
        // nothing on the stack that would have to be dropped.
        unsafe {
            pg_sys::CommandCounterIncrement();
            pg_sys::PushActiveSnapshot(pg_sys::GetTransactionSnapshot());
            let info = pg_sys::palloc0(size_of::<pg_sys::FmgrInfo>()).cast::<pg_sys::FmgrInfo>();
            pg_sys::fmgr_info(self.oid, info);
            let room =
                size_of::<pg_sys::FunctionCallInfoBaseData>() + size_of::<pg_sys::NullableDatum>();
            let frame = pg_sys::palloc0(room).cast::<pg_sys::FunctionCallInfoBaseData>();
            (*frame).flinfo = info;
            (*frame).nargs = 1;
            (*frame).args.as_mut_slice(1)[0].value = Datum::from(request.image().as_ptr());
            let reply = match (*info).fn_addr {
                Some(function) => pg_sys::ffi::pg_guard_ffi_boundary(|| function(frame)),
                None => Datum::null(),
            };
            let reply = if (*frame).isnull || (*info).fn_addr.is_none() {
                jsonb::null()
            } else {
                Json::from_image(values::copied_image(reply))
            };
            pg_sys::PopActiveSnapshot();
            Ok(reply)
        }
    }
}

/// Runs a command, in which `$1` is the request. Its last row's first column is the reply.
pub fn command<'a>(command: &[u8], request: Json<'a>) -> Result<Json<'a>> {
    let command = CString::new(command).unwrap_or_default();
    run(request, || {
        let plan = prepare(&command)?;
        // SAFETY: a prepared plan has a list of its statements' sources, which may be null.
        let statements = unsafe {
            let sources = pg_sys::SPI_plan_get_plan_sources(plan);
            if sources.is_null() {
                0
            } else {
                (*sources).length
            }
        };
        if statements == 1 {
            Ok(plan)
        } else {
            Err(Error::argument(
                format!("command must be one statement, not {statements}"),
                "Put several statements into a function, and call that with run_once().",
            ))
        }
    })
}

fn prepare(text: &CStr) -> Result<pg_sys::SPIPlanPtr> {
    let mut types = [pg_sys::JSONBOID];
    // SAFETY: called with SPI connected; text and types outlive the preparation.
    let plan = unsafe { pg_sys::SPI_prepare(text.as_ptr(), 1, types.as_mut_ptr()) };
    if plan.is_null() {
        return Err(refused_command());
    }
    Ok(plan)
}

fn refused_command() -> Error {
    Error::argument(
        "command must not control a transaction or copy",
        "Use a statement such as INSERT, UPDATE, DELETE, MERGE, SELECT or CALL.",
    )
}

/// Runs a plan of one jsonb parameter and answers what it replied; nothing is JSON's null.
fn run<'a>(
    request: Json<'a>,
    plan: impl FnOnce() -> Result<pg_sys::SPIPlanPtr>,
) -> Result<Json<'a>> {
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
        let result = pg_sys::SPI_execute_plan(plan, arguments.as_mut_ptr(), null(), false, 0);
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
