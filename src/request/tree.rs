//! A JSON value laid out flat: a node refers to its children by index, so that neither building
//! nor dropping a deep one recurses.

use super::comparison::Path;

#[derive(Clone, Debug, PartialEq, Eq)]
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

#[derive(Clone, Debug)]
pub struct Tree {
    nodes: Vec<Node>,
    pub root: usize,
}

impl Tree {
    pub fn new() -> Self {
        Tree {
            nodes: Vec::new(),
            root: 0,
        }
    }

    /// Adds a node whose children are there already, and answers its index. The last one added is
    /// the root until another is made it.
    pub fn add(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.root = self.nodes.len() - 1;
        self.root
    }

    pub fn node(&self, index: usize) -> &Node {
        &self.nodes[index]
    }

    pub fn top(&self) -> &Node {
        &self.nodes[self.root]
    }

    /// A member of the object at the root.
    pub fn member(&self, name: &str) -> Option<usize> {
        match self.top() {
            Node::Object(members) => members
                .iter()
                .find(|(member, _)| member == name)
                .map(|&(_, index)| index),
            _ => None,
        }
    }

    /// The strings of an array.
    pub fn strings(&self, index: usize) -> Vec<&str> {
        match self.node(index) {
            Node::Array(elements) => elements
                .iter()
                .filter_map(|&element| match self.node(element) {
                    Node::String(text) => Some(text.as_str()),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        }
    }

    /// Takes a member away from the object at the root.
    pub fn take_member(&mut self, name: &str) -> Option<usize> {
        let root = self.root;
        match &mut self.nodes[root] {
            Node::Object(members) => {
                let place = members.iter().position(|(member, _)| member == name)?;
                Some(members.remove(place).1)
            }
            _ => None,
        }
    }

    /// The node that a path leads to, and the step that leads there from its parent.
    fn find<'p>(&self, path: &'p Path) -> Option<(usize, &'p str, usize)> {
        let (last, way) = path.steps().split_last()?;
        let mut parent = self.root;
        for step in way {
            parent = self.child(parent, step)?;
        }
        Some((parent, last, self.child(parent, last)?))
    }

    fn child(&self, parent: usize, step: &str) -> Option<usize> {
        match self.node(parent) {
            Node::Array(elements) => {
                // RFC 6901: digits without a leading zero, and no sign.
                let place = step
                    .parse::<usize>()
                    .ok()
                    .filter(|n| n.to_string() == step)?;
                elements.get(place).copied()
            }
            Node::Object(members) => members
                .iter()
                .find(|(name, _)| name == step)
                .map(|&(_, index)| index),
            _ => None,
        }
    }

    /// Takes away what a path leads to, if it leads somewhere. In an array a null stays in its
    /// place, so that the others keep theirs.
    pub fn remove(&mut self, path: &Path) {
        let Some((parent, step, child)) = self.find(path) else {
            return;
        };
        match &mut self.nodes[parent] {
            Node::Object(members) => members.retain(|(name, _)| name != step),
            _ => self.nodes[child] = Node::Null,
        }
    }

    /// Puts another node in the place of what a path leads to, if it leads somewhere.
    pub fn replace(&mut self, path: &Path, with: Node) {
        if let Some((_, _, child)) = self.find(path) {
            self.nodes[child] = with;
        }
    }

    /// Adds the members of another object that this one lacks, and so on downwards where both
    /// hold an object.
    pub fn fill_in(&mut self, defaults: &Tree) {
        let mut open = vec![(self.root, defaults.root)];
        while let Some((mine, theirs)) = open.pop() {
            let (Node::Object(have), Node::Object(want)) = (self.node(mine), defaults.node(theirs))
            else {
                continue;
            };
            let mut lacking = Vec::new();
            for (name, default) in want {
                match have.iter().find(|(member, _)| member == name) {
                    Some(&(_, member)) => open.push((member, *default)),
                    None => lacking.push((name.clone(), *default)),
                }
            }
            for (name, default) in lacking {
                let copy = self.graft(defaults, default);
                if let Node::Object(members) = &mut self.nodes[mine] {
                    members.push((name, copy));
                }
            }
        }
    }

    /// Adds a member, a whole tree, to the object at the root.
    pub fn put_member(&mut self, name: &str, value: &Tree) {
        let root = self.root;
        let index = self.graft(value, value.root);
        if let Node::Object(members) = &mut self.nodes[root] {
            members.push((name.to_owned(), index));
        }
    }

    /// The tree below a node.
    pub fn below(&self, index: usize) -> Tree {
        Tree {
            nodes: self.nodes.clone(),
            root: index,
        }
    }

    /// Copies another tree's nodes behind this one's; answers where one of them is now.
    fn graft(&mut self, other: &Tree, index: usize) -> usize {
        let shift = self.nodes.len();
        self.nodes.extend(other.nodes.iter().map(|node| {
            match node {
                Node::Array(elements) => Node::Array(elements.iter().map(|i| i + shift).collect()),
                Node::Object(members) => Node::Object(
                    members
                        .iter()
                        .map(|(name, i)| (name.clone(), i + shift))
                        .collect(),
                ),
                scalar => scalar.clone(),
            }
        }));
        index + shift
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A reader of plain JSON for tests: no escapes, no blanks.
    pub fn parse(text: &str) -> Tree {
        enum Open {
            Array(Vec<usize>),
            Object(Vec<(String, usize)>, Option<String>),
        }
        let mut tree = Tree::new();
        let mut open: Vec<Open> = Vec::new();
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let from = at;
            at += 1;
            let node = match bytes[from] {
                b'[' => {
                    open.push(Open::Array(vec![]));
                    continue;
                }
                b'{' => {
                    open.push(Open::Object(vec![], None));
                    continue;
                }
                b',' | b':' => continue,
                b']' | b'}' => match open.pop() {
                    Some(Open::Array(elements)) => Node::Array(elements),
                    Some(Open::Object(members, _)) => Node::Object(members),
                    None => panic!("unbalanced"),
                },
                b'"' => {
                    let end = from + 1 + text[from + 1..].find('"').expect("closed string");
                    at = end + 1;
                    let string = text[from + 1..end].to_owned();
                    if let Some(Open::Object(_, name @ None)) = open.last_mut() {
                        *name = Some(string);
                        continue;
                    }
                    Node::String(string)
                }
                _ => {
                    while at < bytes.len() && !b",:]}".contains(&bytes[at]) {
                        at += 1;
                    }
                    match &text[from..at] {
                        "null" => Node::Null,
                        "true" => Node::Bool(true),
                        "false" => Node::Bool(false),
                        number => Node::Number(number.to_owned()),
                    }
                }
            };
            let index = tree.add(node);
            match open.last_mut() {
                Some(Open::Array(elements)) => elements.push(index),
                Some(Open::Object(members, name)) => {
                    members.push((name.take().expect("a name"), index));
                }
                None => {}
            }
        }
        tree
    }

    fn same(a: &Tree, b: &str) -> bool {
        crate::request::differences("", a, &parse(b)).is_empty()
    }

    #[test]
    fn what_a_path_leads_to_is_removed_and_nothing_else() {
        let path = |text| Path::parse(text).expect("a path");
        let mut tree = parse(r#"{"a":{"b":1,"c":2},"l":[1,2,3]}"#);
        tree.remove(&path("/a/b"));
        tree.remove(&path("/l/1"));
        tree.remove(&path("/nowhere/at/all"));
        tree.remove(&path("/l/9"));
        tree.remove(&path("/l/00"));
        tree.remove(&path("/l/+2"));
        assert!(same(&tree, r#"{"a":{"c":2},"l":[1,null,3]}"#));
        tree.replace(&path("/a"), Node::Bool(true));
        assert!(same(&tree, r#"{"a":true,"l":[1,null,3]}"#));
    }

    #[test]
    fn defaults_fill_what_is_lacking_at_any_depth() {
        let mut tree = parse(r#"{"a":{"b":1},"n":null}"#);
        tree.fill_in(&parse(r#"{"a":{"b":9,"c":[1,{"d":2}]},"n":7,"z":0}"#));
        assert!(same(
            &tree,
            r#"{"a":{"b":1,"c":[1,{"d":2}]},"n":null,"z":0}"#
        ));
    }
}
