//! Where the frames of a WebSocket end (RFC 6455, section 5.2).
//!
//! Bytes are handed to the parser up to the end of a frame, and not further. So, after a message,
//! the parser has nothing left of the next one, and can be replaced by a new one.

/// The first bytes of a frame: two, a length of up to eight, and a mask of four.
const MOST_HEADER: usize = 14;

/// The place in the frames that a client sends.
#[derive(Debug, Default)]
pub(super) struct FrameEdges {
    header: [u8; MOST_HEADER],
    header_len: usize,
    /// Bytes of the payload of the frame that are still to come.
    payload: u64,
    /// Whether a message has begun whose last frame is still to come.
    in_message: bool,
}

impl FrameEdges {
    pub(super) fn is_between_messages(&self) -> bool {
        self.header_len == 0 && self.payload == 0 && !self.in_message
    }

    pub(super) fn payload_left(&self) -> usize {
        usize::try_from(self.payload).unwrap_or(usize::MAX)
    }

    /// Passes over the bytes that belong to the present frame. Returns their number, which is not 0
    /// if there are bytes.
    pub(super) fn pass(&mut self, bytes: &[u8]) -> usize {
        let mut passed = 0;
        while passed < bytes.len() {
            if self.payload > 0 {
                let left = self.payload_left().min(bytes.len() - passed);
                self.payload -= left as u64;
                return passed + left;
            }
            self.header[self.header_len] = bytes[passed];
            self.header_len += 1;
            passed += 1;
            if self.header_len == self.header_size() {
                self.begin_payload();
                if self.payload == 0 {
                    return passed;
                }
            }
        }
        passed
    }

    /// The size of the header, as far as it is known.
    fn header_size(&self) -> usize {
        if self.header_len < 2 {
            return MOST_HEADER;
        }
        let mask = if self.header[1] & 0x80 == 0 { 0 } else { 4 };
        mask + match self.header[1] & 0x7f {
            126 => 4,
            127 => 10,
            _ => 2,
        }
    }

    fn begin_payload(&mut self) {
        let [first, second, long @ ..] = self.header;
        self.payload = match second & 0x7f {
            126 => u64::from(u16::from_be_bytes([long[0], long[1]])),
            127 => {
                let mut length = [0; 8];
                length.copy_from_slice(&long[..8]);
                u64::from_be_bytes(length)
            }
            short => u64::from(short),
        };
        // Control frames may come in the middle of a message.
        if first & 0x08 == 0 {
            self.in_message = first & 0x80 == 0;
        }
        self.header_len = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::FrameEdges;

    /// A frame of a client.
    fn frame(first: u8, payload: usize) -> Vec<u8> {
        let mut bytes = vec![first];
        match payload {
            0..126 => bytes.push(0x80 | u8::try_from(payload).unwrap()),
            126..65_536 => {
                bytes.push(0x80 | 126);
                bytes.extend(u16::try_from(payload).unwrap().to_be_bytes());
            }
            _ => {
                bytes.push(0x80 | 127);
                bytes.extend((payload as u64).to_be_bytes());
            }
        }
        bytes.extend([1, 2, 3, 4]);
        bytes.resize(bytes.len() + payload, 0xff);
        bytes
    }

    #[test]
    fn bytes_are_passed_up_to_the_end_of_a_frame() {
        const TEXT: u8 = 0x81;
        for size in [0, 1, 125, 126, 127, 65_535, 65_536, 100_000] {
            let (one, other) = (frame(TEXT, size), frame(TEXT, 3));
            let all = [one.clone(), other.clone()].concat();
            for chunk in [1, 2, 3, 7, 4096, all.len()] {
                let mut edges = FrameEdges::default();
                let (mut at, mut ends) = (0, Vec::new());
                while at < all.len() {
                    let end = all.len().min(at + chunk);
                    let passed = edges.pass(&all[at..end]);
                    assert!(passed > 0, "{size} in parts of {chunk}");
                    at += passed;
                    if edges.is_between_messages() {
                        ends.push(at);
                    }
                }
                assert_eq!(ends, [one.len(), all.len()], "{size} in parts of {chunk}");
            }
        }
    }

    #[test]
    fn a_message_ends_with_its_last_frame() {
        let mut edges = FrameEdges::default();
        let (begins, goes_on, ping, ends) = (0x01, 0x00, 0x89, 0x80);
        for (first, is_between) in
            [(begins, false), (ping, false), (goes_on, false), (ends, true), (ping, true)]
        {
            let bytes = frame(first, 5);
            assert_eq!(edges.pass(&bytes), bytes.len());
            assert_eq!(edges.is_between_messages(), is_between, "{first:#x}");
        }
    }
}
