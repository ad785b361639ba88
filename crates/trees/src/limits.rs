//! The most bytes that are read of files that others wrote. A larger file is refused.

/// A document, such as a journal.
pub const DOCUMENT: u64 = 64 * 1024 * 1024;

pub const LINE: u64 = 32 * 1024 * 1024;
