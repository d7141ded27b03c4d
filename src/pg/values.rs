//! Between Postgres datums and values.

use crate::store::tables::Kind;
use crate::value::{Json, Text, Value, VARLENA_HEADER};
use pgrx::pg_sys::{self, Datum};

/// The bytes of a varlena, in its plain form: detoasted, decompressed, with a four-byte header.
///
/// # Safety
/// `datum` is a non-null varlena that lives as long as `'a`, or the memory context in which it
/// would be copied does.
pub unsafe fn image<'a>(datum: Datum) -> &'a [u8] {
    // SAFETY: the caller's promise; pg_detoast_datum answers a plain varlena, whose header tells
    // its whole size.
    unsafe {
        let given = datum.cast_mut_ptr::<pg_sys::varlena>();
        let plain = if pgrx::varatt_is_4b_u(given) {
            given
        } else {
            pg_sys::pg_detoast_datum(given)
        };
        core::slice::from_raw_parts(plain.cast::<u8>(), pgrx::varsize_any(plain))
    }
}

/// The same, always as a copy in the current memory context.
///
/// # Safety
/// `datum` is a non-null varlena, and the current memory context outlives `'a`.
pub unsafe fn copied_image<'a>(datum: Datum) -> &'a [u8] {
    // SAFETY: as above.
    unsafe {
        let plain = pg_sys::pg_detoast_datum_copy(datum.cast_mut_ptr());
        core::slice::from_raw_parts(plain.cast::<u8>(), pgrx::varsize_any(plain))
    }
}

/// A value as a datum; `None` is SQL's NULL. The datum borrows what the value borrows.
pub fn datum(value: Value<'_>) -> Option<Datum> {
    match value {
        Value::Null => None,
        Value::Bool(b) => Some(Datum::from(b)),
        Value::Bigint(n) | Value::Timestamp(n) => Some(Datum::from(n)),
        Value::Int(n) => Some(Datum::from(n)),
        Value::Text(text) => Some(Datum::from(text.image().as_ptr())),
        Value::Json(json) => Some(Datum::from(json.image().as_ptr())),
        Value::Uuid(uuid) => Some(Datum::from(uuid.as_ptr())),
    }
}

/// A non-null datum of a column as a value of its own, in the current memory context.
///
/// # Safety
/// `datum` is of the type that `kind` names, and the current memory context outlives `'a`.
pub unsafe fn copied<'a>(kind: Kind, datum: Datum) -> Value<'a> {
    // SAFETY: the caller's promise that the datum has this type.
    unsafe {
        match kind {
            Kind::Bigint => Value::Bigint(datum.value() as i64),
            Kind::Timestamp => Value::Timestamp(datum.value() as i64),
            Kind::Int => Value::Int(datum.value() as i32),
            Kind::Text => Value::Text(Text::from_image(copied_image(datum))),
            Kind::Json => Value::Json(Json::from_image(copied_image(datum))),
            Kind::Uuid => {
                let copy = pg_sys::palloc(16).cast::<u8>();
                core::ptr::copy_nonoverlapping(datum.cast_mut_ptr::<u8>(), copy, 16);
                Value::Uuid(&*copy.cast::<[u8; 16]>())
            }
        }
    }
}

/// The type of a kind of column.
pub fn type_of(kind: Kind) -> pg_sys::Oid {
    match kind {
        Kind::Bigint => pg_sys::INT8OID,
        Kind::Int => pg_sys::INT4OID,
        Kind::Text => pg_sys::TEXTOID,
        Kind::Uuid => pg_sys::UUIDOID,
        Kind::Json => pg_sys::JSONBOID,
        Kind::Timestamp => pg_sys::TIMESTAMPTZOID,
    }
}

/// A text of the extension's own, in the current memory context.
pub fn text<'a>(content: &str) -> Value<'a> {
    bytes(content.as_bytes())
}

/// A text from bytes that are valid in the database's encoding, in the current memory context.
pub fn bytes<'a>(content: &[u8]) -> Value<'a> {
    // SAFETY: allocates what it fills: a header that tells the whole size, then the content.
    unsafe {
        let size = VARLENA_HEADER + content.len();
        let image = pg_sys::palloc(size).cast::<u8>();
        pgrx::set_varsize_4b(image.cast(), size as i32);
        core::ptr::copy_nonoverlapping(content.as_ptr(), image.add(VARLENA_HEADER), content.len());
        Value::Text(Text::from_image(core::slice::from_raw_parts(image, size)))
    }
}

/// The same as a text of its own.
pub fn own_text<'a>(content: &[u8]) -> Option<Text<'a>> {
    match bytes(content) {
        Value::Text(text) => Some(text),
        _ => None,
    }
}
