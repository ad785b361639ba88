//! The client of a server with the embeddings route of OpenAI's API: `POST {url}/embeddings`.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use accord_client::{Client, ClientError, ClientErrorKind, Endpoint, ResponseBody, Timeouts};
use accord_contract::{Code, Failure};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER};
use hyper::{Request, StatusCode, Uri};
use serde::Deserialize;
use serde_json::{Value, json};

use super::EmbeddingOptions;

/// A text that every model accepts, to find out whether the server works.
pub(super) const PROBE: &str = "accord";
/// How much of an answer is read, in bytes.
const MAX_ANSWER: usize = 64 << 20;

const MAX_DIMENSION: usize = 16_384;
/// How much of the server's message is repeated, in bytes.
const MAX_QUOTED: usize = 200;

const CONNECT: Duration = Duration::from_secs(5);

pub(super) struct Server {
    client: Client,
    path: String,
    model: String,
    dimensions: Option<u32>,
    key_file: Option<PathBuf>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct EmbedError {
    pub(super) kind: EmbedErrorKind,
    message: String,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum EmbedErrorKind {
    /// The server cannot be used: not reached, or it refuses the key, the route or the model.
    Down,
    Slow,
    Limited {
        /// When it wants the next request.
        retry_after: Option<Duration>,
    },
    Refused,
    /// It failed, or its answer cannot be used. The texts may be the cause.
    Failed,
}

/// The used part of an answer.
#[derive(Deserialize)]
struct Answer {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl Server {
    pub(super) fn new(options: &EmbeddingOptions) -> Result<Self, Failure> {
        let invalid = |problem: String| {
            let message = format!("embeddings.url: {:?}: {problem}", options.url);
            Failure::new(Code::SettingInvalid, message).with("setting", "embeddings.url")
        };
        let uri: Uri = options.url.parse().map_err(|_| invalid("it is not a URL".to_owned()))?;
        let unusable = |error: ClientError| invalid(error.to_string());
        let endpoint = Endpoint::from_uri(&uri).map_err(unusable)?;
        let timeouts = Timeouts { connect: CONNECT, inactivity: options.timeout };
        Ok(Self {
            client: Client::new(endpoint, timeouts).map_err(unusable)?,
            path: format!("{}/embeddings", uri.path().trim_end_matches('/')),
            model: options.model.clone(),
            dimensions: options.dimensions,
            key_file: options.key_file.clone(),
        })
    }

    /// The vectors of texts, in their order. All have the same dimension, and length 1.
    pub(super) async fn embed(
        &self,
        texts: &[String],
        timeout: Duration,
    ) -> Result<Vec<Vec<f32>>, EmbedError> {
        let exchange = tokio::time::timeout(timeout, self.exchange(texts));
        let answer = exchange.await.unwrap_or_else(|_| {
            let (endpoint, seconds) = (self.client.endpoint(), timeout.as_secs_f64());
            let message = format!("no answer from {endpoint} within {seconds} s");
            Err(EmbedError { kind: EmbedErrorKind::Slow, message })
        })?;
        vectors(&answer, texts.len())
    }

    async fn exchange(&self, texts: &[String]) -> Result<Bytes, EmbedError> {
        let response = self.client.send(self.request(texts)?).await?;
        let (head, body) = response.into_parts();
        if head.status == StatusCode::OK {
            return read(body).await;
        }
        // An error message that cannot be read is not repeated.
        let said = read(body).await.unwrap_or_default();
        Err(self.refusal(head.status, &head.headers, &said))
    }

    fn request(&self, texts: &[String]) -> Result<Request<Full<Bytes>>, EmbedError> {
        let mut body = json!({"model": self.model, "input": texts});
        if let Some(dimensions) = self.dimensions {
            body["dimensions"] = dimensions.into();
        }
        let mut request = Request::post(&self.path)
            .body(Full::new(Bytes::from(body.to_string())))
            .map_err(|error| EmbedError::down(error.to_string()))?;
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(key) = self.key()? {
            headers.insert(AUTHORIZATION, key);
        }
        Ok(request)
    }

    /// The authorization. The file is read for each request, so that a new key needs no restart.
    fn key(&self) -> Result<Option<HeaderValue>, EmbedError> {
        let Some(file) = &self.key_file else { return Ok(None) };
        let unusable = |problem: &dyn fmt::Display| {
            EmbedError::down(format!("embeddings.key_file: {}: {problem}", file.display()))
        };
        let key = std::fs::read_to_string(file).map_err(|error| unusable(&error))?;
        let mut value = HeaderValue::from_str(&format!("Bearer {}", key.trim()))
            .map_err(|_| unusable(&"it has no key in one line of text"))?;
        value.set_sensitive(true);
        Ok(Some(value))
    }

    fn refusal(&self, status: StatusCode, headers: &HeaderMap, said: &[u8]) -> EmbedError {
        let kind = match status.as_u16() {
            400 | 413 | 422 => EmbedErrorKind::Refused,
            401 | 403 | 404 | 405 => EmbedErrorKind::Down,
            429 => EmbedErrorKind::Limited { retry_after: retry_after(headers) },
            _ => EmbedErrorKind::Failed,
        };
        let what = match status.as_u16() {
            401 | 403 => "it refuses the key",
            404 | 405 => "it has no such route or model",
            429 => "it limits the rate of requests",
            _ => "it failed",
        };
        let endpoint = self.client.endpoint();
        let mut message = format!("{endpoint} answered {}: {what}", status.as_u16());
        // An answer about a key can repeat parts of it.
        if !matches!(status.as_u16(), 401 | 403)
            && let Some(said) = quoted(said)
        {
            message = format!("{message}: {said}");
        }
        EmbedError { kind, message }
    }
}

async fn read(mut body: ResponseBody) -> Result<Bytes, EmbedError> {
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        if bytes.len() + data.len() > MAX_ANSWER {
            return Err(EmbedError::failed(format!(
                "the answer is larger than {MAX_ANSWER} bytes"
            )));
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes.into())
}

/// The vectors in an answer, in the order of the texts.
fn vectors(answer: &[u8], texts: usize) -> Result<Vec<Vec<f32>>, EmbedError> {
    let answer: Answer = serde_json::from_slice(answer)
        .map_err(|error| EmbedError::failed(format!("the answer is not of the API: {error}")))?;
    if answer.data.len() != texts {
        let count = answer.data.len();
        return Err(EmbedError::failed(format!("{count} vectors came for {texts} texts")));
    }
    let mut vectors: Vec<Option<Vec<f32>>> = vec![None; texts];
    for (position, item) in answer.data.into_iter().enumerate() {
        let index = item.index.unwrap_or(position);
        match vectors.get_mut(index) {
            Some(place @ None) => *place = Some(item.embedding),
            _ => return Err(EmbedError::failed(format!("two vectors have the index {index}"))),
        }
    }
    let mut vectors: Vec<Vec<f32>> = vectors.into_iter().flatten().collect();
    let dimension = vectors.first().map_or(0, Vec::len);
    if dimension > MAX_DIMENSION || vectors.iter().any(|vector| vector.len() != dimension) {
        return Err(EmbedError::failed("the vectors have no common dimension".to_owned()));
    }
    for vector in &mut vectors {
        normalise(vector)?;
    }
    Ok(vectors)
}

/// Scales a vector to length 1.
fn normalise(vector: &mut [f32]) -> Result<(), EmbedError> {
    let squares: f64 = vector.iter().map(|value| f64::from(*value) * f64::from(*value)).sum();
    let length = squares.sqrt();
    if !length.is_finite() || length <= 0.0 {
        let message = "a vector has no length, or values that are not numbers";
        return Err(EmbedError::failed(message.to_owned()));
    }
    for value in vector {
        *value = (f64::from(*value) / length) as f32;
    }
    Ok(())
}

/// The delay in seconds that the server asks for. Such servers do not use the form with a date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}

/// The beginning of the server's message, without control characters.
fn quoted(said: &[u8]) -> Option<String> {
    let document: Value = serde_json::from_slice(said).ok()?;
    let error = &document["error"];
    let message = [&error["message"], error, &document["message"], &document["detail"]];
    let message = message.into_iter().find_map(Value::as_str)?;
    let message: String = message.chars().filter(|c| !c.is_control()).collect();
    Some(message[..message.floor_char_boundary(MAX_QUOTED)].to_owned())
}

impl EmbedError {
    pub(super) fn failed(message: String) -> Self {
        Self { kind: EmbedErrorKind::Failed, message }
    }

    fn down(message: String) -> Self {
        Self { kind: EmbedErrorKind::Down, message }
    }
}

impl From<ClientError> for EmbedError {
    fn from(error: ClientError) -> Self {
        let kind = match error.kind() {
            ClientErrorKind::Timeout => EmbedErrorKind::Slow,
            // A proxy can cut off a long request; a short one then decides.
            ClientErrorKind::Protocol | ClientErrorKind::TooLarge => EmbedErrorKind::Failed,
            _ => EmbedErrorKind::Down,
        };
        Self { kind, message: error.to_string() }
    }
}

impl fmt::Display for EmbedError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_in_the_order_of_the_texts() {
        let answer = br#"{"data": [
            {"index": 1, "embedding": [0, 2]}, {"index": 0, "embedding": [3, 4]}]}"#;
        assert_eq!(vectors(answer, 2).unwrap(), [[0.6, 0.8], [0.0, 1.0]]);
        let without = br#"{"data": [{"embedding": [5]}, {"embedding": [-1]}]}"#;
        assert_eq!(vectors(without, 2).unwrap(), [[1.0], [-1.0]]);
    }

    #[test]
    fn answers_that_cannot_be_used_are_refused() {
        for answer in [
            "",
            "[]",
            "{\"data\": 3}",
            "{\"data\": []}",
            "{\"data\": [{\"embedding\": [1]}]}",
            "{\"data\": [{\"embedding\": [1]}, {\"embedding\": [1, 2]}]}",
            "{\"data\": [{\"embedding\": [1]}, {\"embedding\": [NaN]}]}",
            "{\"data\": [{\"embedding\": [1]}, {\"embedding\": [1e300]}]}",
            "{\"data\": [{\"embedding\": [1]}, {\"embedding\": [null]}]}",
            "{\"data\": [{\"embedding\": [1]}, {\"embedding\": [0]}]}",
            "{\"data\": [{\"embedding\": []}, {\"embedding\": []}]}",
            "{\"data\": [{\"index\": 1, \"embedding\": [1]}, {\"embedding\": [1]}]}",
            "{\"data\": [{\"index\": 7, \"embedding\": [1]}, {\"embedding\": [1]}]}",
        ] {
            let error = vectors(answer.as_bytes(), 2).unwrap_err();
            assert_eq!(error.kind, EmbedErrorKind::Failed, "{answer}");
        }
    }

    #[test]
    fn a_message_of_the_server_is_repeated_briefly() {
        let said = |text: &str| quoted(text.as_bytes());
        assert_eq!(said(r#"{"error": {"message": "too\u001b long"}}"#).unwrap(), "too long");
        assert_eq!(said(r#"{"error": "no model"}"#).unwrap(), "no model");
        assert_eq!(said("<html>"), None);
        let long = format!("{{\"error\": \"{}\"}}", "ä".repeat(500));
        assert_eq!(said(&long).unwrap().len(), MAX_QUOTED);
    }
}
