//! Building, comparing and walking `jsonb`, without going through its text.

use crate::request::{Node, Tree};
use crate::value::Json;
use core::ffi::{c_char, CStr};
use core::ptr::null_mut;
use pgrx::pg_sys::{self, jbvType, JsonbIteratorToken as Token, JsonbValue};

/// `{"name": number}`, in the current memory context.
pub fn object<'a>(name: &'static str, number: i64) -> Json<'a> {
    // SAFETY: the parse state is only what pushJsonbValue made of it; a key is a string value
    // that borrows a static text; the numeric lives in the current context, as does the result.
    unsafe {
        let mut state: *mut pg_sys::JsonbParseState = null_mut();
        let mut key = value(jbvType::jbvString);
        key.val.string.len = name.len() as i32;
        key.val.string.val = name.as_ptr().cast_mut().cast::<c_char>();
        let mut member = value(jbvType::jbvNumeric);
        member.val.numeric = pg_sys::int64_to_numeric(number);
        pg_sys::pushJsonbValue(&mut state, Token::WJB_BEGIN_OBJECT, null_mut());
        pg_sys::pushJsonbValue(&mut state, Token::WJB_KEY, &mut key);
        pg_sys::pushJsonbValue(&mut state, Token::WJB_VALUE, &mut member);
        let whole = pg_sys::pushJsonbValue(&mut state, Token::WJB_END_OBJECT, null_mut());
        let jsonb = pg_sys::JsonbValueToJsonb(whole).cast::<pg_sys::varlena>();
        Json::from_image(core::slice::from_raw_parts(
            jsonb.cast(),
            pgrx::varsize_any(jsonb),
        ))
    }
}

fn value(type_: jbvType::Type) -> JsonbValue {
    JsonbValue {
        type_,
        ..JsonbValue::default()
    }
}

/// Postgres's own equality of `jsonb`.
pub fn equal(a: Json<'_>, b: Json<'_>) -> bool {
    // SAFETY: both are whole jsonb images; the comparison reads only.
    unsafe { pg_sys::compareJsonbContainers(root(a), root(b)) == 0 }
}

/// Whether the value is JSON's null.
pub fn is_null(json: Json<'_>) -> bool {
    matches!(tree(json).as_slice(), [Node::Null])
}

fn root(json: Json<'_>) -> *mut pg_sys::JsonbContainer {
    // The container follows the header; Postgres takes it as mutable and does not write to it.
    json.bytes().as_ptr().cast_mut().cast()
}

/// The whole value, laid out for the rules.
pub fn tree(json: Json<'_>) -> Tree {
    enum Open {
        Array(Vec<usize>),
        Object(Vec<(String, usize)>, String),
        /// jsonb keeps a scalar as the only element of an array that is marked so.
        Scalar,
    }
    let mut nodes = Tree::new();
    let mut open: Vec<Open> = Vec::new();
    // SAFETY: the iterator walks an image that outlives it and is advanced until it is done; a
    // token's value is initialised where the token has one.
    unsafe {
        let mut walk = pg_sys::JsonbIteratorInit(root(json));
        let mut at = JsonbValue::default();
        loop {
            let node = match pg_sys::JsonbIteratorNext(&mut walk, &mut at, false) {
                Token::WJB_DONE => return nodes,
                Token::WJB_BEGIN_ARRAY if at.val.array.rawScalar => {
                    open.push(Open::Scalar);
                    continue;
                }
                Token::WJB_BEGIN_ARRAY => {
                    open.push(Open::Array(Vec::new()));
                    continue;
                }
                Token::WJB_BEGIN_OBJECT => {
                    open.push(Open::Object(Vec::new(), String::new()));
                    continue;
                }
                Token::WJB_KEY => {
                    if let Some(Open::Object(_, name)) = open.last_mut() {
                        *name = string(&at);
                    }
                    continue;
                }
                Token::WJB_END_ARRAY | Token::WJB_END_OBJECT => match open.pop() {
                    Some(Open::Array(elements)) => Node::Array(elements),
                    Some(Open::Object(members, _)) => Node::Object(members),
                    Some(Open::Scalar) | None => continue,
                },
                _ => scalar(&at),
            };
            nodes.push(node);
            let index = nodes.len() - 1;
            match open.last_mut() {
                Some(Open::Array(elements)) => elements.push(index),
                Some(Open::Object(members, name)) => members.push((core::mem::take(name), index)),
                Some(Open::Scalar) | None => {}
            }
        }
    }
}

/// # Safety
/// `at` is a string or a key.
unsafe fn string(at: &JsonbValue) -> String {
    // SAFETY: a string value tells its length; its bytes lie in the walked image.
    unsafe {
        let text = at.val.string;
        let bytes = core::slice::from_raw_parts(text.val.cast::<u8>(), text.len as usize);
        String::from_utf8_lossy(bytes).into_owned()
    }
}

/// # Safety
/// `at` is an initialised scalar.
unsafe fn scalar(at: &JsonbValue) -> Node {
    // SAFETY: the type tells which member of the union is set; numeric_normalize answers a
    // NUL-terminated text.
    unsafe {
        match at.type_ {
            jbvType::jbvBool => Node::Bool(at.val.boolean),
            jbvType::jbvString => Node::String(string(at)),
            jbvType::jbvNumeric => {
                let text = pg_sys::numeric_normalize(at.val.numeric);
                let number = CStr::from_ptr(text).to_string_lossy().into_owned();
                pg_sys::pfree(text.cast());
                Node::Number(number)
            }
            _ => Node::Null,
        }
    }
}
