//! The questions of a project.

use accord_api::Call;
use accord_memory_core::operations::ListQuestions;
use accord_memory_core::query::QuestionQuery;
use accord_serving::operation::serve_response;

use super::answer::List;
use crate::{Context, Exchange, Route};
use accord_serving::Reply;

pub fn routes() -> Vec<Route> {
    vec![serve_response(questions)]
}

async fn questions(asked: Exchange, call: Call<ListQuestions>) -> Reply {
    let (Context { host, caller, .. }, project) = (asked.context, call.path.project);
    let asked = QuestionQuery::of(call.query, &project)?;
    Ok(List::of("questions", &host.memory().questions(&caller, &project, asked).await?))
}
