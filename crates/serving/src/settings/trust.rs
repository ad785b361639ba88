//! Which settings of a data folder hold that nobody has named.
//!
//! A clone, or a worker, can bring a folder `.accord`. Its settings could send a key to another
//! server, or start a program. So a found folder with such settings is used only if the user has
//! trusted this content of its file. What is trusted is kept in the user's folder for state, which
//! workers in a sandbox do not see.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use accord_canon::sha256;
use accord_contract::{Code, Failure};
use accord_process::user_state_folder;

use super::CONFIG_FILE;
use super::sources::names_in;

/// Settings that name servers, programs, files or origins, and beginnings of such names.
const TRUSTED_ONLY: [&str; 13] = [
    "allowed_hosts",
    "allowed_origins",
    "behind_proxy",
    "embeddings.",
    "listen",
    "live.default_project",
    "metrics_open",
    "tasks.command",
    "tasks.cwd",
    "tasks.executor",
    "tasks.notify.",
    "tls.",
    "url",
];

/// Checks a folder that was found, not named. Fails with `STORE_FOLDER_UNTRUSTED`, and with the
/// failures of reading its settings.
pub fn check_trusted(folder: &Path) -> Result<(), Failure> {
    let path = folder.join(CONFIG_FILE);
    let mut names = names_in(&path, true)?;
    names.retain(|name| needs_trust(name));
    if names.is_empty() || record_of(&path)?.is_some_and(|record| record.exists()) {
        return Ok(());
    }
    let (shown, names) = (path.display(), names.join(", "));
    let message = format!("{shown} sets {names}, and you have not trusted this file yet");
    let advice = format!(
        "look at it; if it is yours: `accord config trust --data {}`, or name the folder with \
         --data or ACCORD_DATA",
        folder.display(),
    );
    Err(Failure::new(Code::StoreFolderUntrusted, message).suggesting(advice))
}

/// Trusts the present settings of a folder. Returns their names that needed it. Fails with
/// `OUTPUT_FAILED`, and with the failures of reading its settings.
pub fn trust(folder: &Path) -> Result<Vec<&'static str>, Failure> {
    let path = folder.join(CONFIG_FILE);
    let mut names = names_in(&path, false)?;
    names.retain(|name| needs_trust(name));
    if names.is_empty() {
        return Ok(names);
    }
    let failed = |error: &dyn std::fmt::Display| {
        Failure::new(Code::OutputFailed, format!("{} is not trusted: {error}", path.display()))
    };
    let record = record_of(&path)?.ok_or_else(|| failed(&"there is no folder for state (HOME)"))?;
    let folder = record.parent().unwrap_or(&record);
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(&record, ""));
    written.map_err(|error| failed(&error))?;
    Ok(names)
}

fn needs_trust(name: &str) -> bool {
    TRUSTED_ONLY.iter().any(|known| match known.ends_with('.') {
        true => name.starts_with(known),
        false => name == *known,
    })
}

/// The file whose presence says that a settings file is trusted as it is.
fn record_of(path: &Path) -> Result<Option<PathBuf>, Failure> {
    let failed = |error: io::Error| {
        Failure::new(Code::InputUnreadable, format!("{}: {error}", path.display()))
    };
    let (Some(state), true) = (user_state_folder(), path.exists()) else { return Ok(None) };
    let mut known = path.canonicalize().map_err(failed)?.into_os_string().into_encoded_bytes();
    known.push(0);
    known.extend(fs::read(path).map_err(failed)?);
    Ok(Some(state.join("accord/trusted").join(sha256(&known).hex())))
}
