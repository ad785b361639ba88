//! Reads a corpus from a folder, and writes it.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use super::CorpusError;

/// Paths relative to the corpus, with `/`, and the text of each file.
pub(crate) type Files = BTreeMap<String, String>;

/// All files of a folder without a dot before their name, and the paths of its empty folders.
pub(super) fn read(folder: &Path) -> Result<(Files, Vec<String>), CorpusError> {
    let mut found = FolderFiles::default();
    collect(folder, "", 0, |_| true, &mut found)?;
    found.empty.sort();
    Ok((found.files, found.empty))
}

/// The `*.json` files of a folder, and how many have a dot before their name.
pub(super) fn read_json(folder: &Path) -> Result<(Files, usize), CorpusError> {
    let mut found = FolderFiles::default();
    collect(folder, "", 0, |name| name.ends_with(".json"), &mut found)?;
    Ok((found.files, found.hidden))
}

/// Writes files below a folder, which is created if missing.
pub(super) fn write(files: &Files, folder: &Path) -> Result<(), CorpusError> {
    for (name, text) in files {
        let path = folder.join(name);
        let written = match path.parent() {
            Some(parent) => fs::create_dir_all(parent).and_then(|()| fs::write(&path, text)),
            None => fs::write(&path, text),
        };
        written.map_err(|source| CorpusError::Unwritable { path, source })?;
    }
    Ok(())
}

#[derive(Default)]
struct FolderFiles {
    files: Files,
    empty: Vec<String>,
    /// The number of files and folders that were skipped because their name begins with a dot.
    hidden: usize,
}

fn collect(
    folder: &Path,
    prefix: &str,
    depth: usize,
    wanted: fn(&str) -> bool,
    found: &mut FolderFiles,
) -> Result<(), CorpusError> {
    let unreadable = |source| CorpusError::Unreadable { path: folder.to_owned(), source };
    // A link to a parent folder would never end.
    if depth > MAX_DEPTH {
        return Err(unreadable(io::Error::other("its folders are nested too deeply")));
    }
    let mut holds_something = false;
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let entry = entry.map_err(unreadable)?;
        let Ok(name) = entry.file_name().into_string() else {
            return Err(unreadable(io::Error::other("a file name is not UTF-8")));
        };
        let path = entry.path();
        // Editors and version control keep such files beside the cases.
        if name.starts_with('.') {
            found.hidden += usize::from(path.is_dir() || wanted(&name));
            continue;
        }
        holds_something = true;
        if path.is_dir() {
            collect(&path, &format!("{prefix}{name}/"), depth + 1, wanted, found)?;
        } else if wanted(&name) {
            found.files.insert(format!("{prefix}{name}"), read_text(&path)?);
        }
    }
    if let Some(path) = prefix.strip_suffix('/').filter(|_| !holds_something) {
        found.empty.push(path.to_owned());
    }
    Ok(())
}

fn read_text(path: &Path) -> Result<String, CorpusError> {
    // A named pipe would block for ever, so only regular files are read.
    let text = fs::metadata(path).and_then(|about| match about.len() {
        _ if !about.is_file() => Err(io::Error::other("it is not a file")),
        size if size > MAX_FILE => Err(io::Error::other(format!(
            "it has {size} bytes; a file of a corpus has at most {MAX_FILE}"
        ))),
        _ => fs::read_to_string(path),
    });
    text.map_err(|source| CorpusError::Unreadable { path: path.to_owned(), source })
}

const MAX_DEPTH: usize = 16;
const MAX_FILE: u64 = 16 * 1024 * 1024;
