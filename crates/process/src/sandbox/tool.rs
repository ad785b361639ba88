//! The sandbox of a program that Accord itself starts, and that may run what a worker wrote: git,
//! whose filters may be programs of the work tree.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::attempt::Attempt;
use super::bubblewrap::{check_protected, starts_in};
use super::git::Layout;
use super::mounts::{Mount, Mounts};
use super::restrict::Rights;
use super::{Confinement, GitAccess, Obstacle, SOCKETS, SandboxMode, home_of, no_folder};
use crate::error::StartError;
use crate::invocation::Invocation;

impl Confinement {
    /// A program of the person that reads what a worker wrote, such as git, whose filters may be
    /// programs of the work tree. It sees what a worker sees, and the visible files. It changes
    /// only `writable`. What it leaves behind is ended. It finishes if this process is killed: a
    /// killed git leaves its lock files. `None` if workers have a sandbox and it cannot have one:
    /// it must not run what a worker can write.
    pub fn apply_to_tool(
        &self,
        tool: Invocation,
        writable: &[PathBuf],
    ) -> Result<Option<Invocation>, StartError> {
        // Without `/proc` there is no launcher, and no worker either.
        let has_launcher = crate::launcher::launcher().is_some_and(|it| Path::new(it).exists());
        if !has_launcher {
            return Ok(Some(tool).filter(|_| self.mode == SandboxMode::Off));
        }
        let mut tool = tool.as_worker(&self.tree, "git");
        tool.finishes = true;
        let tool = SOCKETS.into_iter().fold(tool, Invocation::without);
        if self.mode == SandboxMode::Off {
            return Ok(Some(tool));
        }
        let is_root = rustix::process::geteuid().is_root();
        let of_others = fs::metadata(&self.tree).is_ok_and(|tree| tree.uid() != 0);
        // Inside, root has no rights over the files of others.
        if is_root && of_others {
            return Ok(None);
        }
        let confined = match self.mode >= SandboxMode::Auto {
            true => self.tool_in_bubblewrap(&tool, writable),
            false => Err(Obstacle::Unavailable(String::new())),
        };
        let confined = match confined {
            Err(Obstacle::Unavailable(_)) if self.mode != SandboxMode::Bubblewrap => {
                self.tool_in_landlock(&tool, writable)
            }
            confined => confined,
        };
        match confined {
            Ok(confined) => Ok(Some(confined)),
            Err(Obstacle::Unavailable(_)) => Ok(None),
            Err(Obstacle::Refused(why)) => Err(StartError::Sandbox { why }),
        }
    }

    fn tool_in_bubblewrap(
        &self,
        tool: &Invocation,
        writable: &[PathBuf],
    ) -> Result<Invocation, Obstacle> {
        let bubblewrap = self.program_of_bubblewrap()?;
        let attempt = Attempt::make(&self.state).map_err(no_folder)?;
        let is_root = rustix::process::geteuid().is_root();
        let home = home_of(tool);
        let hidden = self.hidden(home.as_deref());
        let mut mounts = Mounts::default();
        for folder in &hidden {
            mounts.add(folder, Mount::Hidden);
        }
        let tmp = attempt.folder().canonicalize().map_err(no_folder)?.join("tmp");
        mounts.writable(&tmp);
        static PROBE: OnceLock<Result<(), String>> = OnceLock::new();
        let probe = || starts_in(&bubblewrap, &mounts);
        PROBE.get_or_init(probe).clone().map_err(Obstacle::Unavailable)?;
        let seen = self.seen(tool, Path::new(&tool.program), home.as_deref(), &hidden);
        let layout = Layout::of(&self.tree, home.as_deref());
        for path in seen.iter().chain(&layout.outside()).chain([&self.tree]) {
            mounts.read_only(path);
        }
        for path in writable {
            mounts.writable(path);
        }
        // What git executes or follows, in a folder that may be changed.
        for (path, _) in layout.guarded(&self.tree, GitAccess::Commit) {
            let is_inside = writable.iter().any(|above| path.starts_with(above) && path != *above);
            if is_inside && path.exists() {
                check_protected(&path)?;
                mounts.read_only(&path);
            }
        }
        let (own, expected) = self.verification(&mounts)?;
        let folder = tool.cwd.as_deref().unwrap_or(&self.tree);
        let arguments = mounts.arguments(folder, is_root);
        let mut confined = tool.clone().env("TMPDIR", tmp);
        let program = std::mem::replace(&mut confined.program, bubblewrap.into());
        confined.args = [arguments, vec![own], expected, vec![program], confined.args].concat();
        confined.is_wrapped = true;
        Ok(confined.during(attempt))
    }

    fn tool_in_landlock(
        &self,
        tool: &Invocation,
        writable: &[PathBuf],
    ) -> Result<Invocation, Obstacle> {
        let attempt = Attempt::make(&self.state).map_err(no_folder)?;
        let tmp = attempt.folder().join("tmp");
        let home = home_of(tool);
        let mut hidden = self.hidden(home.as_deref());
        // Rules are made for each file beside a hidden folder, and a tree can have many.
        hidden.retain(|path| !path.starts_with(&self.tree));
        hidden.push(PathBuf::from("/dev"));
        let mut rights = Rights::outside(&hidden);
        rights.read.extend(self.seen(tool, Path::new(&tool.program), home.as_deref(), &hidden));
        rights.read.extend(Layout::of(&self.tree, home.as_deref()).outside());
        rights.read.push(self.tree.clone());
        rights.write.extend(writable.iter().cloned().chain([tmp.clone()]));
        self.restricted(tool.clone().env("TMPDIR", tmp), rights, attempt)
    }
}
