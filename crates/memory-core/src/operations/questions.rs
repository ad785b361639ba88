//! The questions of a project.

use accord_api::parameter::{CURSOR, Flag, Number, Opaque};
use accord_api::{Json, Need, operation, params};
use accord_contract::{Code, Timestamp, message};

use super::{InProject, at_project};
use crate::PackageId;
use crate::query::{LIST_LIMIT, PAGE_TOKENS};

params! {
    /// Which questions are listed.
    #[derive(Default)]
    pub struct QuestionParams {
        /// Includes answered questions. Those of drafts are then left out.
        flag all: Flag = Flag::new("all");
        /// The most items.
        optional limit: Number = LIST_LIMIT;
        /// `next_cursor` of the previous page.
        optional cursor: Opaque = CURSOR;
        /// The most tokens of the page. It ends before the first item that does not fit.
        /// `x-remaining` counts what follows, and `x-too_large` has id, title and size of items
        /// that no page of this budget can hold.
        optional max_tokens: Number = PAGE_TOKENS;
    }
}

message! {
    /// A question of a project.
    pub struct Question("Question", open) {
        /// The question.
        required question: String = "question", "text-for-people";
        /// Whether it is open: a package asks it that no answer covers.
        required open: bool = "open", "flag";
        /// The newest package that asks it.
        required package_id: PackageId = "package_id", "package-id";
        /// Its index in the open_questions of that package, from 0.
        required index: u64 = "index", "index";
        /// When that package was created.
        required asked_at: Timestamp = "asked_at", "time:rfc-3339-utc";
        /// The packages that ask it, newest first, at most 10; of an open question those that no
        /// answer covers.
        required asked_by: Vec<PackageId> = "asked_by", "package-ids";
        /// The packages that answer it, the latest answer first, at most 10. An open question has
        /// some when it was asked again.
        required answered_by: Vec<PackageId> = "answered_by", "package-ids";
    }

    /// A page of questions.
    pub struct QuestionList("QuestionList", open) {
        /// The questions, those of the newest package first.
        required questions: Vec<Question> = "questions", "questions";
        /// The cursor of the next page; null on the last page.
        required_or_null next_cursor: String = "next_cursor", "cursor";
    }
}

operation! {
    /// Lists the open questions of a project, of any age, newest first.
    pub struct ListQuestions("questions", Get at_project!("/questions")) of Agentic {
        path InProject;
        query QuestionParams;
        needs Need::Read;
        answers 200 "The questions.", Json<QuestionList>;
        refuses [&[Code::AgenticInvalidSchema, Code::AgenticInvalidCursor,
            Code::AgenticProjectNotFound]];
    }
}
