//! The canonicaliser: JSON text in, canonical bytes out, in one pass. Members are written as they
//! are read, and put in order once, when their object closes. So no document costs a tree.

use crate::error::{CanonError, Fault, Refusal};
use crate::locate::explain;
use crate::number::write_number;
use crate::order::compare;
use crate::scan::{ARRAY_END, Cursor, OBJECT_END};
use crate::{KeyOrder, Nulls, Numbers, Profile};

/// Canonicalises one document. Fails when the document has no canonical form under `profile`.
pub fn canonicalize(profile: Profile, input: &[u8]) -> Result<Vec<u8>, CanonError> {
    let mut canonicalizer = Canonicalizer::new(profile);
    canonicalizer.canonicalize(input)?;
    Ok(canonicalizer.into_output())
}

/// A canonicaliser that reuses its buffers from one document to the next.
#[derive(Debug)]
pub struct Canonicalizer {
    profile: Profile,
    numbers: Numbers,
    pub(crate) out: Vec<u8>,
    pub(crate) members: Vec<Member>,
    reordered: Vec<u8>,
}

/// One member of an object that is being written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    /// Where its key begins in the output, after the quote.
    pub(crate) key: usize,
    pub(crate) key_end: usize,
    /// Where its value ends in the output, after the comma.
    pub(crate) end: usize,
    /// Where its key begins in the input, quote included.
    pub(crate) source: usize,
    pub(crate) fate: Fate,
}

/// What happens to a member when its object closes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Fate {
    Kept,
    /// Left out of the output. Another member with the same key is still refused.
    Dropped,
    /// Left out of the output. Its text is at this range of the input.
    Raw {
        start: usize,
        end: usize,
    },
}

impl Canonicalizer {
    /// A canonicaliser for `profile` that refuses inexact integers.
    pub fn new(profile: Profile) -> Self {
        Self::with_numbers(profile, Numbers::Exact)
    }

    /// A canonicaliser for `profile` that treats integers as `numbers` says.
    pub fn with_numbers(profile: Profile, numbers: Numbers) -> Self {
        Self { profile, numbers, out: Vec::new(), members: Vec::new(), reordered: Vec::new() }
    }

    /// The canonical bytes of `input`, if it has a canonical form under the profile.
    /// Clauses: ALX-CANON-WHITESPACE, ALX-CANON-IDEMPOTENT, AGENTIC-R-029.
    pub fn canonicalize(&mut self, input: &[u8]) -> Result<&[u8], CanonError> {
        self.out.clear();
        self.members.clear();
        match self.document(input) {
            Ok(()) => Ok(&self.out),
            Err(fault) => Err(explain(input, fault)),
        }
    }

    /// The canonical bytes of a value that Rust code made.
    pub fn canonicalize_value(
        &mut self,
        value: &impl serde::Serialize,
    ) -> Result<&[u8], CanonError> {
        let text = serde_json::to_vec(value).map_err(|error| {
            CanonError::new(Refusal::InvalidJson, String::new(), 0, error.to_string())
        })?;
        self.canonicalize(&text)
    }

    /// Takes the canonical bytes of the last document out of the buffer.
    pub fn into_output(self) -> Vec<u8> {
        self.out
    }

    fn document(&mut self, input: &[u8]) -> Result<(), Fault> {
        let mut cursor = Cursor::open(input)?;
        self.make_room(input);
        self.value(&mut cursor, 0)?;
        cursor.close()
    }

    /// Reserves buffers for `input`, so that reading keys does not allocate.
    pub(crate) fn make_room(&mut self, input: &[u8]) {
        /// Upper limit of the reservation: not every colon separates a key from a value.
        const MOST: usize = 64 * 1024;
        self.out.reserve(input.len());
        if self.members.capacity() == 0 {
            let colons = input.iter().filter(|byte| **byte == b':').count();
            self.members.reserve(colons.min(MOST));
        }
    }

    /// Writes one value and says whether it was `null`.
    #[inline]
    pub(crate) fn value(&mut self, cursor: &mut Cursor<'_>, depth: usize) -> Result<bool, Fault> {
        match cursor.peek() {
            Some(b'"') => {
                cursor.write_string(&mut self.out)?;
            }
            Some(b'{') => self.object(cursor, depth)?,
            Some(b'[') => self.array(cursor, depth)?,
            Some(b'-' | b'0'..=b'9') => {
                write_number(&cursor.number()?, self.numbers, &mut self.out)?;
            }
            _ => return self.word(cursor),
        }
        Ok(false)
    }

    fn word(&mut self, cursor: &mut Cursor<'_>) -> Result<bool, Fault> {
        let offset = cursor.pos;
        let word = cursor.word()?;
        let null = word == b"null";
        // `DropMembers` is applied in `object`: a `null` in an array stays.
        if null && self.profile.nulls() == Nulls::Refuse {
            return Err(Fault {
                refusal: Refusal::NullForbidden,
                offset,
                detail: "null is not allowed in this profile; leave the member out",
            });
        }
        self.out.extend_from_slice(word);
        Ok(null)
    }

    /// Clauses: ALX-CANON-ARRAYS, AGENTIC-R-032.
    fn array(&mut self, cursor: &mut Cursor<'_>, depth: usize) -> Result<(), Fault> {
        cursor.enter(depth)?;
        self.out.push(b'[');
        if cursor.peek() == Some(b']') {
            cursor.pos += 1;
        } else {
            loop {
                self.value(cursor, depth + 1)?;
                if !cursor.another(b']', ARRAY_END)? {
                    break;
                }
                self.out.push(b',');
            }
        }
        self.out.push(b']');
        Ok(())
    }

    fn object(&mut self, cursor: &mut Cursor<'_>, depth: usize) -> Result<(), Fault> {
        let order = self.profile.key_order();
        let drops_nulls = self.profile.nulls() == Nulls::DropMembers;
        cursor.enter(depth)?;
        self.out.push(b'{');
        if cursor.peek() == Some(b'}') {
            cursor.pos += 1;
            self.out.push(b'}');
            return Ok(());
        }
        let mut object = OpenObject::new(self.out.len(), self.members.len());
        loop {
            let mut member = self.key(cursor, &mut object)?;
            if self.value(cursor, depth + 1)? && drops_nulls {
                member.fate = Fate::Dropped;
            }
            self.out.push(b',');
            member.end = self.out.len();
            self.push(member, &mut object, order);
            if !cursor.another(b'}', OBJECT_END)? {
                break;
            }
        }
        // While an object is tidy, each key is greater than the one before: no duplicate, no sort.
        if !object.tidy {
            self.sort(&object, order)?;
            self.reorder(&object);
        }
        self.members.truncate(object.first_member);
        // The comma of the last member. If every member was dropped, there is none.
        if self.out.len() > object.start {
            self.out.pop();
        }
        self.out.push(b'}');
        Ok(())
    }

    /// Writes the key at the cursor and its colon.
    #[inline]
    pub(crate) fn key(
        &mut self,
        cursor: &mut Cursor<'_>,
        object: &mut OpenObject,
    ) -> Result<Member, Fault> {
        let source = cursor.pos;
        let key = self.out.len() + 1;
        if cursor.peek() != Some(b'"') {
            return Err(Fault::syntax(source, "a key in quotes was expected here"));
        }
        // Before `push` compares the key: the bytes of an escape do not sort like its character.
        object.escaped |= cursor.write_string(&mut self.out)?;
        let key_end = self.out.len() - 1;
        cursor.colon()?;
        self.out.push(b':');
        Ok(Member { key, key_end, end: 0, source, fate: Fate::Kept })
    }

    /// Adds a finished member and notes when it breaks the order.
    #[inline]
    pub(crate) fn push(&mut self, member: Member, object: &mut OpenObject, order: KeyOrder) {
        // An object that loses a member is rewritten, and sorted first: its key may be a duplicate.
        if member.fate != Fate::Kept {
            object.tidy = false;
        } else if object.tidy
            && let Some(last) = self.members[object.first_member..].last()
        {
            let ordering = compare(
                order,
                object.escaped,
                &self.out[last.key..last.key_end],
                &self.out[member.key..member.key_end],
            );
            object.tidy = ordering.is_lt();
        }
        self.members.push(member);
    }

    /// Puts the members of an object in order and refuses a key that repeats.
    /// Clauses: ALX-CANON-DUPLICATE-KEY, AGENTIC-R-040.
    pub(crate) fn sort(&mut self, object: &OpenObject, order: KeyOrder) -> Result<(), Fault> {
        let out = &self.out;
        let members = &mut self.members[object.first_member..];
        members.sort_unstable_by(|a, b| {
            compare(order, object.escaped, &out[a.key..a.key_end], &out[b.key..b.key_end])
        });
        for pair in members.windows(2) {
            if out[pair[0].key..pair[0].key_end] == out[pair[1].key..pair[1].key_end] {
                return Err(Fault {
                    refusal: Refusal::DuplicateKey,
                    // The later one in the text: the sort is unstable.
                    offset: pair[0].source.max(pair[1].source),
                    detail: "the object names this key twice; remove one of the two",
                });
            }
        }
        Ok(())
    }

    /// Rewrites the object's bytes in the order of its sorted members.
    fn reorder(&mut self, object: &OpenObject) {
        self.reordered.clear();
        self.reordered.reserve(self.out.capacity());
        for member in &self.members[object.first_member..] {
            if member.fate == Fate::Kept {
                // From the opening quote to the comma.
                self.reordered.extend_from_slice(&self.out[member.key - 1..member.end]);
            }
        }
        self.out.truncate(object.start);
        self.out.extend_from_slice(&self.reordered);
    }

    pub(crate) fn key_order(&self) -> KeyOrder {
        self.profile.key_order()
    }
}

/// An object whose members are being read.
pub(crate) struct OpenObject {
    /// Where its first member begins in the output.
    pub(crate) start: usize,
    pub(crate) first_member: usize,
    /// So far every member is kept and follows the one before it.
    pub(crate) tidy: bool,
    /// Some key has an escape in its canonical spelling.
    pub(crate) escaped: bool,
}

impl OpenObject {
    pub(crate) fn new(start: usize, first_member: usize) -> Self {
        Self { start, first_member, tidy: true, escaped: false }
    }
}
