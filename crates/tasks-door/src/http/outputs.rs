//! The outputs of a task: listed, read, and uploaded.

use accord_api::body::AnswerBody as _;
use accord_api::parameter::Params;
use accord_api::{Call, Envelope as _, Json, Operation as _};
use accord_contract::Failure;
use accord_serving::Reply;
use accord_serving::acting::{Who, service};
use accord_serving::body::Chunks;
use accord_serving::operation::{Exchange, respond, serve_response};
use accord_serving::query::{InProject, Query};
use accord_tasks_core::operations::{
    ReadTaskFile, StageOutput, TaskOutputs, TaskOutputsEnvelope, TaskStagedEnvelope,
};
use accord_tasks_core::uploads::PIECE;
use accord_trees::Content;
use axum::body::Body;
use axum::extract::RawPathParams;
use axum::http::header::{self, HeaderValue};
use axum::response::Response;

use super::operation::bind;
use super::requests::{blocking, in_tree};
use crate::{Context, Route, TasksDoor};

/// What is read of a file at once.
const CHUNK: usize = 256 * 1024;

pub(super) fn routes() -> Vec<Route> {
    vec![
        bind(|scene, call: &Call<TaskOutputs>| {
            let answer = scene.tree()?.outputs(&call.path.task, &call.query, scene.by)?;
            Ok(Json(TaskOutputsEnvelope::wrap(answer, scene.correlation)))
        })
        .route(),
        serve_response(read),
        Route::serving::<StageOutput, _>(stage),
    ]
}

async fn read(asked: Exchange<TasksDoor>, call: Call<ReadTaskFile>) -> Reply {
    let Context { host, caller, .. } = asked.context;
    let project = call.path.project;
    caller.access().may(ReadTaskFile::NEED.verb(), &project)?;
    let (task, path) = (call.path.task, call.query.path);
    let by = service(accord_base::Door::Http);
    let file = in_tree(&host, &project, move |tree| tree.task_file(&task, &path, &by)).await?;
    let from = u64::from(call.query.offset.unwrap_or(0)).min(file.length);
    let mut response = Response::new(pieces(file.content, from));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_LENGTH, (file.length - from).into());
    // An agent wrote it: a browser must neither execute nor show it.
    for (name, value) in [
        (header::CONTENT_TYPE, "application/octet-stream"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::CONTENT_DISPOSITION, "attachment"),
        (header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'"),
        (header::CACHE_CONTROL, "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}

/// The bytes of a file from an offset on, up to the length that it had when it was opened.
fn pieces(content: Box<dyn Content>, from: u64) -> Body {
    let next = |(content, at): (Box<dyn Content>, u64)| async move {
        let read = blocking(move || {
            let piece = content.length().and_then(|length| {
                let left = usize::try_from(length.saturating_sub(at)).unwrap_or(usize::MAX);
                content.read_at(at, left.min(CHUNK))
            });
            Ok((content, piece))
        });
        match read.await {
            Ok((_, Ok(piece))) if piece.is_empty() => None,
            Ok((content, Ok(piece))) => {
                let after = at + piece.len() as u64;
                Some((Ok::<_, std::io::Error>(bytes::Bytes::from(piece)), (content, after)))
            }
            Ok((content, Err(error))) => {
                Some((Err(std::io::Error::other(error.to_string())), (content, u64::MAX)))
            }
            Err(_) => None,
        }
    };
    Body::from_stream(futures_util::stream::unfold((content, from), next))
}

async fn stage(
    Context { host, caller, correlation }: Context,
    InProject(project): InProject,
    path: RawPathParams,
    query: Query,
    body: Chunks,
) -> Reply {
    let params = query.params()?;
    let who = Who::read(&caller, &params)?;
    let call = Call::<StageOutput>::decode(&Params::new(&path)?, &params, b"")?;
    let by = who.acting(&caller, &project, StageOutput::NEED, call.query.agent.as_deref())?;
    let piece = whole(body).await?;
    host.check_project(&project).await?;
    let answer = in_tree(&host, &project, move |tree| {
        tree.stage_output(&call.path.task, &call.query, &piece, &by)
    });
    let envelope = TaskStagedEnvelope::wrap(answer.await?, correlation.as_str());
    Ok(respond(200, Json(envelope).encode()))
}

async fn whole(body: Chunks) -> Result<Vec<u8>, Failure> {
    let (mut body, mut bytes) = (body.within(PIECE.into())?, Vec::new());
    while let Some(piece) = body.next().await? {
        bytes.extend_from_slice(&piece);
    }
    Ok(bytes)
}
