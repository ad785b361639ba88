//! Reads the lines of an import.

use std::io::{self, BufRead as _, BufReader, Read, Seek, SeekFrom};

use accord_base::ProjectId;
use accord_base::credential::{CredentialPlace, find_in};
use accord_contract::{Code, Failure, Value, Wire as _};
use accord_memory_core::export::{ExportLine, Rejected, read_line};
use accord_memory_core::lifecycle::Revision;
use accord_memory_core::package::PROTOCOL_VERSION;
use accord_memory_core::{Fact, Package, Project, Session};
use accord_store::PackageIndex;

#[derive(Clone, Copy, Debug)]
pub(super) struct LinePosition {
    /// Its number, from 1.
    pub(super) number: u64,
    /// Its first byte.
    offset: u64,
    /// How many bytes it has.
    pub(super) length: usize,
}

impl LinePosition {
    /// The first byte after it.
    pub(super) fn end(&self) -> u64 {
        self.offset + self.length as u64
    }
}

/// The document in a line, ready to be written.
#[derive(Debug)]
pub(super) enum Item {
    Project(Box<Project>),
    Session(Box<Session>),
    Package(Box<ImportedPackage>),
    Fact(Box<Fact>),
}

/// A package with its log.
#[derive(Debug)]
pub(super) struct ImportedPackage {
    pub(super) package: Package,
    pub(super) log: Vec<Revision>,
    pub(super) rejected: Option<Rejected>,
    pub(super) index: PackageIndex,
}

pub(super) struct Lines<F: Read> {
    file: BufReader<F>,
    buffer: Vec<u8>,
    number: u64,
    offset: u64,
}

impl<F: Read + Seek> Lines<F> {
    pub(super) fn new(file: F) -> Self {
        let file = BufReader::with_capacity(256 * 1024, file);
        Self { file, buffer: Vec::new(), number: 0, offset: 0 }
    }

    /// The next line that is not empty, and its position.
    pub(super) fn next(&mut self) -> io::Result<Option<(LinePosition, &[u8])>> {
        loop {
            self.buffer.clear();
            let length = self.file.read_until(b'\n', &mut self.buffer)?;
            if length == 0 {
                return Ok(None);
            }
            self.number += 1;
            // The length includes the line break and blanks: `again` reads the same bytes.
            let place = LinePosition { number: self.number, offset: self.offset, length };
            self.offset += length as u64;
            if !tidy(&self.buffer).is_empty() {
                return Ok(Some((place, tidy(&self.buffer))));
            }
        }
    }

    pub(super) fn again(&mut self, place: LinePosition) -> io::Result<&[u8]> {
        self.file.seek(SeekFrom::Start(place.offset))?;
        self.buffer.resize(place.length, 0);
        self.file.read_exact(&mut self.buffer)?;
        Ok(tidy(&self.buffer))
    }

    pub(super) fn rewind(&mut self) -> io::Result<()> {
        (self.number, self.offset) = (0, 0);
        self.file.rewind()
    }
}

/// A line without surrounding white space and without a byte order mark.
fn tidy(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii()
}

impl Item {
    /// Reads a line of a project. Fails when it is not a document of the protocol, or of another
    /// project.
    pub(super) fn read(line: &[u8], project: &ProjectId) -> Result<Self, Failure> {
        let item = match read_line(line)? {
            ExportLine::Project(project) => Self::Project(project),
            ExportLine::Session(session) => Self::Session(session),
            ExportLine::Fact(fact) => Self::Fact(fact),
            ExportLine::Package { package, revisions, rejected } => {
                let index = PackageIndex::of(package.fields());
                let log = revisions;
                Self::Package(ImportedPackage { package: *package, log, rejected, index }.into())
            }
        };
        if item.project() == project { Ok(item) } else { Err(elsewhere(item.project(), project)) }
    }

    /// The places with credentials. They are imported: an import must not lose what another host
    /// has stored.
    pub(super) fn credentials(&self) -> Vec<CredentialPlace> {
        match self {
            Self::Package(line) => line.package.credentials(),
            Self::Fact(fact) => find_in(&fact.encode()),
            Self::Project(_) | Self::Session(_) => Vec::new(),
        }
    }

    fn project(&self) -> &ProjectId {
        match self {
            Self::Project(project) => &project.project_id,
            Self::Session(session) => &session.project_id,
            Self::Package(line) => line.package.project_id(),
            Self::Fact(fact) => &fact.project_id,
        }
    }
}

/// Whether an unreadable line is of a later version of the protocol. Such a line is quarantined,
/// not refused, because a later version of Accord can read it.
pub(super) fn is_of_a_later_version(line: &[u8]) -> bool {
    let Ok(Value::Object(members)) = serde_json::from_slice(line) else { return false };
    let own = members.get("relay_version");
    let enveloped = members.get("data").and_then(|data| data.get("relay_version"));
    let named = own.or(enveloped).and_then(Value::as_str);
    named.and_then(version) > version(PROTOCOL_VERSION)
}

/// The two numbers of a version; a number alone is the first.
fn version(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once('.').unwrap_or((text, "0"));
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn elsewhere(named: &ProjectId, project: &ProjectId) -> Failure {
    let (named, project) = (named.as_str(), project.as_str());
    let message = format!("the line belongs to project {named:?}, and was sent to {project:?}");
    Failure::new(Code::AgenticInvalidSchema, message).at("/project_id")
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    #[test]
    fn lines_are_numbered_and_found_again() {
        let text = b"\xef\xbb\xbf{\"a\":1}\r\n\n  \n{\"b\":2}\n{\"c\":3}";
        let mut lines = Lines::new(Cursor::new(text));
        let mut places = Vec::new();
        let mut found = Vec::new();
        while let Some((place, line)) = lines.next().expect("it is in memory") {
            places.push(place);
            found.push(String::from_utf8_lossy(line).into_owned());
        }
        assert_eq!(found, ["{\"a\":1}", "{\"b\":2}", "{\"c\":3}"]);
        let numbers: Vec<_> = places.iter().map(|place| place.number).collect();
        assert_eq!(numbers, [1, 4, 5]);
        for (place, expected) in places.iter().zip(&found).rev() {
            let line = lines.again(*place).expect("it is in memory");
            assert_eq!(String::from_utf8_lossy(line), *expected);
        }
    }

    #[test]
    fn later_versions_are_distinguished_from_mistakes() {
        let later = [
            r#"{"relay_version":"0.2","package_id":"p"}"#,
            r#"{"kind":"package","data":{"relay_version":"1.0","new":[]}}"#,
            r#"{"relay_version":"0.10"}"#,
            r#"{"relay_version":"9999"}"#,
        ];
        let wrong = [
            r#"{"relay_version":"0.1","package_id":"p"}"#,
            r#"{"relay_version":"0.0"}"#,
            r#"{"relay_version":"0"}"#,
            r#"{"relay_version":0.2}"#,
            r#"{"relay_version":"next"}"#,
            r#"{"kind":"fact","data":{}}"#,
            "{\"relay_version\":\"0.2\"",
            "[]",
        ];
        for line in later {
            assert!(is_of_a_later_version(line.as_bytes()), "{line}");
        }
        for line in wrong {
            assert!(!is_of_a_later_version(line.as_bytes()), "{line}");
        }
    }
}
