//! Questions, answers and superseded packages in the model.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use accord_base::inbox::Waiting;
use accord_base::{ActorType, ProjectId};
use accord_contract::Time;
use accord_memory_core::PackageId;
use accord_memory_core::deposit::{LinkTarget, LinkTargets};
use accord_memory_core::inbox::{QuestionFacts, question};
use accord_memory_core::lifecycle::{Side, Standing};
use accord_memory_core::package::{AnswerLink, Links, QuestionKey};
use accord_memory_core::query::QuestionPosition;

use super::packages::place;
use super::{PackageEntry, ProjectState, State};
use crate::{Drafts, IndexedQuestion, MAX_SOURCES, PackageRow, QuestionQuery, QuestionRow};

/// The answers to a question: until when, by which package.
type Answers = BTreeMap<QuestionKey, Vec<(Time, (Time, u64), PackageId)>>;

struct Use<'s> {
    entry: &'s PackageEntry,
    index: u32,
    is_open: bool,
}

impl State {
    pub(super) fn list_questions(
        &self,
        project: &ProjectId,
        query: &QuestionQuery<'_>,
    ) -> Vec<QuestionRow> {
        let Some(project) = self.at(project) else { return Vec::new() };
        let drafts = if query.answered { Drafts::None } else { query.drafts };
        let answers = project.answers();
        let mut uses: BTreeMap<&str, Vec<Use<'_>>> = BTreeMap::new();
        for entry in project.packages.values().filter(|entry| entry.is_shown(drafts)) {
            for question in entry.index.distinct_questions() {
                let until = answers.get(&QuestionKey::of(&question.text));
                let until = until.and_then(|given| given.iter().map(|(until, ..)| *until).max());
                let asked_at = entry.standing().asked_at;
                let (index, is_open) = (question.index, until.is_none_or(|until| asked_at > until));
                uses.entry(&question.text).or_default().push(Use { entry, index, is_open });
            }
        }
        let rows = uses.into_iter().filter_map(|(text, uses)| row(text, uses, &answers, query));
        let mut rows: Vec<QuestionRow> = rows.collect();
        rows.sort_by_key(|row| order(row.position));
        rows.truncate(query.limit);
        rows
    }

    pub(super) fn targets_of(
        &self,
        project: &ProjectId,
        links: &Links,
        drafts: Drafts<'_>,
    ) -> LinkTargets {
        let packages = self.at(project).map(|project| &*project.packages);
        let find = |id: &PackageId| packages.and_then(|packages| packages.get(id));
        let asks = |key: &QuestionKey| {
            let all = packages.into_iter().flat_map(BTreeMap::values);
            all.filter(|entry| entry.is_shown(drafts)).any(|entry| {
                entry.index.distinct_questions().any(|asked| QuestionKey::of(&asked.text) == *key)
            })
        };
        let found = |there: bool| if there { LinkTarget::Found } else { LinkTarget::NoQuestion };
        let answer = |link: &AnswerLink| match link {
            AnswerLink::Question(key) => found(asks(key)),
            AnswerLink::Asked { package_id, index } => match find(package_id) {
                None => LinkTarget::NoPackage,
                Some(entry) if !entry.row.is_shown(drafts) => LinkTarget::Found,
                Some(entry) => {
                    found(entry.index.distinct_questions().any(|asked| asked.index == *index))
                }
            },
        };
        let superseded = |id: &PackageId| match find(id).map(|entry| &entry.row) {
            None => LinkTarget::NoPackage,
            Some(row) if row.is_shown(drafts) && row.actor.kind == ActorType::Human => {
                LinkTarget::ByPerson
            }
            Some(_) => LinkTarget::Found,
        };
        LinkTargets {
            answers: links.answers.iter().map(answer).collect(),
            supersedes: links.supersedes.iter().map(superseded).collect(),
        }
    }

    /// The packages that supersede a package.
    pub(super) fn superseders(&self, target: &PackageRow) -> Vec<PackageId> {
        let Some(project) = self.at(&target.project_id) else { return Vec::new() };
        let Some(target) = project.packages.get(&target.package_id) else { return Vec::new() };
        let names = |one: &PackageEntry, other: &PackageEntry| {
            one.index.links().supersedes.contains(&other.row.package_id)
        };
        let by = project.packages.values().filter(|entry| {
            let mutual = names(target, entry);
            names(entry, target) && entry.side().supersedes(&target.side(), mutual)
        });
        let mut by: Vec<&PackageRow> = by.map(|entry| &entry.row).collect();
        by.sort_by_key(|row| Reverse(place(row)));
        by.into_iter().take(MAX_SOURCES).map(|row| row.package_id.clone()).collect()
    }
}

impl ProjectState {
    /// The items of the questions that are open for every reader.
    pub(super) fn open_questions(&self) -> Vec<Waiting> {
        let answers = self.answers();
        let mut first: BTreeMap<&str, (Time, u64, &PackageEntry)> = BTreeMap::new();
        let until = |text: &str| {
            let given = answers.get(&QuestionKey::of(text))?;
            given.iter().map(|(until, ..)| *until).max()
        };
        for entry in self.packages.values().filter(|entry| entry.is_shown(Drafts::None)) {
            let asked_at = entry.standing().asked_at;
            for IndexedQuestion { text, .. } in entry.index.distinct_questions() {
                if until(text).is_none_or(|until| asked_at > until) {
                    let this = (asked_at, entry.row.seq, entry);
                    let kept = first.entry(text).or_insert(this);
                    if (this.0, this.1) < (kept.0, kept.1) {
                        *kept = this;
                    }
                }
            }
        }
        let item = |(text, (_, _, entry)): (&str, (Time, u64, &PackageEntry))| {
            let asked_by = Some(&entry.row.actor);
            // Since the host has it: an agent can date a package back.
            let since = entry.row.deposited_at.time();
            question(&QuestionFacts { text, since, answered_until: until(text), asked_by })
        };
        first.into_iter().map(item).collect()
    }

    fn answers(&self) -> Answers {
        let mut answers = Answers::new();
        for entry in self.packages.values().filter(|entry| entry.row.quarantine.is_none()) {
            let Some(until) = entry.standing().answers_until else { continue };
            for link in &entry.index.links().answers {
                let (key, until) = match link {
                    AnswerLink::Question(key) => (*key, until),
                    AnswerLink::Asked { package_id, index } => {
                        let Some(asking) = self.packages.get(package_id) else { continue };
                        let mut questions = asking.index.distinct_questions();
                        let asked = questions.find(|question| question.index == *index);
                        let Some(asked) = asked else { continue };
                        let asked_at = asking.standing().asked_at;
                        (QuestionKey::of(&asked.text), until.max(asked_at))
                    }
                };
                let given = (until, place(&entry.row), entry.row.package_id.clone());
                answers.entry(key).or_default().push(given);
            }
        }
        answers
    }
}

impl PackageEntry {
    fn is_shown(&self, drafts: Drafts<'_>) -> bool {
        self.row.quarantine.is_none() && self.row.is_shown(drafts)
    }

    fn standing(&self) -> Standing {
        self.row.standing(self.log.iter().map(|entry| entry.text.as_str()))
    }

    fn side(&self) -> Side<'_> {
        Side {
            package_id: &self.row.package_id,
            created_at: self.row.created_at.time(),
            author: self.row.actor.kind,
            standing: self.row.quarantine.is_none().then(|| self.standing()),
        }
    }
}

/// The row of a question, if the query asks for it.
fn row(
    text: &str,
    mut uses: Vec<Use<'_>>,
    answers: &Answers,
    query: &QuestionQuery<'_>,
) -> Option<QuestionRow> {
    let open = uses.iter().any(|asking| asking.is_open);
    if open {
        uses.retain(|asking| asking.is_open);
    }
    uses.sort_by_key(|asking| Reverse(place(&asking.entry.row)));
    let is_asked = |asking: &&Use<'_>| {
        query.since.is_none_or(|since| asking.entry.row.created_at.time() >= since)
    };
    let newest = uses.first().filter(is_asked)?;
    let position = QuestionPosition { package: newest.entry.row.position(), index: newest.index };
    let is_behind = query.after.is_none_or(|after| order(position) > order(after));
    if !is_behind || !(open || query.answered) {
        return None;
    }
    let sources = uses.iter().filter(is_asked).take(query.sources.min(MAX_SOURCES));
    let mut given = answers.get(&QuestionKey::of(text)).cloned().unwrap_or_default();
    given.sort_by_key(|(until, place, _)| Reverse((*until, *place)));
    let mut named: Vec<PackageId> = Vec::new();
    for (.., id) in given {
        if named.len() < MAX_SOURCES && !named.contains(&id) {
            named.push(id);
        }
    }
    Some(QuestionRow {
        text: text.to_owned(),
        sources: sources.map(|asking| asking.entry.row.package_id.clone()).collect(),
        open,
        answers: named,
        position,
    })
}

/// The sort key of a list: the newest package first, then the index in it.
fn order(position: QuestionPosition) -> (Reverse<(Time, u64)>, u32) {
    let package = position.package;
    (Reverse((package.created_at, package.seq)), position.index)
}
