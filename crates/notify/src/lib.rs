//! What people are told about the inbox. Pure: a host reads the items and sends the messages.
//!
//! * [`Wants`]: which items a receiver is told.
//! * [`Quiet`]: hours in which nothing is sent.
//! * [`plan`]: whether an item is told, and from when on.
//! * [`pace`]: when a message is due, how often a receiver gets one, when it is sent again.
//! * [`Message`]: the items of one message; [`Format`]: how it looks.
//!
//! Invariants:
//! - an item is told once to a receiver, and once more each time that it became more urgent;
//! - a notice (urgency 5) is never told;
//! - a message has facts that Accord made. What an agent wrote is not in it, and invisible
//!   characters are shown as their code points;
//! - a link of a message needs a login.

mod format;
mod message;
pub mod pace;
mod plan;
mod quiet;
mod wants;

pub use format::{Format, MailAddresses, Sent, letter, ntfy_topic};
pub use message::{Message, Notification, NotificationItem, Told, add_to, schemas};
pub use plan::{Earlier, plan};
pub use quiet::Quiet;
pub use wants::Wants;
