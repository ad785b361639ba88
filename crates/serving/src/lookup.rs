//! Where a command looks for a data folder, and where a new one is made.
//!
//! Outside of git, that is the current folder and the folders above it. In a linked work tree, the
//! same folder of the main work tree and what is above that come next, in the place of what is
//! above the linked one: `git worktree remove` deletes what is in a linked work tree, so nothing
//! new is made there.
//!
//! No git is started; [`GitFolder`] reads what it needs, and whether it can be believed.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use accord_contract::{Code, Failure};
use accord_process::{GitFolder, MainTree};

use crate::folder::{DATA_FOLDER, must_be_own};

/// How many work trees are followed. Each can be in another one.
const MOST: usize = 8;

/// The files and folders in a data folder that hold what was written.
const CONTENTS: [&str; 2] = ["accord.db", "projects"];

/// A place to look in.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SearchPlace {
    /// The folder that can have a data folder in it.
    pub folder: PathBuf,
    /// The linked work tree that it is in.
    pub linked: Option<PathBuf>,
}

/// Why no data folder is made.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Obstacle {
    /// The repository is bare.
    Bare { repository: PathBuf },
    /// The repository does not say where its main work tree is.
    Unknown { repository: PathBuf },
    /// The work tree names a folder of a repository that does not name it back.
    Stray { tree: PathBuf, named: PathBuf },
}

/// The places to look in, nearest first, and the place for a new data folder.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Lookup {
    /// The places to look in.
    pub places: Vec<SearchPlace>,
    /// The folder that gets a new data folder.
    pub new: Result<PathBuf, Obstacle>,
}

/// A data folder that was found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FoundFolder {
    /// Its path.
    pub path: PathBuf,
    /// The linked work tree that it is in, and would be deleted with.
    pub linked: Option<PathBuf>,
}

impl Lookup {
    /// Looks around from a folder: an absolute path without links.
    pub fn from(start: &Path) -> Self {
        let mut lookup = Self { places: Vec::new(), new: Ok(start.to_owned()) };
        let mut has_new = false;
        let mut next = Some(start.to_owned());
        let mut trees = 0;
        while let Some(from) = next.take() {
            for place in same_system(&from) {
                lookup.add(place);
                match GitFolder::of(place) {
                    None => {}
                    // The innermost decides. One below a linked work tree goes with that.
                    Some(GitFolder::Main) if !has_new => {
                        (lookup.new, has_new) = (Ok(place.to_owned()), true);
                    }
                    Some(GitFolder::Bare) if !has_new => {
                        let repository = place.to_owned();
                        (lookup.new, has_new) = (Err(Obstacle::Bare { repository }), true);
                    }
                    Some(GitFolder::Main | GitFolder::Bare) => {}
                    Some(GitFolder::Stray { named }) => {
                        lookup.is_linked(place);
                        let tree = place.to_owned();
                        (lookup.new, has_new) = (Err(Obstacle::Stray { tree, named }), true);
                    }
                    Some(GitFolder::Linked { repository, main }) if trees < MOST => {
                        trees += 1;
                        lookup.is_linked(place);
                        has_new = true;
                        let around = match &main {
                            MainTree::At(main) => main,
                            MainTree::None | MainTree::Unknown => &repository,
                        };
                        next = around.parent().map(Path::to_owned);
                        lookup.new = match main {
                            MainTree::At(main) => {
                                lookup.add_same(&from, place, &main);
                                Ok(lookup.same_new(place, &main))
                            }
                            MainTree::None => Err(Obstacle::Bare { repository }),
                            MainTree::Unknown => Err(Obstacle::Unknown { repository }),
                        };
                        break;
                    }
                    Some(GitFolder::Linked { .. }) => break,
                }
            }
        }
        lookup
    }

    /// The nearest data folder. In a linked work tree, one without contents does not count: it may
    /// be part of the commit. Fails with `STORE_FOLDER_UNTRUSTED` when it belongs to another user,
    /// whose settings would hold.
    pub fn find(&self) -> Result<Option<FoundFolder>, Failure> {
        for place in &self.places {
            let path = place.folder.join(DATA_FOLDER);
            let Ok(found) = fs::metadata(&path) else { continue };
            let has_data = match &place.linked {
                // An empty one is that of a running worker's sandbox.
                None => fs::read_dir(&path).is_ok_and(|mut names| names.next().is_some()),
                Some(_) => CONTENTS.iter().any(|name| path.join(name).exists()),
            };
            if found.is_dir() && has_data {
                must_be_own(&path, found.uid(), rustix::process::geteuid().as_raw())?;
                return Ok(Some(FoundFolder { path, linked: place.linked.clone() }));
            }
        }
        Ok(None)
    }

    fn add(&mut self, folder: &Path) {
        if self.places.iter().all(|place| place.folder != folder) {
            self.places.push(SearchPlace { folder: folder.to_owned(), linked: None });
        }
    }

    /// The places so far that are below a linked work tree go with it.
    fn is_linked(&mut self, tree: &Path) {
        let below = self.places.iter_mut().filter(|place| place.folder.starts_with(tree));
        for place in below.filter(|place| place.linked.is_none()) {
            place.linked = Some(tree.to_owned());
        }
    }

    /// Adds the same folder of the main work tree, and those above it up to the top.
    fn add_same(&mut self, from: &Path, linked: &Path, main: &Path) {
        let below = from.strip_prefix(linked).unwrap_or(Path::new(""));
        for below in below.ancestors() {
            let folder = main.join(below);
            // A link could lead elsewhere.
            if folder.canonicalize().is_ok_and(|real| real == folder) {
                self.add(&folder);
            }
        }
    }

    /// The place for a new folder in the main work tree: the same submodule there, if it was for
    /// one.
    fn same_new(&self, linked: &Path, main: &Path) -> PathBuf {
        let inner = self.new.as_deref().ok().filter(|new| GitFolder::of(new).is_some());
        let below = inner.and_then(|inner| inner.strip_prefix(linked).ok());
        let same = below.map(|below| main.join(below));
        let same = same.filter(|same| GitFolder::of(same) == Some(GitFolder::Main));
        same.unwrap_or_else(|| main.to_owned())
    }
}

/// A folder and those above it on the same file system. As for git, a parent on another one belongs
/// to another context.
fn same_system(start: &Path) -> impl Iterator<Item = &Path> {
    let device = |folder: &Path| fs::metadata(folder).ok().map(|found| found.dev());
    let own = device(start);
    start.ancestors().take_while(move |place| own.is_some() && device(place) == own)
}

impl Obstacle {
    /// The refusal of a write, and of a read where nothing was found.
    pub fn refusal(&self) -> Failure {
        let (message, advice) = match self {
            Self::Bare { repository } => {
                let shown = repository.display();
                let beside = repository.parent().unwrap_or(repository).join(DATA_FOLDER);
                (
                    format!("no data folder: the bare repository {shown} has no work tree for one"),
                    format!(
                        "make one beside it, which its work trees find: `accord project create ID \
                         --data {}`",
                        shell_words::quote(&beside.to_string_lossy())
                    ),
                )
            }
            Self::Unknown { repository } => {
                let shown = repository.display();
                (
                    format!(
                        "no data folder: the repository {shown} does not say where its main work \
                         tree is"
                    ),
                    "name the data folder of the main work tree with --data or ACCORD_DATA"
                        .to_owned(),
                )
            }
            Self::Stray { tree, named } => {
                let quoted = shell_words::quote(&tree.to_string_lossy()).into_owned();
                let (tree, named) = (tree.display(), named.display());
                (
                    format!(
                        "no data folder: {tree} is a linked work tree, and its repository does \
                         not know it ({named})"
                    ),
                    format!(
                        "if one of the two was moved, run `git worktree repair {quoted}` in the \
                         main work tree; or name a data folder with --data or ACCORD_DATA"
                    ),
                )
            }
        };
        Failure::new(Code::StoreMissing, message).suggesting(advice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::create;

    fn found(start: &Path) -> Option<PathBuf> {
        Lookup::from(start).find().expect("own folders").map(|found| found.path)
    }

    #[test]
    fn the_nearest_folder_is_found_from_below() {
        let top = tempfile::tempdir().expect("a folder");
        let top = top.path().canonicalize().expect("a path");
        let below = top.join("a/b");
        fs::create_dir_all(&below).expect("folders");
        create(&top.join(DATA_FOLDER)).expect("a data folder");
        // A file of that name is no data folder, and neither is an empty folder.
        fs::write(below.join(DATA_FOLDER), "").expect("a file");
        fs::create_dir(top.join("a").join(DATA_FOLDER)).expect("a folder");
        assert_eq!(found(&below), Some(top.join(DATA_FOLDER)));
        fs::remove_dir(top.join("a").join(DATA_FOLDER)).expect("removed");
        create(&top.join("a").join(DATA_FOLDER)).expect("a data folder");
        assert_eq!(found(&below), Some(top.join("a").join(DATA_FOLDER)));
        // Outside of git, a new one is made where the command is.
        assert_eq!(Lookup::from(&below).new, Ok(below));
    }

    #[test]
    fn the_search_ends_at_the_file_system() {
        // The root of this file system has a parent on another one.
        let start = Path::new("/proc/self");
        let start = start.canonicalize().expect("a process");
        assert_eq!(found(&start), None);
    }
}
