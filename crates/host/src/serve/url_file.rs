//! The file in a data folder that holds the URL of the host which serves it, for error messages of
//! other processes.
//!
//! A server runs without it if it cannot be written. A killed server leaves it behind, so it is
//! valid only while a host has the folder locked.

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// The name of the file in a data folder.
const FILE: &str = "accord.url";

/// Longer than any URL that is written.
const MAX_BYTES: u64 = 200;

/// The file with the URL. It is removed when this is dropped.
pub(super) struct UrlFile(PathBuf);

impl UrlFile {
    /// Writes the file, readable only by its owner.
    pub(super) fn write(folder: &Path, url: &str) -> Self {
        let path = folder.join(FILE);
        // It may be left by a killed server, or be a link that must not be followed.
        drop(fs::remove_file(&path));
        let mut options = OpenOptions::new();
        let made = options.write(true).create_new(true).mode(0o600).open(&path);
        drop(made.and_then(|mut file| writeln!(file, "{url}")));
        Self(path)
    }
}

impl Drop for UrlFile {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.0));
    }
}

/// The URL of the host that serves a folder, if it wrote one.
pub fn url_of_host(folder: &Path) -> Option<String> {
    let mut text = String::new();
    let file = File::open(folder.join(FILE)).ok()?;
    file.take(MAX_BYTES).read_to_string(&mut text).ok()?;
    let url = text.strip_suffix('\n')?;
    let is_plain = url.bytes().all(|byte| byte.is_ascii_graphic());
    (is_plain && !url.is_empty()).then(|| url.to_owned())
}
