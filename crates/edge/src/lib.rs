//! Edges: a work tree that a person joined to a project of a hub. The tree stays the record, and
//! works without the hub.
//!
//! * [`Edges`]: the join files and outboxes of this user, outside of every work tree.
//! * [`Source`]: what a governed repository or a task tree has for the outbox.
//! * [`Joined::pass`]: puts what is new into the outbox, and sends what the hub lacks.
//! * [`Opened`]: a repository on the machine of its hub, which a person opened to it.
//! * [`Joined::pass_and_apply`]: also applies what a person decided on the hub.
//!
//! Invariants:
//! - an entry is synced to the outbox before it is sent, so that its number is never used again;
//! - the folder of an edge is the user's own (0700, files 0600), and workers do not see it;
//! - a copy of a joined work tree is not the edge: it is refused while the original exists;
//! - nothing from before the join is sent, except what waits for a person.

#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "edges keep files of the user")]

mod changes;
mod decide;
mod folder;
mod join_file;
mod marker;
mod opened;
mod pass;
mod place;
mod source;

pub use changes::described;
pub use decide::Applies;
pub use folder::{Edges, Joined, Preview};
pub use join_file::{JoinFile, Joining};
pub use opened::Opened;
pub use pass::{Decided, Hub, Pass, Sent};
pub use source::{Source, SourceKind, sources_in};

/// A result whose error is a failure, unless it says otherwise.
pub type Result<T, E = accord_contract::codes::Failure> = std::result::Result<T, E>;
