//! Records: files that only grow, one JSON object per line.
//!
//! Invariants:
//! - a torn line (cut off while it was written) is not a line: readers skip it, and it is
//!   truncated before the next line is written;
//! - a complete last line without a line end is a line;
//! - a damaged line is reported by file and line number, and stays as it is.

use accord_contract::{Object, Value};

use crate::disk::{Content, Disk, parent};
use crate::{Result, TreeError, atomic, limits};

const CHUNK: usize = 64 * 1024;

#[derive(Clone, Debug, PartialEq)]
pub struct RecordLine {
    pub number: u64,
    pub object: Object,
    pub end: u64,
}

/// The lines of a record at the time it was opened; continues after a damaged line.
pub struct RecordLines {
    path: String,
    content: Option<Box<dyn Content>>,
    /// The length of the file when it was opened.
    length: u64,
    /// How many bytes were read into the buffer so far.
    read: u64,
    /// The offset of the next line, and the number of the last one.
    at: u64,
    number: u64,
    /// What was read; the bytes before `start` were returned already.
    buffer: Vec<u8>,
    start: usize,
    torn: bool,
}

impl RecordLines {
    /// Opens a record at the start of a line; a record that does not exist has no lines.
    pub fn open(disk: &dyn Disk, path: &str, at: u64, lines_before: u64) -> Result<Self> {
        let content = disk.open(path)?;
        let length = content.as_ref().map_or(Ok(0), |content| content.length())?;
        Ok(Self {
            path: path.to_owned(),
            content,
            length,
            read: at,
            at,
            number: lines_before,
            buffer: Vec::new(),
            start: 0,
            torn: false,
        })
    }

    /// Whether the record ends in a torn line; known once all lines were read.
    pub fn is_torn(&self) -> bool {
        self.torn
    }

    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// The next line's bytes, and whether they have a line end.
    fn take(&mut self) -> Result<Option<(Vec<u8>, bool)>> {
        let Some(content) = &self.content else { return Ok(None) };
        let mut searched = self.start;
        loop {
            if let Some(found) = self.buffer[searched..].iter().position(|byte| *byte == b'\n') {
                let line = self.buffer[self.start..searched + found].to_vec();
                self.start = searched + found + 1;
                self.at += line.len() as u64 + 1;
                return Ok(Some((line, true)));
            }
            self.buffer.drain(..self.start);
            self.start = 0;
            searched = self.buffer.len();
            let wanted = self.length.saturating_sub(self.read).min(CHUNK as u64);
            // Lines that are appended after the opening are not read.
            if wanted == 0 || searched as u64 > limits::LINE {
                break;
            }
            let more = content.read_at(self.read, wanted as usize)?;
            if more.is_empty() {
                break;
            }
            self.read += more.len() as u64;
            self.buffer.extend(more);
        }
        if self.buffer.is_empty() {
            return Ok(None);
        }
        if self.buffer.len() as u64 > limits::LINE {
            // Without a line end there is no place to continue at, so the iterator ends.
            self.content = None;
            return Err(TreeError::TooLarge { path: self.path.clone(), limit: limits::LINE });
        }
        let rest = std::mem::take(&mut self.buffer);
        self.at += rest.len() as u64;
        Ok(Some((rest, false)))
    }
}

impl Iterator for RecordLines {
    type Item = Result<RecordLine>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (bytes, ended) = match self.take() {
                Ok(line) => line?,
                Err(error) => return Some(Err(error)),
            };
            self.number += 1;
            if ended && bytes.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            return match parse(&bytes) {
                Ok(object) => Some(Ok(RecordLine { number: self.number, object, end: self.at })),
                // The last line. A writer may be in the middle of it, or have crashed.
                Err(_) if !ended => {
                    self.torn = true;
                    None
                }
                Err(why) => {
                    let (path, line) = (self.path.clone(), Some(self.number));
                    Some(Err(TreeError::Damaged { path, line, why }))
                }
            };
        }
    }
}

/// The last lines of a record, oldest first; what is before them is not read.
pub fn last_lines(disk: &dyn Disk, path: &str, count: usize) -> Result<Vec<Object>> {
    let Some(content) = disk.open(path)? else { return Ok(Vec::new()) };
    let mut start = content.length()?;
    let mut bytes = Vec::new();
    let mut ends = 0;
    // One line end more than lines, for the one before the first.
    while start > 0 && ends <= count + 1 {
        // As much again as is known, so that a long line is not copied once for each chunk of it.
        let length = start.min(CHUNK.max(bytes.len()) as u64);
        start -= length;
        let mut chunk = content.read_at(start, length as usize)?;
        ends += chunk.iter().filter(|byte| **byte == b'\n').count();
        chunk.append(&mut bytes);
        bytes = chunk;
    }
    let mut rows: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    // The first row begins in the middle of a line.
    if start > 0 {
        rows.remove(0);
    }
    let mut found = Vec::new();
    let last = rows.len().saturating_sub(1);
    for (place, row) in rows.iter().enumerate().rev() {
        if found.len() == count {
            break;
        }
        match parse(row) {
            Ok(object) => found.push(object),
            // The last row has no line end after it, so it may be torn.
            Err(_) if place == last || row.iter().all(u8::is_ascii_whitespace) => {}
            Err(why) => return Err(TreeError::damaged(path, why)),
        }
    }
    found.reverse();
    Ok(found)
}

pub(crate) fn bytes_of<'a>(lines: impl IntoIterator<Item = &'a Object>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in lines {
        bytes.extend(Value::Object(line.clone()).to_string().into_bytes());
        bytes.push(b'\n');
    }
    bytes
}

/// Truncates a torn line, ends one that has no line end, and returns the length of the record.
pub fn tidy(disk: &dyn Disk, path: &str) -> Result<u64> {
    let Some(content) = disk.open(path)? else { return Ok(0) };
    let length = content.length()?;
    let mut start = length;
    let mut tail = Vec::new();
    while start > 0 {
        let step = start.min(CHUNK as u64);
        let mut chunk = content.read_at(start - step, step as usize)?;
        start -= step;
        let found = chunk.iter().rposition(|byte| *byte == b'\n');
        if let Some(found) = found {
            start += found as u64 + 1;
            chunk.drain(..=found);
        }
        chunk.append(&mut tail);
        tail = chunk;
        if found.is_some() {
            break;
        }
        if tail.len() as u64 > limits::LINE {
            return Err(TreeError::TooLarge { path: path.to_owned(), limit: limits::LINE });
        }
    }
    if tail.is_empty() {
        return Ok(length);
    }
    // Other programs and editors may leave out the last line end. The line itself is complete.
    if parse(&tail).is_ok() {
        disk.append(path, b"\n")?;
        return Ok(length + 1);
    }
    disk.truncate(path, start)?;
    Ok(start)
}

/// Appends bytes to a file of this length and syncs it, or changes nothing.
pub(crate) fn append_at(disk: &dyn Disk, path: &str, length: u64, bytes: &[u8]) -> Result<()> {
    // The folder must be synced only for a new name. That saves a sync for each append.
    let is_new = length == 0 && disk.stat(path)?.is_none();
    if is_new {
        atomic::make_folders(disk, parent(path))?;
    }
    let done = disk.append(path, bytes).and_then(|()| disk.sync(path));
    if let Err(error) = done {
        // Readers skip half a line anyway, so it does no harm if this fails too.
        drop(disk.truncate(path, length));
        return Err(error);
    }
    if is_new {
        disk.sync_folder(parent(path))?;
    }
    Ok(())
}

/// Appends lines to a record and syncs it.
pub fn append(disk: &dyn Disk, path: &str, lines: &[Object]) -> Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    let length = tidy(disk, path)?;
    append_at(disk, path, length, &bytes_of(lines))
}

fn parse(bytes: &[u8]) -> Result<Object, String> {
    match accord_canon::read(bytes) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("the line is not a JSON object".into()),
        Err(error) => Err(format!("the line is not JSON: {error}")),
    }
}
