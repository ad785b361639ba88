//! Digests of records that grow, without reading them again.
//!
//! A record is digested in blocks of a fixed size: the full blocks as a chain, the rest as it is.
//! Lines that are appended change only the rest. The identity of the file (device, inode, length
//! and the time of its last change, which no program of a user can set) shows cheaply that nothing
//! was written since.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use accord_canon::sha256;
use accord_contract::{Object, Value};
use accord_runs_core::build;
use accord_trees::{Content, Disk};

use crate::repository::Result;

const BLOCK: u64 = 256 * 1024;

#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct RecordDigest {
    pub(super) length: u64,
    /// The chain over its full blocks; empty without one.
    chain: String,
    /// The bytes after the last full block.
    rest: Vec<u8>,
    /// The file that was digested, if nothing was written to it since.
    pub(super) identity: Option<String>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Compared {
    Same,
    Grown,
    /// Something else: lines were changed or removed, or it is not a file any more.
    Changed,
    /// It does not exist any more.
    Missing,
}

impl RecordDigest {
    pub(super) fn of(content: &dyn Content, length: u64) -> Result<Self> {
        let mut digest = Self::default();
        while digest.length < length {
            let wanted = BLOCK.min(length - digest.length) as usize;
            let bytes = content.read_at(digest.length, wanted)?;
            if bytes.is_empty() {
                break;
            }
            digest.extend(&bytes);
        }
        Ok(digest)
    }

    pub(super) fn extend(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        self.rest.extend_from_slice(bytes);
        while self.rest.len() as u64 >= BLOCK {
            let block: Vec<u8> = self.rest.drain(..BLOCK as usize).collect();
            let linked = format!("{}{}", self.chain, sha256(&block).hex());
            self.chain = sha256(linked.as_bytes()).hex();
        }
        self.identity = None;
    }

    #[cfg(test)]
    fn rest_at(&self) -> u64 {
        self.length - self.rest.len() as u64
    }

    pub(super) fn same_bytes(&self, other: &Self) -> bool {
        (self.length, &self.chain, &self.rest) == (other.length, &other.chain, &other.rest)
    }

    pub(super) fn compare(&self, disk: &dyn Disk, path: &str) -> Result<Compared> {
        let identity = identity(disk, path);
        if identity.is_some() && identity == self.identity {
            return Ok(Compared::Same);
        }
        let content = match disk.open(path) {
            Ok(Some(content)) => content,
            Ok(None) if self.length == 0 => return Ok(Compared::Same),
            Ok(None) => return Ok(Compared::Missing),
            // A folder, or a link out of the repository.
            Err(_) => return Ok(Compared::Changed),
        };
        let length = content.length()?;
        if length < self.length || !Self::of(content.as_ref(), self.length)?.same_bytes(self) {
            return Ok(Compared::Changed);
        }
        Ok(if length == self.length { Compared::Same } else { Compared::Grown })
    }

    /// The digest as a document. The bytes of the rest are in the copy of the record.
    pub(super) fn document(&self) -> Object {
        build([
            ("length", self.length.into()),
            ("blocks", self.chain.as_str().into()),
            ("rest", sha256(&self.rest).hex().into()),
            ("identity", self.identity.as_deref().into()),
        ])
    }

    /// Reads what [`RecordDigest::document`] wrote, with the copy of the record; `None` if the copy
    /// does not match.
    pub(super) fn read(document: Option<&Value>, copy: Option<&dyn Content>) -> Option<Self> {
        let document = document?;
        let text = |name: &str| document.get(name).and_then(Value::as_str).map(str::to_owned);
        let length = document.get("length")?.as_u64()?;
        let rest_length = (length % BLOCK) as usize;
        let rest = copy.map(|copy| copy.read_at(length - rest_length as u64, rest_length));
        let rest = rest.transpose().ok()?.unwrap_or_default();
        let matches = rest.len() == rest_length && text("rest")? == sha256(&rest).hex();
        let (chain, identity) = (text("blocks").unwrap_or_default(), text("identity"));
        matches.then_some(Self { length, chain, rest, identity })
    }
}

/// The identity of a file and its content; `None` if there is no file.
pub(super) fn identity(disk: &dyn Disk, path: &str) -> Option<String> {
    let place: &Path = disk.root_path();
    let found = fs::symlink_metadata(place.join(path)).ok().filter(fs::Metadata::is_file)?;
    let (device, inode, length) = (found.dev(), found.ino(), found.len());
    let (seconds, nanos) = (found.ctime(), found.ctime_nsec());
    Some(format!("{device}:{inode}:{length}:{seconds}.{nanos:09}"))
}

#[cfg(test)]
mod tests {
    use accord_trees::{Root, atomic};

    use super::*;

    #[test]
    fn a_digest_grows_with_its_record_and_notices_every_other_change() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::open(folder.path()).unwrap();
        let mut bytes = vec![b'a'; BLOCK as usize * 2 + 7];
        atomic::write(&root, "record", &bytes).unwrap();
        let open = || root.open("record").unwrap().unwrap();
        let mut digest = RecordDigest::of(open().as_ref(), bytes.len() as u64).unwrap();
        assert_eq!(digest.compare(&root, "record").unwrap(), Compared::Same);
        bytes.extend(vec![b'b'; BLOCK as usize]);
        atomic::write(&root, "record", &bytes).unwrap();
        assert_eq!(digest.compare(&root, "record").unwrap(), Compared::Grown);
        digest.extend(&vec![b'b'; BLOCK as usize]);
        assert_eq!(digest.compare(&root, "record").unwrap(), Compared::Same);
        assert_eq!(digest.rest_at(), BLOCK * 3);
        let read = RecordDigest::read(Some(&digest.document().into()), Some(open().as_ref()));
        assert!(read.unwrap().same_bytes(&digest));
        // In the first block, with the same length.
        bytes[3] = b'x';
        atomic::write(&root, "record", &bytes).unwrap();
        assert_eq!(digest.compare(&root, "record").unwrap(), Compared::Changed);
        root.remove_file("record").unwrap();
        assert_eq!(digest.compare(&root, "record").unwrap(), Compared::Missing);
    }
}
