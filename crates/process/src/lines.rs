//! Splits a child's output into lines.

/// Received bytes that were not taken yet.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    bytes: Vec<u8>,
    /// There is no newline before this offset. Each byte is searched once, however small the
    /// chunks.
    scanned: usize,
}

impl Lines {
    pub(crate) fn push(&mut self, chunk: &[u8]) {
        self.bytes.extend_from_slice(chunk);
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The length of the first line in bytes, complete or not, without its newline.
    pub(crate) fn first_len(&mut self) -> usize {
        self.end().unwrap_or(self.bytes.len())
    }

    /// Takes the first line without its newline, if it is complete.
    pub(crate) fn take(&mut self) -> Option<Vec<u8>> {
        let end = self.end()?;
        let rest = self.bytes.split_off(end + 1);
        let mut line = std::mem::replace(&mut self.bytes, rest);
        // The rest may already contain the next newline.
        self.scanned = 0;
        line.pop();
        Some(line)
    }

    fn end(&mut self) -> Option<usize> {
        let found = self.bytes[self.scanned..].iter().position(|byte| *byte == b'\n');
        self.scanned = found.map_or(self.bytes.len(), |at| self.scanned + at);
        found.map(|_| self.scanned)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Lines;

    #[test]
    fn lines_are_taken_one_by_one() {
        let mut lines = Lines::default();
        lines.push(b"on");
        assert_eq!((lines.take(), lines.first_len()), (None, 2));
        lines.push(b"e\n\ntwo\nthr");
        assert_eq!(lines.first_len(), 3);
        for expected in [&b"one"[..], b"", b"two"] {
            assert_eq!(lines.take().as_deref(), Some(expected));
        }
        assert_eq!((lines.take(), lines.bytes()), (None, &b"thr"[..]));
    }

    #[test]
    fn a_line_in_tiny_chunks_costs_no_more_than_its_length() {
        // Searching everything again for each chunk would take 4 * 10^10 comparisons: minutes.
        let started = Instant::now();
        let mut lines = Lines::default();
        for _ in 0..300_000 {
            lines.push(b"x");
            assert_eq!(lines.take(), None);
        }
        lines.push(b"\n");
        assert_eq!(lines.take().map(|line| line.len()), Some(300_000));
        assert!(started.elapsed() < Duration::from_secs(10));
    }
}
