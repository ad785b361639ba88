//! A worker uploads a part of an output.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use accord_base::By;
use accord_canon::{sha256, sha256_parts};
use accord_contract::{Code, Failure};
use accord_tasks_core::TaskId;
use accord_tasks_core::operations::{StageQuery, StagedAnswer};
use accord_tasks_core::uploads::{check_piece, check_room, output_path};
use accord_trees::{Content, Disk, atomic, parent};

use crate::layout::companion;
use crate::tree::failure;
use crate::work::Work;
use crate::{Result, Tree};

/// What is read of a file at once.
const CHUNK: usize = 1024 * 1024;
/// How many digits of a digest are in a name.
const DIGITS: usize = 16;

/// A version of an output that a run uploads.
#[derive(Clone)]
struct Upload {
    agent: String,
    run_id: String,
    path: String,
    size: u64,
    sha256: String,
    is_executable: bool,
}

/// Where an upload is.
enum Progress {
    Complete,
    /// The part has so many bytes; the folder of its run, and that of the outputs of its task.
    Part(u64, String, String),
}

impl Tree {
    /// Takes a part of an output of a run. An empty one asks how much is there.
    pub fn stage_output(
        &self,
        task: &str,
        query: &StageQuery,
        piece: &[u8],
        by: &By,
    ) -> Result<StagedAnswer> {
        output_path(&query.path)?;
        let upload = Upload {
            agent: by.agent(query.agent.as_deref())?.to_owned(),
            run_id: query.run_id.clone(),
            path: query.path.clone(),
            size: query.size.map_or_else(|| end_of(query, piece), u64::from),
            sha256: query.sha256.clone(),
            is_executable: query.executable,
        };
        let (task, offset) = (task.to_owned(), u64::from(query.offset.unwrap_or(0)));
        let (own, piece) = (upload.clone(), piece.to_vec());
        // Under the lock of the tree, so that no piece comes after the report.
        let (id, progress) = self.change(move |work| {
            let id = work.resolve(&task)?;
            Ok((id, own.add(work, id, offset, &piece)?))
        })?;
        let (received, folder, outputs) = match progress {
            Progress::Complete => return Ok(done(upload.size)),
            Progress::Part(received, folder, outputs) => (received, folder, outputs),
        };
        let part = upload.part(&folder);
        // To read a large file takes a while: beside the group.
        let disk = self.disk();
        if received == upload.size {
            if digest(disk, &part)?.as_deref() != Some(upload.sha256.as_str()) {
                disk.remove_file(&part).map_err(|error| failure(&error))?;
                let message =
                    format!("{} does not have the digest that was announced", upload.path);
                return Err(Failure::new(Code::AofOutputDamaged, message)
                    .with("path", upload.path.as_str()));
            }
        } else if received > 0 || !upload.copy(disk, &outputs, &part)? {
            return Ok(StagedAnswer { received, complete: false });
        }
        if disk.stat(&part).map_err(|error| failure(&error))?.is_some() {
            disk.sync(&part).map_err(|error| failure(&error))?;
        }
        self.change(move |work| {
            work.staging(id, &upload.agent, &upload.run_id)?;
            upload.publish(work.disk(), &folder).map_err(|error| failure(&error))?;
            Ok(done(upload.size))
        })
    }
}

fn done(size: u64) -> StagedAnswer {
    StagedAnswer { received: size, complete: true }
}

impl Upload {
    /// What names this version: its path, its size and its digest.
    fn name(&self) -> String {
        let mut digest = sha256(self.sha256.as_bytes()).hex();
        digest.truncate(DIGITS);
        format!("{}{}-{digest}", self.prefix(), self.size)
    }

    /// What names all versions of the file.
    fn prefix(&self) -> String {
        let mut digest = sha256(self.path.as_bytes()).hex();
        digest.truncate(DIGITS);
        format!("{digest}-")
    }

    fn part(&self, folder: &str) -> String {
        format!("{folder}/parts/{}", self.name())
    }

    /// Adds bytes to the part of the file.
    fn add(&self, work: &Work<'_>, id: TaskId, offset: u64, piece: &[u8]) -> Result<Progress> {
        let folder = work.staging(id, &self.agent, &self.run_id)?;
        let (disk, of) = (work.disk(), |error| failure(&error));
        let stat = |path: &str| disk.stat(path).map_err(of);
        if stat(&format!("{folder}/done/{}", self.name()))?.is_some() {
            return Ok(Progress::Complete);
        }
        let part = self.part(&folder);
        let known = stat(&part)?.map(|found| found.length);
        if known.is_none() {
            self.begin(disk, &folder)?;
        }
        let length = piece.len() as u64;
        let received = known.unwrap_or(0);
        if length > 0 {
            check_piece(received, offset, length, self.size)?;
        }
        // A part that exists was counted.
        disk.append(&part, piece).map_err(of)?;
        let outputs = companion(accord_tasks_core::Status::InProgress, id);
        Ok(Progress::Part(received + length, folder, outputs))
    }

    /// Makes room for one more file, and drops other versions of it.
    fn begin(&self, disk: &dyn Disk, folder: &str) -> Result<()> {
        let of = |error| failure(&error);
        let mut announced = Vec::new();
        for place in ["parts", "done"] {
            let place = format!("{folder}/{place}");
            for entry in disk.list(&place).map_err(of)?.unwrap_or_default() {
                if !entry.name.starts_with(&self.prefix()) {
                    announced.extend(size_of(&entry.name));
                } else if place.ends_with("/parts") {
                    disk.remove_file(&format!("{place}/{}", entry.name)).map_err(of)?;
                }
            }
        }
        check_room(self.size, announced.into_iter())?;
        for place in ["parts", "done", "outputs"] {
            atomic::make_folders(disk, &format!("{folder}/{place}")).map_err(of)?;
        }
        Ok(())
    }

    /// Takes the file from the outputs that the task has, if it is the same there.
    fn copy(&self, disk: &dyn Disk, outputs: &str, part: &str) -> Result<bool> {
        let own = format!("{outputs}/{}", self.path);
        let is_same = disk.stat(&own).ok().flatten().is_some_and(|it| it.length == self.size);
        // A file that cannot be read is uploaded.
        if !is_same || digest(disk, &own).ok().flatten().as_deref() != Some(&self.sha256) {
            return Ok(false);
        }
        let copy = format!("{part}.copy");
        let copied = || -> accord_trees::Result<bool> {
            disk.remove_file(&copy)?;
            let Some(content) = disk.open(&own)? else { return Ok(false) };
            disk.append(&copy, b"")?;
            for piece in pieces(content.as_ref()) {
                disk.append(&copy, &piece?)?;
            }
            Ok(true)
        };
        let is_copied = copied().map_err(|error| failure(&error))?;
        if !is_copied || digest(disk, &copy)?.as_deref() != Some(&self.sha256) {
            drop(disk.remove_file(&copy));
            return Ok(false);
        }
        disk.move_to(&copy, part).map_err(|error| failure(&error))?;
        Ok(true)
    }

    /// Puts the complete file among the outputs of the run.
    fn publish(&self, disk: &dyn Disk, folder: &str) -> accord_trees::Result<()> {
        let (part, path) = (self.part(folder), format!("{folder}/{}", self.path));
        // Another request may have done it.
        if disk.stat(&part)?.is_none() {
            return Ok(());
        }
        let mode = if self.is_executable { 0o755 } else { 0o644 };
        let place = disk.root_path().join(&part);
        // A file system without permissions has no programs.
        drop(fs::set_permissions(&place, fs::Permissions::from_mode(mode)));
        let done = format!("{folder}/done");
        for entry in disk.list(&done)?.unwrap_or_default() {
            if entry.name.starts_with(&self.prefix()) {
                disk.remove_file(&format!("{done}/{}", entry.name))?;
            }
        }
        disk.remove_tree(&path)?;
        atomic::make_folders(disk, parent(&path))?;
        disk.move_to(&part, &path)?;
        disk.sync_folder(parent(&path))?;
        atomic::write(disk, &format!("{done}/{}", self.name()), b"")
    }
}

/// Where the file ends whose last piece this is.
fn end_of(query: &StageQuery, piece: &[u8]) -> u64 {
    u64::from(query.offset.unwrap_or(0)) + piece.len() as u64
}

/// The size that the name of a part announces.
fn size_of(name: &str) -> Option<u64> {
    name.split('-').nth(1)?.parse().ok()
}

/// The digest of a file, in hexadecimal digits.
fn digest(disk: &dyn Disk, path: &str) -> Result<Option<String>> {
    let of = |error| failure(&error);
    let Some(content) = disk.open(path).map_err(of)? else { return Ok(None) };
    let digest = sha256_parts(pieces(content.as_ref())).map_err(of)?;
    Ok(Some(digest.hex()))
}

fn pieces(content: &dyn Content) -> impl Iterator<Item = accord_trees::Result<Vec<u8>>> {
    let part = |at: u64| match content.read_at(at, CHUNK) {
        Ok(part) if part.is_empty() => None,
        part => Some(part),
    };
    (0..).map(|number: u64| number * CHUNK as u64).map_while(part)
}
