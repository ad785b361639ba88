//! The file in a data folder that holds the URL of the host which serves it, for error messages of
//! other processes.
//!
//! A server runs without it if it cannot be written. A killed server leaves it behind, so it is
//! valid only while a host has the folder locked.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

const FILE: &str = "accord.url";
/// Longer than any URL that is written.
const MAX_BYTES: u64 = 200;

/// The file with the URL. It is removed when this is dropped.
pub struct UrlFile(PathBuf);

impl UrlFile {
    /// Writes the file, readable only by its owner. It appears with its text: a script that waits
    /// for the file reads it at once.
    pub fn write(folder: &Path, url: &str) -> Self {
        let path = folder.join(FILE);
        let written = tempfile::NamedTempFile::new_in(folder).and_then(|mut file| {
            writeln!(file, "{url}")?;
            // A file that a killed server left, or a link, is replaced and not followed.
            Ok(file.persist(&path)?)
        });
        drop(written);
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

#[cfg(test)]
mod tests {
    use super::{FILE, UrlFile, url_of_host};

    #[test]
    fn the_file_appears_with_its_text() {
        let folder = tempfile::tempdir().expect("a folder");
        let writer = std::thread::spawn({
            let folder = folder.path().to_owned();
            move || {
                for _ in 0..500 {
                    drop(UrlFile::write(&folder, "http://127.0.0.1:7171"));
                }
            }
        });
        while !writer.is_finished() {
            if let Ok(text) = std::fs::read_to_string(folder.path().join(FILE)) {
                assert_eq!(text, "http://127.0.0.1:7171\n");
            }
        }
        writer.join().expect("the writer ends");
        let _file = UrlFile::write(folder.path(), "http://127.0.0.1:7272");
        assert_eq!(url_of_host(folder.path()).as_deref(), Some("http://127.0.0.1:7272"));
    }
}
