//! Export of a project.

use accord_contract::codes::Code;
use axum::body::Body;
use axum::response::Response;
use hyper::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue};

use super::InProject;
use crate::http::Route;
use crate::http::{Context, Reply};
use accord_serving::table::{Content, LINES};

/// The number of damaged rows that the export leaves out; absent if there are none.
const LEFT_OUT: HeaderName = HeaderName::from_static("x-integrity-warnings");

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get(
            "export",
            "/v1/projects/{project_id}/export",
            "Exports a project, one document per line: the project, its sessions, packages with \
             their logs, and facts, as they are at one moment. A key that administers the project \
             gets everything, other keys get what they may see. A damaged row is left out; the \
             header X-Integrity-Warnings counts them.",
            export,
        )
        .answers(200, "The lines.", Content::Lines)
        .refuses(&[Code::AgenticProjectNotFound, Code::StoreFull]),
    ]
}

async fn export(Context { host, caller, .. }: Context, InProject(project): InProject) -> Reply {
    let export = host.memory().export(&caller, &project).await?;
    let (length, left_out) = (export.length(), export.left_out());
    let mut response = Response::new(Body::from_stream(export.into_pieces()?));
    let headers = response.headers_mut();
    let media_type = HeaderValue::from_static(LINES);
    headers.insert(CONTENT_TYPE, media_type);
    headers.insert(CONTENT_LENGTH, length.into());
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if left_out > 0 {
        headers.insert(LEFT_OUT, left_out.into());
    }
    Ok(response)
}
