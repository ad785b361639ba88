//! Blobs: files by their digest.
//!
//! The path has no project. `?project_id=` names the project that the blob belongs to. Without it,
//! a key for one project means that project, and a key for all projects means none in particular.

use accord_api::Call;
use accord_api::parameter::Params;
use accord_canon::Digest;
use accord_contract::{Code, Failure, Object};
use accord_memory::Part;
use accord_memory_core::operations::{GetBlob, PutBlob, StoredBlob};
use accord_serving::operation::serve_response;
use axum::body::Body;
use axum::extract::RawPathParams;
use axum::response::{IntoResponse as _, Response};
use hyper::header::{self, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, HeaderValue};
use hyper::{HeaderMap, StatusCode};

use super::answer::knows;
use crate::{Context, Exchange, Route};
use accord_serving::body::Chunks;
use accord_serving::query::Query;
use accord_serving::reply::encoded;
use accord_serving::{Refusal, Reply};

/// The longest media type that is stored.
const MEDIA_TYPE_BYTES: usize = 255;

pub fn routes() -> Vec<Route> {
    vec![Route::serving::<PutBlob, _>(put), serve_response(get)]
}

async fn put(
    Context { host, caller, .. }: Context,
    path: RawPathParams,
    query: Query,
    headers: HeaderMap,
    body: Chunks,
) -> Reply {
    let call = Call::<PutBlob>::decode(&Params::new(&path)?, &query.params()?, b"")?;
    let (memory, project, digest) = (host.memory(), call.query.project, *call.path.digest.digest());
    let media_type = headers.get(CONTENT_TYPE).and_then(|sent| sent.to_str().ok());
    let media_type = media_type.filter(|sent| sent.len() <= MEDIA_TYPE_BYTES).map(str::to_owned);
    let mut intake = memory.begin_blob(&caller, project, digest, media_type).await?;
    let mut body = body.within(host.settings().blobs.max_bytes.0)?;
    while let Some(piece) = body.next().await? {
        intake.put(piece).await?;
    }
    let stored = intake.finish().await?;
    let status = if stored.is_new { StatusCode::CREATED } else { StatusCode::OK };
    let answer = StoredBlob { digest: digest.into(), size: stored.size, extra: Object::new() };
    let mut response = encoded(status, &answer);
    response.headers_mut().insert(ETAG, tag(&digest));
    Ok(response)
}

async fn get(asked: Exchange, call: Call<GetBlob>) -> Reply {
    let (Context { host, caller, .. }, headers) = (asked.context, asked.headers);
    let digest = *call.path.digest.digest();
    let blob = host.memory().blob(&caller, call.query.project, digest).await?;
    let (size, tag) = (blob.size(), tag(&digest));
    let mut response = Response::new(Body::empty());
    describe(response.headers_mut(), &tag, blob.media_type());
    if knows(&headers, tag.to_str().unwrap_or_default()) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return Ok(response);
    }
    // If-Range: a range is sent only if the client has the same version.
    let same = headers.get(header::IF_RANGE).is_none_or(|known| *known == tag);
    let asked = headers.get(header::RANGE).filter(|_| same);
    match asked.and_then(|asked| asked.to_str().ok()).map(|asked| part(asked, size)) {
        Some(Wanted::Part(part)) => {
            let range = format!("bytes {}-{}/{size}", part.from, part.to - 1);
            let range = HeaderValue::try_from(range).expect("numbers are plain text");
            response.headers_mut().insert(CONTENT_RANGE, range);
            response.headers_mut().insert(CONTENT_LENGTH, (part.to - part.from).into());
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
            *response.body_mut() = Body::from_stream(blob.into_part(part)?);
        }
        Some(Wanted::Nothing) => {
            let range = HeaderValue::try_from(format!("bytes */{size}"));
            let range = range.expect("numbers are plain text");
            let message = format!("the blob has {size} bytes and not those of the header Range");
            let failure = Failure::new(Code::HttpRangeNotSatisfiable, message).with("size", size);
            response = Refusal(failure).into_response();
            response.headers_mut().insert(CONTENT_RANGE, range);
        }
        Some(Wanted::Whole) | None => {
            response.headers_mut().insert(CONTENT_LENGTH, size.into());
            *response.body_mut() = Body::from_stream(blob.into_pieces().await?);
        }
    }
    Ok(response)
}

fn tag(digest: &Digest) -> HeaderValue {
    let tag = format!("\"sha256:{}\"", digest.hex());
    HeaderValue::try_from(tag).expect("a digest is plain text")
}

/// The headers of every answer about a blob: it never changes, and a browser must not execute it.
fn describe(headers: &mut HeaderMap, tag: &HeaderValue, media_type: Option<&str>) {
    let media_type = media_type.and_then(|kept| HeaderValue::from_str(kept).ok());
    let unknown = HeaderValue::from_static("application/octet-stream");
    headers.insert(CONTENT_TYPE, media_type.unwrap_or(unknown));
    headers.insert(ETAG, tag.clone());
    for (name, value) in [
        (header::CACHE_CONTROL, "private, max-age=31536000, immutable"),
        (header::ACCEPT_RANGES, "bytes"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_DISPOSITION, "attachment"),
        (header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
}

/// The bytes that a header Range asks for.
#[derive(Debug, Eq, PartialEq)]
enum Wanted {
    Whole,
    Part(Part),
    /// Bytes that do not exist.
    Nothing,
}

/// Parses a header Range. An unknown form, or several ranges, mean the whole blob.
fn part(asked: &str, size: u64) -> Wanted {
    let range = asked.strip_prefix("bytes=").and_then(|range| range.split_once('-'));
    let Some((from, to)) = range else { return Wanted::Whole };
    let part = match (from.parse::<u64>(), to.parse::<u64>()) {
        (Ok(from), Ok(to)) if from <= to => Part { from, to: size.min(to.saturating_add(1)) },
        (Ok(from), Err(_)) if to.is_empty() => Part { from, to: size },
        (Err(_), Ok(last)) if from.is_empty() => Part { from: size.saturating_sub(last), to: size },
        _ => return Wanted::Whole,
    };
    if part.from < part.to { Wanted::Part(part) } else { Wanted::Nothing }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read() {
        let wanted = |from, to| Wanted::Part(Part { from, to });
        for (asked, expected) in [
            ("bytes=0-99", wanted(0, 10)),
            ("bytes=2-4", wanted(2, 5)),
            ("bytes=9-", wanted(9, 10)),
            ("bytes=-3", wanted(7, 10)),
            ("bytes=-30", wanted(0, 10)),
            ("bytes=10-", Wanted::Nothing),
            ("bytes=-0", Wanted::Nothing),
            ("bytes=4-2", Wanted::Whole),
            ("bytes=0-1,4-5", Wanted::Whole),
            ("bytes=-", Wanted::Whole),
            ("lines=0-1", Wanted::Whole),
        ] {
            assert_eq!(part(asked, 10), expected, "{asked}");
        }
        assert_eq!(part("bytes=0-", 0), Wanted::Nothing);
    }
}
