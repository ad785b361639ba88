//! Export of a project.

use accord_api::Call;
use accord_memory_core::operations::ExportProject;
use accord_serving::operation::serve_response;
use accord_serving::table::LINES;
use axum::body::Body;
use axum::response::Response;
use hyper::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue};

use crate::{Context, Exchange, Route};
use accord_serving::Reply;

/// The number of damaged rows that the export leaves out; absent if there are none.
const LEFT_OUT: HeaderName = HeaderName::from_static("x-integrity-warnings");

pub fn routes() -> Vec<Route> {
    vec![serve_response(export)]
}

async fn export(asked: Exchange, call: Call<ExportProject>) -> Reply {
    let Context { host, caller, .. } = asked.context;
    let export = host.memory().export(&caller, &call.path.project).await?;
    let (length, left_out) = (export.length(), export.left_out());
    let mut response = Response::new(Body::from_stream(export.into_pieces()?));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(LINES));
    headers.insert(CONTENT_LENGTH, length.into());
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if left_out > 0 {
        headers.insert(LEFT_OUT, left_out.into());
    }
    Ok(response)
}
