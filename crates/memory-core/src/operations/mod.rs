//! The operations on the memory: what they take, what they answer, what they need, and with which
//! codes they refuse.

mod ids;
mod removal;

pub use ids::{FindIds, IdsEnvelope, MatchingId};
pub use removal::{OfProject, RemoveProject, RemovedProjectEnvelope};
