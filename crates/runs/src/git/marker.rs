//! Content markers, which distinguish two contents of a file. Every runner of the protocol writes
//! the same markers for files, so that one runner can assign a turn and another can accept it.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use accord_canon::shorten_path;
use accord_contract::{Code, Failure};
use accord_runs_core::Result;
use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

pub(super) const GONE: &str = "deleted";

const CHUNK: usize = 64 * 1024;
/// The largest file of patterns that is parsed; a larger one is hashed whole.
const MOST_RULES: u64 = 1024 * 1024;

/// The marker of a path now. A link is marked by its target and is not followed.
pub(super) fn of(root: &Path, path: &str) -> Result<String> {
    let place = root.join(path);
    read(&place).map_err(|error| {
        let message = format!("{} could not be read: {error}", shorten_path(path));
        Failure::new(Code::XchainFileSystemFailed, message).with("path", path)
    })
}

pub(super) fn of_text(text: &str) -> String {
    of_bytes(text.as_bytes())
}

pub(super) fn of_bytes(bytes: &[u8]) -> String {
    of_digest(Sha256::new_with_prefix(bytes))
}

pub(super) fn of_digest(digest: Sha256) -> String {
    format!("sha256:{}", HEXLOWER.encode(&digest.finalize()))
}

/// The marker of the rules in a file of patterns; `None` if it has no rules. Comments and empty
/// lines, such as git writes to a new repository, are not rules.
pub(super) fn of_rules(root: &Path, path: &str) -> Result<Option<String>> {
    let mark = of(root, path)?;
    // Not a file. A link or a folder in its place is a change in itself.
    if !mark.starts_with("sha256:") {
        return Ok((mark != GONE).then_some(mark));
    }
    let mut text = Vec::new();
    let file = File::open(root.join(path));
    let read = file.and_then(|file| file.take(MOST_RULES).read_to_end(&mut text));
    if read.is_err() || text.len() as u64 == MOST_RULES {
        return Ok(Some(mark));
    }
    let lines = text.split(|byte| *byte == b'\n');
    // For git, any other blank is a pattern.
    let is_blank = |line: &[u8]| line.iter().all(|byte| matches!(byte, b' ' | b'\r'));
    let is_rule = |line: &&[u8]| !line.starts_with(b"#") && !is_blank(line);
    let rules: Vec<&[u8]> = lines.filter(is_rule).collect();
    Ok((!rules.is_empty()).then(|| of_bytes(&rules.join(&b'\n'))))
}

pub(super) fn read(place: &Path) -> io::Result<String> {
    let found = match place.symlink_metadata() {
        Ok(found) => found,
        Err(error) if is_gone(&error) => return Ok(GONE.to_owned()),
        Err(error) => return Err(error),
    };
    if found.is_symlink() {
        let target = place.read_link()?;
        let digest = Sha256::digest(target.as_os_str().as_bytes());
        return Ok(format!("link:{}", HEXLOWER.encode(&digest)));
    }
    if !found.is_file() {
        return Ok(if found.is_dir() { "folder" } else { "special" }.to_owned());
    }
    let mut file = match File::open(place) {
        Ok(file) => file,
        Err(error) if is_gone(&error) => return Ok(GONE.to_owned()),
        Err(error) => return Err(error),
    };
    let mut digest = Sha256::new();
    let mut chunk = vec![0; CHUNK];
    loop {
        match file.read(&mut chunk) {
            Ok(0) => break,
            Ok(read) => digest.update(&chunk[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(of_digest(digest))
}

pub(super) fn is_gone(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}
