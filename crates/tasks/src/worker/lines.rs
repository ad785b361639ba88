//! Messages among the lines that an agent prints.

use accord_tasks_core::message::PREFIX;

/// The longest line that is kept. A longer message is refused by the protocol anyway.
const MAX_LINE: usize = 10 * 1024 * 1024 + 1024;

/// Finds the lines of an output that begin with `AOF/1 `. Other lines are not kept.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// The present line, as far as it can still be a message.
    line: Vec<u8>,
    /// The rest of the present line is not a message.
    is_other: bool,
}

impl Messages {
    /// Takes more of the output. Returns the messages that are complete now.
    pub(super) fn push(&mut self, mut chunk: &[u8]) -> Vec<String> {
        let mut found = Vec::new();
        while let Some(end) = chunk.iter().position(|byte| *byte == b'\n') {
            self.add(&chunk[..end]);
            found.extend(self.finish());
            chunk = &chunk[end + 1..];
        }
        self.add(chunk);
        found
    }

    /// The last line, which may have no line end.
    pub(super) fn finish(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        let is_other = std::mem::take(&mut self.is_other);
        let text = String::from_utf8(line).ok()?;
        (!is_other && text.starts_with(PREFIX)).then_some(text)
    }

    fn add(&mut self, bytes: &[u8]) {
        if self.is_other {
            return;
        }
        let left = MAX_LINE.saturating_sub(self.line.len());
        self.line.extend_from_slice(&bytes[..bytes.len().min(left)]);
        let shown = self.line.len().min(PREFIX.len());
        if self.line[..shown] != PREFIX.as_bytes()[..shown] {
            self.line.clear();
            self.is_other = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_found_however_the_output_is_cut() {
        let output = "hello\nAOF/1 {\"a\":1}\n AOF/1 no\nAOF/2 no\nAOF/1 {\"b\":2}";
        for size in 1..output.len() {
            let mut messages = Messages::default();
            let mut found: Vec<String> =
                output.as_bytes().chunks(size).flat_map(|chunk| messages.push(chunk)).collect();
            found.extend(messages.finish());
            assert_eq!(found, ["AOF/1 {\"a\":1}", "AOF/1 {\"b\":2}"], "{size}");
        }
    }
}
