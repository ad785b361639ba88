//! Stores the archives of a backup of Relay as blobs of their projects.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use accord_contract::codes::{Code, Failure};
use accord_contract::wire::Value;
use axum::body::{Body, Bytes};
use hyper::Method;
use serde_json::json;

use super::relay_backup::Archive;
use crate::error::CliError;
use crate::host::{Connection, HostRequest};
use crate::render::{Page, Style, clean, counted};

/// The size of a piece of a request body.
const PIECE: usize = 128 * 1024;

/// What became of the archives of a project.
#[derive(Default)]
pub(super) struct StoredArchives {
    stored: u64,
    unchanged: u64,
    failed: u64,
    /// The first reason.
    why: Option<String>,
}

/// Stores archives. A refusal concerns its archive, or all of them if the host has no blob storage.
///
/// # Errors
/// When the host cannot be reached any more.
pub(super) fn store<'a>(
    host: &Connection,
    archives: impl Iterator<Item = &'a Archive>,
) -> Result<StoredArchives, CliError> {
    let mut result = StoredArchives::default();
    let mut has_storage = true;
    for archive in archives {
        if !has_storage {
            result.failed += 1;
            continue;
        }
        // An import that is repeated does not send them again.
        if host.send(request(Method::HEAD, archive)).is_ok() {
            result.unchanged += 1;
            continue;
        }
        let body = content(&archive.file).map_err(|error| CliError::from(lost(&error)))?;
        let put = request(Method::PUT, archive).bytes("application/zip", body).takes_long();
        match host.send(put) {
            Ok(_) => result.stored += 1,
            Err(error) => {
                let code = error.code();
                if !code.is_some_and(is_refusal) {
                    return Err(error);
                }
                has_storage = code != Some(Code::AgenticNotImplemented);
                result.failed += 1;
                result.why.get_or_insert_with(|| error.to_string());
            }
        }
    }
    Ok(result)
}

impl StoredArchives {
    pub(super) fn is_whole(&self) -> bool {
        self.failed == 0
    }

    /// The counts, for programs.
    pub(super) fn document(&self) -> Value {
        json!({
            "stored": self.stored,
            "unchanged": self.unchanged,
            "failed": self.failed,
            "why": self.why,
        })
    }
}

/// The lines about archives, for people.
pub(super) fn render(page: &mut Page, archives: &Value) {
    let number = |name: &str| archives[name].as_u64().unwrap_or(0);
    let counts = [("stored", number("stored")), ("unchanged", number("unchanged"))];
    let counts = counts.into_iter().filter(|(_, count)| *count > 0);
    let counts: Vec<_> = counts.map(|(state, count)| format!("{count} {state}")).collect();
    if !counts.is_empty() {
        page.pieces(&[format!("archives: {}", counts.join(", "))]);
    }
    if number("failed") > 0 {
        let why = clean(archives["why"].as_str().unwrap_or_default());
        let text = format!("not stored: {}: {why}", counted(number("failed"), "archive"));
        page.pieces(&[page.styled(Style::Bad, &text)]);
    }
}

/// Whether the host answered, and refused.
fn is_refusal(code: Code) -> bool {
    matches!(
        code,
        Code::AgenticNotImplemented
            | Code::AgenticProjectArchived
            | Code::AgenticUnauthorized
            | Code::AgenticPayloadTooLarge
            | Code::AgenticBlobDigestMismatch
    )
}

fn request(method: Method, archive: &Archive) -> HostRequest {
    let digest = format!("sha256:{}", archive.digest.hex());
    let request = HostRequest::new(method, &["v1", "blobs", &digest]);
    request.with("project_id", Some(&archive.project))
}

fn content(path: &Path) -> io::Result<Body> {
    let file = File::open(path)?;
    let next = |mut file: File| async move {
        let mut piece = vec![0; PIECE];
        match file.read(&mut piece) {
            Ok(0) => None,
            Ok(length) => {
                piece.truncate(length);
                Some((Ok::<_, io::Error>(Bytes::from(piece)), file))
            }
            Err(error) => Some((Err(error), file)),
        }
    };
    Ok(Body::from_stream(futures_util::stream::unfold(file, next)))
}

fn lost(error: &io::Error) -> Failure {
    let message = format!("cannot read an archive again: {error}");
    Failure::new(Code::InputUnreadable, message)
}
