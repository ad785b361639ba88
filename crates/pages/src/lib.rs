//! The pages that a browser is shown.
//!
//! A view model and the time come in, HTML goes out. The host serves it, and a page's own modules
//! ([`assets`]) do the rest in the browser: a navigation gets a [`Shell`] without data, and its
//! modules fetch the fragments of a [`LiveView`].
//!
//! Invariants:
//! - What an agent wrote is [`AgentText`] or Markdown without raw HTML. Neither can become markup,
//!   and characters that cannot be seen are made visible.
//! - A page has no inline script, no inline style and no handler in an attribute. Only the document
//!   for the frame of another host ([`frame`]) has its script and style in it.
//! - The same input gives the same bytes.

mod answers;
pub mod assets;
mod form;
mod frame;
mod html;
mod live;
mod markdown;
mod policy;
mod shell;
mod style;
mod text;
mod value;

pub use self::answers::{Asking, Given, agent, answers};
pub use self::frame::frame;
pub use self::html::Html;
pub use self::live::LiveView;
pub use self::policy::{needs_nonce, page_policy};
pub use self::shell::{ErrorPage, Shell};
pub use self::text::AgentText;
