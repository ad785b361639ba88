//! A commit: a list of writes that is applied in full or not at all.
//!
//! [`prepare`] checks the writes before the commit happens, because from then on all of them must
//! be applied. [`apply`] carries them out, for the first time or again.

mod apply;
mod obstacle;

use std::collections::BTreeMap;

use accord_contract::Object;

use crate::disk::Disk;
use crate::{Result, record};

pub use apply::{Attempt, apply};
pub use obstacle::{obstacle_of, obstacle_to};

/// One write of a commit. Each can be applied again without effect; the key of a line recognises it
/// then. A section is a text at the end of a file that is no record.
#[derive(Clone, Debug, PartialEq)]
pub enum Write {
    Append { path: String, line: Object, key: LineKey },
    Section { path: String, text: String },
    Replace { path: String, text: String },
    Remove { path: String },
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LineKey {
    Member(&'static str),
    Whole,
}

impl LineKey {
    fn matches(self, line: &Object, other: &Object) -> bool {
        match self {
            // Two lines that both lack the member are not the same line.
            Self::Member(name) => line.contains_key(name) && line.get(name) == other.get(name),
            Self::Whole => line == other,
        }
    }
}

/// The length of each file that a commit appends to, before the commit.
pub type Lengths = BTreeMap<String, u64>;

/// Checks that every write can be applied, truncates torn lines, and returns the lengths of files.
pub(crate) fn prepare(disk: &dyn Disk, writes: &[Write]) -> Result<Lengths> {
    // Before `tidy` below, so that a refused commit has changed nothing.
    obstacle::check(disk, writes)?;
    let mut lengths = Lengths::new();
    for write in writes {
        match write {
            Write::Append { path, .. } => {
                lengths.insert(path.clone(), record::tidy(disk, path)?);
            }
            Write::Section { path, .. } => {
                let content = disk.open(path)?;
                let length = content.map_or(Ok(0), |content| content.length())?;
                lengths.insert(path.clone(), length);
            }
            Write::Replace { .. } => {}
            // A path that leads out of the tree fails here, before the commit happens.
            Write::Remove { path } => drop(disk.stat(path)?),
        }
    }
    Ok(lengths)
}
