//! Brief: what an actor reads when it begins to work.

use std::collections::{BTreeMap, BTreeSet};

use accord_base::{Access, Caller, ProjectId, Verb};
use accord_contract::{Failure, Time};
use accord_memory_core::bundle::{
    ACTIVE_HOURS, Automatic, BriefingFact, BriefingPackage, BriefingPart, BriefingQuestion,
    BriefingRows, Counted, Outline, ReviewNote, briefing,
};
use accord_memory_core::package::Status;
use accord_memory_core::package::flow::is_result;
use accord_memory_core::query::{BriefingQuery, Focus};
use accord_memory_core::{Fact, Package, PackageId, Project, Session, ShortIds};
use accord_store::{
    Drafts, FactKey, FactQuery, PackageQuery, PackageRow, QuestionQuery, QuestionRow, ReadUnit,
    SearchQuery, SessionQuery, Table,
};

use super::load::unreadable;
use super::pull::names;
use super::relevant::Way;
use super::served::{Damaged, sound_package};
use super::{Memory, UnitResult, load};

/// How many packages that a search for the focus finds are considered.
const ABOUT_FOCUS: usize = 20;
/// How many facts are ranked.
const RANKED_FACTS: usize = 500;
/// Up to how many values of a fact are counted.
const COUNTED_VALUES: u64 = 20;
/// Up to how many packages of a part are counted.
const COUNTED: u64 = 10_000;
/// How many packages that hand work over are considered.
const HANDED_OVER: usize = 40;
/// How many notes of reviewers are considered.
const NOTES: usize = 40;
/// How many approvals with a note are shown with what reviewers ask; others stand where they would
/// without it.
const APPROVED: usize = 5;
/// How many packages that extend or correct one are considered.
const CHILDREN: usize = 3;
/// How many ids that begin alike are compared.
const ALIKE: usize = 100;
/// How many packages that others extend or correct are read besides.
const PARENTS: usize = 100;

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
    asked: Counted<Package>,
    standing: Counted<Package>,
    handoffs: Vec<Package>,
    reviews: Counted<Package>,
    questions: Counted<QuestionRow>,
    facts: Counted<(Fact, u64)>,
    sessions: Counted<Session>,
    idle_sessions: u64,
    work: Counted<Package>,
    parents: Vec<Package>,
    automatic: Option<Automatic>,
    superseded: BTreeMap<PackageId, Vec<PackageId>>,
    notes: BTreeMap<PackageId, ReviewNote>,
    outlines: BTreeMap<PackageId, Outline>,
    /// The packages whose latest revision has a note.
    noted: BTreeSet<PackageId>,
    damaged: Vec<Damaged>,
    /// The ids of other damaged rows.
    left_out: Vec<String>,
    short_ids: ShortIds,
    /// The packages about the focus, best first.
    about: Vec<PackageId>,
}

/// Finds the packages about a focus, of any age, best first.
type About<'a> = dyn Fn(&Focus) -> UnitResult<Vec<PackageRow>> + 'a;

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
        // Checked before the focus leaves this process.
        access.may(Verb::Read, &project)?;
        let way = match &asked.focus {
            Some(focus) => self.way_of_focus(&focus.text).await,
            None => Way::default(),
        };
        let memory = self.clone();
        let (text, damaged) = self
            .read(move |unit| {
                let about = |focus: &Focus| memory.about(unit, &project, focus, &way);
                let loaded = Loaded::read(unit, &access, &project, &asked, &about, now)?;
                let names = loaded.damaged_names(&access);
                Ok((briefing(&loaded.rows(&names), &asked, now), loaded.damaged))
            })
            .await?;
        self.set_aside(&damaged);
        Ok(text)
    }

    fn about(
        &self,
        unit: &dyn ReadUnit,
        project: &ProjectId,
        focus: &Focus,
        way: &Way,
    ) -> UnitResult<Vec<PackageRow>> {
        let (text, drafts, limit) = (focus.text.as_str(), Drafts::None, ABOUT_FOCUS);
        let query = SearchQuery { text, drafts, limit, ..SearchQuery::default() };
        let found = self.search(unit, project, &query, way)?;
        Ok(found.hits.into_iter().map(|hit| hit.package).collect())
    }
}

impl Caps {
    fn of(asked: &BriefingQuery) -> Self {
        let tokens = asked.max_tokens as usize;
        Self { packages: (tokens / 30).clamp(300, 400), lines: (tokens / 15).clamp(40, 1_000) }
    }
}

impl<'u> Loaded<'u> {
    fn read(
        unit: &'u dyn ReadUnit,
        access: &Access,
        id: &'u ProjectId,
        asked: &BriefingQuery,
        about: &About<'_>,
        now: Time,
    ) -> UnitResult<Self> {
        let mut loaded = Self::bare(unit, id, load::project(unit, access, Verb::Read, id)?);
        let caps = Caps::of(asked);
        loaded.standing = loaded.part(BriefingPart::Standing, caps.packages)?;
        loaded.asked = loaded.part(BriefingPart::Asked, caps.packages)?;
        loaded.reviews = loaded.part(BriefingPart::Waiting, caps.packages)?;
        loaded.work = loaded.part(BriefingPart::Work, caps.packages)?;
        for row in unit.latest_standing(id, caps.packages)? {
            loaded.add(row)?;
        }
        loaded.read_handoffs()?;
        loaded.read_notes()?;
        loaded.read_children()?;
        loaded.read_drafts(load::drafts(access), caps.packages)?;
        if let Some(focus) = &asked.focus {
            loaded.read_focus(about(focus)?)?;
        }
        loaded.read_parents()?;
        loaded.read_automatic()?;
        let (drafts, limit) = (Drafts::None, caps.lines);
        let query = QuestionQuery { drafts, limit, sources: 1, ..QuestionQuery::default() };
        let total = unit.open_question_count(id, None)?;
        loaded.questions = Counted::new(unit.questions(id, &query)?, total);
        loaded.read_facts(RANKED_FACTS)?;
        loaded.read_sessions(caps.lines, now)?;
        // The others are not superseded.
        let marked = loaded.reviews.rows.iter().chain(&loaded.asked.rows).chain(&loaded.work.rows);
        let mut marked = marked.chain(&loaded.parents).map(Package::package_id);
        loaded.superseded = unit.superseded(id, &mut marked)?;
        loaded.read_short_ids()?;
        Ok(loaded)
    }

    /// The first packages of a part, and how many it has.
    fn part(&mut self, part: BriefingPart, limit: usize) -> UnitResult<Counted<Package>> {
        let rows = self.unit.briefed(self.id, part, limit)?;
        let total = self.unit.briefed_count(self.id, part, COUNTED)?;
        Ok(Counted::new(self.sound(rows)?, total))
    }

    /// Adds a package to the list of its part, if it is not there.
    fn add(&mut self, row: PackageRow) -> UnitResult<()> {
        let part = row.briefing_part();
        let Some(package) = self.sound([row])?.pop() else { return Ok(()) };
        let list = match part {
            Some(BriefingPart::Standing) => &mut self.standing,
            Some(BriefingPart::Asked) => &mut self.asked,
            Some(BriefingPart::Waiting) => &mut self.reviews,
            Some(BriefingPart::Work) => &mut self.work,
            Some(BriefingPart::Automatic) | None => return Ok(()),
        };
        let id = package.package_id();
        if list.rows.iter().all(|known| known.package_id() != id) {
            list.rows.push(package);
            list.total = list.total.max(list.rows.len() as u64);
        }
        Ok(())
    }

    fn bare(unit: &'u dyn ReadUnit, id: &'u ProjectId, project: Project) -> Self {
        Self {
            unit,
            id,
            project,
            asked: Counted::new(Vec::new(), 0),
            standing: Counted::new(Vec::new(), 0),
            handoffs: Vec::new(),
            reviews: Counted::new(Vec::new(), 0),
            questions: Counted::new(Vec::new(), 0),
            facts: Counted::new(Vec::new(), 0),
            sessions: Counted::new(Vec::new(), 0),
            idle_sessions: 0,
            work: Counted::new(Vec::new(), 0),
            parents: Vec::new(),
            automatic: None,
            superseded: BTreeMap::new(),
            notes: BTreeMap::new(),
            outlines: BTreeMap::new(),
            noted: BTreeSet::new(),
            damaged: Vec::new(),
            left_out: Vec::new(),
            short_ids: ShortIds::default(),
            about: Vec::new(),
        }
    }

    /// The latest packages that hand work over, down to the latest of the type handoff.
    fn read_handoffs(&mut self) -> UnitResult<()> {
        let latest = self.unit.latest_handoff(self.id)?;
        let mut rows = self.unit.handed_over(self.id, HANDED_OVER)?;
        let is_new = |row: &PackageRow| rows.iter().all(|other| other.seq != row.seq);
        rows.extend(latest.filter(is_new));
        self.handoffs = self.sound(rows)?;
        Ok(())
    }

    /// The notes of reviewers. Packages with one move to what reviewers ask; of those that were
    /// approved, only the newest.
    fn read_notes(&mut self) -> UnitResult<()> {
        let mut approved = 0;
        for row in self.unit.with_note(self.id, NOTES)? {
            let id = row.package_id.clone();
            self.read_note(&id)?;
            let author = format!("{}:{}", row.actor.kind, row.actor.id);
            let is_of_other = |note: &ReviewNote| note.by.as_ref().is_none_or(|by| *by != author);
            let is_complete = row.state.status == Status::Complete;
            approved += usize::from(is_complete);
            let is_first = !is_complete || approved <= APPROVED;
            if !(is_first && self.notes.get(&id).is_some_and(is_of_other)) {
                self.add(row)?;
                continue;
            }
            let from = match row.briefing_part() {
                Some(BriefingPart::Standing) => Some(&mut self.standing),
                Some(BriefingPart::Waiting) => Some(&mut self.reviews),
                Some(BriefingPart::Work) => Some(&mut self.work),
                _ => None,
            };
            if let Some(list) = from {
                list.rows.retain(|one| *one.package_id() != id);
                list.total = list.total.saturating_sub(1).max(list.rows.len() as u64);
            }
            if self.asked.rows.iter().all(|one| *one.package_id() != id) {
                let sound = self.sound([row])?;
                self.asked.total += sound.len() as u64;
                self.asked.rows.extend(sound);
            }
        }
        let lists = [&self.asked, &self.reviews, &self.standing, &self.work];
        let packages = lists.into_iter().flat_map(|list| &list.rows).map(Package::package_id);
        let unread =
            packages.filter(|id| self.noted.contains(*id) && !self.notes.contains_key(*id));
        for id in unread.take(NOTES).cloned().collect::<Vec<_>>() {
            self.read_note(&id)?;
        }
        Ok(())
    }

    /// The note of the latest revision of a package.
    fn read_note(&mut self, id: &PackageId) -> UnitResult<()> {
        let log = self.unit.revisions(self.id, id)?;
        let Some(Ok(last)) = log.last().map(load::read_revision) else { return Ok(()) };
        let by = last.actor.as_ref().map(|by| format!("{}:{}", by.kind, by.id));
        let note = last.note.filter(|note| !note.trim().is_empty());
        self.notes.extend(note.map(|text| (id.clone(), ReviewNote { by, text })));
        Ok(())
    }

    /// The packages that extend or correct one that is shown.
    fn read_children(&mut self) -> UnitResult<()> {
        let lists = [&self.asked, &self.standing];
        let parents = lists.into_iter().flat_map(|list| &list.rows);
        let parents: Vec<PackageId> = parents.map(|one| one.package_id().clone()).collect();
        for parent in parents {
            for row in self.unit.children(self.id, &parent, CHILDREN)? {
                self.add(row)?;
            }
        }
        Ok(())
    }

    /// The packages that those of the lists extend or correct, and that are in none of them.
    fn read_parents(&mut self) -> UnitResult<()> {
        let lists = [&self.asked, &self.standing, &self.work, &self.reviews];
        let loaded = lists.into_iter().flat_map(|list| &list.rows);
        let loaded: BTreeSet<_> = loaded.map(|one| one.package_id().clone()).collect();
        let parents = self.outlines.values().filter_map(|outline| outline.parent.as_ref());
        let parents: BTreeSet<_> = parents.filter(|id| !loaded.contains(*id)).cloned().collect();
        let mut replaced = BTreeSet::new();
        for parent in parents.iter().take(PARENTS) {
            // A package of another project is not shown.
            let Some(row) = self.unit.package(self.id, parent)? else { continue };
            if !self.unit.superseded(self.id, &mut [parent].into_iter())?.is_empty() {
                replaced.insert(parent);
            } else if row.briefing_part().is_some() {
                let sound = self.sound([row])?;
                self.parents.extend(sound);
            }
        }
        // What supersedes the package of a worker also supersedes the result of its attempt.
        for list in [&mut self.standing, &mut self.work] {
            let before = list.rows.len();
            list.rows.retain(|one| {
                let parent = self.outlines[one.package_id()].parent.as_ref();
                !(is_result(one.fields()) && parent.is_some_and(|it| replaced.contains(it)))
            });
            list.total -= (before - list.rows.len()) as u64;
        }
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

    /// Adds the packages about a focus.
    fn read_focus(&mut self, found: Vec<PackageRow>) -> UnitResult<()> {
        for row in found {
            // What another package supersedes no longer holds.
            let waits =
                matches!(row.briefing_part(), Some(BriefingPart::Asked | BriefingPart::Waiting));
            let marks = self.unit.superseded(self.id, &mut [&row.package_id].into_iter())?;
            if waits || marks.is_empty() {
                self.about.push(row.package_id.clone());
                self.add(row)?;
            }
        }
        Ok(())
    }

    fn read_automatic(&mut self) -> UnitResult<()> {
        let part = BriefingPart::Automatic;
        let total = self.unit.briefed_count(self.id, part, COUNTED)?;
        let newest = self.unit.briefed(self.id, part, 1)?.pop();
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
                Ok(fact) => {
                    let key = FactKey { subject: &row.subject, predicate: &row.predicate };
                    let versions = self.unit.fact_versions(self.id, key, COUNTED_VALUES)?;
                    facts.push((fact, versions));
                }
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

    /// How the ids of packages can be shortened, so that each is the only one that begins so.
    fn read_short_ids(&mut self) -> UnitResult<()> {
        let questions = self.questions.rows.iter().filter_map(|row| row.sources.first());
        let automatic = self.automatic.iter().map(|automatic| &automatic.newest);
        let shown = self.outlines.keys().chain(questions).chain(automatic);
        for id in shown.chain(self.superseded.values().flatten()) {
            let short = PackageId::new(self.short_ids.of(id)).ok();
            let Some(beginning) = short.and_then(|short| short.beginning()) else { continue };
            let alike = self.unit.package_ids(&beginning, Some(self.id), ALIKE)?;
            self.short_ids.lengthen(id, alike.iter().map(|(_, other)| other));
        }
        Ok(())
    }

    fn sound(&mut self, rows: impl IntoIterator<Item = PackageRow>) -> UnitResult<Vec<Package>> {
        let rows = rows.into_iter();
        let mut sound = Vec::new();
        for row in rows {
            let outline = row.outline.clone();
            let has_note = row.state.has_note;
            if let Some(package) = sound_package(row, &mut self.damaged)? {
                let id = package.package_id();
                self.outlines.insert(id.clone(), outline);
                if has_note {
                    self.noted.insert(id.clone());
                }
                sound.push(package);
            }
        }
        Ok(sound)
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
            asked: self.packages(&self.asked),
            standing: self.packages(&self.standing),
            handoffs: self.handoffs.iter().map(|package| self.row_of(package)).collect(),
            reviews: self.packages(&self.reviews),
            questions: Counted::new(questions.collect(), self.questions.total),
            facts: self.facts(),
            sessions: Counted::new(self.sessions.rows.iter().collect(), self.sessions.total),
            idle_sessions: self.idle_sessions,
            work: self.packages(&self.work),
            parents: self.parents.iter().map(|package| self.row_of(package)).collect(),
            automatic: self.automatic.clone(),
            damaged,
            short_ids: &self.short_ids,
            about: &self.about,
        }
    }

    fn facts(&self) -> Counted<BriefingFact<'_>> {
        let facts = self.facts.rows.iter();
        let facts = facts.map(|(fact, versions)| BriefingFact { fact, versions: *versions });
        Counted::new(facts.collect(), self.facts.total)
    }

    fn packages<'a>(&'a self, list: &'a Counted<Package>) -> Counted<BriefingPackage<'a>> {
        let rows = list.rows.iter().map(|package| self.row_of(package));
        Counted::new(rows.collect(), list.total)
    }

    fn row_of<'a>(&'a self, package: &'a Package) -> BriefingPackage<'a> {
        let by = self.superseded.get(package.package_id()).and_then(|by| by.first());
        let id = package.package_id();
        BriefingPackage {
            fields: package.fields(),
            superseded_by: by.cloned(),
            note: self.notes.get(id),
            outline: &self.outlines[id],
        }
    }
}
