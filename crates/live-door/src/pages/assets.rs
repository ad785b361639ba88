//! The modules and the style of pages.

use accord_contract::{Code, Failure};
use accord_pages::assets::{self, Asset};
use axum::body::Body;
use axum::extract::Path;
use axum::response::Response;
use hyper::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderName, HeaderValue, IF_NONE_MATCH};
use hyper::{HeaderMap, StatusCode, Uri};

use accord_serving::Reply;
use accord_serving::query::check_query;

pub(super) async fn get(
    uri: Uri,
    Path((version, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Reply {
    check_query(&uri, &[])?;
    let missing = || {
        let message = "there is no such file of a page; load the page again";
        Failure::new(Code::HttpRouteUnknown, message)
    };
    let asset = assets::find(&version, &name).ok_or_else(missing)?;
    let tag = format!("\"{version}\"");
    let known = headers.get(IF_NONE_MATCH).and_then(|known| known.to_str().ok());
    let mut response = match known.is_some_and(|known| known == tag) {
        true => {
            let mut response = Response::new(Body::empty());
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            response
        }
        false => file(asset),
    };
    let headers = response.headers_mut();
    headers.insert(ETAG, HeaderValue::try_from(tag).expect("a digest is plain text"));
    for (name, value) in [
        (CACHE_CONTROL, "public, max-age=31536000, immutable"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}

fn file(asset: &'static Asset) -> Response {
    let mut response = Response::new(Body::from(asset.text));
    let media_type = HeaderValue::from_static(asset.media_type);
    response.headers_mut().insert(CONTENT_TYPE, media_type);
    response
}
