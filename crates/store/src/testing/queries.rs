//! Queries, and their results as lines of text without the store's numbers.

use std::fmt::Debug;

use accord_base::decision::DecisionProtocol;
use accord_base::{ActorKey, ProjectId, SessionId};
use accord_contract::Time;
use accord_memory_core::PackageId;
use accord_memory_core::bundle::BriefingPart;
use accord_memory_core::package::{Links, Significance, Status};

use super::{Generator, live};
use crate::{
    DecisionQuery, DecisionRow, Drafts, EmbeddingRow, FactKey, FactQuery, FactRow, HighlightQuery,
    Hit, Order, PackageQuery, PackageRow, ProjectQuery, ProjectRow, Quarantined, QuestionQuery,
    QuestionRow, ReadUnit, Result, SearchQuery, SessionQuery, SessionRow, Space, Unembedded,
    UnembeddedQuery, When, successors_first,
};

#[derive(Clone, Debug)]
pub(super) enum Query {
    Pages(Pages),
    Named(PackageId, SessionId),
    Session(ProjectId, SessionId),
    Counts(ProjectId, Option<Time>),
    Briefing(ProjectId, usize),
    Questions(ProjectId, Questions),
    Superseded(ProjectId, Vec<PackageId>),
    Targets(ProjectId, Links, Reader),
    Search(ProjectId, Words),
    Projects(bool, usize),
    Facts(ProjectId, Option<String>, Option<String>, When, usize),
    Neighbours(ProjectId, String, String, Time),
    Sessions(ProjectId, Option<String>, bool, Order),
    Decisions(ProjectId, Asked, usize),
    Events(ProjectId, u64, Time),
    Embeddings(ProjectId, (String, usize), Order, usize),
    LiveProject(ProjectId, Time, usize),
    LiveSession(accord_live_core::SessionId, u64, usize),
}

#[derive(Clone, Debug)]
pub(super) struct Pages {
    project: ProjectId,
    status: Option<Status>,
    session: Option<SessionId>,
    reader: Reader,
    quarantined: Quarantined,
    since: Option<Time>,
    order: Order,
    length: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Questions {
    since: Option<Time>,
    reader: Reader,
    answered: bool,
    sources: usize,
    length: usize,
}

#[derive(Clone, Debug)]
pub(super) struct Words {
    text: String,
    status: Option<Status>,
    session: Option<SessionId>,
    reader: Reader,
    limit: usize,
}

/// Protocol, kind, subject and actor of decisions.
pub(super) type Asked = (Option<DecisionProtocol>, Option<String>, Option<String>, Option<String>);

#[derive(Clone, Debug)]
pub(super) enum Reader {
    Anybody,
    Actor(ActorKey),
    Everybody,
}

impl Reader {
    fn drafts(&self) -> Drafts<'_> {
        match self {
            Self::Anybody => Drafts::All,
            Self::Actor(actor) => Drafts::Of(actor),
            Self::Everybody => Drafts::None,
        }
    }
}

pub(super) fn random_queries(generator: &mut Generator, count: usize) -> Vec<Query> {
    (0..count).map(|_| random_query(generator)).collect()
}

fn random_query(generator: &mut Generator) -> Query {
    let project = generator.project();
    let reader = match generator.random.below(3) {
        0 => Reader::Anybody,
        1 => Reader::Actor(generator.actor()),
        _ => Reader::Everybody,
    };
    let limit = generator.random.below(7);
    match generator.random.below(25) {
        0..=3 => {
            let (status, session) = (generator.random.one_in(3), generator.random.one_in(4));
            Query::Pages(Pages {
                project,
                status: status.then(|| generator.status()),
                session: session.then(|| generator.session()),
                reader,
                quarantined: generator.random.pick(&[
                    Quarantined::No,
                    Quarantined::No,
                    Quarantined::Also,
                    Quarantined::Only,
                ]),
                since: generator.since(),
                order: generator.random.pick(&[Order::NewestFirst, Order::OldestFirst]),
                length: 1 + generator.random.below(4),
            })
        }
        4 => Query::Named(generator.package(), generator.session()),
        5 => Query::Session(project, generator.session()),
        6 => Query::Counts(project, generator.since()),
        19 => Query::Briefing(project, limit),
        7 | 15 => {
            let sources = generator.random.pick(&[0, 1, 2, 3, 20]);
            let questions = Questions {
                since: generator.since(),
                reader,
                answered: generator.random.one_in(3),
                sources,
                length: 1 + limit,
            };
            Query::Questions(project, questions)
        }
        8 | 9 => {
            let (status, session) = (generator.random.one_in(4), generator.random.one_in(4));
            let words = Words {
                text: generator.query(4),
                status: status.then(|| generator.status()),
                session: session.then(|| generator.session()),
                reader,
                limit,
            };
            Query::Search(project, words)
        }
        10 => {
            let (subject, predicate) = (generator.random.one_in(2), generator.random.one_in(3));
            let when = match generator.random.below(3) {
                0 => When::Current,
                1 => When::At(generator.time().time()),
                _ => When::Ever,
            };
            let subject = subject.then(|| generator.name());
            let predicate = predicate.then(|| generator.name());
            Query::Facts(project, subject, predicate, when, 1 + limit)
        }
        11 => {
            Query::Neighbours(project, generator.name(), generator.name(), generator.time().time())
        }
        12 => {
            let (callsign, active) = (generator.random.one_in(2), generator.random.one_in(2));
            let order = generator.random.pick(&[Order::NewestFirst, Order::OldestFirst]);
            Query::Sessions(project, callsign.then(|| generator.name()), active, order)
        }
        13 => {
            let order = generator.random.pick(&[Order::NewestFirst, Order::OldestFirst]);
            Query::Embeddings(project, generator.space(), order, 1 + limit)
        }
        20 | 21 => Query::LiveProject(project, live::time(generator), 1 + limit),
        22 => {
            let after = generator.random.below(5) as u64;
            Query::LiveSession(live::session(generator), after, 1 + limit)
        }
        23 | 24 => {
            let asked = [3, 3, 2, 3].map(|number| generator.random.one_in(number));
            let row = generator.decision_row();
            let asked = (
                asked[0].then_some(row.protocol),
                asked[1].then_some(row.kind),
                asked[2].then_some(row.subject),
                asked[3].then_some(row.actor),
            );
            Query::Decisions(project, asked, 1 + limit)
        }
        14 => Query::Projects(generator.random.one_in(2), 1 + generator.random.below(2)),
        16 => Query::Targets(project, generator.links(), reader),
        17 | 18 => Query::Superseded(project, (0..6).map(|_| generator.package()).collect()),
        _ => Query::Events(project, generator.random.below(30) as u64, generator.time().time()),
    }
}

impl Query {
    pub(super) fn at<U: ReadUnit + ?Sized>(&self, unit: &U) -> Result<Vec<String>> {
        match self {
            Self::Pages(pages) => pages.at(unit),
            Self::Named(package, session) => {
                let mut lines = lines(unit.packages_named(package)?.into_iter().map(plain));
                lines.extend(self::lines(unit.sessions_named(session)?.into_iter().map(plain)));
                // Also those that begin as these ids do.
                let (package, session) = (package.as_str(), session.as_str());
                for length in 0..=package.len() {
                    let prefix = &package[..package.floor_char_boundary(length)];
                    lines.extend(self::lines(unit.package_ids(prefix, None, 7)?));
                }
                for length in 0..=session.len() {
                    let prefix = &session[..session.floor_char_boundary(length)];
                    lines.extend(self::lines(unit.session_ids(prefix, None, 7)?));
                }
                Ok(lines)
            }
            Self::Session(project, session) => {
                Ok(lines(unit.packages_of_session(project, session)?))
            }
            Self::Counts(project, since) => {
                let mut lines = lines(unit.tallies(project, *since)?);
                for status in Status::ALL {
                    lines.push(unit.package_count(project, *status)?.to_string());
                }
                lines.push(unit.open_question_count(project, *since)?.to_string());
                for (least, standing) in [(None, false), (None, true), (Significance::new(7), true)]
                {
                    let query = HighlightQuery { since: *since, least, standing, limit: 4 };
                    let highlights = unit.highlights(project, &query)?;
                    lines.extend(self::lines(highlights.into_iter().map(plain)));
                }
                Ok(lines)
            }
            Self::Briefing(project, limit) => {
                let mut lines = Vec::new();
                for part in BriefingPart::ALL {
                    let rows = unit.briefed(project, *part, *limit)?;
                    lines.extend(self::lines(rows.into_iter().map(plain)));
                    lines.push(unit.briefed_count(project, *part, 3)?.to_string());
                }
                lines.push(format!("{:?}", unit.latest_handoff(project)?.map(plain)));
                let latest = unit.latest_standing(project, *limit)?;
                lines.extend(self::lines(latest.into_iter().map(plain)));
                let handed_over = unit.handed_over(project, *limit)?;
                let with_note = unit.with_note(project, *limit)?;
                for row in handed_over.iter().chain(&with_note) {
                    let children = unit.children(project, &row.package_id, *limit)?;
                    lines.extend(self::lines(children.into_iter().map(plain)));
                }
                let found = handed_over.into_iter().chain(with_note);
                lines.extend(self::lines(found.map(plain)));
                Ok(lines)
            }
            Self::Questions(project, questions) => questions.at(unit, project),
            Self::Targets(project, links, reader) => {
                let targets = unit.link_targets(project, links, reader.drafts())?;
                Ok(vec![format!("{targets:?}")])
            }
            Self::Superseded(project, packages) => {
                Ok(lines(unit.superseded(project, &mut packages.iter())?))
            }
            Self::Search(project, words) => words.at(unit, project),
            Self::Projects(archived, length) => projects(unit, *archived, *length),
            Self::Facts(project, subject, predicate, when, length) => {
                let (subject, predicate) = (subject.as_deref(), predicate.as_deref());
                let (when, limit) = (*when, *length);
                let query = FactQuery { subject, predicate, when, after: None, limit };
                let mut lines = facts(unit, project, query)?;
                let newest = unit.newest_facts(project, *length)?;
                for FactRow { subject, predicate, .. } in &newest {
                    let versions =
                        unit.fact_versions(project, FactKey { subject, predicate }, 3)?;
                    lines.push(versions.to_string());
                }
                lines.extend(self::lines(newest.into_iter().map(plain)));
                Ok(lines)
            }
            Self::Neighbours(project, subject, predicate, instant) => {
                let key = FactKey { subject, predicate };
                let beside = unit.fact_neighbours(project, key, *instant)?;
                let current = unit.current_fact(project, key)?;
                Ok(lines([beside.before, beside.after, current].map(|fact| fact.map(plain))))
            }
            Self::Sessions(project, callsign, active, order) => {
                let callsign = callsign.as_deref();
                let mut lines = sessions(unit, project, callsign, *active, None, *order)?;
                let all = SessionQuery { limit: usize::MAX, ..SessionQuery::default() };
                let all = unit.sessions(project, &all)?;
                if let Some(row) = all.get(all.len() / 2) {
                    let since = Some(row.started_at.time());
                    lines.extend(sessions(unit, project, callsign, *active, since, *order)?);
                }
                Ok(lines)
            }
            Self::Embeddings(project, (model, dimension), order, length) => {
                let space = Space { model, dimension: *dimension };
                embeddings(unit, project, space, *order, *length)
            }
            Self::LiveProject(project, at, length) => live::of_project(unit, project, *at, *length),
            Self::LiveSession(session, after, limit) => {
                live::of_session(unit, session, *after, *limit)
            }
            Self::Decisions(project, asked, length) => decisions(unit, project, asked, *length),
            Self::Events(project, after, instant) => {
                let mut lines = lines(unit.events(project, *after, 3)?);
                lines.push(format!("{:?}", unit.event_range(project)?));
                lines.push(format!("{:?}", unit.newest_event_at(project)?));
                lines.push(unit.events_before(project, *instant)?.to_string());
                Ok(lines)
            }
        }
    }
}

impl Questions {
    fn at<U: ReadUnit + ?Sized>(&self, unit: &U, project: &ProjectId) -> Result<Vec<String>> {
        let rows = all_pages(self.length, |rows: &[QuestionRow]| {
            let query = QuestionQuery {
                since: self.since,
                drafts: self.reader.drafts(),
                answered: self.answered,
                after: rows.last().map(|row| row.position),
                limit: self.length,
                sources: self.sources,
            };
            unit.questions(project, &query)
        })?;
        Ok(lines(rows.into_iter().map(plain)))
    }
}

impl Words {
    fn at<U: ReadUnit + ?Sized>(&self, unit: &U, project: &ProjectId) -> Result<Vec<String>> {
        let query = SearchQuery {
            text: &self.text,
            status: self.status,
            session: self.session.as_ref(),
            drafts: self.reader.drafts(),
            limit: self.limit,
        };
        let found = unit.search(project, &query)?;
        let line = |hit: Hit| {
            let score = hit.score;
            format!("{score:.6} {:?} {:?}", hit.matched, plain(hit.package))
        };
        let mut lines: Vec<String> = found.hits.iter().cloned().map(line).collect();
        lines.push(format!("{:?}", found.left_out));
        let narrow = SearchQuery { limit: self.limit / 2, ..query };
        let ordered = successors_first(unit, project, &narrow, found.hits)?;
        lines.extend(ordered.into_iter().map(line));
        Ok(lines)
    }
}

impl Pages {
    fn at<U: ReadUnit + ?Sized>(&self, unit: &U) -> Result<Vec<String>> {
        let mut totals = Vec::new();
        let rows = all_pages(self.length, |rows| {
            let query = PackageQuery {
                status: self.status,
                session: self.session.as_ref(),
                drafts: self.reader.drafts(),
                quarantined: self.quarantined,
                since: self.since,
                after: rows.last().map(PackageRow::position),
                order: self.order,
                limit: self.length,
            };
            totals.push((rows.len(), unit.package_total(&self.project, &query)?));
            unit.packages(&self.project, &query)
        })?;
        check_totals(&totals, rows.len());
        Ok(lines(rows.into_iter().map(plain)))
    }
}

/// The rows of all pages of a list, whose length is given.
pub(super) fn all_pages<T>(
    length: usize,
    mut read: impl FnMut(&[T]) -> Result<Vec<T>>,
) -> Result<Vec<T>> {
    let mut rows = Vec::new();
    loop {
        let page = read(&rows)?;
        let is_last = page.len() < length;
        rows.extend(page);
        if is_last {
            return Ok(rows);
        }
    }
}

fn projects<U: ReadUnit + ?Sized>(unit: &U, archived: bool, length: usize) -> Result<Vec<String>> {
    let rows = all_pages(length, |rows: &[ProjectRow]| {
        let after = rows.last().map(|row| &row.project_id);
        unit.projects(&ProjectQuery { archived, after, limit: length })
    })?;
    Ok(lines(rows))
}

pub(super) fn facts<U: ReadUnit + ?Sized>(
    unit: &U,
    project: &ProjectId,
    query: FactQuery<'_>,
) -> Result<Vec<String>> {
    let mut totals = Vec::new();
    let rows = all_pages(query.limit, |rows| {
        let after = rows.last().map(FactRow::position);
        let page = FactQuery { after: after.as_ref(), ..query };
        totals.push((rows.len(), unit.fact_total(project, &page)?));
        unit.facts(project, &page)
    })?;
    for fact in &rows {
        assert!(unit.facts_named(&fact.fact_id)?.contains(fact));
    }
    check_totals(&totals, rows.len());
    Ok(lines(rows.into_iter().map(plain)))
}

/// The rows after a page are those that its total counted.
fn check_totals(totals: &[(usize, u64)], rows: usize) {
    for (before, total) in totals {
        assert_eq!(*total, (rows - before) as u64, "after {before} of {rows} rows");
    }
}

pub(super) fn sessions<U: ReadUnit + ?Sized>(
    unit: &U,
    project: &ProjectId,
    callsign: Option<&str>,
    active: bool,
    active_since: Option<Time>,
    order: Order,
) -> Result<Vec<String>> {
    let mut totals = Vec::new();
    let rows = all_pages(2, |rows| {
        let after = rows.last().map(SessionRow::position);
        let query = SessionQuery { callsign, active, active_since, after, order, limit: 2 };
        totals.push((rows.len(), unit.session_total(project, &query)?));
        unit.sessions(project, &query)
    })?;
    check_totals(&totals, rows.len());
    Ok(lines(rows.into_iter().map(plain)))
}

pub(super) fn decisions<U: ReadUnit + ?Sized>(
    unit: &U,
    project: &ProjectId,
    (protocol, kind, subject, actor): &Asked,
    length: usize,
) -> Result<Vec<String>> {
    let rows = all_pages(length, |rows: &[DecisionRow]| {
        let query = DecisionQuery {
            protocol: *protocol,
            kind: kind.as_deref(),
            subject: subject.as_deref(),
            actor: actor.as_deref(),
            after: rows.last().map(DecisionRow::position),
            limit: length,
        };
        unit.decisions(project, &query)
    })?;
    for row in &rows {
        assert_eq!(unit.decision(project, &row.decision_id)?.as_ref(), Some(row));
    }
    Ok(lines(rows.into_iter().map(plain)))
}

/// Vectors and packages without them, page by page.
fn embeddings<U: ReadUnit + ?Sized>(
    unit: &U,
    project: &ProjectId,
    space: Space<'_>,
    order: Order,
    length: usize,
) -> Result<Vec<String>> {
    let rows = all_pages(length, |rows: &[EmbeddingRow]| {
        unit.embeddings(project, space, rows.last().map_or(0, |row| row.seq), length)
    })?;
    for row in &rows {
        assert_eq!(unit.embedding(project, &row.package_id, space)?.as_ref(), Some(row));
    }
    let mut lines = lines(rows.into_iter().map(plain));
    lines.push(unit.has_embeddings(project, space.model)?.to_string());
    let waiting = all_pages(length, |waiting: &[Unembedded]| {
        let after = waiting.last().map(|found| found.seq);
        unit.unembedded(space, &UnembeddedQuery { order, after, limit: length })
    })?;
    let newest = unit.newest_package()?;
    assert!(waiting.iter().all(|found| found.seq <= newest));
    let count = unit.unembedded_count(space.model, Some(space.dimension))?;
    assert_eq!(count, waiting.len() as u64);
    lines.push(unit.unembedded_count(space.model, None)?.to_string());
    lines.extend(self::lines(waiting.into_iter().map(plain)));
    Ok(lines)
}

/// A row without the store's number.
pub(super) trait Numbered: Sized {
    fn without_number(self) -> Self;
}

macro_rules! numbered {
    ($($row:ty),+) => {
        $(impl Numbered for $row {
            fn without_number(self) -> Self {
                Self { seq: 0, ..self }
            }
        })+
    };
}

numbered!(DecisionRow, EmbeddingRow, FactRow, PackageRow, SessionRow, Unembedded);

impl Numbered for QuestionRow {
    fn without_number(mut self) -> Self {
        self.position.package.seq = 0;
        self
    }
}

pub(super) fn plain<R: Numbered>(row: R) -> R {
    row.without_number()
}

pub(super) fn lines<T: Debug>(rows: impl IntoIterator<Item = T>) -> Vec<String> {
    rows.into_iter().map(|row| format!("{row:?}")).collect()
}
