//! Size limits. Each has its own error code.
//!
//! The forms at the end are what readers check and what the JSON Schemas say.

use accord_contract::TextForm;

/// The largest package, in bytes of its text; past it `payload_too_large`.
/// Clauses: AGENTIC-R-053.
pub const MAX_PACKAGE_BYTES: usize = 4 * 1024 * 1024;
/// The largest fact, project or session, in bytes of its text; past it `payload_too_large`.
pub const MAX_DOCUMENT_BYTES: usize = 256 * 1024;
/// The most items in a list of a package or fact; past it `too_many_items`.
pub const MAX_ITEMS: usize = 1_000;
/// The longest prose (`description`, `handoff_note`, `content_md`), in bytes; past it
/// `text_too_long`.
pub const MAX_PROSE_BYTES: usize = 2 * 1024 * 1024;
/// The longest other text: items of lists, topics, paths, notes, values of facts, in
/// bytes; past it `text_too_long`.
pub const MAX_TEXT_BYTES: usize = 64 * 1024;
/// The longest subject or predicate of a fact, in bytes; past it `text_too_long`.
pub const MAX_KEY_BYTES: usize = 4 * 1024;
/// The largest actor, with unknown members, in bytes of its text; past it
/// `text_too_long`. Facts and revisions copy actors.
pub const MAX_ACTOR_BYTES: usize = 16 * 1024;
/// The most entries of a package's revision log, not counting the one that completes it; past
/// it `too_many_items`.
pub const MAX_REVISIONS: usize = 500;
/// The longest line of an export; a package with a full log fits.
pub const MAX_LINE_BYTES: usize = 64 * 1024 * 1024;
/// The longest title or name, in Unicode scalar values; past it `invalid_schema`, as
/// the protocol says.
pub const MAX_TITLE_CHARS: usize = 200;
/// The largest whole number that every JSON reader keeps exactly.
pub const MAX_EXACT: i64 = 9_007_199_254_740_991;

pub const TITLE: TextForm = TextForm::ANY.chars(1, MAX_TITLE_CHARS);
/// A callsign; a session of another server may have an empty one.
pub const CALLSIGN: TextForm = TextForm::ANY.chars(0, MAX_TITLE_CHARS);

pub const PROSE: TextForm = TextForm::ANY.bytes(MAX_PROSE_BYTES);
/// Any other text of a package, project or review.
pub const TEXT: TextForm = TextForm::ANY.bytes(MAX_TEXT_BYTES);

pub const KEY: TextForm = TextForm::ANY.not_empty().bytes(MAX_KEY_BYTES).without_nul();
pub const VALUE: TextForm = TextForm::ANY.bytes(MAX_TEXT_BYTES).without_nul();
