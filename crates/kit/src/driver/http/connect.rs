//! Connections to the server that is judged.
//!
//! A server with a short queue can turn a connection away when many come at once; that says nothing
//! about its answers. Such a connection is asked for again, a few times. Invariant: only before any
//! byte of a request was sent, so that no request is ever made twice.

use std::io::ErrorKind;
use std::thread;
use std::time::{Duration, Instant};

use ureq::Error;
use ureq::unversioned::transport::{ConnectionDetails, Connector, DefaultConnector};

/// Connects as usual, and again where the server turned the connection away.
#[derive(Debug, Default)]
pub(super) struct Persistent {
    inner: DefaultConnector,
}

impl Connector<()> for Persistent {
    type Out = <DefaultConnector as Connector<()>>::Out;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        chained: Option<()>,
    ) -> Result<Option<Self::Out>, Error> {
        let begun = Instant::now();
        let limit = *details.timeout.after;
        for pause in PAUSES {
            match self.inner.connect(details, chained) {
                Err(error) if is_turned_away(&error) && begun.elapsed() + pause < limit => {
                    thread::sleep(pause);
                }
                answered => return answered,
            }
        }
        self.inner.connect(details, chained)
    }
}

/// Whether the other side ended the connection before it came about.
fn is_turned_away(error: &Error) -> bool {
    let Error::Io(error) = error else {
        return matches!(error, Error::ConnectionFailed);
    };
    matches!(
        error.kind(),
        ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted
    )
}

/// How long to wait before each further try. Together less than a person notices.
const PAUSES: [Duration; 4] = [
    Duration::from_millis(30),
    Duration::from_millis(60),
    Duration::from_millis(120),
    Duration::from_millis(240),
];
