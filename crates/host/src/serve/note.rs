//! The note in a data folder that says where its host listens, for whoever finds the folder taken.
//!
//! A courtesy: a server goes on without it, and one that was killed leaves it behind. It counts only while a host has
//! the folder.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// The file of the note in a data folder.
const NOTE: &str = "accord.url";

/// Far longer than any address.
const LONGEST: u64 = 200;

/// The note, as long as what it says is true.
pub(super) struct Note(PathBuf);

impl Note {
    /// Writes where the host of a folder listens, for the owner alone to read.
    pub(super) fn write(folder: &Path, url: &str) -> Self {
        let path = folder.join(NOTE);
        // The file of a server that was killed, or a link that somebody put there.
        drop(fs::remove_file(&path));
        let mut options = OpenOptions::new();
        let made = options.write(true).create_new(true).mode(0o600).open(&path);
        drop(made.and_then(|mut file| writeln!(file, "{url}")));
        Self(path)
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.0));
    }
}

/// Where the host that has a folder listens, where it says so.
pub fn url_of_host(folder: &Path) -> Option<String> {
    let mut text = String::new();
    let file = File::open(folder.join(NOTE)).ok()?;
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    let url = text.strip_suffix('\n')?;
    let is_plain = url.bytes().all(|byte| byte.is_ascii_graphic());
    (is_plain && !url.is_empty()).then(|| url.to_owned())
}
