//! How much is read of what others wrote.
//!
//! A file past its limit is refused with `file_too_large`, and no more of it is read.

/// The most bytes of a document: the configuration, the state, a journal.
pub const DOCUMENT: u64 = 64 * 1024 * 1024;

/// The most bytes of a staged result.
pub const STAGED: u64 = 8 * 1024 * 1024;

/// The most bytes of a file that a gate looks at.
pub const GATE_FILE: u64 = 8 * 1024 * 1024;

/// The most bytes of one file of a dispatch bundle.
pub const BUNDLE_FILE: u64 = 64 * 1024 * 1024;

/// The most bytes of one line of a record.
pub const LINE: u64 = 32 * 1024 * 1024;

/// The most bytes of a file that is kept while a hook runs, so that it can be restored.
pub const PROTECTED: u64 = 512 * 1024 * 1024;
