//! A worker in bubblewrap: mounts and namespaces.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::{ffi::OsStrExt as _, fs::MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::attempt::{Attempt, SAME_FOLDER, make_unlisted};
use super::git::{self, Layout};
use super::mounts::{Mount, Mounts};
use super::{
    CLIENT_FILES, CLIENT_FOLDERS, Confinement, DATA_FOLDER, ExpectedMounts, GitAccess, Missing,
    Obstacle, home, home_of, no_folder, succeeds,
};
use crate::invocation::{Invocation, find_outside, system_program};

impl Confinement {
    pub(super) fn bubblewrap(
        &self,
        worker: &Invocation,
        program: &Path,
    ) -> Result<Invocation, Obstacle> {
        let bubblewrap = self.program_of_bubblewrap()?;
        let attempt = Attempt::make(&self.state).map_err(no_folder)?;
        let home = home_of(worker);
        // Without a home of its own, the worker gets one in a folder that only it sees.
        let inside = home.clone().unwrap_or_else(|| PathBuf::from("/var/tmp/home"));
        let is_root = rustix::process::geteuid().is_root();
        let hidden = self.hidden(home.as_deref());
        let mut mounts = Mounts::default();
        for folder in &hidden {
            let is_own = self.hidden.contains(folder);
            mounts.add(folder, if is_own { Mount::Hidden } else { Mount::Empty });
        }
        mounts.add(&inside, Mount::Writable(attempt.folder().join("home")));
        static PROBE: OnceLock<Result<(), String>> = OnceLock::new();
        // Without the work tree, whose content must not decide that there is no sandbox.
        let probe = || starts_in(&bubblewrap, &mounts);
        PROBE.get_or_init(probe).clone().map_err(Obstacle::Unavailable)?;
        for path in self.seen(worker, program, home.as_deref(), &hidden) {
            mounts.read_only(&path);
        }
        let layout = Layout::of(&self.tree, home.as_deref());
        let missing = self.mount_tree(&layout, &mut mounts, &attempt)?;
        let held = mounts.held();
        let folder = worker.cwd.as_deref().unwrap_or(&self.tree);
        let (own, expected) = self.verification(&mounts)?;
        let arguments = mounts.arguments(folder, is_root);
        let mut confined = self.private(worker, home.as_deref(), &inside, &attempt)?;
        let private = attempt.folder().join("home");
        let places = (home.as_deref(), private.as_path(), inside.as_path());
        let missing: Vec<&Path> =
            missing.iter().filter_map(|path| path.strip_prefix(&self.tree).ok()).collect();
        let ignored = home::ignore(places, &self.tree, &missing, &|name| worker.variable(name));
        confined.env.extend(ignored.map_err(no_folder)?.map(|(name, value)| (name.into(), value)));
        if self.git == GitAccess::Commit {
            home::without_own_sandbox(&confined.program, &mut confined.args);
        }
        let program = std::mem::replace(&mut confined.program, bubblewrap.into());
        confined.args = [arguments, vec![own], expected, vec![program], confined.args].concat();
        confined.is_wrapped = true;
        confined.held = held;
        Ok(confined.env("TMPDIR", "/tmp").during(attempt))
    }

    /// Accord's own program and its arguments, which checks the mounts of the worker inside.
    pub(super) fn verification(
        &self,
        mounts: &Mounts,
    ) -> Result<(OsString, Vec<OsString>), Obstacle> {
        let mut expected = ExpectedMounts::default();
        for (at, mount) in mounts.iter() {
            let is_own = at.starts_with(&self.tree) || *mount == Mount::Writable(at.clone());
            let why =
                |error| Obstacle::Refused(format!("{}: {error}; is it a link?", at.display()));
            expected.add(at, mount, is_own).map_err(why)?;
        }
        let own = std::env::current_exe().unwrap_or_default().into_os_string();
        // An update has replaced the file.
        let own = match own.as_encoded_bytes().strip_suffix(b" (deleted)") {
            Some(path) => OsStr::from_bytes(path).to_owned(),
            None => own,
        };
        let mut words: Vec<OsString> = vec!["verify-mounts".into()];
        words.extend(expected.same.into_iter().flat_map(|word| ["--same".into(), word]));
        let apart = expected.apart.into_iter();
        words.extend(apart.flat_map(|path| ["--apart".into(), path.into_os_string()]));
        words.push("--".into());
        Ok((own, words))
    }

    /// Mounts the tree, and what the worker cannot change in it. Returns the protected paths that
    /// do not exist.
    fn mount_tree(
        &self,
        layout: &Layout,
        mounts: &mut Mounts,
        attempt: &Attempt,
    ) -> Result<Vec<PathBuf>, Obstacle> {
        mounts.writable(&self.tree);
        let list = layout.packed_refs().filter(|_| self.git == GitAccess::Commit);
        // Git makes it with the first log.
        list.iter().for_each(|list| drop(fs::create_dir(list.with_file_name("logs"))));
        layout.mount(&self.tree, self.git, mounts);
        if let Some(list) = list.filter(|list| !list.exists()) {
            mounts.add(list, Mount::ReadOnly(attempt.folder().join("nothing")));
        }
        let mut guarded = layout.guarded(&self.tree, self.git);
        guarded.retain(|(path, _)| !layout.is_closed(path));
        for submodule in git::submodules(&self.tree) {
            guarded.push((submodule.join(".git"), Missing::File));
        }
        guarded.extend(self.protected.iter().map(|path| (path.clone(), Missing::File)));
        guarded.extend(CLIENT_FOLDERS.map(|name| (self.tree.join(name), Missing::Folder)));
        let data = self.tree.join(DATA_FOLDER);
        let is_own = |path: &PathBuf| self.hidden.iter().any(|hidden| hidden == path);
        guarded.extend(Some(data).filter(|path| !is_own(path)).map(|it| (it, Missing::Folder)));
        guarded.extend(CLIENT_FILES.map(|name| (self.tree.join(name), Missing::ClientFile)));
        let paths: Vec<PathBuf> = guarded.iter().map(|(path, _)| path.clone()).collect();
        let missing = attempt.missing(&paths).map_err(no_folder)?;
        for (path, kind) in guarded {
            if !missing.contains(&path) {
                check_protected(&path)?;
                mounts.read_only(&path);
                continue;
            }
            let standing_in = |name: &str| Mount::ReadOnly(attempt.folder().join(name));
            if kind == Missing::ClientFile {
                make_unlisted(&path);
            }
            match kind {
                Missing::Folder if path.file_name() == Some(OsStr::new(DATA_FOLDER)) => {
                    mounts.add(path, Mount::Hidden);
                }
                // A client that finds its folder read-only and empty may refuse to start.
                Missing::Folder if path.file_name() != Some(OsStr::new(".git")) => {
                    mounts.add(path, Mount::Empty);
                }
                Missing::Folder => mounts.add(path, standing_in("empty")),
                Missing::ClientFile if path.extension() == Some(OsStr::new("json")) => {
                    mounts.add(path, standing_in("nothing.json"));
                }
                Missing::File | Missing::ClientFile => mounts.add(path, standing_in("nothing")),
                Missing::CommonFolder => {
                    fs::write(&path, SAME_FOLDER).map_err(no_folder)?;
                    mounts.read_only(&path);
                }
            }
        }
        self.make_writable(attempt)?;
        for path in &self.writable {
            mounts.writable(path);
        }
        mounts.hold_folders(&self.tree);
        Ok(missing)
    }

    /// The first `bwrap` in `PATH`, except one that a worker could have put there.
    pub(super) fn program_of_bubblewrap(&self) -> Result<PathBuf, Obstacle> {
        // One that is a link stops the worker later.
        let is_real = |path: &&PathBuf| path.canonicalize().is_ok_and(|real| real == **path);
        let folders = self.writable.iter().filter(is_real).chain([&self.tree]);
        let folders: Vec<&Path> = folders.map(PathBuf::as_path).collect();
        let found = find_outside("bwrap", &folders);
        found.ok_or_else(|| Obstacle::Unavailable("bubblewrap is not installed".to_owned()))
    }
}

/// A link could be replaced although its target is protected, and a file with two names could be
/// written by the other one.
pub(super) fn check_protected(path: &Path) -> Result<(), Obstacle> {
    let shown = path.display();
    let found = path.symlink_metadata();
    let found = found.map_err(|error| Obstacle::Refused(format!("{shown}: {error}")))?;
    if found.is_symlink() {
        let why = format!("{shown} is a link, which cannot be protected; replace it by its target");
        return Err(Obstacle::Refused(why));
    }
    if found.is_file() && found.nlink() > 1 {
        let why = format!("{shown} has another hard link, so it cannot be protected; copy it");
        return Err(Obstacle::Refused(why));
    }
    Ok(())
}

/// Whether bubblewrap starts a program with these mounts.
pub(super) fn starts_in(bubblewrap: &Path, mounts: &Mounts) -> Result<(), String> {
    let is_root = rustix::process::geteuid().is_root();
    let words = mounts.clone().arguments(Path::new("/"), is_root);
    let words = words.into_iter().chain([system_program("true")]);
    succeeds(Invocation::new(bubblewrap, words), "bubblewrap")
}
