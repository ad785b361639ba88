//! An implementation that declares its capabilities, in a folder or at a URL.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use accord_contract::fixture::{BadCapabilities, Capabilities, HTTP_FIXTURE_V1, STDIO_FIXTURE_V1};
use accord_contract::{Value, Wire as _};
use accord_process::Invocation;
use thiserror::Error;

use crate::case::Case;
use crate::corpus::Protocol;
use crate::driver::{
    Adapter, AdapterInfo, CannotBegin, Driver, HttpFixtures, HttpOptions, PerCase, ServerError,
};
use crate::exchange::ExchangeError;
use crate::report::LeftBehind;

/// An implementation that declares its capabilities. It gets only cases of its tiers.
pub struct Target {
    capabilities: Capabilities,
    place: Location,
    adapter: Box<dyn Adapter>,
}

/// Where an implementation is.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Location {
    /// In this folder, where its adapter is started.
    Folder(PathBuf),
    /// At this base URL.
    Server(String),
}

/// An implementation whose capabilities cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TargetError {
    /// The file of capabilities is missing or cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The server does not return its capabilities.
    #[error("{url} does not return its capabilities: {trouble}")]
    Silent {
        /// The base URL.
        url: String,
        /// What happened.
        trouble: ExchangeError,
    },
    /// The capabilities are not valid.
    #[error("the capabilities in {place} cannot be used: {why}")]
    Invalid {
        /// The file or the base URL.
        place: String,
        /// Where in them, as a JSON pointer.
        pointer: String,
        /// What is wrong there.
        why: String,
    },
    /// The server cannot be used at all.
    #[error("{0}")]
    Server(#[from] ServerError),
}

impl Target {
    /// The implementation in a folder, with its `.<protocol>-conformance/capabilities.json`.
    pub fn in_folder(root: &Path, protocol: &Protocol) -> Result<Self, TargetError> {
        let path = root.join(format!(".{}-conformance", protocol.name()));
        let path = path.join("capabilities.json");
        let unreadable = |source| TargetError::Unreadable { path: path.clone(), source };
        let text = read(&path).map_err(unreadable)?;
        let place = path.display().to_string();
        let capabilities = decode(&place, &text, STDIO_FIXTURE_V1)?;
        let (program, args) = capabilities.command().map_err(|bad| invalid(&place, &bad))?;
        // The adapter's command is relative to this folder.
        let root = root.canonicalize().map_err(unreadable)?;
        let invocation = Invocation::new(program, args).cwd(&root);
        Ok(Self {
            adapter: Box::new(PerCase::new(invocation)),
            place: Location::Folder(root),
            capabilities,
        })
    }

    /// The implementation at a URL, whose capabilities are requested.
    pub fn at_url(options: &HttpOptions) -> Result<Self, TargetError> {
        let server = HttpFixtures::new(options)?;
        let url = server.url().to_owned();
        let silent = |trouble| TargetError::Silent { url: url.clone(), trouble };
        let text = server.capabilities().map_err(silent)?;
        Ok(Self {
            capabilities: decode(&url, text.as_bytes(), HTTP_FIXTURE_V1)?,
            place: Location::Server(url),
            adapter: Box::new(server),
        })
    }

    /// What the implementation claims.
    pub fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// Where it is.
    pub fn place(&self) -> &Location {
        &self.place
    }
}

impl Adapter for Target {
    fn begin(&self, protocol: &Protocol) -> Result<(), CannotBegin> {
        self.adapter.begin(protocol)
    }

    fn applies(&self, case: &Case) -> Result<(), String> {
        match case.tier {
            Some(tier) if !self.capabilities.claims_tier(tier) => Err(unclaimed(tier)),
            _ => self.adapter.applies(case),
        }
    }

    fn open(&self) -> Box<dyn Driver + '_> {
        self.adapter.open()
    }

    fn end(&self) -> Vec<LeftBehind> {
        self.adapter.end()
    }

    fn info(&self) -> AdapterInfo {
        self.adapter.info()
    }
}

/// The message for a tier that the implementation does not claim.
pub(super) fn unclaimed(tier: u64) -> String {
    format!("Target does not claim Tier {tier}")
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let about = fs::metadata(path)?;
    match about.len() {
        _ if !about.is_file() => Err(io::Error::other("it is not a file")),
        size if size > LARGEST => {
            Err(io::Error::other(format!("it has {size} bytes; at most {LARGEST} are read")))
        }
        _ => fs::read(path),
    }
}

fn decode(place: &str, text: &[u8], protocol: &str) -> Result<Capabilities, TargetError> {
    let document: Value = accord_canon::read(text)
        .map_err(|error| wrong(place, error.pointer(), error.detail().to_string()))?;
    let capabilities = Capabilities::from_document(document).map_err(|error| {
        let why = format!("expected {}, found {}", error.expected, error.found);
        wrong(place, &error.pointer, why)
    })?;
    capabilities.check(protocol).map_err(|bad| invalid(place, &bad))?;
    Ok(capabilities)
}

fn invalid(place: &str, bad: &BadCapabilities) -> TargetError {
    wrong(place, bad.pointer, bad.why.clone())
}

fn wrong(place: &str, pointer: &str, why: String) -> TargetError {
    TargetError::Invalid { place: place.to_owned(), pointer: pointer.to_owned(), why }
}

/// Far more than any capabilities need.
const LARGEST: u64 = 1024 * 1024;
