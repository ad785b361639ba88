//! Strings: from any spelling that JSON allows to the canonical one, which escapes `"`, `\` and the
//! control characters below U+0020, by their short form where there is one, and nothing else.

use crate::error::{Fault, Refusal};
use crate::scan::Cursor;

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

impl Cursor<'_> {
    /// Writes the string at the cursor with its quotes; `true` if that needed an escape.
    #[inline]
    pub(crate) fn write_string(&mut self, out: &mut Vec<u8>) -> Result<bool, Fault> {
        self.expect(b'"', STRING_EXPECTED)?;
        out.push(b'"');
        let mut escaped = false;
        loop {
            let run = self.plain_run();
            out.extend_from_slice(&self.input[self.pos..self.pos + run]);
            self.pos += run;
            match self.peek() {
                Some(b'"') => {
                    self.pos += 1;
                    out.push(b'"');
                    return Ok(escaped);
                }
                Some(b'\\') => {
                    let unescaped = self.escape()?;
                    escaped |= write_char(unescaped, out);
                }
                Some(_) => return Err(Fault::syntax(self.pos, RAW_CONTROL)),
                None => return Err(Fault::syntax(self.pos, UNCLOSED)),
            }
        }
    }

    /// Skips the string at the cursor. Half surrogates are accepted: it is not hashed.
    pub(crate) fn skip_string(&mut self) -> Result<(), Fault> {
        self.expect(b'"', STRING_EXPECTED)?;
        loop {
            self.pos += self.plain_run();
            match self.peek() {
                Some(b'"') => {
                    self.pos += 1;
                    return Ok(());
                }
                Some(b'\\') => match self.escape() {
                    Ok(_) => {}
                    Err(fault) if fault.refusal == Refusal::LoneSurrogate => {
                        // Another escape can be valid, or the first half of a pair.
                        self.pos = fault.offset + 6;
                    }
                    Err(fault) => return Err(fault),
                },
                Some(_) => return Err(Fault::syntax(self.pos, RAW_CONTROL)),
                None => return Err(Fault::syntax(self.pos, UNCLOSED)),
            }
        }
    }

    /// The number of bytes that can be copied as they are, eight per step.
    #[inline]
    fn plain_run(&self) -> usize {
        let rest = &self.input[self.pos..];
        let mut run = 0;
        let (chunks, tail) = rest.as_chunks::<8>();
        for chunk in chunks {
            let word = u64::from_le_bytes(*chunk);
            let quote = word ^ (ONES * u64::from(b'"'));
            let slash = word ^ (ONES * u64::from(b'\\'));
            // The lowest marked byte of each term is exact; borrows can only
            // mark bytes above it, and only the lowest is used.
            let marks = ((quote.wrapping_sub(ONES) & !quote)
                | (slash.wrapping_sub(ONES) & !slash)
                | (word.wrapping_sub(ONES * 0x20) & !word))
                & HIGHS;
            if marks != 0 {
                return run + (marks.trailing_zeros() / 8) as usize;
            }
            run += 8;
        }
        for byte in tail {
            if matches!(byte, b'"' | b'\\' | 0..=0x1f) {
                break;
            }
            run += 1;
        }
        run
    }

    /// Reads one escape, or the two that make a surrogate pair.
    fn escape(&mut self) -> Result<char, Fault> {
        let offset = self.pos;
        let Some(&kind) = self.input.get(offset + 1) else {
            return Err(Fault::syntax(offset, UNCLOSED));
        };
        self.pos += 2;
        Ok(match kind {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode_escape(offset),
            _ => return Err(Fault::syntax(offset, "JSON has no such escape")),
        })
    }

    /// Clauses: ALX-CANON-SURROGATE, AGENTIC-R-042.
    fn unicode_escape(&mut self, offset: usize) -> Result<char, Fault> {
        let lone = Fault {
            refusal: Refusal::LoneSurrogate,
            offset,
            detail: "the string contains half of a surrogate pair",
        };
        let first = self.four_hex()?;
        let scalar = match first {
            0xd800..=0xdbff => {
                if !self.input[self.pos..].starts_with(b"\\u") {
                    return Err(lone);
                }
                self.pos += 2;
                let second = self.four_hex()?;
                // Not even if the second is a complete character: the first half is alone.
                if !(0xdc00..=0xdfff).contains(&second) {
                    return Err(lone);
                }
                0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)
            }
            other => other,
        };
        // The only other values that are no character are second halves without a first.
        char::from_u32(scalar).ok_or(lone)
    }

    fn four_hex(&mut self) -> Result<u32, Fault> {
        let mut value = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16)).ok_or(
                Fault::syntax(self.pos, "four hexadecimal digits were expected after \\u"),
            )?;
            value = value * 16 + digit;
            self.pos += 1;
        }
        Ok(value)
    }
}

/// Writes one character in its canonical spelling; `true` if it was escaped.
/// Clauses: ALX-CANON-ESCAPES, ALX-CANON-UNICODE, AGENTIC-R-034, AGENTIC-A-11.
fn write_char(character: char, out: &mut Vec<u8>) -> bool {
    let short = match character {
        '"' => b'"',
        '\\' => b'\\',
        '\u{8}' => b'b',
        '\t' => b't',
        '\n' => b'n',
        '\u{c}' => b'f',
        '\r' => b'r',
        '\0'..='\x1f' => {
            const HEX: &[u8; 16] = b"0123456789abcdef";
            let byte = character as usize;
            out.extend_from_slice(b"\\u00");
            out.extend_from_slice(&[HEX[byte >> 4], HEX[byte & 15]]);
            return true;
        }
        _ => {
            out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            return false;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
    true
}

const STRING_EXPECTED: &str = "a string was expected here";
const RAW_CONTROL: &str = "a control character in a string must be escaped";
const UNCLOSED: &str = "the text ends inside a string";
