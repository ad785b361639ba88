//! Reading a document's top-level members apart: some canonical, some raw, some not at all. A key
//! that repeats is refused all the same, because two readers could take different ones.

use crate::canonicalizer::{Canonicalizer, Fate, OpenObject};
use crate::error::{CanonError, Fault};
use crate::locate::explain;
use crate::scan::{Cursor, OBJECT_END};

/// What a projection does with one top-level member.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Part {
    /// Its value is canonicalised.
    Canonical,
    /// Its text is returned as it is in the document.
    Raw,
    /// Its value is skipped.
    Ignored,
}

/// The members of one object, taken apart.
#[derive(Debug)]
pub struct Projection<'a> {
    canonicalizer: &'a Canonicalizer,
    input: &'a [u8],
}

impl Canonicalizer {
    /// Splits the top-level object of `input` as `part` decides for each key; `None` if the
    /// document is not an object. Keys are in their canonical spelling without quotes.
    pub fn project<'a>(
        &'a mut self,
        input: &'a [u8],
        part: impl Fn(&str) -> Part,
    ) -> Result<Option<Projection<'a>>, CanonError> {
        self.out.clear();
        self.members.clear();
        match self.take_apart(input, part) {
            Ok(is_object) => Ok(is_object.then_some(Projection { canonicalizer: self, input })),
            Err(fault) => Err(explain(input, fault)),
        }
    }

    fn take_apart(&mut self, input: &[u8], part: impl Fn(&str) -> Part) -> Result<bool, Fault> {
        let mut cursor = Cursor::open(input)?;
        if cursor.peek() != Some(b'{') {
            // The whole text is still checked: text that is not JSON is reported as such.
            cursor.skip_value(0)?;
            cursor.close()?;
            return Ok(false);
        }
        self.make_room(input);
        cursor.enter(0)?;
        let order = self.key_order();
        let mut object = OpenObject::new(0, 0);
        if cursor.peek() == Some(b'}') {
            cursor.pos += 1;
            cursor.close()?;
            return Ok(true);
        }
        loop {
            let mut member = self.key(&mut cursor, &mut object)?;
            let key = std::str::from_utf8(&self.out[member.key..member.key_end])
                .expect("keys are cut from UTF-8 at ASCII bytes");
            match part(key) {
                Part::Canonical => {
                    self.value(&mut cursor, 1)?;
                }
                Part::Raw => {
                    let start = cursor.pos;
                    cursor.skip_value(1)?;
                    let end = cursor.pos;
                    member.fate = Fate::Raw { start, end };
                }
                Part::Ignored => {
                    cursor.skip_value(1)?;
                    member.fate = Fate::Dropped;
                }
            }
            member.end = self.out.len();
            self.push(member, &mut object, order);
            if !cursor.another(b'}', OBJECT_END)? {
                break;
            }
        }
        // Always: it refuses a key that repeats, also one of an ignored member.
        self.sort(&object, order)?;
        cursor.close()?;
        Ok(true)
    }
}

impl<'a> Projection<'a> {
    /// The canonical bytes of a member with [`Part::Canonical`].
    pub fn canonical(&self, key: &str) -> Option<&'a [u8]> {
        self.canonicalizer.members.iter().find_map(|member| {
            let named = self.canonicalizer.out[member.key..member.key_end] == *key.as_bytes();
            (named && member.fate == Fate::Kept)
                // Past the closing quote and the colon.
                .then(|| &self.canonicalizer.out[member.key_end + 2..member.end])
        })
    }

    /// The text of a member with [`Part::Raw`], and its offset.
    pub fn raw(&self, key: &str) -> Option<(&'a [u8], usize)> {
        self.canonicalizer.members.iter().find_map(|member| {
            let named = self.canonicalizer.out[member.key..member.key_end] == *key.as_bytes();
            match member.fate {
                Fate::Raw { start, end } if named => Some((&self.input[start..end], start)),
                _ => None,
            }
        })
    }
}
