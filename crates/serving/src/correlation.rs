//! The id that connects a request, its answer and the log lines about them.

use accord_contract::codes::Exchange;
use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};

/// The header with the id, in requests and answers.
pub const CORRELATION: HeaderName = HeaderName::from_static("x-correlation-id");
/// The longest id that is accepted from a client.
const MAX_BYTES: usize = 128;

/// The id of a request. It is in the extensions of every request that a handler sees.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Correlation(String);

impl Correlation {
    /// The id that the client sent if it is a plain token, else a new one.
    pub fn of(headers: &HeaderMap) -> Self {
        let sent = headers.get(CORRELATION).and_then(|sent| sent.to_str().ok());
        sent.filter(|sent| is_plain(sent)).map_or_else(Self::mint, |sent| Self(sent.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn header(&self) -> HeaderValue {
        HeaderValue::from_str(&self.0).expect("a plain token is a header")
    }

    /// The id as an error envelope carries it.
    pub fn exchange(&self) -> Exchange {
        Exchange { correlation_id: self.0.clone(), capabilities: Vec::new() }
    }

    fn mint() -> Self {
        Self(accord_system::random_hex::<12>())
    }
}

/// Whether a text can be copied into headers, answers and logs without escaping.
fn is_plain(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:~+/=".contains(&byte);
    (1..=MAX_BYTES).contains(&text.len()) && text.bytes().all(plain)
}
