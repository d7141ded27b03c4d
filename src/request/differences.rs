//! Where two requests differ. A report names paths, never values.

use super::tree::{Node, Tree};

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

/// The paths at which `given` differs from `kept`, both below `root`; at most [`MAX_DIFFERENCES`].
pub fn differences(root: &str, kept: &Tree, given: &Tree) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut open = vec![(format!("/{root}"), kept.root, given.root)];
    if root.is_empty() {
        open[0].0.clear();
    }
    while let Some((path, k, g)) = open.pop() {
        if found.len() == MAX_DIFFERENCES {
            break;
        }
        match (kept.node(k), given.node(g)) {
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
    let mut shown = String::with_capacity(step.len());
    for c in step.chars() {
        match c {
            '~' => shown.push_str("~0"),
            '/' => shown.push_str("~1"),
            // A name may hold anything; a report stays on its line.
            c if c.is_control() => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
    }
    let step = shown;
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
    use crate::request::tree::tests::parse;

    fn said(root: &str, kept: &str, given: &str) -> String {
        describe(&differences(root, &parse(kept), &parse(given)))
    }

    #[test]
    fn equal_values_do_not_differ_whatever_the_order_of_names() {
        let (a, b) = (
            parse(r#"{"x":1,"y":[2,{}]}"#),
            parse(r#"{"y":[2,{}],"x":1}"#),
        );
        assert_eq!(differences("", &a, &b), vec![]);
    }

    #[test]
    fn added_missing_and_changed_members_are_named() {
        let said = said(
            "message",
            r#"{"x":1,"gone":2,"same":3}"#,
            r#"{"x":9,"new/~":2,"same":3}"#,
        );
        assert!(said.contains("/message/x"), "{said}");
        assert!(said.contains("/message/gone (missing)"), "{said}");
        assert!(said.contains("/message/new~1~0 (added)"), "{said}");
        assert!(!said.contains('9') && !said.contains("same"), "{said}");
    }

    #[test]
    fn arrays_differ_by_place_and_length() {
        let found = differences("", &parse("[1,2]"), &parse("[2,1,3]"));
        let paths: Vec<_> = found.into_iter().map(|d| d.path).collect();
        assert_eq!(paths, ["/2", "/0", "/1"]);
    }

    #[test]
    fn a_change_of_kind_is_a_change_at_the_root() {
        assert_eq!(said("", "{}", "[]"), "Differing paths: (root).");
        assert_eq!(said("", "1", "\"1\""), "Differing paths: (root).");
    }

    #[test]
    fn a_deep_value_neither_overflows_nor_floods() {
        let deep = |leaf: &str| {
            parse(&format!(
                "{}{leaf}{}",
                "[".repeat(50_000),
                "]".repeat(50_000)
            ))
        };
        let found = differences("", &deep("1"), &deep("2"));
        assert_eq!(found.len(), 1);
        assert!(found[0].path.len() <= MAX_PATH_BYTES + 8);
    }

    #[test]
    fn many_differences_stop_at_the_limit() {
        let wide = |leaf: &str| parse(&format!("[{}0]", format!("{leaf},").repeat(100)));
        let found = differences("", &wide("1"), &wide("2"));
        assert_eq!(found.len(), MAX_DIFFERENCES);
        assert!(describe(&found).contains("possibly more"));
    }
}
