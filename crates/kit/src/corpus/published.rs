//! Fixtures as others publish and run them: a protocol whose cases are those that bind everybody,
//! and the fixtures of a folder in the place of a protocol's own.
//!
//! Invariant: a folder is taken as a whole. One file that is no fixture refuses them all, since a
//! corpus that was read in part judges less than it says.

use std::collections::BTreeSet;
use std::fmt;
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

    /// The same protocol with the fixtures of a folder in the place of its cases: every `*.json`
    /// below it. Where a file says in `x-case` that it belongs to a profile or does not bind
    /// everybody, it is left out; the documents that stand beside a corpus' cases are passed over.
    ///
    /// # Errors
    /// When the folder cannot be read, holds no fixture, or holds a file that is none.
    pub fn with_fixtures(&self, folder: &Path) -> Result<(Self, LeftOut), CorpusError> {
        let (mut files, hidden) = files::read_json(folder)?;
        let all = files.len();
        files.retain(|path, _| !COMPANIONS.contains(&path.as_str()));
        let mut left_out = LeftOut {
            hidden,
            companions: all - files.len(),
            ..LeftOut::default()
        };
        let (mut cases, mut faults) = (Vec::new(), Vec::new());
        let mut names = BTreeSet::new();
        for (path, text) in &files {
            match read(&self.name, text) {
                Ok((case, _)) if !names.insert(case.id.clone()) => {
                    let why = format!("{:?} is the name of another fixture too", case.id);
                    faults.push(fault(path, "/fixture_id", why));
                }
                Ok((case, Binds::Everybody)) => cases.push(case),
                Ok((_, Binds::Profile)) => left_out.of_a_profile += 1,
                Ok((_, Binds::Nobody)) => left_out.not_must += 1,
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
        let protocol = Self {
            cases,
            files,
            ..self.clone()
        };
        Ok((protocol, left_out))
    }
}

/// How many files of a folder of fixtures are not run, and why.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct LeftOut {
    /// Cases of a profile.
    pub of_a_profile: usize,
    /// Cases that say of themselves that they are weaker than `must`.
    pub not_must: usize,
    /// The documents that stand beside a corpus' cases.
    pub companions: usize,
    /// Files and folders whose name begins with a dot.
    pub hidden: usize,
}

impl LeftOut {
    /// Whether everything is run.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            (self.of_a_profile, "of a profile"),
            (self.not_must, "of another strength than must"),
            (self.companions, "beside the cases at the root"),
            (self.hidden, "with a name that begins with a dot"),
        ];
        let parts = parts.iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts.map(|(count, why)| format!("{count} {why}")).collect();
        write!(f, "left out of the folder's fixtures: {}", parts.join(", "))
    }
}

/// Which implementations a fixture binds.
enum Binds {
    Everybody,
    /// Those who run under its profile.
    Profile,
    Nobody,
}

/// A fixture, and which implementations it binds.
fn read(protocol: &str, text: &str) -> Result<(Case, Binds), (String, String)> {
    let document: Value = accord_canon::read(text.as_bytes()).map_err(|error| {
        let why = format!("{} (byte {})", error.detail(), error.offset());
        (error.pointer().to_owned(), why)
    })?;
    let binds = whom(&document["x-case"]);
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

fn whom(own: &Value) -> Binds {
    let weaker = |strength: &str| strength != Strength::Must.as_str();
    match own["strength"].as_str().is_some_and(weaker) {
        _ if !own["profile"].is_null() => Binds::Profile,
        true => Binds::Nobody,
        false => Binds::Everybody,
    }
}

fn fault(file: &str, pointer: impl Into<String>, why: impl Into<String>) -> Fault {
    Fault {
        file: file.to_owned(),
        pointer: pointer.into(),
        why: why.into(),
    }
}
