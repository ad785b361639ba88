//! The modules and the style of pages.

use accord_contract::{Code, Failure};
use accord_pages::assets;
use axum::{extract::Path, response::IntoResponse as _};
use hyper::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_TYPE, ETAG, HeaderName, IF_NONE_MATCH,
};
use hyper::{HeaderMap, StatusCode, Uri};

use accord_serving::{Reply, query::check_query};

pub(super) async fn get(
    uri: Uri,
    Path((version, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Reply {
    check_query(&uri, &[])?;
    let message = "there is no such file of a page; load the page again";
    let missing = || Failure::new(Code::HttpRouteUnknown, message);
    let asset = assets::find(&version, &name).ok_or_else(missing)?;
    let tag = format!("\"{version}\"");
    let known = headers.get(IF_NONE_MATCH).and_then(|known| known.to_str().ok());
    let response = match known.is_some_and(|known| known == tag) {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => ([(CONTENT_TYPE, asset.media_type)], asset.text).into_response(),
    };
    let headers = [
        (CACHE_CONTROL, "public, max-age=31536000, immutable"),
        // The frame of a host loads them from its own origin. They are public.
        (ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
        (HeaderName::from_static("cross-origin-resource-policy"), "cross-origin"),
    ];
    Ok(([(ETAG, tag)], headers, response).into_response())
}
