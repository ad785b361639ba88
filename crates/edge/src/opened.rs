//! A governed repository on the machine of its hub, which the person who joined it opened to it.
//!
//! The join file of that person says so. It is in the folder of the user's state, which workers do
//! not see, and it counts only for the hub that answered the edge last: another host that has an
//! edge with the same id reads nothing.

use std::path::Path;

use accord_api::operations::edges::EdgeSource;
use accord_base::{EdgeId, ProjectId};
use accord_contract::{Code, Failure};
use accord_outbox::Waiting;
use accord_runs::Runs;

use crate::{Edges, Joined, Result, Source, marker};

/// A governed repository that is open to the hub.
pub struct Opened {
    source: Source,
    joined: Joined,
}

impl Edges {
    /// The repository of an edge, if a person opened it to the hub with this incarnation.
    pub fn opened(
        &self,
        edge: &EdgeId,
        project: &ProjectId,
        incarnation: &str,
    ) -> Result<Option<Opened>> {
        let Some(joined) = self.of_id(edge) else { return Ok(None) };
        let join = &joined.join;
        let root = Path::new(&join.root);
        let is_open = join.open_to_hub == Some(true)
            && (join.source, &join.project) == (EdgeSource::Runs, project)
            && joined.sent().is_some_and(|sent| sent.incarnation == incarnation)
            && join.is_still_there()
            && marker::read(root, join.source).as_ref() == Some(edge);
        if !is_open {
            return Ok(None);
        }
        let source = Source::governed(root)?.filter(|source| source.root() == root);
        Ok(source.map(|source| Opened { source, joined }))
    }
}

impl Opened {
    pub fn runs(&self) -> Result<&Runs> {
        self.source.runs().ok_or_else(|| {
            Failure::new(Code::XchainNotGoverned, "the folder is not governed any more")
        })
    }

    /// What waits for a person now, as the edge sends it.
    pub fn waiting(&self) -> Result<Vec<Waiting>> {
        self.source.waiting(&self.joined.join, None)
    }

    /// Changes with the files that say what happened.
    pub fn stamp(&self) -> String {
        self.source.stamp()
    }
}
