//! Fixtures as others publish and run them: a protocol whose cases are those that bind everybody, and
//! the fixtures of a folder in the place of a protocol's own.
//!
//! Invariant: a folder is taken as a whole. One file that is no fixture refuses them all, since a corpus
//! that was read in part judges less than it says.

use std::collections::BTreeSet;
use std::path::Path;

use accord_contract::fixture::TIERS;
use accord_contract::wire::Value;

use super::check::COMPANIONS;
use super::{CorpusError, Fault, Faults, Protocol, files};
use crate::case::{Case, Strength};

impl Protocol {
    /// The same protocol with some of its cases.
    #[must_use]
    pub fn only(&self, keep: impl Fn(&Case) -> bool) -> Self {
        let mut narrowed = self.clone();
        narrowed.cases.retain(|case| keep(case));
        narrowed
    }

    /// The same protocol with the fixtures that every implementation is held to: those of strength
    /// `must` that belong to no profile.
    #[must_use]
    pub fn binding(&self) -> Self {
        self.only(|case| case.strength == Strength::Must && case.profile.is_none())
    }

    /// The same protocol with the fixtures of a folder in the place of its cases: every `*.json` below
    /// it. Where a file says in `x-case` that it belongs to a profile or does not bind everybody, it is
    /// left out; the documents that stand beside a corpus' cases are passed over.
    ///
    /// # Errors
    /// When the folder cannot be read, holds no fixture, or holds a file that is none.
    pub fn with_fixtures(&self, folder: &Path) -> Result<Self, CorpusError> {
        let mut files = files::read_json(folder)?;
        files.retain(|path, _| !COMPANIONS.contains(&path.as_str()));
        let (mut cases, mut faults) = (Vec::new(), Vec::new());
        let mut names = BTreeSet::new();
        for (path, text) in &files {
            match read(&self.name, text) {
                Ok((case, _)) if !names.insert(case.id.clone()) => {
                    let why = format!("{:?} is the name of another fixture too", case.id);
                    faults.push(fault(path, "/fixture_id", why));
                }
                Ok((case, true)) => cases.push(case),
                Ok((_, false)) => {}
                Err((pointer, why)) => faults.push(fault(path, pointer, why)),
            }
        }
        if files.is_empty() {
            let why = "holds no fixture; a fixture is a file whose name ends with .json";
            faults.push(fault(&folder.display().to_string(), "", why));
        }
        if !faults.is_empty() {
            return Err(CorpusError::Faulty(Faults(faults)));
        }
        cases.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(Self {
            cases,
            files,
            ..self.clone()
        })
    }
}

/// A fixture, and whether it binds everybody.
fn read(protocol: &str, text: &str) -> Result<(Case, bool), (String, String)> {
    let document: Value = accord_canon::read(text.as_bytes()).map_err(|error| {
        let why = format!("{} (byte {})", error.detail(), error.offset());
        (error.pointer().to_owned(), why)
    })?;
    let binds = binds_everybody(&document["x-case"]);
    let case = Case::published(protocol, document).map_err(|error| {
        let why = format!("expected {}, found {}", error.expected, error.found);
        (error.pointer.clone(), why)
    })?;
    if let Some(tier) = case.tier.filter(|tier| !TIERS.contains(tier)) {
        let why = format!("a tier is 1, 2 or 3, not {tier}");
        return Err(("/tier".to_owned(), why));
    }
    let surface = case.surface().unwrap_or_default();
    for (member, text) in [("/fixture_id", case.id.as_str()), ("/surface", surface)] {
        if text.trim().is_empty() {
            return Err((member.to_owned(), "must not be empty".to_owned()));
        }
    }
    Ok((case, binds))
}

fn binds_everybody(own: &Value) -> bool {
    let weaker = |strength: &str| strength != Strength::Must.as_str();
    own["profile"].is_null() && !own["strength"].as_str().is_some_and(weaker)
}

fn fault(file: &str, pointer: impl Into<String>, why: impl Into<String>) -> Fault {
    Fault {
        file: file.to_owned(),
        pointer: pointer.into(),
        why: why.into(),
    }
}
