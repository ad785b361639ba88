//! The cursor over JSON text. The text is known to be UTF-8 before a cursor exists, so that every
//! string in it can be cut at ASCII bytes without further checks.

use crate::MAX_DEPTH;
use crate::error::{Fault, Refusal};

#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    pub(crate) input: &'a [u8],
    pub(crate) pos: usize,
}

/// A number as it is written in the text.
pub(crate) struct Literal<'a> {
    pub(crate) text: &'a str,
    pub(crate) offset: usize,
    /// It has no fraction and no exponent.
    pub(crate) integer: bool,
}

impl<'a> Cursor<'a> {
    /// A cursor before the first value of `input`. Clauses: ALX-CANON-JSON.
    pub(crate) fn open(input: &'a [u8]) -> Result<Self, Fault> {
        if let Err(error) = std::str::from_utf8(input) {
            return Err(Fault {
                refusal: Refusal::InvalidUtf8,
                offset: error.valid_up_to(),
                detail: "the bytes are not UTF-8",
            });
        }
        let mut cursor = Self { input, pos: 0 };
        cursor.skip_space();
        if cursor.peek().is_none() {
            return Err(Fault::syntax(
                cursor.pos,
                "the input is empty where a JSON value was expected",
            ));
        }
        Ok(cursor)
    }

    /// Refuses anything but white space until the end.
    pub(crate) fn close(&mut self) -> Result<(), Fault> {
        self.skip_space();
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(Fault::syntax(self.pos, "there is more text after the JSON value")),
        }
    }

    #[inline]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.input.get(self.pos).copied()
    }

    #[inline]
    pub(crate) fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.pos += 1;
        }
    }

    #[inline]
    pub(crate) fn expect(&mut self, byte: u8, detail: &'static str) -> Result<(), Fault> {
        if self.peek() == Some(byte) {
            self.pos += 1;
            Ok(())
        } else {
            Err(Fault::syntax(self.pos, detail))
        }
    }

    /// Consumes an opening bracket at `depth` levels of nesting.
    #[inline]
    pub(crate) fn enter(&mut self, depth: usize) -> Result<(), Fault> {
        // Before the recursion into the value: this check is what bounds the stack.
        if depth >= MAX_DEPTH {
            return Err(Fault {
                refusal: Refusal::TooDeep,
                offset: self.pos,
                detail: "arrays and objects are nested more than 256 levels deep",
            });
        }
        self.pos += 1;
        self.skip_space();
        Ok(())
    }

    /// After a member or element: `true` at a comma, `false` at `end`.
    #[inline]
    pub(crate) fn another(&mut self, end: u8, detail: &'static str) -> Result<bool, Fault> {
        self.skip_space();
        match self.peek() {
            Some(b',') => {
                self.pos += 1;
                self.skip_space();
                Ok(true)
            }
            Some(byte) if byte == end => {
                self.pos += 1;
                Ok(false)
            }
            _ => Err(Fault::syntax(self.pos, detail)),
        }
    }

    /// Reads the colon between key and value, with the space around it.
    #[inline]
    pub(crate) fn colon(&mut self) -> Result<(), Fault> {
        self.skip_space();
        self.expect(b':', "a colon was expected after the key")?;
        self.skip_space();
        Ok(())
    }

    /// Reads `true`, `false` or `null`.
    pub(crate) fn word(&mut self) -> Result<&'static [u8], Fault> {
        let word: &'static [u8] = match self.peek() {
            Some(b't') => b"true",
            Some(b'f') => b"false",
            Some(b'n') => b"null",
            None => {
                return Err(Fault::syntax(self.pos, "the text ends where a value was expected"));
            }
            Some(_) => return Err(Fault::syntax(self.pos, "a JSON value was expected here")),
        };
        if self.input[self.pos..].starts_with(word) {
            self.pos += word.len();
            Ok(word)
        } else {
            Err(Fault::syntax(self.pos, "only true, false and null are words in JSON"))
        }
    }

    /// Reads a number by the grammar of JSON.
    pub(crate) fn number(&mut self) -> Result<Literal<'a>, Fault> {
        let offset = self.pos;
        if self.peek() == Some(b'-') {
            self.pos += 1;
        }
        match self.peek() {
            Some(b'0') => {
                self.pos += 1;
                // Some readers take `010` as octal, so JSON does not allow it.
                if matches!(self.peek(), Some(b'0'..=b'9')) {
                    return Err(Fault::syntax(self.pos, "a number may not begin with 0"));
                }
            }
            _ => self.digits("a digit was expected in the number")?,
        }
        let mut integer = true;
        if self.peek() == Some(b'.') {
            integer = false;
            self.pos += 1;
            self.digits("a digit was expected after the decimal point")?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            integer = false;
            self.pos += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.pos += 1;
            }
            self.digits("a digit was expected in the exponent")?;
        }
        let text = std::str::from_utf8(&self.input[offset..self.pos])
            .expect("a number is made of ASCII bytes");
        Ok(Literal { text, offset, integer })
    }

    /// Skips one value and checks only the grammar and the depth.
    pub(crate) fn skip_value(&mut self, depth: usize) -> Result<(), Fault> {
        match self.peek() {
            Some(b'"') => self.skip_string(),
            Some(b'{') => {
                self.enter(depth)?;
                if self.peek() == Some(b'}') {
                    self.pos += 1;
                    return Ok(());
                }
                loop {
                    self.skip_string()?;
                    self.colon()?;
                    self.skip_value(depth + 1)?;
                    if !self.another(b'}', OBJECT_END)? {
                        return Ok(());
                    }
                }
            }
            Some(b'[') => {
                self.enter(depth)?;
                if self.peek() == Some(b']') {
                    self.pos += 1;
                    return Ok(());
                }
                loop {
                    self.skip_value(depth + 1)?;
                    if !self.another(b']', ARRAY_END)? {
                        return Ok(());
                    }
                }
            }
            Some(b'-' | b'0'..=b'9') => self.number().map(|_| ()),
            _ => self.word().map(|_| ()),
        }
    }

    fn digits(&mut self, detail: &'static str) -> Result<(), Fault> {
        let start = self.pos;
        while let Some(b'0'..=b'9') = self.peek() {
            self.pos += 1;
        }
        if self.pos == start {
            return Err(Fault::syntax(self.pos, detail));
        }
        Ok(())
    }
}

pub(crate) const OBJECT_END: &str = "a comma or a closing brace was expected after the member";
pub(crate) const ARRAY_END: &str = "a comma or a closing bracket was expected after the element";
