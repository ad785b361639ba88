//! Import of a project.

use accord_base::{Decision, Need};
use accord_contract::codes::Code;
use accord_contract::wire::Wire as _;
use accord_memory::ImportSummary;
use hyper::{HeaderMap, StatusCode};

use super::{InProject, progress};
use crate::http::Route;
use crate::http::body::{Chunks, check_media_type};
use crate::http::reply::json;
use crate::http::{Context, Reply};
use accord_serving::table::{Content, LINES};

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

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::post(
            "import",
            "/v1/projects/{project_id}/import",
            "Imports an export of this or another server, one document per line, in any order: \
             lines of an export, or the protocol's bare documents. Existing documents are kept; a \
             refused line does not affect the others, and is listed in the answer.",
            import,
        )
        .needs(Need::Decide(Decision::Grant))
        .takes(Content::Lines)
        .answers(200, "The result of the import.", Content::json::<ImportSummary>())
        .answers(200, progress::ABOUT, Content::Lines)
        .refuses(&[
            Code::HttpMediaType,
            Code::AgenticProjectNotFound,
            Code::StoreFull,
            Code::XchainNotForWorkers,
        ]),
    ]
}

async fn import(
    Context { host, caller, .. }: Context,
    InProject(project): InProject,
    headers: HeaderMap,
    body: Chunks,
) -> Reply {
    let mut intake = host.memory().begin_import(&caller, &project)?;
    let takes = "this route accepts JSON documents, one per line";
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

fn is_of_lines(media_type: &str) -> bool {
    MEDIA_TYPES.contains(&media_type)
}
