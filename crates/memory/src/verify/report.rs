//! What a verification reports.

use accord_contract::{Code, Failure};
use accord_memory_core::operations::Suspect;
use accord_store::Table;

/// The kind of object in a table.
pub(super) fn suspect(table: Table) -> Suspect {
    match table {
        Table::Project => Suspect::Project,
        Table::Fact => Suspect::Fact,
        Table::Session => Suspect::Session,
        Table::Event => Suspect::Event,
        Table::Blob => Suspect::Blob,
        Table::Tally => Suspect::Tally,
        Table::Question | Table::Link => Suspect::Question,
        Table::Search | Table::Embedding => Suspect::Search,
        Table::Counter => Suspect::Counter,
        _ => Suspect::Package,
    }
}

/// The failure for damaged data.
pub(super) fn wrong(message: impl Into<String>) -> Failure {
    Failure::new(Code::AgenticIntegrityError, message)
}
