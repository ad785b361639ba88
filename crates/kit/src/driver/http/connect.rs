//! Connections to the server under test. One that a server with a short queue refuses is retried a
//! few times, but only before any byte of a request was sent, so no request is sent twice.

use std::io::ErrorKind;
use std::thread;
use std::time::{Duration, Instant};

use ureq::Error;
use ureq::unversioned::transport::{ConnectionDetails, Connector, DefaultConnector};

/// Connects, and retries if the server refused the connection.
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

/// Whether the other side closed the connection before it was established.
fn is_turned_away(error: &Error) -> bool {
    let Error::Io(error) = error else { return matches!(error, Error::ConnectionFailed) };
    matches!(
        error.kind(),
        ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted
    )
}

/// The wait before each retry.
const PAUSES: [Duration; 4] = [
    Duration::from_millis(30),
    Duration::from_millis(60),
    Duration::from_millis(120),
    Duration::from_millis(240),
];
