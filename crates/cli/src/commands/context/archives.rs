//! Stores the archives of a backup of Relay as blobs of their projects.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use accord_api::body::Bytes;
use accord_api::{Call, NoBody};
use accord_contract::{Code, message};
use accord_memory_core::operations::{BlobWithin, GetBlob, OfBlob, PutBlob};
use axum::body::Body;

use super::relay_backup::Archive;
use crate::host::{Connection, HostRequest, id_of};
use crate::render::{Page, Style, clean, counted};
use crate::{CliError, Result};

/// The size of a piece of a request body.
const PIECE: usize = 128 * 1024;

message! {
    /// What became of the archives of a project.
    pub(super) struct StoredArchives("StoredArchives", closed) {
        /// How many were stored.
        required stored: u64 = "stored", "count";
        /// How many were stored before.
        required unchanged: u64 = "unchanged", "count";
        /// How many were not stored.
        required failed: u64 = "failed", "count";
        /// Why the first was not.
        required_or_null why: String = "why", "text-for-people";
    }
}

/// Stores archives. A refusal concerns its archive, or all of them if the host has no blob storage.
pub(super) fn store<'a>(
    host: &Connection,
    archives: impl Iterator<Item = &'a Archive>,
) -> Result<StoredArchives> {
    let mut result = StoredArchives { stored: 0, unchanged: 0, failed: 0, why: None };
    let mut has_storage = true;
    for archive in archives {
        if !has_storage {
            result.failed += 1;
            continue;
        }
        // An import that is repeated does not send them again.
        let path = OfBlob { digest: archive.digest.into() };
        let within = BlobWithin { project: Some(id_of("project_id", &archive.project)?) };
        let get = Call::<GetBlob>::new(path.clone(), within.clone(), NoBody);
        if host.send(HostRequest::from(get.encode()).head()).is_ok() {
            result.unchanged += 1;
            continue;
        }
        let body = content(&archive.file).map_err(|error| {
            let message = format!("cannot read an archive again: {error}");
            CliError::new(Code::InputUnreadable, message)
        })?;
        let put = Call::<PutBlob>::new(path, within, Bytes).encode();
        let put = HostRequest::from(put).bytes("application/zip", body).takes_long();
        match host.send(put) {
            Ok(_) => result.stored += 1,
            Err(error) if error.code().is_some_and(is_refusal) => {
                has_storage = error.code() != Some(Code::AgenticNotImplemented);
                result.failed += 1;
                result.why.get_or_insert_with(|| error.to_string());
            }
            Err(error) => return Err(error),
        }
    }
    Ok(result)
}

/// The lines about archives, for people.
pub(super) fn render(page: &mut Page, archives: &StoredArchives) {
    let counts = [("stored", archives.stored), ("unchanged", archives.unchanged)];
    let counts = counts.into_iter().filter(|(_, count)| *count > 0);
    let counts: Vec<_> = counts.map(|(state, count)| format!("{count} {state}")).collect();
    if !counts.is_empty() {
        page.pieces(&[format!("archives: {}", counts.join(", "))]);
    }
    if archives.failed > 0 {
        let why = clean(archives.why.as_deref().unwrap_or_default());
        let text = format!("not stored: {}: {why}", counted(archives.failed, "archive"));
        page.pieces(&[page.styled(Style::Bad, &text)]);
    }
}

/// Whether the host answered, and refused.
fn is_refusal(code: Code) -> bool {
    matches!(
        code,
        Code::AgenticNotImplemented
            | Code::AgenticProjectArchived
            | Code::AccessDenied
            | Code::AgenticPayloadTooLarge
            | Code::AgenticBlobDigestMismatch
    )
}

fn content(path: &Path) -> io::Result<Body> {
    let file = File::open(path)?;
    let next = |mut file: File| async move {
        let mut piece = vec![0; PIECE];
        match file.read(&mut piece) {
            Ok(0) => None,
            Ok(length) => {
                piece.truncate(length);
                Some((Ok::<_, io::Error>(axum::body::Bytes::from(piece)), file))
            }
            Err(error) => Some((Err(error), file)),
        }
    };
    Ok(Body::from_stream(futures_util::stream::unfold(file, next)))
}
