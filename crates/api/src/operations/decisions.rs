//! Decisions of people, of all protocols.

use accord_base::decision::{DecisionId, DecisionProtocol, DecisionRecord};
use accord_base::{Decision, Need};
use accord_contract::{Code, Limits, TextForm, envelope, message};

use crate::body::Json;
use crate::parameter::{CURSOR, InProject, Number, Opaque, Text, Word};
use crate::{operation, params};

/// The most decisions of a page, and of one that names no number.
const LIMIT: Number = Number::new("limit", 1, 500).or(50);
/// The most decisions that are taken over at once.
pub const MOST: usize = 1_000;
const NAME: TextForm = TextForm::ANY.chars(1, 1024).without_nul();

params! {
    /// Which decisions are listed.
    #[derive(Default)]
    pub struct DecisionParams {
        /// Only decisions of this protocol.
        optional protocol: Word<DecisionProtocol> = Word::new("protocol");
        /// Only decisions of this kind, such as `task.review`.
        optional kind: Text = Text::new("kind", NAME);
        /// Only decisions about this subject, or about a part of it: the id of a package, a task, a
        /// run or a live session.
        optional subject: Text = Text::new("subject", NAME);
        /// Only decisions of this person, such as `human:lead`.
        optional actor: Text = Text::new("actor", NAME);
        /// The most decisions.
        optional limit: Number = LIMIT;
        /// `next_cursor` of the previous page.
        optional cursor: Opaque = CURSOR;
    }
}

message! {
    /// Decisions to take over.
    pub struct TakeOverRequest("DecisionTakeOverRequest", closed) {
        /// Where they come from, for example the id of a governed run or of a project on another
        /// host. Each record names it.
        required source: String = "source", "text-for-people", Limits::text(NAME);
        /// The decisions.
        required decisions: Vec<DecisionRecord> = "decisions", "decisions", Limits::items(MOST);
    }
}

envelope! {
    /// A page of decisions.
    pub struct DecisionListEnvelope("DecisionListEnvelope") {
        /// The decisions, the newest first.
        required decisions: Vec<DecisionRecord> = "decisions", "decisions-newest-first";
        /// The cursor of the next page; null on the last page.
        required_or_null next_cursor: String = "next_cursor", "cursor";
        /// The ids of decisions that are left out because they are damaged.
        optional damaged: Vec<String> = "damaged", "decision-ids";
    }

    /// What was taken over.
    pub struct TakenOverEnvelope("DecisionsTakenOverEnvelope") {
        /// The ids of the decisions that are new.
        required taken: Vec<DecisionId> = "taken", "decision-ids";
        /// The number of decisions that the project had before.
        required known: u64 = "known", "count";
    }
}

operation! {
    /// Lists the decisions of people in a project, the newest first: who decided, how the person is
    /// known, through which door, about what, and when.
    pub struct ListDecisions("decisions", Get "/accord/v1/projects/{project_id}/decisions")
        of Agentic
    {
        path InProject;
        query DecisionParams;
        needs Need::Read;
        answers 200 "The decisions.", Json<DecisionListEnvelope>;
        refuses [&[Code::WireFieldValue, Code::AgenticInvalidCursor, Code::AgenticProjectNotFound]];
    }

    /// Takes over decisions that were recorded elsewhere, such as those of a governed repository. A
    /// decision that the project has is skipped. Only the owner of the data folder may do it.
    pub struct TakeOverDecisions("take_over_decisions",
        Post "/accord/v1/projects/{project_id}/decisions") of Agentic
    {
        path InProject;
        body Json<TakeOverRequest>;
        needs Need::Decide(Decision::Grant);
        answers 200 "What was taken over.", Json<TakenOverEnvelope>;
        refuses [&[Code::AccessDenied, Code::NotForWorkers, Code::WireFieldValue,
            Code::AgenticProjectNotFound, Code::AgenticProjectArchived]];
    }
}
