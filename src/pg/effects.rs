//! Running a caller's own function as an effect, with his rights and his search path.

use crate::error::{Error, Result};
use crate::pg::{jsonb, values, versions};
use crate::value::Json;
use pgrx::pg_sys::{self, Datum, Oid};

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
            let mut usage = pg_sys::PgStat_FunctionCallUsage::default();
            pg_sys::pgstat_init_function_usage(frame, &mut usage);
            let reply = match (*info).fn_addr {
                Some(function) => pg_sys::ffi::pg_guard_ffi_boundary(|| function(frame)),
                None => Datum::null(),
            };
            pg_sys::pgstat_end_function_usage(&mut usage, true);
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
