//! `dispatch-progress-<turn>.json`: tells other runners that a worker is alive. This program never
//! reads it.

use std::fs::{File, OpenOptions, remove_file};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use accord_contract::text::pretty;
use accord_contract::{Object, Value};
use accord_runs_core::{HOME, build};
use rustix::fs::OFlags;

use super::job::Job;

const PACE: Duration = Duration::from_secs(1);
/// How long without output until the note says `silent`.
const QUIET: Duration = Duration::from_secs(30);

pub(super) struct Progress {
    path: PathBuf,
    note: Object,
    lines: u64,
    error_lines: u64,
    written: Option<Instant>,
    heard: Instant,
    changed: bool,
}

impl Progress {
    pub(super) fn new(job: &Job<'_>) -> Self {
        let name = format!("dispatch-progress-{}.json", job.turn.id());
        let note = build([
            ("turn_id", job.turn.id().as_str().into()),
            ("runtime_id", job.runtime.id.as_str().into()),
            ("adapter_type", job.runtime.kind.as_str().into()),
            ("started_at", Value::Null),
            ("first_output_at", Value::Null),
            ("last_activity_at", Value::Null),
            ("activity_type", "starting".into()),
            ("activity_summary", "started".into()),
            ("output_lines", 0.into()),
            ("stderr_lines", 0.into()),
            ("silent_since", Value::Null),
            ("pid", Value::Null),
        ]);
        Self {
            path: job.root.join(HOME).join(name),
            note,
            lines: 0,
            error_lines: 0,
            written: None,
            heard: Instant::now(),
            changed: false,
        }
    }

    pub(super) fn started(&mut self, pid: u32) {
        self.set("pid", pid);
        self.begin();
    }

    /// A request is pending; its response is the only sign of life.
    pub(super) fn asked(&mut self) {
        self.set("activity_type", "request");
        self.set("activity_summary", "a request is under way");
        self.begin();
    }

    fn begin(&mut self) {
        self.heard = Instant::now();
        for name in ["started_at", "last_activity_at"] {
            self.set(name, now());
        }
        self.write();
    }

    pub(super) fn first_output(&mut self) {
        self.set("first_output_at", now());
    }

    pub(super) fn output(&mut self, error: bool, bytes: &[u8]) {
        let ends = bytes.iter().filter(|byte| **byte == b'\n').count();
        let lines = u64::try_from(ends).unwrap_or(u64::MAX);
        if error {
            self.error_lines = self.error_lines.saturating_add(lines);
            self.set("stderr_lines", self.error_lines);
        } else {
            self.lines = self.lines.saturating_add(lines);
            self.set("output_lines", self.lines);
        }
        self.heard = Instant::now();
        self.set("last_activity_at", now());
        self.set("activity_type", "output");
        self.set("activity_summary", format!("{} lines of output", self.lines));
        self.set("silent_since", Value::Null);
        self.note_if_due(self.heard);
    }

    /// The worker computes or changes files without output.
    pub(super) fn busy(&mut self) {
        self.set("last_activity_at", now());
        self.set("activity_summary", "works without output");
    }

    /// When the note must be written again. Writes it if that is now.
    pub(super) fn next_note(&mut self, now: Instant) -> Instant {
        let silent = self.note.get("activity_type").and_then(Value::as_str) == Some("silent");
        if !silent && now >= self.heard + QUIET {
            self.set("activity_type", "silent");
            self.set("activity_summary", format!("no output for {} s", QUIET.as_secs()));
            self.set("silent_since", self::now());
        }
        self.note_if_due(now);
        match self.written {
            Some(written) if self.changed => written + PACE,
            _ if silent => now + QUIET,
            _ => self.heard + QUIET,
        }
    }

    pub(super) fn remove(&self) {
        let _ = remove_file(&self.path);
    }

    fn note_if_due(&mut self, now: Instant) {
        if self.changed && self.written.is_none_or(|written| now >= written + PACE) {
            self.write();
        }
    }

    fn set(&mut self, name: &str, value: impl Into<Value>) {
        self.changed = true;
        self.note.insert(name.to_owned(), value.into());
    }

    fn write(&mut self) {
        self.written = Some(Instant::now());
        self.changed = false;
        if let Ok(mut file) = create(&self.path) {
            let _ = file.write_all(pretty(&self.note).as_bytes());
        }
    }
}

/// Opens a file for new content, without following a link.
pub(super) fn create(path: &Path) -> io::Result<File> {
    // An agent can put a link here, and this process would truncate the target.
    let flags = i32::try_from(OFlags::NOFOLLOW.bits()).map_err(io::Error::other)?;
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    options.custom_flags(flags).open(path)
}

/// The system's clock, for people; no decision depends on it.
fn now() -> String {
    accord_system::now().to_string()
}
