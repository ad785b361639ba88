//! The questions of a project.

use accord_contract::codes::Code;
use accord_contract::message;
use accord_memory::Question;
use accord_memory_core::query::{ALL_QUESTIONS, CURSOR, LIST_LIMIT, PAGE_TOKENS, QuestionQuery};

use super::answer::{List, PAGE_BUDGET};
use super::{InProject, Query};
use crate::http::Route;
use crate::http::{Context, Reply};
use accord_serving::table::Content;

message! {
    /// A page of questions.
    pub struct QuestionList("QuestionList", open) {
        /// The questions, those of the newest package first.
        required questions: Vec<Question> = "questions", "questions";
        /// The cursor of the next page; null on the last page.
        required_or_null next_cursor: String = "next_cursor", "cursor";
    }
}

pub(crate) fn routes() -> Vec<Route> {
    vec![
        Route::get(
            "questions",
            "/v1/projects/{project_id}/questions",
            "Lists the open questions of a project, of any age, newest first.",
            questions,
        )
        .query(ALL_QUESTIONS, "Includes answered questions. Those of drafts are then left out.")
        .query(LIST_LIMIT, "The most items.")
        .query(CURSOR, "`next_cursor` of the previous page.")
        .query(PAGE_TOKENS, PAGE_BUDGET)
        .answers(200, "The questions.", Content::json::<QuestionList>())
        .refuses(&[
            Code::AgenticInvalidSchema,
            Code::AgenticInvalidCursor,
            Code::AgenticProjectNotFound,
        ]),
    ]
}

async fn questions(
    Context { host, caller, .. }: Context,
    InProject(project): InProject,
    query: Query,
) -> Reply {
    let asked = QuestionQuery::parse(&query.params()?, &project)?;
    let page = host.memory().questions(&caller, &project, asked).await?;
    Ok(List::of("questions", &page))
}
