//! The door of live sessions: the channel of ggui and its fallbacks, the tools as routes and over
//! MCP, the questions to people, and the pages on which people answer.
//!
//! The services are [`accord_live`]'s. What the rest of a host knows comes in as [`Surroundings`].

mod access_watch;
mod channel;
mod door;
pub mod metrics;
mod overrides;
mod pages;
mod questions;
mod slice;
mod sockets;
mod token_holder;
mod tool_routes;
mod tools;

use accord_serving::{operation, table};

pub(crate) use self::access_watch::{AccessWatch, Lost};
pub use self::channel::{WITHOUT_SESSION, routes as channel_routes, without_session};
pub(crate) use self::door::WeakLiveDoor;
pub use self::door::{LiveDoor, LiveParts, Surroundings, sweep};
pub use self::overrides::Overrides;
pub use self::pages::{page_link, routes as page_routes, show_refused_host};
pub use self::questions::routes as question_routes;
pub(crate) use self::slice::slice;
pub(crate) use self::sockets::Rejection;
pub(crate) use self::token_holder::{TokenHolder, covered_apps, granted};
pub use self::tool_routes::routes as tool_routes;
pub use self::tools::TOOLSET;

type Context = accord_serving::Context<LiveDoor>;
type Visitor = accord_serving::Visitor<LiveDoor>;
type Exchange = operation::Exchange<LiveDoor>;

pub type Route = table::Route<LiveDoor>;
