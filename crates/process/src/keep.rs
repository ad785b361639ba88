//! Buffers that keep the start or the end of an output.

/// Keeps the beginning of a stream, up to a limit.
#[derive(Debug)]
pub(crate) struct Head {
    bytes: Vec<u8>,
    limit: usize,
    truncated: bool,
}

impl Head {
    pub(crate) fn new(limit: usize) -> Self {
        Self { bytes: Vec::new(), limit, truncated: false }
    }

    pub(crate) fn push(&mut self, chunk: &[u8]) {
        let room = self.limit - self.bytes.len();
        self.truncated |= chunk.len() > room;
        self.bytes.extend_from_slice(&chunk[..chunk.len().min(room)]);
    }

    pub(crate) fn truncated(&self) -> bool {
        self.truncated
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// Keeps the end of a stream, up to a limit: the last lines of stderr explain a failure best.
#[derive(Debug)]
pub(crate) struct Tail {
    bytes: Vec<u8>,
    limit: usize,
    truncated: bool,
}

impl Tail {
    pub(crate) fn new(limit: usize) -> Self {
        Self { bytes: Vec::new(), limit, truncated: false }
    }

    pub(crate) fn push(&mut self, chunk: &[u8]) {
        self.bytes.extend_from_slice(chunk);
        // Cutting only at twice the limit moves each byte at most once.
        if self.bytes.len() > self.limit.saturating_mul(2) {
            self.bytes.drain(..self.bytes.len() - self.limit);
            self.truncated = true;
        }
    }

    pub(crate) fn truncated(&self) -> bool {
        // Between the limit and its double nothing was cut yet, but `bytes` already leaves out the
        // start.
        self.truncated || self.bytes.len() > self.limit
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[self.bytes.len().saturating_sub(self.limit)..]
    }
}

#[cfg(test)]
mod tests {
    use super::{Head, Tail};

    #[test]
    fn a_head_keeps_the_beginning_and_tells_what_it_dropped() {
        let mut head = Head::new(4);
        head.push(b"abc");
        head.push(b"d");
        assert!(!head.truncated());
        head.push(b"e");
        assert!(head.truncated());
        assert_eq!(head.into_bytes(), b"abcd");
    }

    #[test]
    fn a_tail_keeps_the_end_in_bounded_memory() {
        let mut tail = Tail::new(4);
        tail.push(b"abcd");
        assert!(!tail.truncated());
        for _ in 0..1_000 {
            tail.push(b"0123456789");
            assert!(tail.bytes.capacity() < 64);
        }
        assert!(tail.truncated());
        assert_eq!(tail.bytes(), b"6789");
    }
}
