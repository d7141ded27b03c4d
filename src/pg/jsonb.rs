//! Building, comparing and walking `jsonb`, without going through its text.

use crate::pg::raw;
use crate::request::tree::{Node, Tree};
use crate::value::{Json, VARLENA_HEADER};
use core::ffi::{c_char, CStr};
use core::ptr::null_mut;
use pgrx::pg_sys::{self, jbvType, JsonbIteratorToken as Token, JsonbValue};
use std::ffi::CString;

/// `{"name": number}`, in the current memory context.
///
/// Laid out here as the server lays it out, for every debit makes two: a header that counts the
/// members, an entry for the key and one for the value, the key, and the number at the next multiple
/// of four bytes. A test compares it with the server's own.
pub fn object<'a>(name: &'static str, number: i64) -> Json<'a> {
    const ENTRIES: usize = VARLENA_HEADER + size_of::<u32>();
    const KEY: usize = ENTRIES + 2 * size_of::<u32>();
    let value = (KEY + name.len()).next_multiple_of(size_of::<u32>());
    // SAFETY: allocates what it fills in, whose size is counted first; the number is a varlena with
    // a four-byte header. The steps are taken behind one boundary, with nothing on the stack that
    // would have to be dropped.
    unsafe {
        pg_sys::ffi::pg_guard_ffi_boundary(|| {
            let numeric = raw::int64_to_numeric(number).cast::<pg_sys::varlena>();
            let length = pgrx::varsize_any(numeric);
            let size = value + length;
            let image = raw::palloc0(size).cast::<u8>();
            pgrx::set_varsize_4b(image.cast(), size as i32);
            let words = image.add(VARLENA_HEADER).cast::<u32>();
            *words = pg_sys::JB_FOBJECT | 1;
            // Every so many entries, of which the first is one, the offset stands for the length.
            *words.add(1) = pg_sys::JENTRY_ISSTRING | pg_sys::JENTRY_HAS_OFF | name.len() as u32;
            // The padding counts.
            let padded = size - KEY - name.len();
            *words.add(2) = pg_sys::JENTRY_ISNUMERIC | padded as u32;
            core::ptr::copy_nonoverlapping(name.as_ptr(), image.add(KEY), name.len());
            core::ptr::copy_nonoverlapping(numeric.cast::<u8>(), image.add(value), length);
            Json::from_image(core::slice::from_raw_parts(image, size))
        })
    }
}

/// JSON's null.
pub fn null<'a>() -> Json<'a> {
    let mut tree = Tree::new();
    tree.add(Node::Null);
    from_tree(&tree)
}

/// A tree as `jsonb`, in the current memory context.
pub fn from_tree<'a>(tree: &Tree) -> Json<'a> {
    /// What is still to be written.
    enum Open<'t> {
        Node(usize, Token::Type),
        Name(&'t str),
        End(Token::Type),
    }
    let mut open = vec![Open::Node(tree.root, Token::WJB_ELEM)];
    // SAFETY: the parse state is only what pushJsonbValue made of it; strings borrow from the
    // tree, which outlives the building; the result lives in the current context. A scalar at the
    // root is the only element of an array that is marked so, as jsonb wants it.
    unsafe {
        let mut state: *mut pg_sys::JsonbParseState = null_mut();
        let mut whole: *mut JsonbValue = null_mut();
        let scalar_root = !matches!(tree.top(), Node::Array(_) | Node::Object(_));
        if scalar_root {
            let mut array = value(jbvType::jbvArray);
            array.val.array.rawScalar = true;
            array.val.array.nElems = 1;
            pg_sys::pushJsonbValue(&mut state, Token::WJB_BEGIN_ARRAY, &mut array);
            open.insert(0, Open::End(Token::WJB_END_ARRAY));
        }
        while let Some(next) = open.pop() {
            match next {
                Open::End(end) => whole = pg_sys::pushJsonbValue(&mut state, end, null_mut()),
                Open::Name(name) => {
                    let mut key = text(name);
                    pg_sys::pushJsonbValue(&mut state, Token::WJB_KEY, &mut key);
                }
                Open::Node(index, place) => match tree.node(index) {
                    Node::Array(elements) => {
                        pg_sys::pushJsonbValue(&mut state, Token::WJB_BEGIN_ARRAY, null_mut());
                        open.push(Open::End(Token::WJB_END_ARRAY));
                        open.extend(
                            elements
                                .iter()
                                .rev()
                                .map(|&i| Open::Node(i, Token::WJB_ELEM)),
                        );
                    }
                    Node::Object(members) => {
                        pg_sys::pushJsonbValue(&mut state, Token::WJB_BEGIN_OBJECT, null_mut());
                        open.push(Open::End(Token::WJB_END_OBJECT));
                        for (name, index) in members {
                            open.push(Open::Node(*index, Token::WJB_VALUE));
                            open.push(Open::Name(name));
                        }
                    }
                    scalar => {
                        let mut scalar = from_scalar(scalar);
                        pg_sys::pushJsonbValue(&mut state, place, &mut scalar);
                    }
                },
            }
        }
        image(whole)
    }
}

/// # Safety
/// A finished value of pushJsonbValue's.
unsafe fn image<'a>(whole: *mut JsonbValue) -> Json<'a> {
    // SAFETY: answers a whole jsonb in the current memory context.
    unsafe {
        let jsonb = pg_sys::JsonbValueToJsonb(whole).cast::<pg_sys::varlena>();
        Json::from_image(core::slice::from_raw_parts(
            jsonb.cast(),
            pgrx::varsize_any(jsonb),
        ))
    }
}

fn text(content: &str) -> JsonbValue {
    let mut text = value(jbvType::jbvString);
    text.val.string.len = content.len() as i32;
    text.val.string.val = content.as_ptr().cast_mut().cast::<c_char>();
    text
}

fn from_scalar(node: &Node) -> JsonbValue {
    match node {
        Node::Bool(boolean) => {
            let mut scalar = value(jbvType::jbvBool);
            scalar.val.boolean = *boolean;
            scalar
        }
        Node::String(string) => text(string),
        Node::Number(number) => {
            let number = CString::new(number.as_str()).unwrap_or_default();
            let mut scalar = value(jbvType::jbvNumeric);
            // SAFETY: the text is NUL-terminated, and was made by numeric's own output or is a
            // constant of ours; the numeric is made in the current memory context.
            let numeric = unsafe {
                pg_sys::OidInputFunctionCall(
                    pg_sys::Oid::from(pg_sys::F_NUMERIC_IN),
                    number.as_ptr().cast_mut(),
                    pg_sys::InvalidOid,
                    -1,
                )
            };
            scalar.val.numeric = numeric.cast_mut_ptr();
            scalar
        }
        _ => value(jbvType::jbvNull),
    }
}

/// Whether the value is an object with this member.
pub fn has_member(json: Json<'_>, name: &str) -> bool {
    // SAFETY: the container is an object, and the key is read only; the answer is allocated or
    // null.
    unsafe {
        let container = root(json);
        (*container).header & pg_sys::JB_FOBJECT != 0
            && !pg_sys::getKeyJsonValueFromContainer(
                container,
                name.as_ptr().cast(),
                name.len() as i32,
                null_mut(),
            )
            .is_null()
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
    a.bytes() == b.bytes() || unsafe { pg_sys::compareJsonbContainers(root(a), root(b)) == 0 }
}

/// Whether the value is JSON's null.
pub fn is_null(json: Json<'_>) -> bool {
    // SAFETY: the container's header says whether it is the array that holds a scalar, which then
    // has one entry.
    unsafe {
        let container = root(json);
        (*container).header & pg_sys::JB_FSCALAR != 0
            && (*container).children.as_slice(1)[0] & pg_sys::JENTRY_TYPEMASK
                == pg_sys::JENTRY_ISNULL
    }
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
            let index = nodes.add(node);
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
