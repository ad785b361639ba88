//! A worker in Landlock: rights that it takes from itself.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::attempt::Attempt;
use super::git::Layout;
use super::{Confinement, GitAccess, Obstacle, Rights, home, home_of, no_folder, succeeds};
use crate::invocation::{Invocation, system_program};

impl Confinement {
    pub(super) fn landlock(
        &self,
        worker: &Invocation,
        program: &Path,
    ) -> Result<Invocation, Obstacle> {
        let attempt = Attempt::make(&self.state).map_err(no_folder)?;
        let home = home_of(worker);
        let inside = attempt.folder().join("home");
        let mut hidden = self.hidden(home.as_deref());
        // Rules are made for each file beside a hidden folder, and a tree can have many.
        hidden.retain(|path| !path.starts_with(&self.tree));
        hidden.push(PathBuf::from("/dev"));
        let mut rights = Rights::outside(&hidden);
        rights.read.extend(self.seen(worker, program, home.as_deref(), &hidden));
        let git = Layout::of(&self.tree, home.as_deref());
        rights.read.extend(git.outside());
        rights.write.extend([self.tree.clone(), inside.clone(), attempt.folder().join("tmp")]);
        self.make_writable(&attempt)?;
        // What is in the tree may be changed already.
        let outside = self.writable.iter().filter(|path| !path.starts_with(&self.tree));
        rights.write.extend(outside.cloned());
        // Not those in the tree, where an earlier worker could have put a link.
        let outside = self.protected.iter().filter(|path| !path.starts_with(&self.tree));
        rights.read.extend(outside.cloned());
        if self.git == GitAccess::Commit {
            rights.write.extend(git.data());
        }
        let mut confined = self.private(worker, home.as_deref(), &inside, &attempt)?;
        home::without_own_sandbox(&confined.program, &mut confined.args);
        let confined = confined.env("HOME", inside).env("TMPDIR", attempt.folder().join("tmp"));
        self.restricted(confined, rights, attempt)
    }

    /// A program with these rights.
    pub(super) fn restricted(
        &self,
        mut confined: Invocation,
        mut rights: Rights,
        attempt: Attempt,
    ) -> Result<Invocation, Obstacle> {
        let launcher = crate::launcher::launcher();
        let Some(launcher) = launcher.filter(|_| cfg!(target_os = "linux")) else {
            return Err(Obstacle::Unavailable("this system has no Landlock".to_owned()));
        };
        // The rules are made without following links.
        let real =
            |path: &mut PathBuf| *path = path.canonicalize().unwrap_or_else(|_| path.clone());
        let all = rights.read.iter_mut().chain(&mut rights.write);
        // The tree was real when its worker was asked for, and may be a link now.
        all.filter(|path| !path.starts_with(&self.tree)).for_each(real);
        let mut arguments: Vec<OsString> = vec!["restrict".into()];
        for (flag, paths) in [("--read", &rights.read), ("--write", &rights.write)] {
            arguments.extend(paths.iter().flat_map(|path| [flag.into(), path.into()]));
        }
        arguments.push("--".into());
        static PROBE: OnceLock<Result<(), String>> = OnceLock::new();
        let probe = || {
            // Without what a worker can change, which must not decide that there is no sandbox.
            let words = ["restrict", "--read", "/", "--"].map(OsString::from);
            let words = words.into_iter().chain([system_program("true")]);
            succeeds(Invocation::new(launcher, words), "landlock")
        };
        PROBE.get_or_init(probe).clone().map_err(Obstacle::Unavailable)?;
        let program = std::mem::replace(&mut confined.program, launcher.to_owned());
        confined.args = [arguments, vec![program], confined.args].concat();
        Ok(confined.during(attempt))
    }
}
