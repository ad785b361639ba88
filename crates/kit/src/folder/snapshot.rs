//! The files of a folder at one moment. Links are not followed, and are not files.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use accord_contract::Value;

/// The contents of files, by path.
#[derive(Clone, Debug, Default)]
pub(super) struct Snapshot(BTreeMap<String, Vec<u8>>);

impl Snapshot {
    /// Reads all files below a folder. A file that is removed meanwhile is left out.
    pub(super) fn of(root: &Path) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        collect(root, "", &mut files)?;
        Ok(Self(files))
    }

    /// The files, in the order of their paths.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(path, content)| (path.as_str(), content.as_slice()))
    }

    pub(super) fn paths(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    /// A file as a JSON document.
    pub(super) fn json(&self, path: &str) -> Option<Value> {
        accord_canon::read(self.0.get(path)?).ok()
    }
}

fn collect(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) -> io::Result<()> {
    let Some(entries) = present(fs::read_dir(folder))? else { return Ok(()) };
    for entry in entries {
        let entry = entry?;
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let Some(kind) = present(entry.file_type())? else { continue };
        if kind.is_dir() {
            collect(&entry.path(), &format!("{path}/"), files)?;
        } else if kind.is_file()
            && let Some(content) = present(fs::read(entry.path()))?
        {
            files.insert(path, content);
        }
    }
    Ok(())
}

/// A file or folder that does not exist any more is not an error.
fn present<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes a file of a case: a text, a list of lines, or a JSON document. Null removes it.
pub(super) fn write(root: &Path, path: &str, content: &Value) -> io::Result<()> {
    let file = root.join(path);
    let text = match content {
        Value::Null => return fs::remove_file(file),
        Value::String(text) => text.clone(),
        Value::Array(lines) => {
            let lines = lines.iter().map(|line| match line {
                Value::String(text) => format!("{text}\n"),
                other => format!("{other}\n"),
            });
            lines.collect()
        }
        document => format!("{document:#}"),
    };
    // A path that ends with a slash is an empty folder.
    if path.ends_with('/') {
        return fs::create_dir_all(file);
    }
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(file, text)
}
