//! Brief: what an actor reads when it begins to work.

use std::collections::BTreeMap;

use accord_base::{Access, Caller, ProjectId, Verb};
use accord_contract::{Failure, Time};
use accord_memory_core::bundle::{
    ACTIVE_HOURS, Automatic, BriefingPackage, BriefingPart, BriefingQuestion, BriefingRows,
    Counted, briefing,
};
use accord_memory_core::package::Status;
use accord_memory_core::query::{BriefingQuery, Focus};
use accord_memory_core::{Fact, Package, PackageId, Project, Session};
use accord_store::{
    Drafts, FactQuery, PackageQuery, PackageRow, QuestionQuery, QuestionRow, ReadUnit, SearchQuery,
    SessionQuery, Table,
};

use super::load::unreadable;
use super::pull::names;
use super::served::{Damaged, sound_package};
use super::{Memory, UnitResult, load};

/// How many packages that a search for the focus finds are considered.
const ABOUT_FOCUS: usize = 20;
/// How many facts are ranked by a focus.
const RANKED_FACTS: usize = 1_000;

/// How many rows of each kind a budget can show at most.
struct Caps {
    packages: usize,
    lines: usize,
}

/// What is read of a project, on one snapshot.
struct Loaded<'u> {
    unit: &'u dyn ReadUnit,
    id: &'u ProjectId,
    project: Project,
    standing: Counted<Package>,
    handoffs: Vec<Package>,
    reviews: Counted<Package>,
    questions: Counted<QuestionRow>,
    facts: Counted<Fact>,
    sessions: Counted<Session>,
    idle_sessions: u64,
    work: Counted<Package>,
    automatic: Option<Automatic>,
    superseded: BTreeMap<PackageId, Vec<PackageId>>,
    damaged: Vec<Damaged>,
    /// The ids of other damaged rows.
    left_out: Vec<String>,
}

impl Memory {
    /// The briefing of a project, as Markdown or as a JSON text.
    pub async fn brief(
        &self,
        caller: &Caller,
        project: &ProjectId,
        asked: BriefingQuery,
    ) -> Result<String, Failure> {
        let (access, project) = (caller.access().clone(), project.clone());
        let now = self.now();
        let (text, damaged) = self
            .read(move |unit| {
                let loaded = Loaded::read(unit, &access, &project, &asked, now)?;
                let names = loaded.damaged_names(&access);
                Ok((briefing(&loaded.rows(&names), &asked, now), loaded.damaged))
            })
            .await?;
        self.set_aside(&damaged);
        Ok(text)
    }
}

impl Caps {
    fn of(asked: &BriefingQuery) -> Self {
        let tokens = asked.max_tokens as usize;
        Self { packages: (tokens / 30).clamp(100, 400), lines: (tokens / 15).clamp(40, 1_000) }
    }
}

impl<'u> Loaded<'u> {
    fn read(
        unit: &'u dyn ReadUnit,
        access: &Access,
        id: &'u ProjectId,
        asked: &BriefingQuery,
        now: Time,
    ) -> UnitResult<Self> {
        let mut loaded = Self::bare(unit, id, load::project(unit, access, Verb::Read, id)?);
        let (caps, since) = (Caps::of(asked), now.days_before(asked.window_days));
        let standing = unit.briefed(id, BriefingPart::Standing, None, caps.packages)?;
        let total = unit.briefed_count(id, BriefingPart::Standing, None)?;
        loaded.standing = Counted::new(loaded.sound(standing)?, total);
        let reviews = unit.briefed(id, BriefingPart::Waiting, None, caps.packages)?;
        let total = unit.briefed_count(id, BriefingPart::Waiting, None)?;
        loaded.reviews = Counted::new(loaded.sound(reviews)?, total);
        let work = unit.briefed(id, BriefingPart::Work, Some(since), caps.packages)?;
        let total = unit.briefed_count(id, BriefingPart::Work, Some(since))?;
        loaded.work = Counted::new(loaded.sound(work)?, total);
        loaded.read_handoffs(since)?;
        loaded.read_drafts(load::drafts(access), caps.packages)?;
        if let Some(focus) = &asked.focus {
            loaded.read_focus(focus, since)?;
        }
        loaded.read_automatic(since)?;
        let (drafts, limit) = (Drafts::None, caps.lines);
        let query = QuestionQuery { drafts, limit, sources: 1, ..QuestionQuery::default() };
        let total = unit.open_question_count(id, None)?;
        loaded.questions = Counted::new(unit.questions(id, &query)?, total);
        let facts = if asked.focus.is_some() { RANKED_FACTS } else { caps.lines };
        loaded.read_facts(facts)?;
        loaded.read_sessions(caps.lines, now)?;
        // Standing packages and handoffs are not superseded.
        let mut work = loaded.work.rows.iter().chain(&loaded.reviews.rows).map(Package::package_id);
        loaded.superseded = unit.superseded(id, &mut work)?;
        Ok(loaded)
    }

    fn bare(unit: &'u dyn ReadUnit, id: &'u ProjectId, project: Project) -> Self {
        Self {
            unit,
            id,
            project,
            standing: Counted::new(Vec::new(), 0),
            handoffs: Vec::new(),
            reviews: Counted::new(Vec::new(), 0),
            questions: Counted::new(Vec::new(), 0),
            facts: Counted::new(Vec::new(), 0),
            sessions: Counted::new(Vec::new(), 0),
            idle_sessions: 0,
            work: Counted::new(Vec::new(), 0),
            automatic: None,
            superseded: BTreeMap::new(),
            damaged: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// The latest package of the type handoff. If another package with a handoff note is newer, it
    /// comes first.
    fn read_handoffs(&mut self, since: Time) -> UnitResult<()> {
        let row = self.unit.latest_handoff(self.id)?;
        let part = row.as_ref().and_then(PackageRow::briefing_part);
        let handoff = self.sound(row)?.pop();
        let created = |package: &Package| package.fields().created_at.time();
        let noted = self.work.rows.iter().chain(&self.standing.rows);
        let noted = noted.filter(|package| !package.fields().handoff_note().trim().is_empty());
        let mut noted: Vec<&Package> = noted.collect();
        noted.sort_by_key(|package| std::cmp::Reverse(created(package)));
        let mut ids = noted.iter().map(|package| package.package_id());
        let superseded = self.unit.superseded(self.id, &mut ids)?;
        let mut noted = noted.into_iter();
        let noted = noted.find(|one| !superseded.contains_key(one.package_id())).cloned();
        let noted = noted.filter(|noted| {
            handoff.as_ref().is_none_or(|handoff| created(noted) > created(handoff))
        });
        // Its list counts it, so the list must have it: what is shown as a handoff is not missing.
        if let Some(handoff) = &handoff {
            match part {
                Some(BriefingPart::Standing) => keep(&mut self.standing, handoff),
                Some(BriefingPart::Work) if created(handoff) >= since => {
                    keep(&mut self.work, handoff);
                }
                _ => {}
            }
        }
        self.handoffs = noted.into_iter().chain(handoff).collect();
        Ok(())
    }

    /// Adds the drafts that the caller sees to the work.
    fn read_drafts(&mut self, drafts: Drafts<'_>, limit: usize) -> UnitResult<()> {
        let query =
            PackageQuery { status: Some(Status::Draft), drafts, limit, ..PackageQuery::default() };
        let found = self.sound(self.unit.packages(self.id, &query)?)?;
        self.work.total += self.unit.package_total(self.id, &query)?;
        self.work.rows.extend(found);
        let newest = |package: &Package| std::cmp::Reverse(package.fields().created_at.time());
        // Stable, so that packages of the same instant keep the order of the store.
        self.work.rows.sort_by_key(newest);
        Ok(())
    }

    /// Adds the packages about a focus, of any age.
    fn read_focus(&mut self, focus: &Focus, since: Time) -> UnitResult<()> {
        let query = SearchQuery {
            text: &focus.text,
            drafts: Drafts::None,
            limit: ABOUT_FOCUS,
            ..SearchQuery::default()
        };
        for hit in self.unit.search(self.id, &query)?.hits {
            let part = hit.package.briefing_part();
            let Some(package) = self.sound([hit.package])?.pop() else { continue };
            match part {
                Some(BriefingPart::Standing) => keep(&mut self.standing, &package),
                Some(BriefingPart::Waiting) => keep(&mut self.reviews, &package),
                Some(BriefingPart::Work) => {
                    if package.fields().created_at.time() < since {
                        self.work.total += 1;
                    }
                    keep(&mut self.work, &package);
                }
                Some(BriefingPart::Automatic) | None => {}
            }
        }
        Ok(())
    }

    fn read_automatic(&mut self, since: Time) -> UnitResult<()> {
        let (part, since) = (BriefingPart::Automatic, Some(since));
        let total = self.unit.briefed_count(self.id, part, since)?;
        let newest = self.unit.briefed(self.id, part, since, 1)?.pop();
        self.automatic = newest.map(|newest| Automatic {
            total,
            newest: newest.package_id,
            newest_at: newest.created_at,
        });
        Ok(())
    }

    fn read_facts(&mut self, limit: usize) -> UnitResult<()> {
        let mut facts = Vec::new();
        for row in self.unit.newest_facts(self.id, limit)? {
            match load::fact_of(&row) {
                Ok(fact) => facts.push(fact),
                Err(_) => self.left_out.push(row.fact_id.as_str().to_owned()),
            }
        }
        let total = self.unit.fact_total(self.id, &FactQuery::default())?;
        self.facts = Counted::new(facts, total);
        Ok(())
    }

    fn read_sessions(&mut self, limit: usize, now: Time) -> UnitResult<()> {
        let open = SessionQuery { active: true, limit, ..SessionQuery::default() };
        let since = now.add_seconds(-i64::from(ACTIVE_HOURS) * 3_600);
        let query = SessionQuery { active_since: Some(since), ..open };
        let mut sessions = Vec::new();
        for row in self.unit.sessions(self.id, &query)? {
            match load::session_of(&row) {
                Ok(session) => sessions.push(session),
                Err(_) => self.left_out.push(row.session_id.as_str().to_owned()),
            }
        }
        self.sessions = Counted::new(sessions, self.unit.session_total(self.id, &query)?);
        let open = self.unit.session_total(self.id, &open)?;
        self.idle_sessions = open.saturating_sub(self.sessions.total);
        Ok(())
    }

    fn sound(&mut self, rows: impl IntoIterator<Item = PackageRow>) -> UnitResult<Vec<Package>> {
        let rows = rows.into_iter();
        rows.filter_map(|row| sound_package(row, &mut self.damaged).transpose()).collect()
    }

    fn damaged_names(&self, access: &Access) -> Vec<String> {
        let mut left_out = self.left_out.clone();
        left_out.extend(unreadable(self.unit, Table::Fact));
        left_out.extend(unreadable(self.unit, Table::Session));
        // An unreadable row may be the draft of another actor.
        if load::drafts(access) == Drafts::All {
            left_out.extend(unreadable(self.unit, Table::Package));
        }
        names(&self.damaged, left_out)
    }

    fn rows<'a>(&'a self, damaged: &'a [String]) -> BriefingRows<'a> {
        let questions = self.questions.rows.iter().filter_map(|row| {
            let package_id: &PackageId = row.sources.first()?;
            Some(BriefingQuestion { text: &row.text, package_id })
        });
        BriefingRows {
            project: &self.project,
            standing: self.packages(&self.standing),
            handoffs: self.handoffs.iter().map(|package| self.row_of(package)).collect(),
            reviews: self.packages(&self.reviews),
            questions: Counted::new(questions.collect(), self.questions.total),
            facts: Counted::new(self.facts.rows.iter().collect(), self.facts.total),
            sessions: Counted::new(self.sessions.rows.iter().collect(), self.sessions.total),
            idle_sessions: self.idle_sessions,
            work: self.packages(&self.work),
            automatic: self.automatic.clone(),
            damaged,
        }
    }

    fn packages<'a>(&'a self, list: &'a Counted<Package>) -> Counted<BriefingPackage<'a>> {
        let rows = list.rows.iter().map(|package| self.row_of(package));
        Counted::new(rows.collect(), list.total)
    }

    fn row_of<'a>(&'a self, package: &'a Package) -> BriefingPackage<'a> {
        let by = self.superseded.get(package.package_id()).and_then(|by| by.first());
        BriefingPackage { fields: package.fields(), superseded_by: by.cloned() }
    }
}

/// Adds a package to the loaded rows of a list that counts it, unless it is there.
fn keep(list: &mut Counted<Package>, package: &Package) {
    if list.rows.iter().all(|row| row.package_id() != package.package_id()) {
        list.rows.push(package.clone());
    }
}
