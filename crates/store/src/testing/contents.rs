//! Everything in a store as lines of text, and checks that one way to read it agrees with another.

use accord_base::ProjectId;
use accord_contract::Time;

use super::queries::{decisions, facts, lines, plain, sessions};
use super::{Generator, live};
use crate::{
    FactQuery, LiveSessionQuery, Order, PackageQuery, ProjectQuery, Quarantined, ReadUnit, Result,
    Scope, Space, Store, StoreExt as _, When,
};

/// Everything, without the store's numbers.
pub(super) fn everything(store: &dyn Store) -> Vec<String> {
    let lines = store.read(|unit| all(unit));
    lines.unwrap_or_else(|error| panic!("{error}: {}", error.detail()))
}

fn all(unit: &dyn ReadUnit) -> Result<Vec<String>> {
    let mut lines = lines(unit.keys(None, usize::MAX)?);
    for key in unit.keys(None, usize::MAX)? {
        assert_eq!(unit.key(&key.key_id)?.as_ref(), Some(&key));
        assert_eq!(unit.key_of_hash(&key.secret_hash)?.as_ref(), Some(&key));
        assert!(!unit.keys(Some(&key.key_id), usize::MAX)?.contains(&key));
    }
    let people = unit.people()?;
    for person in &people {
        assert_eq!(unit.person(&person.name)?.as_ref(), Some(person));
    }
    lines.extend(self::lines(people));
    lines.extend(settings(unit, Scope::Store)?);
    let query = ProjectQuery { archived: true, after: None, limit: usize::MAX };
    for project in unit.projects(&query)? {
        lines.push(format!("{project:?}"));
        lines.extend(of_project(unit, &project.project_id)?);
    }
    for project in Generator::projects() {
        if let Some(removal) = unit.removal(&project)? {
            lines.push(format!("{removal:?} {:?}", unit.event_range(&project)?));
        }
        if unit.project(&project)?.is_none() {
            assert_eq!(unit.contents(&project)?.total(), 0);
        }
    }
    lines.extend(live::everything(unit)?);
    let shown = ProjectQuery { archived: false, ..query };
    lines.extend(self::lines(unit.projects(&shown)?));
    // Nothing was damaged, so all derived data matches its source.
    assert_eq!(unit.check_derived(None)?, []);
    assert_eq!(unit.damage(), []);
    Ok(lines)
}

fn of_project(unit: &dyn ReadUnit, project: &ProjectId) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    let query = PackageQuery {
        quarantined: Quarantined::Also,
        order: Order::OldestFirst,
        limit: usize::MAX,
        ..PackageQuery::default()
    };
    let packages = unit.packages(project, &query)?;
    let mut numbers: Vec<_> = packages.iter().map(|row| row.seq.cast_signed()).collect();
    numbers.sort_unstable();
    assert_eq!(unit.package_numbers(project)?, numbers);
    let contents = unit.contents(project)?;
    assert_eq!(contents.packages, packages.len() as u64);
    for package in packages {
        let found = unit.package(project, &package.package_id)?;
        assert_eq!(found.as_ref(), Some(&package));
        let found = unit.package_numbered(project, package.seq.cast_signed())?;
        assert_eq!(found, Some(Ok(package.clone())));
        lines.push(format!("{:?}", unit.revisions(project, &package.package_id)?));
        lines.push(format!("{:?}", plain(package)));
    }
    // Only where there are vectors, so that the text of a store without any stays the same.
    for (model, dimension) in [("mini", 2), ("mini", 3), ("large", 2), ("large", 3)] {
        let rows = unit.embeddings(project, Space { model, dimension }, 0, usize::MAX)?;
        lines.extend(self::lines(rows.into_iter().map(|row| (model, dimension, plain(row)))));
    }
    let query = FactQuery { when: When::Ever, limit: 3, ..FactQuery::default() };
    let facts = facts(unit, project, query)?;
    assert_eq!(contents.facts, facts.len() as u64);
    lines.extend(facts);
    let sessions = sessions(unit, project, None, false, None, Order::OldestFirst)?;
    assert_eq!(contents.sessions, sessions.len() as u64);
    lines.extend(sessions);
    let decisions = decisions(unit, project, &(None, None, None, None), 2)?;
    assert_eq!(contents.decisions.unwrap_or(0), decisions.len() as u64);
    lines.extend(decisions);
    let edges = unit.edges(project)?;
    for edge in &edges {
        assert_eq!(unit.edge(project, &edge.edge_id)?.as_ref(), Some(edge));
        lines.extend(self::lines(unit.edge_items(project, &edge.edge_id)?));
        lines.extend(self::lines(unit.edge_decisions(project, &edge.edge_id)?));
    }
    lines.extend(self::lines(edges));
    lines.extend(self::lines(unit.events(project, 0, usize::MAX)?));
    lines.push(format!("{:?}", unit.event_range(project)?));
    lines.extend(settings(unit, Scope::Project(project))?);
    let blobs = unit.blobs(project, None, usize::MAX)?;
    assert_eq!(contents.blobs, blobs.len() as u64);
    for blob in &blobs {
        assert_eq!(unit.blob(project, &blob.digest)?.as_ref(), Some(blob));
        assert!(unit.blobs_named(&blob.digest)?.contains(blob));
        assert!(!unit.blobs(project, Some(&blob.digest), usize::MAX)?.contains(blob));
    }
    lines.extend(self::lines(blobs));
    let query = LiveSessionQuery { active_at: None, after: None, limit: usize::MAX };
    let rows = unit.live_sessions(project, &query)?;
    let unended = rows.iter().filter(|row| !row.session.head.is_ended).count() as u64;
    assert_eq!(contents.live_sessions.unwrap_or(0), unended);
    lines.extend(live::of_project(unit, project, Time::from_unix_millis(0), 2)?);
    assert_eq!(unit.check_derived(Some(project))?, []);
    Ok(lines)
}

fn settings(unit: &dyn ReadUnit, scope: Scope<'_>) -> Result<Vec<String>> {
    let settings = unit.settings(scope)?;
    for (name, value) in &settings {
        assert_eq!(unit.setting(scope, name)?.as_ref(), Some(value));
    }
    assert_eq!(unit.setting(scope, "unset")?, None);
    Ok(lines(settings))
}
