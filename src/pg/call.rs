//! A call from SQL: its arguments, and the ways to answer it.

use crate::error::{Error, Result};
use crate::pg::{errors, values};
use crate::value::{Json, Text, Value};
use core::cell::OnceCell;
use core::marker::PhantomData;
use pgrx::pg_sys::{self, Datum};

/// A call while it runs. What it borrows lives until it is answered.
pub struct Call<'a> {
    frame: pg_sys::FunctionCallInfo,
    lifetime: PhantomData<&'a ()>,
}

impl<'a> Call<'a> {
    /// Runs a door's body and answers with what it returns, or raises its error.
    ///
    /// # Safety
    /// `frame` is the call information that Postgres passed to a function of version 1.
    pub unsafe fn answer(
        frame: pg_sys::FunctionCallInfo,
        body: impl FnOnce(&Call<'a>) -> Result<Datum>,
    ) -> Datum {
        let call = Call {
            frame,
            lifetime: PhantomData,
        };
        match call.check_encoding().and_then(|()| body(&call)) {
            Ok(datum) => datum,
            Err(error) => errors::raise(error.report()),
        }
    }

    fn check_encoding(&self) -> Result<()> {
        thread_local! {
            /// The database's encoding, which stays the same for the life of a backend.
            static IS_UTF8: OnceCell<bool> = const { OnceCell::new() };
        }
        let is_utf8 = IS_UTF8.with(|known| {
            // SAFETY: reads the database's encoding.
            *known.get_or_init(|| unsafe {
                pg_sys::GetDatabaseEncoding() == pg_sys::pg_enc::PG_UTF8 as i32
            })
        });
        if is_utf8 {
            Ok(())
        } else {
            Err(Error::Encoding)
        }
    }

    /// The function that was called.
    pub fn function(&self) -> pg_sys::Oid {
        // SAFETY: Postgres fills in flinfo for every call by SQL.
        unsafe { (*(*self.frame).flinfo).fn_oid }
    }

    fn argument(&self, n: usize) -> Option<Datum> {
        // SAFETY: the SQL declaration has more than n arguments, and their datums follow the frame.
        unsafe {
            debug_assert!(n < (*self.frame).nargs as usize);
            let argument = (*self.frame).args.as_slice((*self.frame).nargs as usize)[n];
            (!argument.isnull).then_some(argument.value)
        }
    }

    pub fn bigint(&self, n: usize) -> Option<i64> {
        self.argument(n).map(|datum| datum.value() as i64)
    }

    pub fn int(&self, n: usize) -> Option<i32> {
        self.argument(n).map(|datum| datum.value() as i32)
    }

    pub fn oid(&self, n: usize) -> Option<pg_sys::Oid> {
        self.argument(n)
            .map(|datum| pg_sys::Oid::from(datum.value() as u32))
    }

    /// An interval in microseconds; a month counts 30 days, and a day 24 hours.
    pub fn interval(&self, n: usize) -> Option<i128> {
        // SAFETY: declared as interval, which is a pointer to a structure of this type.
        let interval = unsafe { *self.argument(n)?.cast_mut_ptr::<pg_sys::Interval>() };
        let days = i128::from(interval.month) * 30 + i128::from(interval.day);
        Some(days * 86_400_000_000 + i128::from(interval.time))
    }

    pub fn text(&self, n: usize) -> Option<Text<'a>> {
        // SAFETY: declared as text; arguments and copies of them live as long as the call.
        self.argument(n)
            .map(|datum| Text::from_image(unsafe { values::image(datum) }))
    }

    pub fn json(&self, n: usize) -> Option<Json<'a>> {
        // SAFETY: declared as jsonb; arguments and copies of them live as long as the call.
        self.argument(n)
            .map(|datum| Json::from_image(unsafe { values::image(datum) }))
    }

    pub fn uuid(&self, n: usize) -> Option<&'a [u8; 16]> {
        // SAFETY: declared as uuid, which is a pointer to 16 bytes that live as long as the call.
        self.argument(n)
            .map(|datum| unsafe { &*datum.cast_mut_ptr::<[u8; 16]>().cast_const() })
    }

    /// The table whose trigger this call is, if it is one.
    pub fn triggering_table(&self) -> Option<pg_sys::Oid> {
        // SAFETY: a call's context is null or a node, and a node of this type is TriggerData,
        // whose relation is open.
        unsafe {
            let context = (*self.frame).context;
            let is_trigger =
                !context.is_null() && (*context).type_ == pg_sys::NodeTag::T_TriggerData;
            is_trigger.then(|| (*(*context.cast::<pg_sys::TriggerData>()).tg_relation).rd_id)
        }
    }

    /// Answers a trigger that changes no row.
    pub fn nothing(&self) -> Datum {
        Datum::null()
    }

    /// Answers with one value.
    pub fn value(&self, value: Value<'a>) -> Datum {
        let datum = values::datum(value);
        // SAFETY: the frame is Postgres's, and this is where a function says that it returns NULL.
        unsafe { (*self.frame).isnull = datum.is_none() };
        datum.unwrap_or(Datum::null())
    }

    /// Answers a table function with its rows.
    pub fn rows<'r>(&self, rows: impl IntoIterator<Item = &'r [Value<'a>]>) -> Datum
    where
        'a: 'r,
    {
        // SAFETY: declared as returning a table of as many columns, so that Postgres passes a
        // ReturnSetInfo, which InitMaterializedSRF checks and fills in.
        unsafe {
            // The caller tells what it expects, which is what was declared.
            pg_sys::InitMaterializedSRF(self.frame, pg_sys::MAT_SRF_USE_EXPECTED_DESC);
            let result = (*self.frame).resultinfo.cast::<pg_sys::ReturnSetInfo>();
            for row in rows {
                debug_assert_eq!((*(*result).setDesc).natts as usize, row.len());
                let datums = || row.iter().map(|value| values::datum(*value));
                let mut values: Vec<Datum> = datums()
                    .map(|datum| datum.unwrap_or(Datum::null()))
                    .collect();
                let mut nulls: Vec<bool> = datums().map(|datum| datum.is_none()).collect();
                pg_sys::tuplestore_putvalues(
                    (*result).setResult,
                    (*result).setDesc,
                    values.as_mut_ptr(),
                    nulls.as_mut_ptr(),
                );
            }
            (*self.frame).isnull = true;
        }
        Datum::null()
    }
}
