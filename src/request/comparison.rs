//! How an operation compares its requests, and what a record keeps of one.
//!
//! Each record keeps the comparison that it was made under, so that a changed contract turns no
//! replay into a mismatch and no completed key into a new one.

use super::differences::{differences, Difference};
use super::digest;
use super::tree::{Node, Tree};

/// A JSON pointer, RFC 6901: `/items/0/price`, with `~1` for a slash and `~0` for a tilde.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    text: String,
    steps: Vec<String>,
}

impl Path {
    pub fn parse(text: &str) -> Option<Self> {
        let mut escapes = text.split('~').skip(1);
        if !escapes.all(|rest| rest.starts_with(['0', '1'])) {
            return None;
        }
        let steps = text
            .strip_prefix('/')?
            .split('/')
            .map(|step| step.replace("~1", "/").replace("~0", "~"))
            .collect();
        Some(Path {
            text: text.to_owned(),
            steps,
        })
    }

    pub fn steps(&self) -> &[String] {
        &self.steps
    }
}

/// What a record keeps of a request or a response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Keep {
    #[default]
    Whole,
    /// Some paths replaced by a mark.
    Redacted,
    /// Only a digest.
    Digest,
    Nothing,
}

impl Keep {
    pub fn name(self) -> &'static str {
        match self {
            Keep::Whole => "whole",
            Keep::Redacted => "redacted",
            Keep::Digest => "digest",
            Keep::Nothing => "nothing",
        }
    }

    pub fn named(name: &[u8]) -> Option<Self> {
        [Keep::Whole, Keep::Redacted, Keep::Digest, Keep::Nothing]
            .into_iter()
            .find(|keep| keep.name().as_bytes() == name)
    }
}

/// What stands in the place of a redacted value.
const REDACTED: &str = "[redacted]";

/// The version of the rules in this file, kept with every record that needs one.
const VERSION: &str = "1";

/// How requests are compared.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Paths that do not count.
    pub ignored: Vec<Path>,
    /// What a request that lacks it is taken to hold.
    pub defaults: Option<Tree>,
}

/// The comparison of one record, with what its request left behind.
#[derive(Debug, Default)]
pub struct Kept {
    comparison: Comparison,
    digest: Option<String>,
    nothing: bool,
}

impl Comparison {
    pub fn is_plain(&self) -> bool {
        self.ignored.is_empty() && self.defaults.is_none()
    }

    /// A request as it is compared.
    pub fn normalise(&self, mut request: Tree) -> Tree {
        if let Some(defaults) = &self.defaults {
            request.fill_in(defaults);
        }
        for path in &self.ignored {
            request.remove(path);
        }
        request
    }

    /// What a record says about how it was made: nothing for a plain comparison with a request
    /// that is kept whole. `identity` goes into a digest, so that equal requests under two keys
    /// do not show as equal.
    pub fn describe(&self, keep: Keep, request: &Tree, identity: &[&[u8]]) -> Option<Tree> {
        if self.is_plain() && keep == Keep::Whole {
            return None;
        }
        let mut tree = Tree::new();
        let mut members = vec![("version", tree.add(Node::Number(VERSION.to_owned())))];
        if !self.ignored.is_empty() {
            let paths = self
                .ignored
                .iter()
                .map(|path| tree.add(Node::String(path.text.clone())))
                .collect();
            members.push(("ignored", tree.add(Node::Array(paths))));
        }
        match keep {
            Keep::Whole => {}
            Keep::Redacted | Keep::Digest => {
                let digest = digest::of(&self.normalise(request.clone()), identity);
                members.push(("digest", tree.add(Node::String(digest))));
            }
            Keep::Nothing => members.push(("nothing", tree.add(Node::Bool(true)))),
        }
        let members = members
            .into_iter()
            .map(|(name, i)| (name.to_owned(), i))
            .collect();
        tree.add(Node::Object(members));
        if let Some(defaults) = &self.defaults {
            tree.put_member("defaults", defaults);
        }
        Some(tree)
    }
}

/// What is kept of a value; nothing for nothing.
pub fn kept(keep: Keep, redacted: &[Path], value: &Tree) -> Option<Tree> {
    match keep {
        Keep::Whole => Some(value.clone()),
        Keep::Redacted => {
            let mut tree = value.clone();
            for path in redacted {
                tree.replace(path, Node::String(REDACTED.to_owned()));
            }
            Some(tree)
        }
        Keep::Digest | Keep::Nothing => None,
    }
}

/// What stands for a response of which only the digest is kept.
pub fn digest_only(digest: String) -> Tree {
    let mut tree = Tree::new();
    let digest = tree.add(Node::String(digest));
    tree.add(Node::Object(vec![("sha256".to_owned(), digest)]));
    tree
}

impl Kept {
    /// Reads what [`Comparison::describe`] wrote.
    pub fn read(tree: &Tree) -> Self {
        let paths = |name| {
            tree.member(name)
                .map(|index| {
                    tree.strings(index)
                        .into_iter()
                        .filter_map(Path::parse)
                        .collect()
                })
                .unwrap_or_default()
        };
        Kept {
            comparison: Comparison {
                ignored: paths("ignored"),
                defaults: tree.member("defaults").map(|index| tree.below(index)),
            },
            digest: tree
                .member("digest")
                .and_then(|index| match tree.node(index) {
                    Node::String(digest) => Some(digest.clone()),
                    _ => None,
                }),
            nothing: tree.member("nothing").is_some(),
        }
    }

    /// Whether a request is the one that the record was made for. `request` is what the record
    /// keeps of it, if anything; where only a digest is left, a mismatch has no paths.
    pub fn mismatch(
        &self,
        request: Option<&Tree>,
        given: Tree,
        identity: &[&[u8]],
    ) -> Option<Vec<Difference>> {
        if self.nothing {
            return None;
        }
        let given = self.comparison.normalise(given);
        if let Some(digest) = &self.digest {
            return (digest::of(&given, identity) != *digest).then(Vec::new);
        }
        let kept = self.comparison.normalise(request?.clone());
        let found = differences("", &kept, &given);
        (!found.is_empty()).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::tree::tests::parse;

    fn comparison(ignored: &[&str], defaults: Option<&str>) -> Comparison {
        Comparison {
            ignored: ignored
                .iter()
                .filter_map(|path| Path::parse(path))
                .collect(),
            defaults: defaults.map(parse),
        }
    }

    fn matches(comparison: &Comparison, keep: Keep, kept_as: &str, given: &str) -> bool {
        let request = parse(kept_as);
        let identity: [&[u8]; 1] = [b"k"];
        let stored = kept(keep, &[Path::parse("/secret").expect("a path")], &request);
        let record = comparison
            .describe(keep, &request, &identity)
            .map_or_else(Kept::default, |tree| Kept::read(&tree));
        record
            .mismatch(stored.as_ref(), parse(given), &identity)
            .is_none()
    }

    #[test]
    fn a_pointer_is_read_strictly() {
        let steps = |text| Path::parse(text).map(|path| path.steps);
        assert_eq!(
            steps("/a~1b/~0/"),
            Some(vec!["a/b".into(), "~".into(), "".into()])
        );
        assert_eq!(steps("/~01"), Some(vec!["~1".into()]));
        for bad in ["", "a", "/a~2", "/a~", "/a/~/b"] {
            assert_eq!(steps(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_plain_comparison_leaves_nothing_behind() {
        assert!(comparison(&[], None)
            .describe(Keep::Whole, &parse("{}"), &[])
            .is_none());
    }

    #[test]
    fn every_way_of_keeping_tells_a_request_from_another() {
        let plain = comparison(&[], None);
        for keep in [Keep::Whole, Keep::Redacted, Keep::Digest] {
            let request = r#"{"secret":"x","n":1}"#;
            assert!(
                matches(&plain, keep, request, r#"{"n":1,"secret":"x"}"#),
                "{keep:?}"
            );
            assert!(
                !matches(&plain, keep, request, r#"{"n":2,"secret":"x"}"#),
                "{keep:?}"
            );
            assert!(
                !matches(&plain, keep, request, r#"{"n":1,"secret":"y"}"#),
                "{keep:?}"
            );
            assert!(!matches(&plain, keep, request, r#"{"n":1}"#), "{keep:?}");
        }
        assert!(matches(&plain, Keep::Nothing, "1", "2"));
    }

    #[test]
    fn ignored_paths_and_defaults_do_not_count() {
        let lenient = comparison(&["/trace"], Some(r#"{"currency":"EUR","o":{"x":1}}"#));
        for keep in [Keep::Whole, Keep::Digest] {
            let request = r#"{"n":1,"trace":"a","o":{}}"#;
            assert!(matches(
                &lenient,
                keep,
                request,
                r#"{"n":1,"currency":"EUR","o":{"x":1}}"#
            ));
            assert!(matches(
                &lenient,
                keep,
                request,
                r#"{"n":1,"trace":"b","o":{}}"#
            ));
            assert!(!matches(
                &lenient,
                keep,
                request,
                r#"{"n":1,"currency":"USD","o":{}}"#
            ));
        }
    }

    #[test]
    fn a_digest_is_bound_to_its_identity() {
        let tree = parse("1");
        assert_ne!(
            digest::of(&tree, &[b"a", b"b"]),
            digest::of(&tree, &[b"ab", b""])
        );
    }
}
