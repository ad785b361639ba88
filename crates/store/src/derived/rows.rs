//! The rows that an engine keeps for packages and for what is derived from them. Times are sort
//! keys ([`time_key`](crate::time_key)). Packages and questions have the numbers that the engine
//! assigned.

use accord_base::ProjectId;
use accord_memory_core::PackageId;
use accord_memory_core::package::QuestionKey;

use super::TallyChange;
use crate::{
    DamagedRow, PARTS, PackageIndex, PackageRow, PackageState, Packages, Quarantine, QuestionQuery,
    Result, RevisionRow, Stored,
};

/// A question of one audience: the readers who may see the packages that ask it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StoredQuestion {
    /// The number that the engine assigned.
    pub number: i64,
    /// The audience, an opaque text.
    pub audience: String,
    /// The question.
    pub text: String,
    /// The part that changes.
    pub state: QuestionState,
}

/// The part of a question that changes with the packages that ask and answer it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct QuestionState {
    /// Whether a package asks it that no answer covers.
    pub is_open: bool,
    /// The key of the newest package that asks it; of an open question, of those that keep it open.
    pub asked_key: String,
    /// The number of that package.
    pub package: i64,
    /// The index of the question in that package.
    pub index: i64,
    /// That package and those before it, newest first, at most
    /// [`MAX_SOURCES`](crate::MAX_SOURCES). Never stored without any; read as empty if unreadable.
    pub sources: Vec<QuestionSource>,
}

/// A package that asks a question. The order is that of the packages.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct QuestionSource {
    /// The key of its creation.
    pub key: String,
    /// Its number.
    pub package: i64,
    /// Its id.
    pub id: String,
}

/// That a package asks a question.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct QuestionUse {
    /// The number of the question.
    pub question: i64,
    /// The package.
    pub source: QuestionSource,
    /// The index of the question in the package.
    pub index: i64,
    /// When it was asked, to compare with answers.
    pub ask_key: String,
}

/// A question at an index of a package.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AskedQuestion {
    /// The question.
    pub text: String,
    /// When it was asked, to compare with answers.
    pub ask_key: String,
}

/// A question of a list.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ListedQuestion {
    /// The question.
    pub question: StoredQuestion,
    /// Whether a package answers it, now or before it was asked again.
    pub is_answered: bool,
}

/// A question that a package answers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AnswerRow {
    /// The number of the package that answers.
    pub package: i64,
    /// The index of the answer in that package.
    pub ordinal: i64,
    /// The package and the index that it names, unless it names a text.
    pub asked: Option<(String, i64)>,
    /// The question; `None` while the named package is missing or does not ask.
    pub question: Option<QuestionKey>,
    /// When the named package asked; empty if none is named or it is missing.
    pub asked_key: String,
    /// Up to when the package answers; empty while it does not.
    pub until: String,
    /// The later of both; empty while the package does not answer.
    pub through: String,
}

/// A package that another supersedes.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct SupersessionRow {
    /// The number of the package that supersedes.
    pub package: i64,
    /// The id of the other.
    pub target: String,
    /// Whether the package is complete and not quarantined.
    pub holds: bool,
    /// Whether it may supersede the package of a person.
    pub outranks: bool,
}

/// What the search index must have of a package.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TermSample<'a> {
    /// The number of terms in each part.
    pub lengths: [u64; PARTS],
    /// Some of the terms.
    pub terms: Vec<&'a str>,
}

/// The rows of packages and of what is derived from them. Only this crate calls the methods that
/// write, so that derived rows always change with their packages. A project that does not exist has
/// no rows. Writing to it is a conflict.
pub trait PackageRows: Packages + QuestionRows + LinkRows {
    /// Records that a damaged row was read ([`Audit::damage`](crate::Audit::damage)).
    fn note_damage(&self, row: DamagedRow);

    /// Adds a package and its log. Returns its number.
    fn add_package(&mut self, row: &PackageRow, log: &[RevisionRow]) -> Result<i64>;

    /// Sets the state of a package and appends to its log.
    fn set_package_state(
        &mut self,
        package: i64,
        state: &PackageState,
        revisions: &[RevisionRow],
    ) -> Result<()>;

    /// Sets whether a package is quarantined. The row need not be readable.
    fn set_quarantine(&mut self, package: i64, quarantine: Option<&Quarantine>) -> Result<()>;

    /// Rewrites a package, except its project and text; `false` when another has the same id.
    fn rewrite_package(&mut self, package: i64, row: &PackageRow) -> Result<bool>;

    /// The texts of the log of a package, oldest first; empty for an unreadable one.
    fn log_texts(&self, package: i64) -> Result<Vec<String>>;

    /// Adds to the counts of packages.
    fn count_packages(&mut self, project: &ProjectId, change: &TallyChange<'_>) -> Result<()>;

    /// Adds to the count of open questions that were asked last in an hour.
    fn count_open_questions(&mut self, project: &ProjectId, hour: &str, more: i64) -> Result<()>;

    /// Sets the search terms of a package. `replaces` says whether it has some.
    fn put_terms(
        &mut self,
        project: &ProjectId,
        package: i64,
        index: &PackageIndex,
        replaces: bool,
    ) -> Result<()>;

    /// Whether the search index has these terms of a package; `None` if it has nothing of it.
    fn has_terms(&self, of: &ProjectId, id: i64, sample: &TermSample<'_>) -> Result<Option<bool>>;
}

/// The rows of questions, and of the packages that ask them.
pub trait QuestionRows {
    /// Adds a question that the audience does not have. Returns its number.
    fn insert_question(
        &mut self,
        project: &ProjectId,
        audience: &str,
        text: &str,
        state: &QuestionState,
    ) -> Result<i64>;

    /// Replaces the state of a question.
    fn set_question_state(&mut self, question: i64, state: &QuestionState) -> Result<()>;

    /// Replaces the packages of a question, none of which is newer than its newest.
    fn set_question_sources(&mut self, question: i64, sources: &[QuestionSource]) -> Result<()>;

    /// Deletes a question that no package asks.
    fn delete_question(&mut self, question: i64) -> Result<()>;

    /// Adds that a package asks a question.
    fn insert_question_use(&mut self, asked: &QuestionUse) -> Result<()>;

    /// Deletes everything that a package asks.
    fn delete_question_uses(&mut self, package: i64) -> Result<()>;

    /// The question of an audience with this text.
    fn question(&self, of: &ProjectId, reader: &str, text: &str) -> Result<Option<StoredQuestion>>;

    /// The questions of all audiences with this key.
    fn questions_with_key(&self, of: &ProjectId, key: &QuestionKey) -> Result<Vec<StoredQuestion>>;

    /// The questions of a package in order; `None` for an unreadable one, or of another project.
    fn questions_of(
        &self,
        project: &ProjectId,
        package: i64,
    ) -> Result<Vec<Option<(StoredQuestion, QuestionUse)>>>;

    /// The question at an index of a package.
    fn asked_question(&self, of: &ProjectId, id: &str, at: i64) -> Result<Option<AskedQuestion>>;

    /// At most `limit` packages that ask a question after a key, newest first.
    fn newest_uses(&self, question: i64, after: &str, limit: usize) -> Result<Vec<QuestionUse>>;

    /// A page of the questions of an audience since a key, as for [`Packages::questions`].
    fn question_page(
        &self,
        project: &ProjectId,
        audience: &str,
        since: &str,
        query: &QuestionQuery<'_>,
    ) -> Result<Vec<ListedQuestion>>;

    /// Whether an audience has questions.
    fn has_questions(&self, project: &ProjectId, audience: &str) -> Result<bool>;

    /// The audiences with questions between two texts, in order, at a cost of their number.
    fn audiences_between(&self, of: &ProjectId, after: &str, before: &str) -> Result<Vec<String>>;

    /// Passes every question of a project to `visit`, in any order.
    fn visit_questions(
        &self,
        project: &ProjectId,
        visit: &mut dyn FnMut(Stored<StoredQuestion>) -> Result<()>,
    ) -> Result<()>;
}

/// The rows of what packages answer and supersede.
pub trait LinkRows {
    /// Adds or replaces an answer.
    fn put_answer(&mut self, project: &ProjectId, answer: &AnswerRow) -> Result<()>;

    /// Adds or replaces a supersession.
    fn put_supersession(&mut self, project: &ProjectId, row: &SupersessionRow) -> Result<()>;

    /// Deletes the answers and supersessions of a package.
    fn delete_links(&mut self, package: i64) -> Result<()>;

    /// The answers of a package in their order; `None` for one that is unreadable.
    fn answers_of(&self, package: i64) -> Result<Vec<Option<AnswerRow>>>;

    /// What a package supersedes, in any order.
    fn supersessions_of(&self, package: i64) -> Result<Vec<SupersessionRow>>;

    /// The answers that name a package.
    fn answers_naming(&self, project: &ProjectId, package_id: &str) -> Result<Vec<AnswerRow>>;

    /// The latest key through which a question is answered; empty if it is not.
    fn answered_through(&self, project: &ProjectId, question: &QuestionKey) -> Result<String>;

    /// Some packages that answer a question, the latest answer first, then the newest package.
    fn answers_to(&self, project: &ProjectId, question: &QuestionKey) -> Result<Vec<PackageId>>;
}
