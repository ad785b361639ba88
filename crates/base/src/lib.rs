//! What every protocol shares.
//!
//! * [`ProjectId`], [`ActorId`], [`SessionId`] and [`id!`], which declares an id of a protocol.
//! * [`Actor`]: who did something; [`By`]: who acts, through which [`Door`].
//! * [`agent_name`]: one name for one coding agent.
//! * [`Need`], [`Access`], [`KeyScope`], [`Caller`], [`policy`]: who may do what.
//! * [`worker`], [`evidence`]: decisions of a person, who may take them, and what they are about;
//!   [`decision`]: the record of one.
//! * [`NewEvent`] and [`Event`]: entries of a project's event stream. A protocol adds event kinds
//!   as constants; a reader passes on kinds that it does not know.
//! * [`Page`], [`fill_page`] and [`cursor`]: lists that are read in parts.
//! * [`client_output`]: what the clients of coding agents print.
//! * [`credential`]: private keys and tokens in texts.
//! * [`inbox`]: what waits for a person.
//! * [`tokens`]: how long a text is for an agent; [`excerpt`]: as much of a text as fits.
//! * [`words`]: a JSON value as people read it.
//!
//! This crate is pure. It knows no protocol, no store and no door.
//!
//! ```
//! use accord_base::{EventKind, ProjectId};
//!
//! let project = ProjectId::new("shop")?;
//! assert_eq!(project.as_str(), "shop");
//! assert!(ProjectId::new("").is_err());
//!
//! // A kind that this version does not know is still an event kind.
//! let kind = EventKind::parse("task.claimed").expect("a kind");
//! assert_eq!(kind.as_str(), "task.claimed");
//! # Ok::<(), accord_base::IdError>(())
//! ```

mod access;
mod actor;
mod agent_name;
mod by;
mod caller;
pub mod client_output;
pub mod credential;
pub mod cursor;
pub mod decision;
mod event;
pub mod evidence;
pub mod excerpt;
mod ids;
pub mod inbox;
mod key;
mod need;
mod page;
pub mod policy;
pub mod refuse;
mod tokens;
pub mod words;
pub mod worker;

pub use access::{Access, KeyActor, KeyScope, Verb};
pub use actor::{Actor, ActorKey, ActorType, SessionReference};
pub use agent_name::agent_name;
pub use by::{By, DecidedOnHub, Door, KnownBy, Presence};
pub use caller::{Author, Authorized, Caller, CallerProcess};
pub use cursor::{Cursor, ProjectPosition};
pub use event::{DAMAGED, Event, EventKind, EventKindError, HIDDEN, NewEvent};
pub use ids::{
    ActorId, EdgeId, ID_FORM, IdError, MAX_ID_CHARS, ProjectId, SessionId, check_id, mint_id,
};
pub use key::{KEY_PREFIX, StoredKey, contains_key};
pub use need::{Decision, Need};
pub use page::{Budgeted, Page, fill_page};
pub use tokens::tokens;
