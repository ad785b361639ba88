//! Changing values in a settings file.
//!
//! Invariant: everything else in the file stays as it is, comments included.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use accord_contract::{Code, Failure};

use super::CONFIG_FILE;

/// Sets top-level texts in the settings file of a data folder, which exists. Returns the path of
/// the file. Fails with `SETTING_INVALID` when the file cannot be parsed or edited, and failures of
/// the file system.
pub fn write_settings(folder: &Path, values: &[(&str, &str)]) -> Result<PathBuf, Failure> {
    let path = folder.join(CONFIG_FILE);
    let mut text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => {
            let message = format!("{}: {error}", path.display());
            return Err(Failure::new(Code::InputUnreadable, message));
        }
    };
    for (name, value) in values {
        text = with_text(&text, name, value).ok_or_else(|| {
            let message = format!("{} cannot be edited", path.display());
            let advice = format!("write {name} = {} at its top", toml::Value::from(*value));
            Failure::new(Code::SettingInvalid, message).suggesting(advice)
        })?;
    }
    replace(&path, &text).map_err(|error| {
        Failure::new(Code::OutputFailed, format!("cannot write {}: {error}", path.display()))
    })?;
    Ok(path)
}

/// The text of a settings file with one value changed or added.
fn with_text(text: &str, name: &str, value: &str) -> Option<String> {
    let mut expected: toml::Table = text.parse().ok()?;
    expected.insert(name.to_owned(), value.into());
    let line = format!("{name} = {}\n", toml::Value::from(value));
    let sets_it = |line: &str| {
        let rest = line.trim_start().strip_prefix(name).map(str::trim_start);
        rest.is_some_and(|rest| rest.starts_with('='))
    };
    let mut edited = String::new();
    let (mut is_done, mut in_table) = (false, false);
    for old in text.split_inclusive('\n') {
        in_table |= old.trim_start().starts_with('[');
        if !is_done && !in_table && sets_it(old) {
            edited.push_str(&line);
            is_done = true;
        } else {
            edited.push_str(old);
        }
    }
    if !is_done {
        // At the top: a value after the header of a table would belong to that table.
        edited.insert_str(0, &line);
    }
    // A text over several lines can look like a setting; then the lines above were wrong.
    let parsed: toml::Table = edited.parse().ok()?;
    (parsed == expected).then_some(edited)
}

fn replace(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut written = tempfile::NamedTempFile::new_in(folder)?;
    written.write_all(text.as_bytes())?;
    written.as_file().sync_all()?;
    written.persist(path)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::with_text;

    #[test]
    fn one_value_changes_and_the_rest_stays() {
        let file = "# ours\nlisten = \"127.0.0.1:1\"\n\n[limits]\nbody_bytes = \"1MiB\"\n";
        let first = with_text(file, "project", "shop").expect("a file");
        assert_eq!(first, format!("project = \"shop\"\n{file}"));
        let second = with_text(&first, "project", "a\"b").expect("a file");
        assert_eq!(second, format!("project = 'a\"b'\n{file}"));
        assert_eq!(with_text("", "url", "x").as_deref(), Some("url = \"x\"\n"));
    }

    #[test]
    fn a_file_that_would_change_otherwise_is_refused() {
        assert_eq!(with_text("project = [", "project", "shop"), None);
        assert_eq!(with_text("a = \"\"\"\nproject = 1\n\"\"\"\n", "project", "shop"), None);
    }
}
