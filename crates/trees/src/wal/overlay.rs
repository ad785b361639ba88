//! A disk whose changes stay in memory. A folder in which something changes is listed once.
//! Everything else is read from the disk below when it is asked for, also below a folder that
//! moved.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::disk::{Content, Disk, Entry, Kind, Stat, join, name, parent, read_file};
use crate::{Result, TreeError, limits};

pub(super) struct Overlay {
    below: Arc<dyn Disk>,
    root: Mutex<Node>,
}

enum Node {
    Below(String, Kind),
    File(Vec<u8>),
    Folder(Names),
}

type Names = BTreeMap<String, Node>;

enum Found<'n> {
    /// What the disk below has at a path, which may be nothing.
    Below(String),
    Node(&'n mut Node),
    Nothing,
}

impl Overlay {
    pub(super) fn new(below: Arc<dyn Disk>) -> Self {
        Self { below, root: Mutex::new(Node::Below(String::new(), Kind::Folder)) }
    }

    fn names<'n>(&self, root: &'n mut Node, folder: &str) -> Result<&'n mut Names> {
        let mut names = self.listed(root, folder)?;
        for name in folder.split('/').filter(|name| !name.is_empty()) {
            let node = names.get_mut(name).ok_or_else(|| absent(folder))?;
            names = self.listed(node, folder)?;
        }
        Ok(names)
    }

    fn listed<'n>(&self, node: &'n mut Node, path: &str) -> Result<&'n mut Names> {
        if let Node::Below(folder, _) = node {
            let entries = self.below.list(folder)?.ok_or_else(|| absent(path))?;
            let below = |entry: Entry| {
                let path = join(folder, &entry.name);
                (entry.name, Node::Below(path, entry.kind))
            };
            *node = Node::Folder(entries.into_iter().map(below).collect());
        }
        match node {
            Node::Folder(names) => Ok(names),
            _ => Err(absent(path)),
        }
    }

    /// Adds something, unless the path exists.
    fn add(&self, path: &str, node: Node) -> Result<bool> {
        let mut root = self.root.lock();
        let names = self.names(&mut root, parent(path))?;
        let is_free = !names.contains_key(name(path));
        if is_free {
            names.insert(name(path).to_owned(), node);
        }
        Ok(is_free)
    }

    /// The bytes of a file, which may then change.
    fn bytes<'n>(&self, root: &'n mut Node, path: &str) -> Result<&'n mut Vec<u8>> {
        let names = self.names(root, parent(path))?;
        let node = names.entry(name(path).to_owned()).or_insert_with(|| Node::File(Vec::new()));
        if let Node::Below(below, _) = node {
            let bytes = read_file(self.below.as_ref(), below, limits::DOCUMENT)?;
            *node = Node::File(bytes.unwrap_or_default());
        }
        match node {
            Node::File(bytes) => Ok(bytes),
            _ => Err(TreeError::NotFile { path: path.to_owned() }),
        }
    }
}

/// Looks for a path, without reading anything.
fn find<'n>(root: &'n mut Node, path: &str) -> Found<'n> {
    let mut node = root;
    let mut rest = path;
    loop {
        let (next, after) = rest.split_once('/').unwrap_or((rest, ""));
        match node {
            Node::Below(below, _) if rest.is_empty() => return Found::Below(below.clone()),
            Node::Below(below, _) => return Found::Below(join(below, rest)),
            _ if rest.is_empty() => return Found::Node(node),
            Node::File(_) => return Found::Nothing,
            Node::Folder(names) => match names.get_mut(next) {
                Some(child) => (node, rest) = (child, after),
                None => return Found::Nothing,
            },
        }
    }
}

fn absent(path: &str) -> TreeError {
    TreeError::system(path, "found", io::Error::from(io::ErrorKind::NotFound))
}

impl Disk for Overlay {
    fn root_path(&self) -> &Path {
        self.below.root_path()
    }

    fn stat(&self, path: &str) -> Result<Option<Stat>> {
        let stat = |kind, length: usize| Stat { kind, length: length as u64, modified_ms: 0 };
        match find(&mut self.root.lock(), path) {
            Found::Below(below) => self.below.stat(&below),
            Found::Node(Node::File(bytes)) => Ok(Some(stat(Kind::File, bytes.len()))),
            Found::Node(_) => Ok(Some(stat(Kind::Folder, 0))),
            Found::Nothing => Ok(None),
        }
    }

    fn list(&self, path: &str) -> Result<Option<Vec<Entry>>> {
        let kind = |node: &Node| match node {
            Node::Below(_, kind) => *kind,
            Node::File(_) => Kind::File,
            Node::Folder(_) => Kind::Folder,
        };
        match find(&mut self.root.lock(), path) {
            Found::Below(below) => self.below.list(&below),
            Found::Node(Node::Folder(names)) => {
                let entry =
                    |(name, node): (&String, &Node)| Entry { name: name.clone(), kind: kind(node) };
                Ok(Some(names.iter().map(entry).collect()))
            }
            Found::Node(_) | Found::Nothing => Ok(None),
        }
    }

    fn open(&self, path: &str) -> Result<Option<Box<dyn Content>>> {
        match find(&mut self.root.lock(), path) {
            Found::Below(below) => self.below.open(&below),
            Found::Node(Node::File(bytes)) => Ok(Some(Box::new(Opened(bytes.clone())))),
            Found::Node(_) => Err(TreeError::NotFile { path: path.to_owned() }),
            Found::Nothing => Ok(None),
        }
    }

    fn make_folder(&self, path: &str) -> Result<bool> {
        self.add(path, Node::Folder(Names::new()))
    }

    fn create(&self, path: &str, bytes: &[u8]) -> Result<bool> {
        self.add(path, Node::File(bytes.to_vec()))
    }

    fn append(&self, path: &str, bytes: &[u8]) -> Result<()> {
        self.bytes(&mut self.root.lock(), path)?.extend(bytes);
        Ok(())
    }

    fn truncate(&self, path: &str, length: u64) -> Result<()> {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        self.bytes(&mut self.root.lock(), path)?.truncate(length);
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.move_to(from, to)
    }

    fn move_to(&self, from: &str, to: &str) -> Result<()> {
        let mut root = self.root.lock();
        self.names(&mut root, parent(to))?;
        let node =
            self.names(&mut root, parent(from))?.remove(name(from)).ok_or_else(|| absent(from))?;
        self.names(&mut root, parent(to))?.insert(name(to).to_owned(), node);
        Ok(())
    }

    fn publish(&self, from: &str, to: &str) -> Result<bool> {
        let is_free = self.stat(to)?.is_none();
        if is_free {
            self.move_to(from, to)?;
        }
        Ok(is_free)
    }

    fn remove_file(&self, path: &str) -> Result<bool> {
        match self.names(&mut self.root.lock(), parent(path)) {
            Err(error) if error.is_absent() => Ok(false),
            names => Ok(names?.remove(name(path)).is_some()),
        }
    }

    fn remove_tree(&self, path: &str) -> Result<()> {
        self.remove_file(path).map(drop)
    }

    fn sync(&self, _: &str) -> Result<()> {
        Ok(())
    }

    fn sync_folder(&self, _: &str) -> Result<()> {
        Ok(())
    }

    fn sync_tree(&self) -> Result<()> {
        Ok(())
    }

    // No other process sees what is in memory.
    fn guard(&self, _: &str) -> Result<Box<dyn Send>> {
        Ok(Box::new(()))
    }

    fn try_guard(&self, path: &str) -> Result<Option<Box<dyn Send>>> {
        self.guard(path).map(Some)
    }
}

struct Opened(Vec<u8>);

impl Content for Opened {
    fn length(&self) -> Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn read_at(&self, offset: u64, length: usize) -> Result<Vec<u8>> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX).min(self.0.len());
        let end = start.saturating_add(length).min(self.0.len());
        Ok(self.0[start..end].to_vec())
    }
}
