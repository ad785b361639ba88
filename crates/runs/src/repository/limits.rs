//! The most bytes that are read of files that others wrote.
//!
//! A larger file is refused with `file_too_large`.

/// A document: the configuration, the state.
pub const DOCUMENT: u64 = accord_trees::limits::DOCUMENT;

pub const STAGED: u64 = 8 * 1024 * 1024;

pub const GATE_FILE: u64 = 8 * 1024 * 1024;

pub const BUNDLE_FILE: u64 = 64 * 1024 * 1024;

/// A file that is kept while a hook runs, so that it can be restored.
pub const PROTECTED: u64 = 512 * 1024 * 1024;
