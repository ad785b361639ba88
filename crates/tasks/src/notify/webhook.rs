//! A receiver that is an HTTP server.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use accord_client::blocking;
use accord_process::Cancel;
use bytes::Bytes;
use hyper::Request;
use hyper::header::CONTENT_TYPE;

use super::signature::{SIGNATURE, signature};
use super::{Receiver, TaskNotification, body};

/// The header with the id of a notification, the same again for a repeated one.
pub const DELIVERY: &str = "x-accord-delivery";

const ANSWER_LIMIT: usize = 64 * 1024;

/// Sends each notification as a POST request.
#[derive(Clone, Debug)]
pub struct Webhook {
    pub url: String,
    /// The file with the secret of the signature; without it requests are not signed. It is read
    /// for each request, so that a new secret needs no restart.
    pub secret_file: Option<PathBuf>,
    /// How long a request may take.
    pub time_limit: Duration,
}

impl Webhook {
    /// A server whose answer may take ten seconds.
    pub fn new(url: &str) -> Self {
        Self { url: url.to_owned(), secret_file: None, time_limit: Duration::from_secs(10) }
    }
}

impl Receiver for Webhook {
    fn name(&self) -> &'static str {
        "webhook"
    }

    fn deliver(&mut self, notice: &TaskNotification, cancel: &Cancel) -> Result<(), String> {
        let body = body(notice);
        let mut request = Request::post(&self.url)
            .header(CONTENT_TYPE, "application/json")
            .header(DELIVERY, &notice.id);
        if let Some(path) = &self.secret_file {
            let secret = std::fs::read_to_string(path)
                .map_err(|error| format!("{}: {error}", path.display()))?;
            let now = accord_system::now().unix_seconds();
            request = request.header(SIGNATURE, signature(secret.trim().as_bytes(), now, &body));
        }
        let request = request.body(Bytes::from(body)).map_err(|error| error.to_string())?;
        let deadline = Instant::now() + self.time_limit;
        let is_cancelled = || cancel.is_cancelled();
        let response =
            blocking::send(request, deadline, &is_cancelled).map_err(|error| error.to_string())?;
        let status = response.status();
        // Read, so that the server can finish its answer. What it says does not matter.
        drop(response.into_body().read_to_limit(ANSWER_LIMIT));
        if status.is_success() { Ok(()) } else { Err(format!("the server answered {status}")) }
    }
}
