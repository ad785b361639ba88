//! Landlock: a process takes rights from itself, then becomes the worker.

use std::fs;
use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
use std::path::PathBuf;

#[cfg(target_os = "linux")]
use rustix::io::Errno;

use crate::invocation::Invocation;

/// What a worker may read and change, everything below included.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Rights {
    pub read: Vec<PathBuf>,
    pub write: Vec<PathBuf>,
}

/// Devices that a worker may use. A terminal is not one of them: it has what a person types.
const DEVICES: [&str; 6] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/shm"];

impl Rights {
    /// Rights to read all of the system except what is below a hidden folder.
    pub(crate) fn outside(hidden: &[PathBuf]) -> Self {
        let mut read = Vec::new();
        let mut next = vec![PathBuf::from("/")];
        while let Some(path) = next.pop() {
            if hidden.contains(&path) {
                continue;
            }
            // A rule covers all that is below, so a folder above a hidden one has none.
            if hidden.iter().any(|hidden| hidden.starts_with(&path)) {
                let names = fs::read_dir(&path).into_iter().flatten().flatten();
                next.extend(names.filter(|entry| !is_link(entry)).map(|entry| entry.path()));
            } else {
                read.push(path);
            }
        }
        read.sort();
        Self { read, write: DEVICES.map(PathBuf::from).to_vec() }
    }
}

fn is_link(entry: &fs::DirEntry) -> bool {
    entry.file_type().is_ok_and(|kind| kind.is_symlink())
}

/// Restricts this process, then becomes the program. Returns only if that fails. The process must
/// have one thread.
pub fn restrict(rights: &Rights, worker: &Invocation) -> io::Error {
    match apply(rights) {
        Ok(()) => worker.replace_process(),
        Err(error) => error,
    }
}

#[cfg(target_os = "linux")]
fn apply(rights: &Rights) -> io::Result<()> {
    use landlock::{
        ABI, Access as _, AccessFs, CompatLevel, Compatible as _, PathBeneath, Ruleset,
        RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, Scope,
    };

    drop_capabilities()?;
    // The first with signals and abstract sockets. Fixed here, so that the documents are true.
    let abi = ABI::V6;
    let files = AccessFs::from_all(abi);
    let (read, write) = (open_all(&rights.read)?, open_all(&rights.write)?);
    let beneath = |opened: Vec<OwnedFd>, rights| {
        opened.into_iter().map(move |fd| Ok::<_, RulesetError>(PathBeneath::new(fd, rights)))
    };
    let restricted = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(files)
        .and_then(|rules| rules.scope(Scope::from_all(abi)))
        .and_then(|rules| rules.create())
        // A right of folders means nothing on a file, and is left out there.
        .map(|rules| rules.set_compatibility(CompatLevel::BestEffort))
        .and_then(|rules| rules.add_rules(beneath(read, AccessFs::from_read(abi))))
        .and_then(|rules| rules.add_rules(beneath(write, files)))
        .and_then(landlock::RulesetCreated::restrict_self);
    restricted.map(drop).map_err(io::Error::other)
}

/// Opens what exists of these paths. None of them has a link: a worker that runs meanwhile could
/// have put it there, and a rule would hold for its target.
#[cfg(target_os = "linux")]
fn open_all(paths: &[PathBuf]) -> io::Result<Vec<OwnedFd>> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};

    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let mut opened = Vec::new();
    for path in paths {
        match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
            Ok(fd) => opened.push(fd),
            Err(Errno::NOENT | Errno::ACCESS) => {}
            Err(error) => return Err(io::Error::other(format!("{}: {error}", path.display()))),
        }
    }
    Ok(opened)
}

#[cfg(not(target_os = "linux"))]
fn apply(_: &Rights) -> io::Result<()> {
    Err(io::Error::other("this system has no Landlock"))
}

/// Root can read the environment of every process, and type into every terminal.
#[cfg(target_os = "linux")]
fn drop_capabilities() -> io::Result<()> {
    use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};

    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    for set in CapabilitySet::all().iter() {
        // A kernel that does not know it has nothing to remove.
        let _ = rustix::thread::remove_capability_from_bounding_set(set);
    }
    let none = CapabilitySet::empty();
    let none = CapabilitySets { effective: none, permitted: none, inheritable: none };
    Ok(set_capabilities(None, none)?)
}
