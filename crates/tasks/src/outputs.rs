//! The files that an agent leaves in a folder of its task.

use accord_canon::sha256_parts;
use accord_tasks_core::evidence::Output;
use accord_trees::{Disk, Kind, Result};

/// The most of `outputs/` that is looked at.
const OUTPUTS: Most = Most { files: 20_000, depth: 64 };
/// The largest output that is hashed.
const MAX_OUTPUT: u64 = 1024 * 1024 * 1024;
/// What is read of an output at once.
const CHUNK: usize = 1024 * 1024;

/// The most that is listed of a folder.
#[derive(Clone, Copy)]
pub(crate) struct Most {
    pub(crate) files: usize,
    /// How many folders may be inside each other.
    pub(crate) depth: usize,
}

/// What is not listed of a folder.
#[derive(Default)]
pub(crate) struct Others {
    pub(crate) count: u64,
    /// The first of them, each with its kind.
    pub(crate) named: Vec<String>,
}

impl Others {
    fn add(&mut self, most: Most, name: impl FnOnce() -> String) {
        self.count += 1;
        if self.named.len() < most.files {
            self.named.push(name());
        }
    }
}

/// The files in `outputs/` of a task, whose folder is `root`, and what is left out.
pub(crate) fn outputs(disk: &dyn Disk, root: &str) -> Result<(Vec<Output>, Others)> {
    let (paths, others) = files_below(disk, root, "outputs", OUTPUTS)?;
    let outputs = paths.into_iter().map(|path| output(disk, root, path));
    Ok((outputs.collect::<Result<_>>()?, others))
}

/// The files below a folder of a task, by their paths, and what is left out, as links are.
pub(crate) fn files_below(
    disk: &dyn Disk,
    root: &str,
    folder: &str,
    most: Most,
) -> Result<(Vec<String>, Others)> {
    let (mut found, mut others) = (Vec::new(), Others::default());
    collect(disk, root, folder, most, (&mut found, &mut others))?;
    Ok((found, others))
}

fn collect(
    disk: &dyn Disk,
    root: &str,
    folder: &str,
    most: Most,
    (found, others): (&mut Vec<String>, &mut Others),
) -> Result<()> {
    let entries = match disk.list(&format!("{root}/{folder}")) {
        // A link that leads outside, or a folder that may not be read.
        Err(error) if error.is_unreadable() => {
            others.add(most, || format!("{folder}: not readable"));
            return Ok(());
        }
        entries => entries?,
    };
    for entry in entries.unwrap_or_default() {
        let path = format!("{folder}/{}", entry.name);
        match entry.kind {
            Kind::Folder if most.depth > 0 => {
                let inside = Most { depth: most.depth - 1, ..most };
                collect(disk, root, &path, inside, (&mut *found, &mut *others))?;
            }
            Kind::File if found.len() < most.files => found.push(path),
            Kind::Link => {
                let place = disk.root_path().join(root).join(&path);
                let target = std::fs::read_link(place).unwrap_or_default();
                others.add(most, || format!("{path}: a link to {}", target.display()));
            }
            kind => others.add(most, || format!("{path}: {kind:?}")),
        }
    }
    Ok(())
}

/// The length of a file in a folder of a task.
pub(crate) fn length(disk: &dyn Disk, root: &str, path: &str) -> Result<u64> {
    Ok(disk.stat(&format!("{root}/{path}"))?.map_or(0, |stat| stat.length))
}

fn output(disk: &dyn Disk, root: &str, path: String) -> Result<Output> {
    let bytes = length(disk, root, &path)?;
    let whole = format!("{root}/{path}");
    let open = |_: &u64| disk.open(&whole).ok().flatten();
    let content = Some(bytes).filter(|bytes| *bytes <= MAX_OUTPUT).as_ref().and_then(open);
    let digest = content.and_then(|content| {
        let part = |at: u64| match content.read_at(at, CHUNK) {
            Ok(part) if part.is_empty() => None,
            part => Some(part),
        };
        let starts = (0..).map(|number: u64| number * CHUNK as u64);
        sha256_parts(starts.map_while(part)).ok()
    });
    Ok(Output { path, bytes, sha256: digest.map(|digest| digest.hex()) })
}
