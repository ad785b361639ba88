//! Published fixtures: the cases of a protocol that apply to every implementation, and those of a
//! folder. One invalid file refuses a folder: a part of a corpus would judge less than it claims.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use accord_contract::Value;
use accord_contract::fixture::TIERS;

use super::check::COMPANIONS;
use super::{CorpusError, Fault, Faults, Protocol, files};
use crate::case::{Case, Strength};

impl Protocol {
    /// The same protocol with a selection of its cases.
    #[must_use]
    pub fn only(&self, keep: impl Fn(&Case) -> bool) -> Self {
        let mut narrowed = self.clone();
        narrowed.cases.retain(|case| keep(case));
        narrowed
    }

    /// The same protocol with only the fixtures of strength `must` and without a profile.
    #[must_use]
    pub fn binding(&self) -> Self {
        self.only(|case| case.strength == Strength::Must && case.profile.is_none())
    }

    /// The same protocol with the fixtures of a folder in place of its cases: every `*.json` below
    /// it, without those of a profile, those weaker than `must`, and the documents beside the
    /// cases.
    pub fn with_fixtures(&self, folder: &Path) -> Result<(Self, LeftOut), CorpusError> {
        let (mut files, hidden) = files::read_json(folder)?;
        let all = files.len();
        files.retain(|path, _| !COMPANIONS.contains(&path.as_str()));
        let mut left_out = LeftOut { hidden, companions: all - files.len(), ..LeftOut::default() };
        let (mut cases, mut faults) = (Vec::new(), Vec::new());
        let mut names = BTreeSet::new();
        for (path, text) in &files {
            match read(&self.name, text) {
                // Before the selection: a name that is used twice is always a mistake.
                Ok((case, _)) if !names.insert(case.id.clone()) => {
                    let why = format!("{:?} is also the name of another fixture", case.id);
                    faults.push(fault(path, "/fixture_id", why));
                }
                Ok((case, AppliesTo::All)) => cases.push(case),
                Ok((_, AppliesTo::Profile)) => left_out.of_a_profile += 1,
                Ok((_, AppliesTo::None)) => left_out.not_must += 1,
                Err((pointer, why)) => faults.push(fault(path, pointer, why)),
            }
        }
        if files.is_empty() {
            let why = "has no fixture; a fixture is a file whose name ends with .json";
            faults.push(fault(&folder.display().to_string(), "", why));
        }
        if !faults.is_empty() {
            return Err(CorpusError::Faulty(Faults(faults)));
        }
        cases.sort_by(|one, other| one.id.cmp(&other.id));
        let protocol = Self { cases, files, ..self.clone() };
        Ok((protocol, left_out))
    }
}

/// How many files of a folder of fixtures are not run, and why.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct LeftOut {
    /// Cases of a profile.
    pub of_a_profile: usize,
    /// Cases that are weaker than `must`.
    pub not_must: usize,
    /// The documents beside the cases of a corpus.
    pub companions: usize,
    /// Files and folders whose name begins with a dot.
    pub hidden: usize,
}

impl LeftOut {
    /// Whether every file is run.
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

enum AppliesTo {
    All,
    Profile,
    None,
}

/// A fixture, and which implementations it applies to.
fn read(protocol: &str, text: &str) -> Result<(Case, AppliesTo), (String, String)> {
    let document: Value = accord_canon::read(text.as_bytes()).map_err(|error| {
        let why = format!("{} (byte {})", error.detail(), error.offset());
        (error.pointer().to_owned(), why)
    })?;
    let applies_to = applies_to(&document["x-case"]);
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
    Ok((case, applies_to))
}

fn applies_to(own: &Value) -> AppliesTo {
    let weaker = |strength: &str| strength != Strength::Must.as_str();
    if !own["profile"].is_null() {
        AppliesTo::Profile
    } else if own["strength"].as_str().is_some_and(weaker) {
        AppliesTo::None
    } else {
        AppliesTo::All
    }
}

fn fault(file: &str, pointer: impl Into<String>, why: impl Into<String>) -> Fault {
    Fault { file: file.to_owned(), pointer: pointer.into(), why: why.into() }
}
