//! Whether two requests are the same, and where they differ.
//!
//! Requests are compared as `jsonb` values: key order and white space do not matter, `1` equals
//! `1.0`, and 2^53 is not 2^53+1. A report names paths, never values.

/// How many differing paths a report names.
pub const MAX_DIFFERENCES: usize = 8;

/// How many bytes of a path a report shows.
const MAX_PATH_BYTES: usize = 120;

/// How the request at hand differs from the stored one at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Changed,
    Added,
    Missing,
}

/// One place where two requests differ. The path is a JSON pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    pub kind: Kind,
    pub path: String,
}

impl Difference {
    /// A column of its own, outside any JSON.
    pub fn column(name: &str) -> Self {
        Difference {
            kind: Kind::Changed,
            path: format!("/{name}"),
        }
    }
}

/// A JSON value laid out flat: a node refers to its children by index, so that neither building
/// nor dropping a deep one recurses.
#[derive(Debug, PartialEq, Eq)]
pub enum Node {
    Null,
    Bool(bool),
    /// Normalised by Postgres: `1.0` and `1` have one text.
    Number(String),
    String(String),
    Array(Vec<usize>),
    /// In any order; a name occurs once.
    Object(Vec<(String, usize)>),
}

/// A JSON value; the root is the last node.
pub type Tree = Vec<Node>;

/// The paths at which `given` differs from `kept`, both below `root`; at most [`MAX_DIFFERENCES`].
pub fn differences(root: &str, kept: &Tree, given: &Tree) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut open = vec![(format!("/{root}"), kept.len() - 1, given.len() - 1)];
    if root.is_empty() {
        open[0].0.clear();
    }
    while let Some((path, k, g)) = open.pop() {
        if found.len() == MAX_DIFFERENCES {
            break;
        }
        match (&kept[k], &given[g]) {
            (Node::Array(a), Node::Array(b)) => {
                for (i, (&k, &g)) in a.iter().zip(b).enumerate().rev() {
                    open.push((below(&path, &i.to_string()), k, g));
                }
                let (kind, from, to) = if a.len() > b.len() {
                    (Kind::Missing, b.len(), a.len())
                } else {
                    (Kind::Added, a.len(), b.len())
                };
                for i in from..to {
                    push(&mut found, kind, below(&path, &i.to_string()));
                }
            }
            (Node::Object(a), Node::Object(b)) => objects(&path, a, b, &mut open, &mut found),
            (a, b) if a == b => {}
            _ => push(&mut found, Kind::Changed, path),
        }
    }
    found
}

type Open = Vec<(String, usize, usize)>;

fn objects(
    path: &str,
    kept: &[(String, usize)],
    given: &[(String, usize)],
    open: &mut Open,
    found: &mut Vec<Difference>,
) {
    let by_name = |members: &[(String, usize)]| {
        members
            .iter()
            .map(|(name, node)| (name.clone(), *node))
            .collect::<std::collections::BTreeMap<_, _>>()
    };
    let (kept, given) = (by_name(kept), by_name(given));
    for (name, &k) in kept.iter().rev() {
        match given.get(name) {
            Some(&g) => open.push((below(path, name), k, g)),
            None => push(found, Kind::Missing, below(path, name)),
        }
    }
    for name in given.keys().filter(|name| !kept.contains_key(*name)) {
        push(found, Kind::Added, below(path, name));
    }
}

fn push(found: &mut Vec<Difference>, kind: Kind, path: String) {
    if found.len() < MAX_DIFFERENCES {
        found.push(Difference { kind, path });
    }
}

/// A path one step down, escaped as a JSON pointer; what is too long to show keeps its end.
fn below(path: &str, step: &str) -> String {
    let step = step.replace('~', "~0").replace('/', "~1");
    let mut whole = format!("{path}/{step}");
    if whole.len() > MAX_PATH_BYTES {
        let mut from = whole.len() - MAX_PATH_BYTES;
        while !whole.is_char_boundary(from) {
            from += 1;
        }
        whole = format!("…{}", &whole[from..]);
    }
    whole
}

/// The differing paths as a sentence for a person, without any value.
pub fn describe(differences: &[Difference]) -> String {
    if differences.is_empty() {
        return "The requests differ.".to_owned();
    }
    let list = differences
        .iter()
        .map(|d| {
            let path = if d.path.is_empty() { "(root)" } else { &d.path };
            match d.kind {
                Kind::Changed => path.to_owned(),
                Kind::Added => format!("{path} (added)"),
                Kind::Missing => format!("{path} (missing)"),
            }
        })
        .collect::<Vec<_>>()
        .join(", ");
    let more = if differences.len() >= MAX_DIFFERENCES {
        ", and possibly more"
    } else {
        ""
    };
    format!("Differing paths: {list}{more}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Node {
        Node::Number(text.to_owned())
    }

    fn object(mut nodes: Tree, members: &[(&str, usize)]) -> Tree {
        nodes.push(Node::Object(
            members.iter().map(|&(n, i)| (n.to_owned(), i)).collect(),
        ));
        nodes
    }

    #[test]
    fn equal_values_do_not_differ_whatever_the_order_of_names() {
        let a = object(vec![number("1"), number("2")], &[("x", 0), ("y", 1)]);
        let b = object(vec![number("2"), number("1")], &[("y", 0), ("x", 1)]);
        assert_eq!(differences("", &a, &b), vec![]);
    }

    #[test]
    fn added_missing_and_changed_members_are_named() {
        let a = object(vec![number("1"), number("2")], &[("x", 0), ("gone", 1)]);
        let b = object(vec![number("9"), number("2")], &[("x", 0), ("new/~", 1)]);
        let said = describe(&differences("message", &a, &b));
        assert!(said.contains("/message/x"), "{said}");
        assert!(said.contains("/message/gone (missing)"), "{said}");
        assert!(said.contains("/message/new~1~0 (added)"), "{said}");
        assert!(!said.contains('9'), "{said}");
    }

    #[test]
    fn arrays_differ_by_place_and_length() {
        let a = vec![number("1"), number("2"), Node::Array(vec![0, 1])];
        let b = vec![
            number("2"),
            number("1"),
            number("3"),
            Node::Array(vec![0, 1, 2]),
        ];
        let paths: Vec<_> = differences("", &a, &b)
            .into_iter()
            .map(|d| d.path)
            .collect();
        assert_eq!(paths, ["/2", "/0", "/1"]);
    }

    #[test]
    fn a_deep_value_neither_overflows_nor_floods() {
        let deep = |leaf: &str| {
            let mut nodes = vec![number(leaf)];
            for i in 0..200_000 {
                nodes.push(Node::Array(vec![i]));
            }
            nodes
        };
        let found = differences("", &deep("1"), &deep("2"));
        assert_eq!(found.len(), 1);
        assert!(found[0].path.len() <= MAX_PATH_BYTES + 8);
    }

    #[test]
    fn many_differences_stop_at_the_limit() {
        let wide = |leaf: &str| {
            let mut nodes: Tree = (0..100).map(|_| number(leaf)).collect();
            nodes.push(Node::Array((0..100).collect()));
            nodes
        };
        let found = differences("", &wide("1"), &wide("2"));
        assert_eq!(found.len(), MAX_DIFFERENCES);
        assert!(describe(&found).contains("possibly more"));
    }
}
