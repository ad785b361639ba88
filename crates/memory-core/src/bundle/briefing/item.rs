//! Items of a briefing, and how much of them is shown.

use super::part::LOW_SIGNIFICANCE;
use super::rows::{BriefingPackage, BriefingQuestion};
use super::section::Kind;
use super::shorten::{clean, one_line, shorten};
use crate::package::Status;
use crate::{Fact, Session};

/// The lengths of texts in characters, from the shortest on.
pub(super) const LENGTHS: [usize; 18] = [
    60, 100, 160, 240, 360, 540, 800, 1_200, 1_800, 2_700, 4_000, 5_500, 8_000, 12_000, 20_000,
    40_000, 100_000, 1_000_000,
];

/// From this length on, the body of a package is shown besides its decisions and its note.
const WITH_BODY: usize = 800;

#[derive(Clone, Copy)]
pub(super) enum Item<'a> {
    Package(&'a BriefingPackage<'a>),
    Question(&'a BriefingQuestion<'a>),
    Fact(&'a Fact),
    Session(&'a Session),
}

pub(super) enum Shown<'a> {
    Package(ShownPackage<'a>),
    Question { text: String, package_id: &'a str },
    Fact { fact_id: &'a str, subject: String, predicate: String, value: String },
    Session(&'a Session),
}

pub(super) struct ShownPackage<'a> {
    pub(super) source: &'a BriefingPackage<'a>,
    pub(super) title: String,
    pub(super) decisions: Vec<String>,
    pub(super) more_decisions: usize,
    pub(super) handoff: Option<String>,
    pub(super) body: Option<String>,
}

impl<'a> Item<'a> {
    /// Its id; for a question, that of the package that asks it.
    pub(super) fn id(&self) -> &'a str {
        match self {
            Self::Package(package) => package.fields.package_id.as_str(),
            Self::Question(question) => question.package_id.as_str(),
            Self::Fact(fact) => fact.fact_id.as_str(),
            Self::Session(session) => session.session_id.as_str(),
        }
    }

    /// Whether it is a package of low significance that decides nothing and hands nothing over.
    pub(super) fn is_minor(&self) -> bool {
        let Self::Package(package) = self else { return false };
        let fields = package.fields;
        fields.significance().number() < LOW_SIGNIFICANCE
            && fields.status == Status::Complete
            && fields.decisions_made().is_empty()
            && fields.handoff_note().trim().is_empty()
    }

    /// Gives its texts, for a ranking.
    pub(super) fn texts(&self, give: &mut dyn FnMut(&str)) {
        match self {
            Self::Package(package) => {
                let fields = package.fields;
                give(fields.title.as_str());
                for list in [fields.decisions_made(), fields.open_questions(), fields.tags()] {
                    list.iter().for_each(|text| give(text));
                }
                give(fields.handoff_note());
                give(fields.description());
                give(fields.topic().unwrap_or_default());
                give(fields.content_md());
            }
            Self::Question(question) => give(question.text),
            Self::Fact(fact) => {
                give(&fact.subject);
                give(&fact.predicate);
                give(&fact.value);
            }
            Self::Session(session) => {
                give(session.actor_id.as_str());
                give(session.callsign.as_deref().unwrap_or_default());
            }
        }
    }

    /// What is shown of it in a section, with texts of about a length.
    pub(super) fn shown(&self, kind: Kind, length: usize) -> Shown<'a> {
        match self {
            Self::Package(package) => Shown::Package(package.shown(kind, length)),
            Self::Question(question) => Shown::Question {
                text: shorten(&one_line(question.text), length * 2),
                package_id: question.package_id.as_str(),
            },
            Self::Fact(fact) => Shown::Fact {
                fact_id: fact.fact_id.as_str(),
                subject: shorten(&one_line(&fact.subject), length),
                predicate: shorten(&one_line(&fact.predicate), length),
                value: shorten(&one_line(&fact.value), length),
            },
            Self::Session(session) => Shown::Session(session),
        }
    }
}

impl<'a> BriefingPackage<'a> {
    fn shown(&'a self, kind: Kind, length: usize) -> ShownPackage<'a> {
        let fields = self.fields;
        let text = |text: &str, most: usize| {
            let text = if kind.is_one_line() { one_line(text) } else { clean(text) };
            let short = shorten(&text, most);
            (text.len() == short.len(), short)
        };
        let mut whole = true;
        let mut decisions = Vec::new();
        let mut room = length * 3;
        for decision in fields.decisions_made() {
            if room == 0 {
                break;
            }
            let (is_whole, short) = text(decision, length.min(room.max(length / 2)));
            whole &= is_whole;
            room = room.saturating_sub(short.chars().count());
            decisions.push(short);
        }
        let more_decisions = fields.decisions_made().len() - decisions.len();
        whole &= more_decisions == 0;
        let handoff = Some(fields.handoff_note()).filter(|note| !note.trim().is_empty());
        let handoff = handoff.map(|note| {
            let (is_whole, short) = text(note, length * 2);
            whole &= is_whole;
            short
        });
        // A package that has neither says what it is about in its body.
        let alone = decisions.is_empty() && handoff.is_none() && !kind.is_one_line();
        let body = match (fields.description().trim(), fields.content_md().trim()) {
            ("", body) | (body, "") => body.to_owned(),
            (description, body) => format!("{description}\n\n{body}"),
        };
        let wanted = !body.is_empty() && (alone || (whole && length >= WITH_BODY));
        ShownPackage {
            source: self,
            title: one_line(fields.title.as_str()),
            decisions,
            more_decisions,
            handoff,
            body: wanted.then(|| text(&body, length).1),
        }
    }

    /// Its author, such as `agent:planner`.
    pub(super) fn author(&self) -> String {
        let author = &self.fields.created_by;
        one_line(&format!("{}:{}", author.kind, author.id))
    }

    /// What a reader must know about its state.
    pub(super) fn state(&self) -> Option<String> {
        if let Some(other) = &self.superseded_by {
            return Some(format!("superseded by {}", one_line(other.as_str())));
        }
        match self.fields.status {
            Status::Complete => None,
            Status::Draft => Some("draft".to_owned()),
            Status::AwaitingReview => {
                Some(format!("waits for review by {}", self.fields.review_type.as_str()))
            }
            Status::RevisionRequested => Some("changes requested".to_owned()),
        }
    }
}
