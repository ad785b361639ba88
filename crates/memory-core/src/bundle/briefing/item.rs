//! Items of a briefing, and how much of them is shown.

use std::cell::Cell;

use super::facts::FactLine;
use super::gist::{Reader, gist};
use super::rank::Candidate;
use super::results::task_of;
use super::rows::{BriefingPackage, BriefingQuestion};
use super::section::Kind;
use super::shorten::{clean, one_line, shorten};
use crate::package::{ReviewType, Status};
use crate::query::Terms;
use crate::{ActorType, PackageId, Session, ShortIds};

/// The lengths of texts in characters, from the shortest on.
pub(super) const LENGTHS: [usize; 19] = [
    0, 60, 100, 160, 240, 360, 540, 800, 1_200, 1_800, 2_700, 4_000, 5_500, 8_000, 12_000, 20_000,
    40_000, 100_000, 1_000_000,
];

/// From this length on, the body of a person's package is shown besides its decisions.
const OF_PERSON: usize = 360;

/// From this length on, the texts of packages are shown that another one extends or corrects.
const WITH_PARENTS: usize = 360;

/// From this length on, the title of the task is shown beside that of what its worker left: by then
/// all items have their place, and their texts are whole.
const WITH_TASK: usize = 40_000;

#[derive(Clone)]
pub(super) enum Item<'a> {
    Package(Candidate<'a>),
    Question(&'a BriefingQuestion<'a>),
    Fact(FactLine<'a>),
    Session(&'a Session),
}

pub(super) enum Shown<'a> {
    Package(ShownPackage<'a>),
    Question { text: String, package_id: &'a PackageId },
    Fact { fact_id: &'a str, subject: String, predicate: String, value: String, similar: u64 },
    Session(&'a Session),
}

pub(super) struct ShownPackage<'a> {
    pub(super) source: &'a BriefingPackage<'a>,
    pub(super) title: String,
    /// The words of a reviewer, and who wrote them.
    pub(super) note: Option<(String, String)>,
    /// How many similar packages it stands for.
    pub(super) similar: u64,
    pub(super) decisions: Vec<String>,
    pub(super) more_decisions: usize,
    pub(super) handoff: Option<String>,
    pub(super) body: Option<String>,
    /// That the work is done whose worker left it, and, with much room, which task that was.
    pub(super) done: Option<String>,
    /// The packages that it extends or corrects.
    pub(super) parents: Vec<Self>,
}

impl<'a> Item<'a> {
    /// Its id; for a question, that of the package that asks it.
    pub(super) fn id(&self) -> &'a str {
        match self {
            Self::Package(package) => package.fields().package_id.as_str(),
            Self::Question(question) => question.package_id.as_str(),
            Self::Fact(line) => line.fact.fact_id.as_str(),
            Self::Session(session) => session.session_id.as_str(),
        }
    }

    /// Whether a package is shown in it.
    pub(super) fn has(&self, id: &PackageId) -> bool {
        let Self::Package(package) = self else { return false };
        let mut rows = package.parents.iter().chain([&package.row]);
        rows.any(|row| row.fields.package_id == *id)
    }

    /// Its id in a list of what was left out.
    pub(super) fn short_id(&self, ids: &ShortIds) -> String {
        one_line(match self {
            Self::Package(package) => ids.of(&package.fields().package_id),
            Self::Question(question) => ids.of(question.package_id),
            Self::Fact(_) | Self::Session(_) => self.id(),
        })
    }

    /// How many rows it stands for.
    pub(super) fn rows(&self) -> u64 {
        1 + match self {
            Self::Package(package) => package.similar,
            Self::Fact(line) => line.similar,
            Self::Question(_) | Self::Session(_) => 0,
        }
    }

    /// Gives its texts, for a ranking.
    pub(super) fn texts(&self, give: &mut dyn FnMut(&str)) {
        match self {
            Self::Package(package) => {
                let rows = package.parents.iter().copied().chain([package.row]);
                rows.for_each(|row| texts(row, give));
            }
            Self::Question(question) => give(question.text),
            Self::Fact(line) => {
                give(&line.fact.subject);
                give(&line.fact.predicate);
                give(&line.fact.value);
            }
            Self::Session(session) => {
                give(session.actor_id.as_str());
                give(session.callsign.as_deref().unwrap_or_default());
            }
        }
    }

    /// What is shown of it in a section, with texts of about a length.
    pub(super) fn shown(&self, kind: Kind, length: usize, focus: Option<&Terms>) -> Shown<'a> {
        match self {
            Self::Package(package) => Shown::Package(package.shown(kind, length, focus)),
            Self::Question(question) => Shown::Question {
                text: shorten(&one_line(question.text), length * 2),
                package_id: question.package_id,
            },
            Self::Fact(FactLine { fact, similar }) => Shown::Fact {
                fact_id: fact.fact_id.as_str(),
                subject: shorten(&one_line(&fact.subject), length),
                predicate: shorten(&one_line(&fact.predicate), length),
                value: shorten(&one_line(&fact.value), length),
                similar: *similar,
            },
            Self::Session(session) => Shown::Session(session),
        }
    }
}

impl<'a> Candidate<'a> {
    fn shown(&self, kind: Kind, length: usize, focus: Option<&Terms>) -> ShownPackage<'a> {
        // What the newest says counts more than what it extends.
        let of_parents = if length < WITH_PARENTS { 0 } else { length / 2 };
        let of_parents = LENGTHS.iter().rfind(|other| **other <= of_parents).copied();
        let parents = self.parents.iter();
        let parents = parents.map(|row| shown(row, kind, of_parents.unwrap_or(LENGTHS[0]), focus));
        ShownPackage {
            parents: parents.collect(),
            similar: self.similar,
            done: self.result.map(|result| self.done(result, length)),
            ..shown(self.row, kind, length, focus)
        }
    }

    fn done(&self, result: &BriefingPackage<'_>, length: usize) -> String {
        let task = task_of(result, self.row).filter(|_| length >= WITH_TASK);
        task.map_or_else(|| "done".to_owned(), |task| format!("done: {task}"))
    }
}

fn shown<'a>(
    row: &'a BriefingPackage<'a>,
    kind: Kind,
    length: usize,
    focus: Option<&Terms>,
) -> ShownPackage<'a> {
    let fields = row.fields;
    // A decision and the word of a reviewer are never left out.
    let is_bare = length == 0 && fields.decisions_made().is_empty() && row.note.is_none();
    let length = length.max(LENGTHS[1]);
    let whole = Cell::new(true);
    let text = |text: &str, most: usize| {
        let text = clean(text);
        let short = gist(&text, most, Reader { title: fields.title.as_str(), focus });
        whole.set(whole.get() && short == text);
        if kind.is_one_line() { one_line(&short) } else { short }
    };
    let note = row.note.map(|note| {
        let by = note.by.as_deref().map_or_else(|| "a reviewer".to_owned(), one_line);
        (by, text(&note.text, length * 2))
    });
    let mut decisions = Vec::new();
    // What the reviewer says counts more.
    let mut room = if note.is_some() { length } else { length * 3 };
    for decision in fields.decisions_made() {
        if room == 0 {
            break;
        }
        let short = text(decision, length.min(room.max(length / 2)));
        room = room.saturating_sub(short.chars().count());
        decisions.push(short);
    }
    let more_decisions = fields.decisions_made().len() - decisions.len();
    let handoff = Some(fields.handoff_note()).filter(|note| !note.trim().is_empty() && !is_bare);
    let handoff = handoff.map(|note| text(note, length * 2));
    // A package that has neither says what it is about in its body.
    let alone = decisions.is_empty() && handoff.is_none();
    let body = match (fields.description().trim(), fields.content_md().trim()) {
        ("", body) | (body, "") => body.to_owned(),
        (description, body) => format!("{description}\n\n{body}"),
    };
    // Instead of a note.
    let most = if kind == Kind::Handoff && alone { 4 } else { 1 };
    let is_of_person = row.is_of_person();
    let with_body = if is_of_person { OF_PERSON } else { kind.with_body() };
    let wanted = !body.is_empty()
        && !is_bare
        && ((alone && note.is_none())
            || (whole.get() && more_decisions == 0 && length >= with_body));
    let body = wanted.then(|| text(&body, length * most));
    ShownPackage {
        source: row,
        title: one_line(fields.title.as_str()),
        note,
        similar: 0,
        decisions,
        more_decisions,
        handoff,
        body,
        done: None,
        parents: Vec::new(),
    }
}

/// Gives the texts of a package.
pub(super) fn texts(row: &BriefingPackage<'_>, give: &mut dyn FnMut(&str)) {
    let fields = row.fields;
    give(fields.title.as_str());
    for list in [fields.decisions_made(), fields.open_questions(), fields.tags()] {
        list.iter().for_each(|text| give(text));
    }
    give(fields.handoff_note());
    give(fields.description());
    give(fields.topic().unwrap_or_default());
    give(fields.content_md());
    give(row.note.map_or("", |note| &note.text));
}

impl BriefingPackage<'_> {
    pub(super) fn is_of_person(&self) -> bool {
        self.fields.created_by.kind == ActorType::Human
    }

    /// Its author for a reader: `planner`, or `human:lead` for a person.
    pub(super) fn short_author(&self) -> String {
        let author = &self.fields.created_by;
        match author.kind {
            ActorType::Agent => one_line(author.id.as_str()),
            _ => self.author(),
        }
    }

    /// Its author, such as `agent:planner`.
    pub(super) fn author(&self) -> String {
        let author = &self.fields.created_by;
        one_line(&format!("{}:{}", author.kind, author.id))
    }

    /// What a reader must know about its state.
    pub(super) fn state(&self, ids: &ShortIds) -> Option<String> {
        if let Some(other) = &self.superseded_by {
            return Some(format!("superseded by {}", one_line(ids.of(other))));
        }
        match self.fields.status {
            Status::Complete => None,
            Status::Draft => Some("draft".to_owned()),
            Status::AwaitingReview => Some(match self.fields.review_type {
                ReviewType::None => "waits for review".to_owned(),
                by => format!("waits for review by {}", by.as_str()),
            }),
            Status::RevisionRequested => Some("changes requested".to_owned()),
        }
    }
}
