//! Which settings of a data folder hold that nobody has named.
//!
//! A clone, or a worker, can bring a folder `.accord`. Its settings could send a key to another
//! server, or start a program. So a found folder with such settings is used only if the user has
//! trusted this content of its file. What is trusted is kept in the user's folder for state, which
//! workers in a sandbox do not see.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use accord_base::evidence::EvidenceDigest;
use accord_canon::sha256;
use accord_contract::{Code, Failure};
use accord_process::user_state_folder;
use parking_lot::Mutex;

use super::CONFIG_FILE;
use super::sources::{in_text, read_text};

/// Settings that name servers, programs, files or origins, and beginnings of such names.
const TRUSTED_ONLY: [&str; 14] = [
    "allowed_hosts",
    "allowed_origins",
    "behind_proxy",
    "embeddings.",
    "listen",
    "live.default_project",
    "metrics_open",
    "notify.",
    "tasks.command",
    "tasks.cwd",
    "tasks.executor",
    "tasks.notify.",
    "tls.",
    "url",
];

/// The settings files that were checked, as they were then, by the real paths of their folders. A
/// worker could replace a file between the check and its use.
static CHECKED: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());

/// The text of a settings file, if it was checked. It is empty if the file was absent.
pub(super) fn checked_text(path: &Path) -> Option<io::Result<String>> {
    let folder = path.parent()?.canonicalize().ok()?;
    let text = CHECKED.lock().get(&folder).cloned();
    text.filter(|_| path.file_name() == Some(OsStr::new(CONFIG_FILE))).map(Ok)
}

/// Checks a folder that was found, not named. The settings that were checked are those that this
/// process uses. Fails with `STORE_FOLDER_UNTRUSTED`, and with the failures of reading its
/// settings.
pub fn check_trusted(folder: &Path) -> Result<(), Failure> {
    let path = folder.join(CONFIG_FILE);
    let text = match read_text(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(unreadable(&path, &error)),
    };
    let names = in_text(&path, &text)?.into_iter().map(|(name, ..)| name);
    let names: Vec<&str> = names.filter(|name| needs_trust(name)).collect();
    if !names.is_empty() && !record_of(&path, &text)?.is_some_and(|record| record.exists()) {
        let (shown, names) = (path.display(), names.join(", "));
        let message = format!("{shown} sets {names}, and you have not trusted this file yet");
        let advice = format!(
            "look at it; if it is yours: `accord config trust --data {}`, or name the folder with \
             --data or ACCORD_DATA",
            folder.display(),
        );
        return Err(Failure::new(Code::StoreFolderUntrusted, message).suggesting(advice));
    }
    if let Ok(folder) = folder.canonicalize() {
        CHECKED.lock().insert(folder, text);
    }
    Ok(())
}

/// The settings file of a folder, as a person looks at it.
#[derive(Debug)]
pub struct Untrusted {
    path: PathBuf,
    text: String,
    /// The settings that need trust, with their values.
    pub settings: Vec<(&'static str, String)>,
}

impl Untrusted {
    /// Reads the settings of a folder. Fails with the failures of reading them.
    pub fn read(folder: &Path) -> Result<Self, Failure> {
        let path = folder.join(CONFIG_FILE);
        let text = read_text(&path).map_err(|error| unreadable(&path, &error))?;
        let settings = in_text(&path, &text)?.into_iter().map(|(name, value, _)| (name, value));
        let settings = settings.filter(|(name, _)| needs_trust(name)).collect();
        Ok(Self { path, text, settings })
    }

    /// The SHA-256 of the file.
    pub fn digest(&self) -> EvidenceDigest {
        sha256(self.text.as_bytes()).into()
    }

    /// Trusts the file with the text that was read. Fails with `OUTPUT_FAILED`.
    pub fn trust(&self) -> Result<(), Failure> {
        let failed = |error: &dyn std::fmt::Display| {
            let shown = self.path.display();
            Failure::new(Code::OutputFailed, format!("{shown} is not trusted: {error}"))
        };
        let record = record_of(&self.path, &self.text)?;
        let record = record.ok_or_else(|| failed(&"there is no folder for state (HOME)"))?;
        let folder = record.parent().unwrap_or(&record);
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(&record, ""));
        written.map_err(|error| failed(&error))
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(Code::InputUnreadable, format!("{}: {error}", path.display()))
}

fn needs_trust(name: &str) -> bool {
    TRUSTED_ONLY.iter().any(|known| match known.ends_with('.') {
        true => name.starts_with(known),
        false => name == *known,
    })
}

/// The file whose presence says that a settings file with this text is trusted.
fn record_of(path: &Path, text: &str) -> Result<Option<PathBuf>, Failure> {
    let Some(state) = user_state_folder() else { return Ok(None) };
    let real = path.canonicalize().map_err(|error| unreadable(path, &error))?;
    let known = [real.as_os_str().as_encoded_bytes(), &[0], text.as_bytes()].concat();
    Ok(Some(state.join("accord/trusted").join(sha256(&known).hex())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_that_was_checked_is_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(CONFIG_FILE);
        fs::write(&path, "[live]\nunread_days = 3\n").unwrap();
        check_trusted(folder.path()).unwrap();
        // A worker replaces it after the check.
        fs::write(&path, "url = \"http://127.0.0.1:1\"\n").unwrap();
        let text = checked_text(&path).unwrap().unwrap();
        assert!(text.contains("unread_days") && !text.contains("url"), "{text}");
        assert!(checked_text(&folder.path().join("other.toml")).is_none());
    }

    #[test]
    fn a_pipe_in_the_place_of_the_settings_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(CONFIG_FILE);
        let mode = rustix::fs::Mode::from_raw_mode(0o600);
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, &path, kind, mode, 0).unwrap();
        let failure = check_trusted(folder.path()).unwrap_err();
        assert_eq!(failure.code, Code::InputUnreadable);
    }
}
