//! A digest by which a request can be recognised after it was forgotten.

use super::tree::{Node, Tree};
use sha2::{Digest, Sha256};

/// SHA-256, in hexadecimal, over an identity and a JSON value in one canonical form: equal values
/// have equal digests, whatever the order of their names.
pub fn of(value: &Tree, identity: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in identity {
        text(&mut hash, b'i', part);
    }
    // What is still to be written: a node, or the name that stands before one.
    enum Open<'t> {
        Node(usize),
        Name(&'t str),
    }
    let mut open = vec![Open::Node(value.root)];
    while let Some(next) = open.pop() {
        let index = match next {
            Open::Node(index) => index,
            Open::Name(name) => {
                text(&mut hash, b'k', name.as_bytes());
                continue;
            }
        };
        match value.node(index) {
            Node::Null => hash.update(b"z"),
            Node::Bool(true) => hash.update(b"t"),
            Node::Bool(false) => hash.update(b"f"),
            Node::Number(number) => text(&mut hash, b'n', number.as_bytes()),
            Node::String(string) => text(&mut hash, b's', string.as_bytes()),
            Node::Array(elements) => {
                count(&mut hash, b'[', elements.len());
                open.extend(elements.iter().rev().map(|&index| Open::Node(index)));
            }
            Node::Object(members) => {
                count(&mut hash, b'{', members.len());
                let mut members: Vec<_> = members.iter().collect();
                members.sort();
                for (name, index) in members.into_iter().rev() {
                    open.push(Open::Node(*index));
                    open.push(Open::Name(name));
                }
            }
        }
    }
    hash.finalize()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

fn text(hash: &mut Sha256, kind: u8, content: &[u8]) {
    count(hash, kind, content.len());
    hash.update(content);
}

/// A length before what it counts keeps the form unambiguous.
fn count(hash: &mut Sha256, kind: u8, length: usize) {
    hash.update([kind]);
    hash.update((length as u64).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::tree::tests::parse;

    #[test]
    fn equal_values_have_equal_digests_and_others_have_others() {
        let digest = |text| of(&parse(text), &[]);
        assert_eq!(digest(r#"{"a":1,"b":[2]}"#), digest(r#"{"b":[2],"a":1}"#));
        let values = [
            "null",
            "false",
            "0",
            "\"\"",
            "[]",
            "{}",
            "[[]]",
            "[[],[]]",
            "[1,2]",
            "[12]",
            r#"{"a":{}}"#,
            r#"["a",{}]"#,
            "\"1\"",
            "1",
            "[2,1]",
        ];
        let mut seen: Vec<_> = values.iter().map(|text| digest(text)).collect();
        seen.sort();
        seen.dedup();
        assert_eq!(seen.len(), values.len());
    }
}
