//! What every protocol shares.
//!
//! * [`ProjectId`], [`ActorId`], [`SessionId`] and [`id!`], which declares an id of a protocol.
//! * [`Actor`]: who did something. [`Access`], [`KeyScope`], [`Caller`]: who may do what.
//! * [`NewEvent`] and [`Event`]: entries of a project's event stream. A protocol adds event kinds
//!   as constants; a reader passes on kinds that it does not know.
//! * [`Page`], [`fill_page`] and [`cursor`]: lists that are read in parts.
//!
//! This crate is pure. It knows no protocol, no store and no door.

mod access;
mod actor;
mod caller;
pub mod cursor;
mod event;
mod ids;
mod key;
mod page;
pub mod refuse;

pub use access::{Access, KeyActor, KeyScope, Verb};
pub use actor::{Actor, ActorKey, ActorType, SessionReference};
pub use caller::Caller;
pub use cursor::{Cursor, ProjectPosition};
pub use event::{DAMAGED, Event, EventKind, EventKindError, HIDDEN, NewEvent};
pub use ids::{ActorId, IdError, MAX_ID_CHARS, ProjectId, SessionId, check_id, mint_id};
pub use key::StoredKey;
pub use page::{Page, fill_page};
