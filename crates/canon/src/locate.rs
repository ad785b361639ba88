//! From a byte offset to a JSON pointer. Only a refused document is read a second time, so accepted
//! documents do not pay for good messages.

use std::borrow::Cow;

use crate::error::{CanonError, Fault, Refusal};
use crate::scan::Cursor;

/// The full error for a fault that scanning `input` ran into.
#[cold]
pub(crate) fn explain(input: &[u8], fault: Fault) -> CanonError {
    let pointer =
        // A cursor needs UTF-8, so such a document has no place but its byte offset.
        if fault.refusal == Refusal::InvalidUtf8 { String::new() } else { Walk::to(input, fault) };
    CanonError::new(fault.refusal, pointer, fault.offset, fault.detail.to_owned())
}

/// A member's name as one segment of a JSON pointer. Clauses: ALX-CANON-POINTER.
pub fn escape_segment(name: &str) -> Cow<'_, str> {
    if name.contains(['~', '/']) {
        // `~` first, so that the `~` of `~1` is not escaped again.
        Cow::Owned(name.replace('~', "~0").replace('/', "~1"))
    } else {
        Cow::Borrowed(name)
    }
}

/// Decodes a segment of a JSON pointer into a member name.
pub fn unescape_segment(segment: &str) -> Cow<'_, str> {
    if segment.contains('~') {
        // In this order: `~01` is `~1`, which is not escaped any further.
        Cow::Owned(segment.replace("~1", "/").replace("~0", "~"))
    } else {
        Cow::Borrowed(segment)
    }
}

/// A second scan that stops at the fault and keeps the path to it.
struct Walk<'a> {
    cursor: Cursor<'a>,
    fault: Fault,
    path: Vec<String>,
}

/// The walk has reached the fault; `path` leads there.
struct Arrived;

impl<'a> Walk<'a> {
    fn to(input: &'a [u8], fault: Fault) -> String {
        let mut walk = Self { cursor: Cursor { input, pos: 0 }, fault, path: Vec::new() };
        walk.cursor.skip_space();
        // The walk ends before the fault only if the fault is after the document.
        match walk.value() {
            Ok(()) => String::new(),
            Err(Arrived) => walk.pointer(),
        }
    }

    fn value(&mut self) -> Result<(), Arrived> {
        // The first scan kept to the depth limit, and this walk stops at the fault.
        if self.cursor.pos >= self.fault.offset {
            return Err(Arrived);
        }
        match self.cursor.peek() {
            Some(b'{') => self.object(),
            Some(b'[') => self.array(),
            Some(b'"') => self.string().map(|_| ()),
            Some(b'-' | b'0'..=b'9') => {
                let read = self.cursor.number().map(|_| ());
                self.past(read)
            }
            _ => {
                let read = self.cursor.word().map(|_| ());
                self.past(read)
            }
        }
    }

    fn object(&mut self) -> Result<(), Arrived> {
        self.cursor.pos += 1;
        self.cursor.skip_space();
        if self.cursor.peek() == Some(b'}') {
            self.cursor.pos += 1;
            return Ok(());
        }
        loop {
            let at_key = self.cursor.pos >= self.fault.offset;
            // A duplicate key is part of the pointer. Any other fault at a key is about the object.
            if at_key && self.fault.refusal != Refusal::DuplicateKey {
                return Err(Arrived);
            }
            let key = self.string_or_fault_at(at_key)?;
            self.path.push(key);
            if at_key {
                return Err(Arrived);
            }
            let colon = self.cursor.colon();
            self.past(colon)?;
            self.value()?;
            let another = self.cursor.another(b'}', "");
            self.path.pop();
            if !self.more(another)? {
                return Ok(());
            }
        }
    }

    fn array(&mut self) -> Result<(), Arrived> {
        self.cursor.pos += 1;
        self.cursor.skip_space();
        if self.cursor.peek() == Some(b']') {
            self.cursor.pos += 1;
            return Ok(());
        }
        for index in 0_usize.. {
            self.path.push(index.to_string());
            self.value()?;
            let another = self.cursor.another(b']', "");
            self.path.pop();
            if !self.more(another)? {
                break;
            }
        }
        Ok(())
    }

    /// Reads a string; a fault inside it ends the walk.
    fn string(&mut self) -> Result<String, Arrived> {
        self.string_or_fault_at(false)
    }

    fn string_or_fault_at(&mut self, fault_is_here: bool) -> Result<String, Arrived> {
        let start = self.cursor.pos;
        let mut written = Vec::new();
        let read = self.cursor.write_string(&mut written);
        if read.is_err() {
            // Half a surrogate is not a fault in a value that is skipped.
            self.cursor.pos = start;
            let skipped = self.cursor.skip_string();
            if skipped.is_err() || (start..self.cursor.pos).contains(&self.fault.offset) {
                return Err(Arrived);
            }
            // A skipped key with half a surrogate has no text.
            return Ok("\u{fffd}".to_owned());
        }
        if !fault_is_here && (start..self.cursor.pos).contains(&self.fault.offset) {
            return Err(Arrived);
        }
        Ok(serde_json::from_slice(&written).expect("a canonical string is JSON"))
    }

    fn past<T>(&mut self, read: Result<T, Fault>) -> Result<T, Arrived> {
        read.map_err(|_| Arrived).and_then(|value| {
            if self.cursor.pos > self.fault.offset { Err(Arrived) } else { Ok(value) }
        })
    }

    /// Like `past`, for the comma or bracket behind a member or element.
    fn more(&mut self, another: Result<bool, Fault>) -> Result<bool, Arrived> {
        another.map_err(|_| Arrived)
    }

    fn pointer(&self) -> String {
        let mut pointer = String::new();
        for segment in &self.path {
            pointer.push('/');
            pointer.push_str(&escape_segment(segment));
        }
        pointer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_stands_for_the_name_that_was_escaped() {
        for name in ["", "a", "a/b", "m~n", "~1", "~0", "~01", "/~/"] {
            assert_eq!(unescape_segment(&escape_segment(name)), name);
        }
        assert_eq!(unescape_segment("~01"), "~1");
    }
}
