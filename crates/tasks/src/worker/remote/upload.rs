//! Uploads what an agent left.

use std::os::unix::fs::MetadataExt as _;

use accord_base::excerpt::one_line;
use accord_contract::{Code, Failure};
use accord_tasks_core::operations::{StageQuery, StagedAnswer};
use accord_tasks_core::uploads::{MOST_BYTES, MOST_FILES, PIECE, output_path};

use super::RemoteRun;
use crate::Result;
use crate::outputs::{Most, files_below};
use crate::report::REPORT;
use crate::tree::failure;

const FILES: Most = Most { files: MOST_FILES, depth: 30 };
/// The most characters that are shown of a name.
const NAME: usize = 100;
/// How often a file is read again that changed while it was uploaded.
const READINGS: usize = 3;

/// Uploads all outputs of a run, the report last: it counts only if the others are there.
pub(super) fn all(run: &RemoteRun<'_>) -> Result<()> {
    let (disk, companion) = (run.folder.disk(), run.folder.companion());
    let found = files_below(disk, &companion, "outputs", FILES).map_err(|error| failure(&error))?;
    let (mut paths, others) = found;
    if others.count > 0 {
        let named: Vec<&str> = others.named.iter().take(5).map(String::as_str).collect();
        let (count, named) = (others.count, named.join(", "));
        (run.note)(format!("not uploaded: {count} in outputs/ that are no files: {named}"));
    }
    // The hub takes no such name, and the other outputs count without it.
    let refused: Vec<String> = paths.extract_if(.., |path| output_path(path).is_err()).collect();
    if !refused.is_empty() {
        let named: Vec<String> = refused.iter().take(5).map(|path| one_line(path, NAME)).collect();
        let (count, named) = (refused.len(), named.join(", "));
        (run.note)(format!("not uploaded: {count} in outputs/ with names of no file: {named}"));
    }
    paths.sort_by_key(|path| path == REPORT);
    for path in paths {
        file(run, &companion, &path)?;
    }
    Ok(())
}

fn file(run: &RemoteRun<'_>, companion: &str, path: &str) -> Result<()> {
    let place = format!("{companion}/{path}");
    let mut readings = 0;
    loop {
        let Some((size, sha256)) = run.folder.digest(&place)? else { return Ok(()) };
        let Some(size) = u32::try_from(size).ok().filter(|size| *size <= MOST_BYTES) else {
            let message = format!("{path} has {size} bytes, more than {MOST_BYTES}");
            return Err(Failure::new(Code::AofOutputTooLarge, message));
        };
        let about = run.folder.root().join(&place).symlink_metadata();
        let query = StageQuery {
            actor: None,
            door: None,
            agent: Some(run.folder.agent().to_owned()),
            run_id: run.folder.run_id().to_owned(),
            path: path.to_owned(),
            size: Some(size),
            sha256,
            offset: None,
            executable: about.is_ok_and(|about| about.mode() & 0o111 != 0),
        };
        match pieces(run, &place, &query) {
            Err(failure) if failure.code == Code::AofOutputDamaged && readings < READINGS => {
                readings += 1;
            }
            sent => return sent,
        }
    }
}

/// Sends the pieces of a file that are not there yet.
fn pieces(run: &RemoteRun<'_>, place: &str, query: &StageQuery) -> Result<()> {
    let mut known = send(run, query, None, Vec::new())?;
    while !known.complete {
        let content = run.folder.disk().open(place).map_err(|error| failure(&error))?;
        let piece = content.map(|it| it.read_at(known.received, PIECE as usize)).transpose();
        let piece = piece.map_err(|error| failure(&error))?.unwrap_or_default();
        // It became shorter.
        if piece.is_empty() {
            return Err(Failure::new(Code::AofOutputDamaged, format!("{place} changed")));
        }
        known = match send(run, query, u32::try_from(known.received).ok(), piece) {
            // An answer was lost: the details say how much is there.
            Err(failure) if failure.code == Code::AofOutputOffset => {
                let received = failure.details.as_ref().and_then(|it| it.get("received")?.as_u64());
                let Some(received) = received.filter(|it| *it <= query.size.unwrap_or(0).into())
                else {
                    return Err(failure);
                };
                StagedAnswer { received, complete: false }
            }
            sent => sent?,
        };
        if known.received == u64::from(query.size.unwrap_or(0)) && !known.complete {
            known = send(run, query, None, Vec::new())?;
        }
    }
    Ok(())
}

/// Sends one request, until the hub answers. The run is kept alive meanwhile.
fn send(
    run: &RemoteRun<'_>,
    query: &StageQuery,
    offset: Option<u32>,
    piece: Vec<u8>,
) -> Result<StagedAnswer> {
    run.again(|| {
        if !run.beat() {
            let message = "the task was taken from this run while its outputs were uploaded";
            return Err(Failure::new(Code::AofStaleRun, message));
        }
        run.hub.stage(run.folder.task(), StageQuery { offset, ..query.clone() }, piece.clone())
    })
}
