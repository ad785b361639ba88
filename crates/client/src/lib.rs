//! An HTTP/1.1 client over TCP, TLS and Unix sockets. It knows no protocol above HTTP.
//!
//! [`Client`] talks to one [`Endpoint`] and keeps its connections. [`blocking::send`] is for code
//! that has no async runtime: one request per connection.
//!
//! Invariants:
//! - A request is sent again only if none of its bytes has left this process.
//! - Every wait is bounded. Connecting has a timeout, and so has every stretch of time in which the
//!   server neither accepts nor sends a byte. Time that the caller needs to produce a request body
//!   does not count.
//! - Redirects are not followed, and no proxy is used.
//! - Error messages never contain credentials.
//!
//! ```
//! use accord_client::{Client, Endpoint, Timeouts};
//!
//! let uri = "https://memory.example.org".parse().unwrap();
//! let endpoint = Endpoint::from_uri(&uri).unwrap();
//! assert_eq!(endpoint.to_string(), "https://memory.example.org");
//! let client = Client::new(endpoint, Timeouts::default()).unwrap();
//! assert!(!client.endpoint().is_unencrypted());
//! ```
#![expect(clippy::disallowed_methods, reason = "a client opens sockets and measures time")]

pub mod blocking;
mod client;
mod connect;
mod endpoint;
mod errors;
mod inactivity;
mod reach;
mod tls;

pub use self::client::{Client, InactivityTimeout, Timeouts};
pub use self::endpoint::{CheckServer, Endpoint};
pub use self::errors::{ClientError, ClientErrorKind};
pub use self::inactivity::ResponseBody;
pub use self::reach::{Reach, is_public};

pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;
