//! The data folders of this user's hosts, which workers must not see: a worker may be started by a
//! command that reaches a host by its address, and does not know the folder.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::{ffi::OsStrExt as _, fs::MetadataExt as _};
use std::path::{Path, PathBuf};

use super::{real_folder, user_state_folder};

/// The folder that lists them, in the folder of Accord's state.
const LIST: &str = "data-folders";

/// Notes that a host serves a data folder. Those that do not exist any more are forgotten.
pub fn note_data_folder(folder: &Path) -> io::Result<()> {
    let Some(state) = user_state_folder() else { return Ok(()) };
    let list = state.join("accord").join(LIST);
    fs::create_dir_all(&list)?;
    for (entry, noted) in entries(&list) {
        if !noted.is_dir() {
            // Another process may have removed it.
            let _ = fs::remove_file(entry);
        }
    }
    let folder = folder.canonicalize()?;
    let about = fs::metadata(&folder)?;
    let entry = list.join(format!("{}-{}", about.dev(), about.ino()));
    fs::write(entry, folder.as_os_str().as_bytes())
}

/// The data folders that are noted and exist. `state` is the folder of Accord's state.
pub(super) fn data_folders(state: &Path) -> Vec<PathBuf> {
    let noted = entries(&state.join(LIST)).into_iter();
    noted.filter_map(|(_, folder)| real_folder(&folder)).collect()
}

fn entries(list: &Path) -> Vec<(PathBuf, PathBuf)> {
    let entries = fs::read_dir(list).into_iter().flatten().flatten();
    let noted = entries.filter_map(|entry| {
        let text = fs::read(entry.path()).ok()?;
        Some((entry.path(), PathBuf::from(OsStr::from_bytes(&text))))
    });
    noted.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_folders_that_exist_are_listed() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().canonicalize().unwrap();
        assert_eq!(data_folders(&state), Vec::<PathBuf>::new());
        fs::create_dir_all(state.join(LIST)).unwrap();
        let data = state.join("data");
        fs::create_dir(&data).unwrap();
        fs::write(state.join(LIST).join("1-2"), data.as_os_str().as_bytes()).unwrap();
        fs::write(state.join(LIST).join("1-3"), "/nowhere/data").unwrap();
        assert_eq!(data_folders(&state), [data]);
    }
}
