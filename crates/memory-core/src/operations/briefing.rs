//! The briefing as a JSON document.

use crate::package::Status;
use crate::{FactId, PackageId};
use accord_base::{ProjectId, SessionId};
use accord_contract::{Timestamp, message};

message! {
    /// What an actor reads when it begins to work, within a budget of tokens. Long texts are
    /// shortened and say by how much.
    pub struct Briefing("Briefing", open) {
        /// The project.
        required project: BriefingProject = "project", "briefing-project";
        /// When it was generated.
        required generated_at: Timestamp = "generated_at", "time:rfc-3339-utc";
        /// How many days are new: notes of this time come first.
        required window_days: u64 = "window_days", "days";
        /// The budget.
        required max_tokens: u64 = "max_tokens", "tokens";
        /// What is shown first.
        optional focus: String = "focus", "text-for-people";
        /// Packages of which a reviewer wants changes, and those to which one added a note.
        optional asked: Vec<BriefingPackage> = "asked", "briefing-packages";
        /// Decisions, milestones, questions, words of people and packages of significance 8 or
        /// more, of any age, that no other package supersedes.
        required standing: Vec<BriefingPackage> = "standing", "briefing-packages";
        /// The latest handoffs: of each actor that works at the same time, and the newest package
        /// of the type handoff.
        required handoffs: Vec<BriefingPackage> = "handoffs", "briefing-packages";
        /// The packages that wait for a review.
        required reviews: Vec<BriefingPackage> = "reviews", "briefing-packages";
        /// The open questions.
        required open_questions: Vec<BriefingQuestion> = "open_questions", "briefing-questions";
        /// The current facts.
        required facts: Vec<BriefingFact> = "facts", "briefing-facts";
        /// The sessions that have not ended, and began or deposited a package in the last 24 hours.
        required active_sessions: Vec<BriefingSession> = "active_sessions", "briefing-sessions";
        /// How many other sessions have not ended.
        optional idle_sessions: u64 = "idle_sessions", "count";
        /// The other packages.
        required recent_work: Vec<BriefingPackage> = "recent_work", "briefing-packages";
        /// The automatic deposits of low significance, which are only counted. Absent in budgets
        /// below 400 tokens.
        optional automatic_deposits: BriefingAutomatic = "automatic_deposits",
            "briefing-automatic";
        /// What did not fit.
        required left_out: Vec<BriefingLeftOut> = "left_out", "briefing-left-out";
        /// Damaged rows, which are left out.
        optional damaged: BriefingDamaged = "damaged", "briefing-damaged";
    }

    /// The project of a briefing.
    pub struct BriefingProject("BriefingProject", open) {
        /// The project's id.
        required project_id: ProjectId = "project_id", "project-id";
        /// Its name.
        required name: String = "name", "text-for-people";
        /// Its description.
        required description: String = "description", "text-for-people";
    }

    /// A package in a briefing.
    pub struct BriefingPackage("BriefingPackage", open) {
        /// The package.
        required package_id: PackageId = "package_id", "package-id";
        /// Its title.
        required title: String = "title", "text-for-people";
        /// Its status.
        required status: Status = "status", "package-status";
        /// Its significance.
        required significance: u64 = "significance", "significance";
        /// When it was created.
        required created_at: Timestamp = "created_at", "time:rfc-3339-utc";
        /// Its author, such as agent:planner.
        required created_by: String = "created_by", "actor-key";
        /// The package that supersedes it.
        optional superseded_by: PackageId = "superseded_by", "package-id";
        /// How many similar packages of its author it stands for.
        optional similar: u64 = "similar", "count";
        /// Who wrote the note.
        optional reviewed_by: String = "reviewed_by", "actor-key";
        /// The note of its latest review, approval or flag.
        optional review_note: String = "review_note", "text-for-people";
        /// Its decisions.
        required decisions: Vec<String> = "decisions", "decisions";
        /// How many decisions are not shown.
        optional more_decisions: u64 = "more_decisions", "count";
        /// Its handoff note; empty if it has none.
        required handoff_note: String = "handoff_note", "text-for-people";
        /// Its description and its body.
        optional about: String = "about", "text-for-people";
        /// The packages that it extends or corrects, the nearest first.
        optional extends: Vec<BriefingExtended> = "extends", "briefing-extended";
    }

    /// A package that another one of a briefing extends or corrects.
    pub struct BriefingExtended("BriefingExtended", open) {
        /// The package.
        required package_id: PackageId = "package_id", "package-id";
        /// Its title.
        required title: String = "title", "text-for-people";
        /// When it was created.
        required created_at: Timestamp = "created_at", "time:rfc-3339-utc";
        /// Its author, such as agent:planner.
        required created_by: String = "created_by", "actor-key";
        /// Who wrote the note.
        optional reviewed_by: String = "reviewed_by", "actor-key";
        /// The note of its latest review, approval or flag.
        optional review_note: String = "review_note", "text-for-people";
        /// Its decisions.
        required decisions: Vec<String> = "decisions", "decisions";
        /// How many decisions are not shown.
        optional more_decisions: u64 = "more_decisions", "count";
        /// Its handoff note; empty if it has none.
        required handoff_note: String = "handoff_note", "text-for-people";
        /// Its description and its body.
        optional about: String = "about", "text-for-people";
    }

    /// An open question in a briefing.
    pub struct BriefingQuestion("BriefingQuestion", open) {
        /// The question.
        required question: String = "question", "question";
        /// The newest package that asks it.
        required package_id: PackageId = "package_id", "package-id";
    }

    /// A current fact in a briefing.
    pub struct BriefingFact("BriefingFact", open) {
        /// The fact.
        required fact_id: FactId = "fact_id", "fact-id";
        /// What it is about.
        required subject: String = "subject", "subject";
        /// Which property of it.
        required predicate: String = "predicate", "predicate";
        /// The value.
        required value: String = "value", "fact-value";
        /// How many similar facts it stands for.
        optional similar: u64 = "similar", "count";
    }

    /// An active session in a briefing.
    pub struct BriefingSession("BriefingSession", open) {
        /// The session.
        required session_id: SessionId = "session_id", "session-id";
        /// Its actor, such as agent:planner.
        required actor: String = "actor", "actor-key";
        /// Two words by which people remember it.
        optional callsign: String = "callsign", "callsign";
        /// When it began.
        required started_at: Timestamp = "started_at", "time:rfc-3339-utc";
    }

    /// Automatic deposits of low significance.
    pub struct BriefingAutomatic("BriefingAutomatic", open) {
        /// How many there are.
        required count: u64 = "count", "count";
        /// The newest.
        required newest_package_id: PackageId = "newest_package_id", "package-id";
        /// When the newest was created.
        required newest_at: Timestamp = "newest_at", "time:rfc-3339-utc";
    }

    /// What a section of a briefing left out.
    pub struct BriefingLeftOut("BriefingLeftOut", open) {
        /// The member of the briefing.
        required section: String = "section", "member-name";
        /// How many items were left out.
        required count: u64 = "count", "count";
        /// The first of them.
        required ids: Vec<String> = "ids", "ids";
    }

    /// Damaged rows that a briefing left out.
    pub struct BriefingDamaged("BriefingDamaged", open) {
        /// How many.
        required count: u64 = "count", "count";
        /// The first of them.
        required ids: Vec<String> = "ids", "ids";
    }
}
