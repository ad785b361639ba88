//! What commands on a data folder answer as JSON, where no host has a document for it: part of
//! Accord's wire contract.

use accord_contract::compat::Direction;
use accord_contract::message;
use accord_contract::snapshot::Builder;

message! {
    /// What `accord context export` wrote.
    pub(crate) struct ExportAnswer("ExportAnswer", closed) {
        /// How many projects.
        required projects: u64 = "projects", "count";
        /// How many lines.
        required lines: u64 = "lines", "count";
        /// How many bytes.
        required bytes: u64 = "bytes", "bytes";
        /// How many packages and facts are damaged and were left out.
        required damaged: u64 = "damaged", "count";
    }

    /// What `accord project use` did.
    pub(crate) struct UseAnswer("UseAnswer", closed) {
        /// The default project.
        required project: String = "project", "project-id";
        /// The default server, if it was given.
        optional url: String = "url", "url";
        /// The data folder that has the defaults now.
        required folder: String = "folder", "path";
    }

    /// What `accord store restore` did.
    pub(crate) struct RestoreAnswer("RestoreAnswer", closed) {
        /// The data folder that has the backup now.
        required restored: String = "restored", "path";
    }

    /// What `accord store compact` did.
    pub(crate) struct CompactAnswer("CompactAnswer", closed) {
        /// How large the store was.
        required bytes_before: u64 = "bytes_before", "bytes";
        /// How large it is.
        required bytes_after: u64 = "bytes_after", "bytes";
    }

    /// What `accord store repair` did.
    pub(crate) struct RepairAnswer("RepairAnswer", closed) {
        /// How many packages are sound, now or before.
        required sound: u64 = "sound", "count";
        /// How many packages are not, and were set aside.
        required set_aside: u64 = "set_aside", "count";
    }
}

pub(crate) fn add_to(snapshot: Builder) -> Builder {
    snapshot
        .message::<ExportAnswer>(Direction::Response)
        .message::<UseAnswer>(Direction::Response)
        .message::<RestoreAnswer>(Direction::Response)
        .message::<CompactAnswer>(Direction::Response)
        .message::<RepairAnswer>(Direction::Response)
}
