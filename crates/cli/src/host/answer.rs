//! What a host answered.

use accord_api::body::AnswerBody;
use accord_api::{Answered, Received};
use accord_contract::text::percent_decoded;
use accord_contract::{Code, Failure};
use accord_host::Response;
use accord_host::client::body_failure;
use accord_host::http::{NEW_PROJECT, REVIEW, SUPERSEDED_BY, WARNINGS};
use accord_memory_core::Warning;
use axum::body::{Body, Bytes};
use futures_util::StreamExt as _;
use hyper::HeaderMap;
use hyper::header::{CONTENT_TYPE, HeaderName};

use super::refusal;
use crate::render::{Page, clean};
use crate::{CliError, Exit, Output, Result, print_either};

/// The largest answer that is read as a whole.
pub(super) const MOST: usize = 1 << 30;

/// A document that a host answered with.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    media_type: Option<String>,
    /// The document, as it came.
    pub(crate) text: String,
    /// The ids of the packages that supersede the package that was read.
    pub(crate) superseded_by: Option<String>,
    /// The project, if the request created it.
    pub(crate) new_project: Option<String>,
    /// The latest state of the package that has a note, as JSON.
    pub(crate) review: Option<String>,
    /// Warnings about the request that its document cannot have.
    pub(crate) warnings: Vec<Warning>,
}

/// An answer that is read piece by piece.
pub(crate) struct Streamed {
    pub(crate) headers: HeaderMap,
    body: axum::body::BodyDataStream,
}

impl Answer {
    pub(crate) fn read<A: AnswerBody>(self) -> Result<Answered<A>> {
        Ok(Received { media_type: self.media_type, text: self.text }.read()?)
    }
}

/// Prints a text, line by line, without control characters.
pub(crate) fn print_lines(text: &str) -> Result<Exit> {
    let mut output = Output::stdout();
    for line in text.lines() {
        output.line(clean(line))?;
    }
    output.finish()
}

/// Prints a document: on one line with each token as it came, or as `render` writes it for people.
///
/// The tokens come from the text, not from the parsed value: a number keeps its spelling, which a
/// hash may cover.
pub(crate) fn print_document(
    json: bool,
    text: &str,
    render: impl FnOnce(&mut Page),
) -> Result<Exit> {
    print_either(json.then(|| accord_memory_core::compact(text)), render)
}

pub(crate) fn print_answer<A>(
    json: bool,
    answered: &Answered<A>,
    render: impl FnOnce(&mut Page, &A),
) -> Result<Exit> {
    print_document(json, &answered.text, |page| render(page, &answered.answer))
}

impl Streamed {
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>> {
        Ok(self.body.next().await.transpose().map_err(body_failure)?)
    }
}

/// The answer, if it has at most a number of bytes.
pub(super) async fn whole(response: Response, most: usize) -> Result<Answer> {
    let (parts, body) = response.into_parts();
    let status = parts.status.as_u16();
    let text = text(body, most).await?;
    if !parts.status.is_success() {
        return Err(refusal::error_of(status, &parts.headers, &text));
    }
    let header = |name: HeaderName| Some(parts.headers.get(name)?.to_str().ok()?.to_owned());
    Ok(Answer {
        status,
        media_type: header(CONTENT_TYPE),
        text,
        superseded_by: header(SUPERSEDED_BY),
        new_project: header(NEW_PROJECT).as_deref().and_then(percent_decoded),
        review: header(REVIEW),
        warnings: header(WARNINGS).map(|text| Warning::read_list(&text)).unwrap_or_default(),
    })
}

/// The answer as it comes; a refusal is a failure.
pub(super) async fn streamed(response: Response) -> Result<Streamed> {
    if !response.status().is_success() {
        return Err(whole(response, MOST).await.err().unwrap_or_else(no_document));
    }
    let (parts, body) = response.into_parts();
    Ok(Streamed { headers: parts.headers, body: body.into_data_stream() })
}

async fn text(body: Body, most: usize) -> Result<String> {
    let mut stream = body.into_data_stream();
    let mut bytes = Vec::new();
    while let Some(piece) = stream.next().await {
        bytes.extend_from_slice(&piece.map_err(body_failure)?);
        if bytes.len() > most {
            let message = format!("the host answered with more than {most} bytes");
            return Err(Failure::new(Code::HostProtocol, message).into());
        }
    }
    String::from_utf8(bytes).map_err(|_| no_document())
}

fn no_document() -> CliError {
    CliError::new(Code::HostProtocol, "the answer is no JSON document, as a host gives one")
}
