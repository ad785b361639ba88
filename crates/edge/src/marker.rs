//! The mark of an edge in its work tree: in git's folder of that work tree, which no clone copies,
//! or, without git, among the untracked state of the tree. It has only the id. A worker can change
//! it, and so it decides nothing alone: the join file says which folder an edge has.

use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use accord_api::operations::edges::EdgeSource;
use accord_base::EdgeId;

/// The longest mark or file of git that is read.
const LONGEST: u64 = 4096;
/// Does not wait for the other end of a pipe, and follows no link.
const FLAGS: i32 = 0o4000 | 0o400_000;

/// The place of the mark of a work tree.
pub(crate) fn path(root: &Path, source: EdgeSource) -> PathBuf {
    let name = format!("edge-{}", source.as_str());
    if let Some((git, below)) = git_folder(root) {
        let below = match below.as_str() {
            "" => name,
            below => format!("{name}-{}", below.replace('/', "+")),
        };
        return git.join("accord").join(below);
    }
    match source {
        EdgeSource::Runs => root.join(".agentxchain/accord").join(name),
        EdgeSource::Tasks => root.join("state/accord").join(name),
    }
}

/// Git's folder of the work tree that has a folder, and the path of the folder in it.
fn git_folder(root: &Path) -> Option<(PathBuf, String)> {
    let top = root.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok())?;
    let place = top.join(".git");
    let git = match place.is_dir() {
        true => place,
        false => top.join(read_small(&place)?.trim().strip_prefix("gitdir:")?.trim()),
    };
    let below = root.strip_prefix(top).ok()?.to_str()?.to_owned();
    git.join("HEAD").is_file().then_some((git, below))
}

pub(crate) fn read(root: &Path, source: EdgeSource) -> Option<EdgeId> {
    EdgeId::new(read_small(&path(root, source))?.trim()).ok()
}

pub(crate) fn write(root: &Path, source: EdgeSource, edge: &EdgeId) -> io::Result<()> {
    let path = path(root, source);
    let folder = path.parent().unwrap_or(root);
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    io::Write::write_all(&mut file, format!("{edge}\n").as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(&path)?;
    Ok(())
}

pub(crate) fn remove(root: &Path, source: EdgeSource) -> io::Result<()> {
    match fs::remove_file(path(root, source)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn read_small(path: &Path) -> Option<String> {
    let file = fs::OpenOptions::new().read(true).custom_flags(FLAGS).open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    Some(text)
}
