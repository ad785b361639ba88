//! The folder of an edge: join file, key, outbox. It is in the user's folder for the state of
//! programs, which workers do not see.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use accord_api::operations::edges::{EdgeEntry, EdgeSource};
use accord_base::EdgeId;
use accord_contract::{Code, Failure, Timestamp, Wire};
use accord_outbox::Outbox;
use accord_process::user_state_folder;
use accord_system::{now, random};

use crate::join_file::SentFile;
use crate::place::Place;
use crate::{JoinFile, Joining, Result, Source, marker};

/// The folder of all edges, in the folder of Accord's state.
const FOLDER: &str = "accord/edges";
const JOIN: &str = "join.json";
const OUTBOX: &str = "outbox.jsonl";
const SENT: &str = "sent.json";
const LOCK: &str = "lock";
const COMMANDS: &str = "commands";

/// The edges of this user.
#[derive(Clone, Debug)]
pub struct Edges {
    folder: PathBuf,
}

/// A joined work tree.
#[derive(Clone, Debug)]
pub struct Joined {
    pub join: JoinFile,
    folder: PathBuf,
}

/// A join that is not made.
#[derive(Clone, Debug)]
pub struct Preview {
    pub join: JoinFile,
    /// How many events and results there were before.
    pub before: u64,
    /// What would be sent.
    pub entries: Vec<EdgeEntry>,
}

/// The outbox of an edge, which no other process changes meanwhile.
pub(crate) struct OpenOutbox {
    pub(crate) outbox: Outbox,
    path: PathBuf,
    _lock: File,
}

impl Edges {
    /// Those of the user of this process. Fails with `state_folder_unusable` without a folder.
    pub fn of_user() -> Result<Self> {
        let state = user_state_folder().ok_or_else(|| {
            let message = "neither XDG_STATE_HOME nor HOME names a folder for the files of edges";
            Failure::new(Code::XchainStateFolderUnusable, message)
        })?;
        Ok(Self { folder: state.join(FOLDER) })
    }

    /// All of them. A join file that cannot be read is left out.
    pub fn all(&self) -> Vec<Joined> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let mut all: Vec<Joined> = entries.filter_map(|it| Joined::read(it.path())).collect();
        all.sort_by(|one, other| one.join.root.cmp(&other.join.root));
        all
    }

    /// The edge of a work tree; `None` if it is not joined. A folder that was moved within its file
    /// system goes on. Fails with `edge_duplicated` for a copy; `edge_mark_changed` where the mark
    /// is missing or names the edge of another folder: a worker can write it, and must neither end
    /// a join unseen nor send what is here to another project.
    pub fn find(&self, root: &Path, source: EdgeSource) -> Result<Option<Joined>> {
        let (marked, place) = (marker::read(root, source), Place::of(root)?);
        if let Some(joined) = self.at(&place, source) {
            let edge = &joined.join.edge_id;
            return match marked {
                Some(marked) if marked == *edge => Ok(Some(joined.noting(place)?)),
                marked => Err(mark_changed(&joined, &place, source, marked.as_ref())),
            };
        }
        let Some((marked, joined)) = self.marked(root, source) else { return Ok(None) };
        if joined.join.is_still_there() {
            let message = format!(
                "{} is a copy of {}, which is joined as {marked}",
                place.root, joined.join.root
            );
            return Err(Failure::new(Code::EdgeDuplicated, message)
                .with("edge_id", marked.as_str())
                .with("root", joined.join.root.as_str())
                .suggesting("join the copy as an edge of its own: accord join URL --new"));
        }
        if !joined.join.is_same_folder(&place) {
            return Err(marked_elsewhere(&joined, &place, source));
        }
        Ok(Some(joined.noting(place)?))
    }

    /// The edge that a work tree was joined as, whatever its mark says.
    pub fn joined_at(&self, root: &Path, source: EdgeSource) -> Result<Option<Joined>> {
        Ok(self.at(&Place::of(root)?, source))
    }

    /// The edge that the mark of a work tree names, if the folder that was joined is not there any
    /// more: a person says that this is the folder.
    pub fn moved_to(&self, root: &Path, source: EdgeSource) -> Option<Joined> {
        let (_, joined) = self.marked(root, source)?;
        (!joined.join.is_still_there()).then_some(joined)
    }

    fn at(&self, place: &Place, source: EdgeSource) -> Option<Joined> {
        let is_it = |joined: &Joined| joined.join.source == source && joined.join.is_at(place);
        self.all().into_iter().find(is_it)
    }

    fn marked(&self, root: &Path, source: EdgeSource) -> Option<(EdgeId, Joined)> {
        let marked = marker::read(root, source)?;
        let joined = Joined::read(self.folder.join(marked.as_str()))?;
        (joined.join.source == source).then_some((marked, joined))
    }

    /// The edge with an id, wherever its folder is.
    pub(crate) fn of_id(&self, edge: &EdgeId) -> Option<Joined> {
        Joined::read(self.folder.join(edge.as_str())).filter(|it| it.join.edge_id == *edge)
    }

    /// What would be sent after a join, and how much happened before it. Nothing is written.
    pub fn preview(&self, joining: Joining, source: &Source) -> Result<Preview> {
        let found = source.before_join()?;
        let (before, now) = (found.happened.len() as u64, Timestamp::emit(now()));
        let mut outbox = Outbox::joining(&found);
        let (place, edge) = (Place::of(source.root())?, EdgeId::mint(random()));
        let join = JoinFile::new(edge, joining, source.kind(), &place, now.clone());
        let found = source.scan(&join, &outbox)?;
        let entries = outbox.add(found, &now);
        Ok(Preview { join, before, entries })
    }

    /// Joins a work tree as a new edge. Everything that its source has happened before. The mark is
    /// written last: before it, the tree is not joined.
    pub fn join(&self, joining: Joining, source: &Source) -> Result<Joined> {
        let place = Place::of(source.root())?;
        let edge = EdgeId::mint(random());
        let kind = source.kind();
        let mut join = JoinFile::new(edge.clone(), joining, kind, &place, Timestamp::emit(now()));
        let found = source.before_join()?;
        join.before = found.happened.len() as u64;
        let joined = Joined { join, folder: self.folder.join(edge.as_str()) };
        make_private(&joined.folder).map_err(|error| unusable(&joined.folder, &error))?;
        let outbox = Outbox::joining(&found);
        joined.replace(OUTBOX, outbox.lines().as_bytes())?;
        joined.write(JOIN, &joined.join)?;
        Ok(joined)
    }
}

impl Joined {
    fn read(folder: PathBuf) -> Option<Self> {
        let document = serde_json::from_slice(&fs::read(folder.join(JOIN)).ok()?).ok()?;
        let join = JoinFile::from_document(document).ok()?;
        Some(Self { join, folder })
    }

    /// Marks the work tree: from now on it is joined.
    pub fn mark(&self) -> Result<()> {
        let root = Path::new(&self.join.root);
        let marked = marker::write(root, self.join.source, &self.join.edge_id);
        marked.map_err(|error| unusable(&marker::path(root, self.join.source), &error))
    }

    /// Changes what a person chose, for the work tree in a folder.
    pub fn choose(&mut self, joining: Joining, root: &Path) -> Result<()> {
        let Joining { url, project, key, name, send, exclude, decide, deciders, open_to_hub } =
            joining;
        let (decide, deciders) = (Some(decide), Some(deciders));
        let known = self.join.clone().in_place(Place::of(root)?);
        let salt = known.salt.clone().or_else(|| Some(accord_base::mint_id("salt_", random())));
        let open_to_hub = Some(open_to_hub);
        self.join = JoinFile {
            url,
            project,
            key,
            name,
            send,
            exclude,
            decide,
            deciders,
            open_to_hub,
            salt,
            ..known
        };
        self.write(JOIN, &self.join)
    }

    /// Takes a change of the choices back.
    pub fn restore(&mut self, before: JoinFile) -> Result<()> {
        self.join = before;
        self.write(JOIN, &self.join)
    }

    /// Removes the mark, whatever it says, and the files of the edge.
    pub fn remove(&self) -> Result<()> {
        let root = Path::new(&self.join.root);
        let removed = marker::remove(root, self.join.source);
        removed.map_err(|error| unusable(root, &error))?;
        self.discard()
    }

    /// Removes the files of the edge, and not the mark, which may be that of another edge.
    pub fn discard(&self) -> Result<()> {
        match fs::remove_dir_all(&self.folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(unusable(&self.folder, &error))
            }
            _ => Ok(()),
        }
    }

    /// The same, with the place of its folder in the join file.
    fn noting(mut self, place: Place) -> Result<Self> {
        if !self.join.is_noted(&place) {
            self.join = self.join.in_place(place);
            self.write(JOIN, &self.join)?;
        }
        Ok(self)
    }

    /// What the hub last said, if it ever did.
    pub(crate) fn sent(&self) -> Option<SentFile> {
        let document = serde_json::from_slice(&fs::read(self.folder.join(SENT)).ok()?).ok()?;
        SentFile::from_document(document).ok()
    }

    /// How long ago that was noted.
    pub(crate) fn sent_age(&self) -> Option<Duration> {
        let noted = fs::metadata(self.folder.join(SENT)).ok()?.modified().ok()?;
        Some(noted.elapsed().unwrap_or_default())
    }

    pub(crate) fn note_sent(&self, sent: &SentFile) -> Result<()> {
        self.write(SENT, sent)
    }

    /// Opens the outbox. `None` if another process has it.
    pub(crate) fn open(&self) -> Result<Option<OpenOutbox>> {
        let refuse = |error: io::Error| unusable(&self.folder, &error);
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true).mode(0o600);
        let lock = options.open(self.folder.join(LOCK)).map_err(refuse)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Ok(None),
            Err(fs::TryLockError::Error(error)) => return Err(refuse(error)),
        }
        let path = self.folder.join(OUTBOX);
        let log = fs::read(&path).map_err(refuse)?;
        let (outbox, whole) = Outbox::read(&log)?;
        if whole < log.len() {
            // A process was killed while it wrote. Nothing of that was sent.
            let file = OpenOptions::new().write(true).open(&path).map_err(refuse)?;
            file.set_len(whole as u64).and_then(|()| file.sync_all()).map_err(refuse)?;
        }
        Ok(Some(OpenOutbox { outbox, path, _lock: lock }))
    }

    /// Notes that the commands of a gate run next, because of a decision.
    pub(crate) fn begin_commands(&self, decision: &str) -> Result<()> {
        self.replace(COMMANDS, decision.as_bytes())
    }

    /// The decision whose commands ran when the process ended.
    pub(crate) fn interrupted(&self) -> Option<String> {
        fs::read_to_string(self.folder.join(COMMANDS)).ok()
    }

    pub(crate) fn end_commands(&self) -> Result<()> {
        match fs::remove_file(self.folder.join(COMMANDS)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(unusable(&self.folder, &error))
            }
            _ => Ok(()),
        }
    }

    fn write(&self, name: &str, document: &impl Wire) -> Result<()> {
        self.replace(name, format!("{}\n", document.encode()).as_bytes())
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> Result<()> {
        replace(&self.folder.join(name), bytes).map_err(|error| unusable(&self.folder, &error))
    }
}

impl OpenOutbox {
    /// Adds lines, and syncs them.
    pub(crate) fn append(&self, lines: &str) -> Result<()> {
        let append = || {
            let mut file = OpenOptions::new().append(true).open(&self.path)?;
            file.write_all(lines.as_bytes())?;
            file.sync_all()
        };
        append().map_err(|error| unusable(&self.path, &error))
    }

    pub(crate) fn length(&self) -> u64 {
        fs::metadata(&self.path).map_or(0, |about| about.len())
    }

    /// Writes the log anew.
    pub(crate) fn rewrite(&self) -> Result<()> {
        let lines = self.outbox.lines();
        replace(&self.path, lines.as_bytes()).map_err(|error| unusable(&self.path, &error))
    }
}

fn make_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    // Made by hand, or restored from a backup.
    for place in folder.parent().into_iter().chain([folder]) {
        fs::set_permissions(place, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Replaces a file, which only the user can read.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    File::open(folder)?.sync_all()
}

fn mark_changed(
    joined: &Joined,
    place: &Place,
    source: EdgeSource,
    marked: Option<&EdgeId>,
) -> Failure {
    let JoinFile { edge_id, url, project, .. } = &joined.join;
    let mark = marker::path(Path::new(&place.root), source);
    let says = match marked {
        Some(other) => format!("names {other}"),
        None => "is missing or unreadable".to_owned(),
    };
    let (root, mark) = (&place.root, mark.display());
    let message = format!("{root} is joined as {edge_id}, and its mark {mark} {says}");
    Failure::new(Code::EdgeMarkChanged, message)
        .with("edge_id", edge_id.as_str())
        .with("root", root.as_str())
        .suggesting(format!(
            "nothing is sent until a person looks at what changed it, perhaps a worker, and joins \
             it again: accord join {url} --project {project}; or ends the join: accord leave"
        ))
}

fn marked_elsewhere(joined: &Joined, place: &Place, source: EdgeSource) -> Failure {
    let JoinFile { edge_id, url, project, root: was, .. } = &joined.join;
    let mark = marker::path(Path::new(&place.root), source);
    let (root, mark) = (&place.root, mark.display());
    let message =
        format!("{root} is another folder than {was}, which was joined as its mark {mark} says");
    Failure::new(Code::EdgeMarkChanged, message)
        .with("edge_id", edge_id.as_str())
        .with("root", was.as_str())
        .suggesting(format!(
            "if it was moved or restored from there: accord join {url} --project {project} \
             --moved; else join it as a new edge with --new, or remove the mark"
        ))
}

fn unusable(path: &Path, error: &io::Error) -> Failure {
    let message = format!("{}: {error}", path.display());
    Failure::new(Code::XchainStateFolderUnusable, message)
}
