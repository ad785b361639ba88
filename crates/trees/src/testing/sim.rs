//! A disk in memory that loses what was not synced.
//!
//! It has two versions of every file and folder: the one that processes see, and the one last
//! synced. After a crash a file is either of them, or something in between, cut off or padded with
//! zeros. Each name that was created, changed or removed in a folder since its last sync may or may
//! not have reached the disk. After a failure of the file system alone, every file is the version
//! last synced, and every name is there.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, MutexGuard};

use crate::disk::{name, parent};
use crate::{Content, Disk, Entry, Kind, Result, Stat, TreeError};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Crash {
    /// The process ends; everything that it wrote is kept.
    Process,
    /// The file system is mounted again: unsynced content is lost, names and times are kept.
    Remount,
    /// The power fails; a random choice from this seed decides what is kept of unsynced writes.
    Power(u64),
}

#[derive(Debug, Default)]
pub struct SimDisk {
    inner: Mutex<Inner>,
    bytes_read: Arc<AtomicU64>,
}

#[derive(Clone, Debug)]
struct Inner {
    nodes: Vec<Node>,
    /// The number of writing operations so far.
    operations: u64,
    syncs: u64,
    /// The number of operations after which everything fails.
    budget: u64,
    now_ms: i64,
}

#[derive(Clone, Debug)]
enum Node {
    File {
        now: Vec<u8>,
        synced: Vec<u8>,
        modified_ms: i64,
    },
    Folder {
        now: Names,
        synced: Names,
        /// The writes since the last sync, in order; each reaches the disk in full or not at all.
        /// A move between two folders is one write: both have it, under the same number.
        since: Vec<(u64, NameChanges)>,
    },
}

/// The names in a folder, and their nodes.
type Names = BTreeMap<String, usize>;

/// Names that get a node, or lose theirs.
type NameChanges = Vec<(String, Option<usize>)>;

/// Where nodes are: the write that put a node there, the folder, and its name.
type Links = BTreeMap<usize, Vec<(u64, usize, String)>>;

impl Default for Inner {
    fn default() -> Self {
        Self { nodes: vec![folder()], operations: 0, syncs: 0, budget: u64::MAX, now_ms: 0 }
    }
}

impl SimDisk {
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows this number of further writing operations; then everything fails.
    pub fn stop_after(&self, operations: u64) {
        let mut inner = self.inner.lock();
        inner.budget = inner.operations + operations;
    }

    /// Sets the clock, from which files have their times. It stands still, and begins in 1970.
    pub fn set_now_ms(&self, now_ms: i64) {
        self.inner.lock().now_ms = now_ms;
    }

    /// The number of writing operations so far.
    pub fn operations(&self) -> u64 {
        self.inner.lock().operations
    }

    /// The number of syncs so far, of files, folders and the tree.
    pub fn syncs(&self) -> u64 {
        self.inner.lock().syncs
    }

    #[must_use]
    pub fn after(&self, crash: Crash) -> Self {
        let mut inner = self.inner.lock().clone();
        inner.operations = 0;
        inner.budget = u64::MAX;
        if let Crash::Power(seed) = crash {
            let mut chance = Chance(seed);
            let mut kept = BTreeMap::new();
            let mut links = BTreeMap::new();
            for (number, node) in inner.nodes.iter_mut().enumerate() {
                lose((number, node), &mut chance, &mut kept, &mut links);
            }
            inner.unlink_twice(links);
        }
        if crash == Crash::Remount {
            for node in &mut inner.nodes {
                if let Node::File { now, synced, .. } = node {
                    now.clone_from(synced);
                }
            }
        }
        Self { inner: Mutex::new(inner), bytes_read: Arc::default() }
    }

    /// The number of bytes read from files.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Acquire)
    }

    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let inner = self.inner.lock();
        let mut files = BTreeMap::new();
        let mut open = vec![(String::new(), 0)];
        while let Some((path, node)) = open.pop() {
            match &inner.nodes[node] {
                Node::File { now, .. } => {
                    files.insert(path, now.clone());
                }
                Node::Folder { now, .. } => {
                    for (name, child) in now {
                        let slash = if path.is_empty() { "" } else { "/" };
                        open.push((format!("{path}{slash}{name}"), *child));
                    }
                }
            }
        }
        files
    }

    fn writing(&self, path: &str) -> Result<MutexGuard<'_, Inner>> {
        let mut inner = self.inner.lock();
        if inner.operations >= inner.budget {
            let down = io::Error::other("the machine is down");
            return Err(TreeError::system(path, "written", down));
        }
        inner.operations += 1;
        Ok(inner)
    }
}

impl Inner {
    fn find(&self, path: &str) -> Option<usize> {
        let mut node = 0;
        for name in path.split('/').filter(|name| !name.is_empty()) {
            node = match &self.nodes[node] {
                Node::Folder { now, .. } => *now.get(name)?,
                Node::File { .. } => return None,
            };
        }
        Some(node)
    }

    /// The bytes of a file, which are about to change.
    fn changed(&mut self, path: &str) -> Result<&mut Vec<u8>> {
        let (found, time) = (self.find(path).ok_or_else(|| absent(path))?, self.now_ms);
        match &mut self.nodes[found] {
            Node::File { now, modified_ms, .. } => {
                *modified_ms = time;
                Ok(now)
            }
            Node::Folder { .. } => Err(TreeError::NotFile { path: path.to_owned() }),
        }
    }

    fn bytes(&self, path: &str) -> Result<&[u8]> {
        let found = self.find(path).ok_or_else(|| absent(path))?;
        match &self.nodes[found] {
            Node::File { now, .. } => Ok(now),
            Node::Folder { .. } => Err(TreeError::NotFile { path: path.to_owned() }),
        }
    }

    fn add(&mut self, path: &str, node: Node) -> Result<()> {
        self.nodes.push(node);
        let added = self.nodes.len() - 1;
        self.rename_all(path, vec![(last(path), Some(added))])
    }

    /// Changes entries of the parent folder of a path, atomically.
    fn rename_all(&mut self, path: &str, changes: NameChanges) -> Result<()> {
        let found = self.find(parent(path)).ok_or_else(|| absent(path))?;
        let write = self.operations;
        let Node::Folder { now, since, .. } = &mut self.nodes[found] else {
            return Err(absent(path));
        };
        apply(now, &changes);
        since.push((write, changes));
        Ok(())
    }

    /// A folder is never in two places: of two moves the later one holds.
    fn unlink_twice(&mut self, links: Links) {
        for (node, mut places) in links {
            places.sort();
            if places.len() < 2 || matches!(self.nodes[node], Node::File { .. }) {
                continue;
            }
            places.pop();
            for (_, folder, name) in places {
                if let Node::Folder { now, synced, .. } = &mut self.nodes[folder] {
                    now.remove(&name);
                    synced.remove(&name);
                }
            }
        }
    }
}

impl Disk for SimDisk {
    fn root_path(&self) -> &Path {
        Path::new("/sim")
    }

    fn stat(&self, path: &str) -> Result<Option<Stat>> {
        let inner = self.inner.lock();
        Ok(inner.find(path).map(|node| match &inner.nodes[node] {
            Node::File { now, modified_ms, .. } => stat(Kind::File, now.len(), *modified_ms),
            Node::Folder { .. } => stat(Kind::Folder, 0, 0),
        }))
    }

    fn list(&self, path: &str) -> Result<Option<Vec<Entry>>> {
        let inner = self.inner.lock();
        let Some(Node::Folder { now, .. }) = inner.find(path).map(|node| &inner.nodes[node]) else {
            return Ok(None);
        };
        let entries = now.iter().map(|(name, node)| Entry {
            name: name.clone(),
            kind: match &inner.nodes[*node] {
                Node::File { .. } => Kind::File,
                Node::Folder { .. } => Kind::Folder,
            },
        });
        Ok(Some(entries.collect()))
    }

    fn open(&self, path: &str) -> Result<Option<Box<dyn Content>>> {
        let inner = self.inner.lock();
        if inner.find(path).is_none() {
            return Ok(None);
        }
        let bytes = inner.bytes(path)?.to_vec();
        Ok(Some(Box::new(Opened { bytes, read: self.bytes_read.clone() })))
    }

    fn make_folder(&self, path: &str) -> Result<bool> {
        let mut inner = self.writing(path)?;
        if inner.find(path).is_some() {
            return Ok(false);
        }
        inner.add(path, folder())?;
        Ok(true)
    }

    fn create(&self, path: &str, bytes: &[u8]) -> Result<bool> {
        let mut inner = self.writing(path)?;
        if inner.find(path).is_some() {
            return Ok(false);
        }
        let now_ms = inner.now_ms;
        inner.add(path, file(bytes, now_ms))?;
        Ok(true)
    }

    fn append(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let mut inner = self.writing(path)?;
        if inner.find(path).is_none() {
            inner.add(path, file(b"", 0))?;
        }
        inner.changed(path)?.extend(bytes);
        Ok(())
    }

    fn truncate(&self, path: &str, length: u64) -> Result<()> {
        let mut inner = self.writing(path)?;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        inner.changed(path)?.truncate(length);
        Ok(())
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        let mut inner = self.writing(from)?;
        let found = inner.find(from).ok_or_else(|| absent(from))?;
        // One change: file systems rename atomically, also in a crash.
        inner.rename_all(from, vec![(last(from), None), (last(to), Some(found))])
    }

    fn move_to(&self, from: &str, to: &str) -> Result<()> {
        let mut inner = self.writing(from)?;
        let found = inner.find(from).ok_or_else(|| absent(from))?;
        if parent(from) == parent(to) {
            return inner.rename_all(from, vec![(last(from), None), (last(to), Some(found))]);
        }
        inner.rename_all(to, vec![(last(to), Some(found))])?;
        inner.rename_all(from, vec![(last(from), None)])
    }

    fn publish(&self, from: &str, to: &str) -> Result<bool> {
        let mut inner = self.writing(from)?;
        let found = inner.find(from).ok_or_else(|| absent(from))?;
        if inner.find(to).is_some() {
            return Ok(false);
        }
        // Two changes, as `link` and `unlink` are: a crash may keep both names.
        inner.rename_all(to, vec![(last(to), Some(found))])?;
        inner.operations += 1;
        inner.rename_all(from, vec![(last(from), None)])?;
        Ok(true)
    }

    fn remove_file(&self, path: &str) -> Result<bool> {
        let mut inner = self.writing(path)?;
        if inner.find(path).is_none() {
            return Ok(false);
        }
        inner.rename_all(path, vec![(last(path), None)])?;
        Ok(true)
    }

    fn remove_tree(&self, path: &str) -> Result<()> {
        let below = self.list(path)?.unwrap_or_default();
        for entry in below {
            self.remove_tree(&format!("{path}/{}", entry.name))?;
        }
        self.remove_file(path).map(drop)
    }

    fn sync(&self, path: &str) -> Result<()> {
        let mut inner = self.writing(path)?;
        inner.syncs += 1;
        let found = inner.find(path).ok_or_else(|| absent(path))?;
        if let Node::File { now, synced, .. } = &mut inner.nodes[found] {
            synced.clone_from(now);
        }
        Ok(())
    }

    fn sync_folder(&self, path: &str) -> Result<()> {
        let mut inner = self.writing(path)?;
        inner.syncs += 1;
        let found = inner.find(path).ok_or_else(|| absent(path))?;
        if let Node::Folder { now, synced, since } = &mut inner.nodes[found] {
            synced.clone_from(now);
            since.clear();
        }
        Ok(())
    }

    fn sync_tree(&self) -> Result<()> {
        let mut inner = self.writing("")?;
        inner.syncs += 1;
        for node in &mut inner.nodes {
            match node {
                Node::File { now, synced, .. } => synced.clone_from(now),
                Node::Folder { now, synced, since } => {
                    synced.clone_from(now);
                    since.clear();
                }
            }
        }
        Ok(())
    }

    fn guard(&self, _: &str) -> Result<Box<dyn Send>> {
        Ok(Box::new(()))
    }

    fn try_guard(&self, path: &str) -> Result<Option<Box<dyn Send>>> {
        self.guard(path).map(Some)
    }
}

struct Opened {
    bytes: Vec<u8>,
    read: Arc<AtomicU64>,
}

impl Content for Opened {
    fn length(&self) -> Result<u64> {
        Ok(self.bytes.len() as u64)
    }

    fn read_at(&self, offset: u64, length: usize) -> Result<Vec<u8>> {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        let start = offset.min(self.bytes.len());
        let end = start.saturating_add(length).min(self.bytes.len());
        self.read.fetch_add((end - start) as u64, Ordering::AcqRel);
        Ok(self.bytes[start..end].to_vec())
    }
}

/// Applies a power failure to a node. `kept` has what was decided about writes to two folders,
/// `links` where each node is afterwards, by the write that put it there.
fn lose(
    (number, node): (usize, &mut Node),
    chance: &mut Chance,
    kept: &mut BTreeMap<u64, bool>,
    links: &mut Links,
) {
    match node {
        Node::File { now, synced, .. } => {
            let common = now.iter().zip(synced.iter()).take_while(|(a, b)| a == b);
            let common = common.count();
            let cut = common + chance.below(now.len() - common + 1);
            match chance.below(4) {
                0 => now.clone_from(synced),
                1 => {}
                // A file is never shorter than its synced content, unless it was truncated since.
                2 if now.len() >= synced.len() => now.truncate(cut.max(common)),
                3 if now.len() >= synced.len() => now[cut..].fill(0),
                _ => now.clone_from(synced),
            }
            synced.clone_from(now);
        }
        Node::Folder { now, synced, since } => {
            now.clone_from(synced);
            let mut writes = BTreeMap::new();
            for (write, changes) in since.drain(..) {
                if *kept.entry(write).or_insert_with(|| chance.below(2) == 0) {
                    apply(now, &changes);
                    writes.extend(changes.into_iter().map(|(name, _)| (name, write)));
                }
            }
            for (name, child) in now.iter() {
                let write = writes.get(name).copied().unwrap_or(0);
                links.entry(*child).or_default().push((write, number, name.clone()));
            }
            synced.clone_from(now);
        }
    }
}

fn apply(names: &mut Names, changes: &[(String, Option<usize>)]) {
    for (name, node) in changes {
        match node {
            Some(node) => names.insert(name.clone(), *node),
            None => names.remove(name),
        };
    }
}

fn file(bytes: &[u8], modified_ms: i64) -> Node {
    Node::File { now: bytes.to_vec(), synced: Vec::new(), modified_ms }
}

fn folder() -> Node {
    Node::Folder { now: Names::new(), synced: Names::new(), since: Vec::new() }
}

fn stat(kind: Kind, length: usize, modified_ms: i64) -> Stat {
    Stat { kind, length: length as u64, modified_ms }
}

fn last(path: &str) -> String {
    name(path).to_owned()
}

fn absent(path: &str) -> TreeError {
    TreeError::system(path, "found", io::Error::from(io::ErrorKind::NotFound))
}

struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % limit.max(1) as u64).unwrap_or(0)
    }
}
