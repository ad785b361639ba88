//! Import of a project.

use accord_contract::Wire as _;
use accord_memory_core::operations::ImportProject;
use accord_serving::table::LINES;
use hyper::{HeaderMap, StatusCode};

use super::progress;
use crate::{Context, Route};
use accord_serving::Reply;
use accord_serving::body::{Chunks, check_media_type};
use accord_serving::query::InProject;
use accord_serving::reply::json;

/// Media types that are accepted for lines.
const MEDIA_TYPES: [&str; 7] = [
    LINES,
    "application/ndjson",
    "application/jsonl",
    "application/x-jsonlines",
    "application/json",
    "application/octet-stream",
    "text/plain",
];

pub fn routes() -> Vec<Route> {
    vec![Route::serving::<ImportProject, _>(import)]
}

async fn import(
    Context { host, caller, .. }: Context,
    InProject(project): InProject,
    headers: HeaderMap,
    body: Chunks,
) -> Reply {
    let mut intake = host.memory().begin_import(&caller, &project)?;
    let takes = "this route accepts JSON documents, one per line";
    let is_of_lines = |media_type: &str| MEDIA_TYPES.contains(&media_type);
    check_media_type(&headers, is_of_lines, takes, MEDIA_TYPES[0])?;
    let mut body = body.within(host.settings().limits.import_bytes.0)?;
    while let Some(piece) = body.next().await? {
        intake.put(piece).await?;
    }
    if progress::is_wanted(&headers) {
        return Ok(progress::answer(|progress| async move {
            let report_progress = move |done, total| progress.progress(done, total);
            Ok(intake.finish(report_progress).await?.encode())
        }));
    }
    let summary = intake.finish(|_, _| {}).await?;
    Ok(json(StatusCode::OK, summary.encode().to_string()))
}
