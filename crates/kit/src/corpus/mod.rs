//! The corpus: every protocol's cases, clauses, and operations or routes. It defines the protocols:
//! the kit knows none by name. A loaded corpus is valid: all that a case names exists, with the
//! right type.

mod channel;
mod check;
mod check_case;
mod check_channel;
mod check_exchange;
mod check_expect;
mod check_folder;
mod check_names;
mod check_values;
mod documents;
mod embedded;
mod error;
mod files;
mod published;
mod routes;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use accord_canon::sha256;

use crate::case::Case;
pub use channel::{Barrier, ChannelList};
pub use documents::{Argument, ArgumentType, Choice, Clause, ClauseList, Operation, OperationList};
pub use error::{CorpusError, Fault, Faults};
pub(crate) use files::Files;
pub use published::LeftOut;
pub(crate) use routes::Requests;
pub use routes::{AnswerForm, DefinedBy, Method, Route, RouteList, Scope};

/// Cases of one or several protocols.
#[derive(Clone, Debug)]
pub struct Corpus {
    protocols: BTreeMap<String, Protocol>,
}

/// The part of a corpus for one protocol.
#[derive(Clone, Debug)]
pub struct Protocol {
    name: String,
    clauses: ClauseList,
    operations: OperationList,
    routes: Option<RouteList>,
    channel: Option<ChannelList>,
    cases: Vec<Case>,
    files: Files,
}

impl Corpus {
    /// The corpus that is embedded in the binary.
    pub fn embedded() -> Result<Self, CorpusError> {
        Self::from_files(embedded::all(), &[])
    }

    /// One protocol of the embedded corpus: reading all of them would delay every command.
    pub fn embedded_protocol(name: &str) -> Result<Protocol, CorpusError> {
        let files = embedded::protocol(name)
            .ok_or_else(|| CorpusError::unknown_protocol(name, embedded::protocols()))?;
        Self::from_files(files, &[])?.into_protocol(name)
    }

    /// A corpus in a folder with one folder per protocol.
    pub fn from_dir(folder: &Path) -> Result<Self, CorpusError> {
        let (files, empty) = files::read(folder)?;
        Self::from_files(files, &empty)
    }

    /// The protocols, by name.
    pub fn protocols(&self) -> impl Iterator<Item = &Protocol> {
        self.protocols.values()
    }

    /// One protocol.
    pub fn protocol(&self, name: &str) -> Result<&Protocol, CorpusError> {
        self.protocols.get(name).ok_or_else(|| self.unknown_protocol(name))
    }

    /// One protocol, without the others.
    pub fn into_protocol(mut self, name: &str) -> Result<Protocol, CorpusError> {
        self.protocols.remove(name).ok_or_else(|| self.unknown_protocol(name))
    }

    fn unknown_protocol(&self, asked: &str) -> CorpusError {
        CorpusError::unknown_protocol(asked, self.protocols.keys().map(String::as_str))
    }

    /// The clauses of all protocols that no case proves.
    pub fn uncovered_clauses(&self) -> Vec<&Clause> {
        self.protocols().flat_map(Protocol::uncovered_clauses).collect()
    }

    /// Writes all files below a folder, so that [`Corpus::from_dir`] reads the same corpus there.
    pub fn export(&self, folder: &Path) -> Result<(), CorpusError> {
        self.protocols().try_for_each(|protocol| protocol.export(folder))
    }

    fn from_files(files: Files, empty: &[String]) -> Result<Self, CorpusError> {
        let protocols = check::read(files, empty).map_err(CorpusError::Faulty)?;
        Ok(Self { protocols })
    }
}

impl Protocol {
    /// Its name, which is that of its folder.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The version that its clauses were taken from.
    pub fn version(&self) -> &str {
        &self.clauses.version
    }

    /// Its clauses, in the order of the file.
    pub fn clauses(&self) -> &[Clause] {
        &self.clauses.clauses
    }

    /// A clause by its id.
    pub fn clause(&self, id: &str) -> Option<&Clause> {
        self.clauses().iter().find(|clause| clause.id == id)
    }

    /// The places in a folder that an implementation may choose.
    pub fn places(&self) -> impl Iterator<Item = (&String, &Choice)> {
        self.operations.places.iter().flatten()
    }

    /// The operations that its cases may ask for.
    pub fn operations(&self) -> &BTreeMap<String, Operation> {
        &self.operations.operations
    }

    /// The routes and templates of its HTTP cases, if it has any.
    pub fn routes(&self) -> Option<&RouteList> {
        self.routes.as_ref()
    }

    /// The channel of its cases over sockets, if it has any.
    pub fn channel(&self) -> Option<&ChannelList> {
        self.channel.as_ref()
    }

    /// Its cases, in the order of their ids.
    pub fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// A case by its id.
    pub fn case(&self, id: &str) -> Result<&Case, CorpusError> {
        self.cases.iter().find(|case| case.id == id).ok_or_else(|| CorpusError::UnknownCase {
            asked: id.to_owned(),
            nearest: self.nearest_id(id),
        })
    }

    /// The levels or tiers that its cases belong to.
    pub fn levels(&self) -> BTreeSet<String> {
        self.cases.iter().map(Case::level).collect()
    }

    /// The profiles that its cases belong to.
    pub fn profiles(&self) -> BTreeSet<String> {
        self.cases.iter().filter_map(|case| case.profile.clone()).collect()
    }

    /// A level with those that it includes, if the levels build on each other, as tiers always do.
    pub fn levels_up_to(&self, level: &str) -> BTreeSet<String> {
        let tiers: BTreeSet<u64> = self.cases.iter().filter_map(|case| case.tier).collect();
        if let Some(highest) = level.parse().ok().filter(|tier| tiers.contains(tier)) {
            return tiers.range(..=highest).map(u64::to_string).collect();
        }
        let built = self.routes().and_then(|routes| {
            let rank = routes.rank(level)?;
            Some(routes.levels[..=rank].iter().cloned().collect())
        });
        built.unwrap_or_else(|| BTreeSet::from([level.to_owned()]))
    }

    /// The clauses that no case proves.
    pub fn uncovered_clauses(&self) -> Vec<&Clause> {
        let cited: BTreeSet<&String> = self.cases.iter().flat_map(|case| &case.clauses).collect();
        self.clauses().iter().filter(|clause| !cited.contains(&clause.id)).collect()
    }

    /// SHA-256 over all its `*.json` files, which identifies the corpus in a report. For each file,
    /// in order: its path, the length of its text in decimal and the text, each before a zero byte.
    pub fn digest(&self) -> String {
        let mut bytes = Vec::new();
        let judges = |(name, _): &(&String, &String)| name.ends_with(".json");
        for (name, text) in self.files.iter().filter(judges) {
            // The length keeps the parts apart: a text may contain zero bytes.
            for part in [name, &text.len().to_string(), text] {
                bytes.extend_from_slice(part.as_bytes());
                bytes.push(0);
            }
        }
        sha256(&bytes).hex()
    }

    /// The text of a case's file.
    pub fn source(&self, case: &Case) -> Option<&str> {
        self.files.get(&format!("{}.json", case.id)).map(String::as_str)
    }

    /// Writes its files below a folder, which must not have this protocol yet.
    pub fn export(&self, folder: &Path) -> Result<(), CorpusError> {
        let path = folder.join(&self.name);
        // Files of an older corpus in the same folder would be read as cases of this one.
        if path.exists() {
            return Err(CorpusError::Occupied { path });
        }
        files::write(&self.files, folder)
    }

    /// The id with the longest common suffix: people usually know the name better than its folders.
    fn nearest_id(&self, asked: &str) -> Option<String> {
        let common_end = |id: &str| {
            let (id, asked) = (id.chars().rev(), asked.chars().rev());
            id.zip(asked).take_while(|(one, other)| one == other).count()
        };
        let nearest = self.cases.iter().max_by_key(|case| common_end(&case.id))?;
        // With less in common, the suggestion would be a guess.
        (common_end(&nearest.id) >= 4).then(|| nearest.id.clone())
    }
}
