//! Many writers at once.

#![expect(clippy::disallowed_methods, reason = "tests of engines need concurrent threads")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};

use accord_base::ProjectId;
use accord_memory_core::PackageId;
use parking_lot::Mutex;

use super::Generator;
use crate::{
    Advance, EventEntry, Listener, PackageRow, ProjectRow, Store, StoreError, StoreErrorKind,
    StoreExt as _,
};

/// Many threads write packages and events into a few projects of an empty store, while others read.
/// Some jobs roll back at the end. Then checks that exactly the acknowledged writes are stored, and
/// that no stream has a gap. Panics when a check fails.
pub fn many_writers(store: &dyn Store, threads: usize, jobs: usize, seed: u64) {
    let advances: Arc<Mutex<Vec<Advance>>> = Arc::default();
    let heard = Arc::clone(&advances);
    let listener = Arc::new(move |advances: &[Advance]| heard.lock().extend_from_slice(advances));
    store.subscribe(Arc::downgrade(&listener) as Weak<dyn Listener>);
    let projects: Vec<ProjectRow> = projects(seed);
    let kept: Vec<(ProjectId, PackageId, u64)> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..threads)
            .map(|thread| {
                let projects = projects.clone();
                scope.spawn(move || write(store, &projects, thread, jobs, seed))
            })
            .collect();
        let reader = scope.spawn(|| watch(store, &projects, jobs));
        reader.join().expect("the reader sees no gap");
        writers.into_iter().flat_map(|writer| writer.join().expect("a writer ends")).collect()
    });
    for project in &projects {
        let id = &project.project_id;
        let kept = kept.iter().filter(|(project, ..)| project == id);
        let kept: BTreeMap<u64, &PackageId> = kept.map(|(_, id, seq)| (*seq, id)).collect();
        let newest = kept.len() as u64;
        assert!(kept.keys().copied().eq(1..=newest), "seed {seed}: {id} has a gap");
        let events = store.read(|unit| unit.events(id, 0, usize::MAX)).expect("events");
        let told_of: Vec<&str> = events.iter().map(|event| event.entry.text.as_str()).collect();
        let acknowledged: Vec<&str> = kept.values().map(|package| package.as_str()).collect();
        assert_eq!(told_of, acknowledged, "seed {seed}: {id}");
        for package in kept.values() {
            let row = store.read(|unit| unit.package(id, package)).expect("a row");
            assert!(row.is_some(), "seed {seed}: {package} was acknowledged and is missing");
        }
        let all = everything_of(store, id);
        assert_eq!(all.len(), kept.len(), "seed {seed}: {id} has unacknowledged writes");
        let advances = advances.lock();
        let own = advances.iter().filter(|advance| advance.project_id == *id);
        let through: Vec<u64> = own.map(|advance| advance.through).collect();
        assert!(through.is_sorted_by(|a, b| a < b), "seed {seed}: notified out of order");
        assert_eq!(through.last().copied().unwrap_or_default(), newest, "seed {seed}");
    }
}

fn projects(seed: u64) -> Vec<ProjectRow> {
    let mut generator = Generator::new(seed);
    let mut projects = BTreeMap::new();
    while projects.len() < 3 {
        let row = generator.project_row();
        projects.insert(row.project_id.clone(), row);
    }
    projects.into_values().collect()
}

/// Writes packages, each with an event that names it. Returns the acknowledged ones.
fn write(
    store: &dyn Store,
    projects: &[ProjectRow],
    thread: usize,
    jobs: usize,
    seed: u64,
) -> Vec<(ProjectId, PackageId, u64)> {
    let mut generator = Generator::new(seed ^ ((thread as u64 + 1) << 32));
    let mut kept = Vec::new();
    for job in 0..jobs {
        let project = generator.random.pick(projects);
        let id = project.project_id.clone();
        let package_id = PackageId::new(format!("{thread}.{job}")).expect("an id");
        let (row, index, log) = generator.package_row();
        let (project_id, named) = (id.clone(), package_id.clone());
        let row = PackageRow { project_id, package_id: named, quarantine: None, ..row };
        let event = EventEntry { text: package_id.as_str().to_owned(), ..generator.event() };
        let (gives_up, breaks) = (generator.random.one_in(7), generator.random.one_in(60));
        let outcome = store.write(move |unit| {
            if unit.project(&project.project_id)?.is_none() {
                unit.insert_project(&project)?;
            }
            unit.insert_package(&row, &index, &log)?;
            let seq = unit.append_event(&project.project_id, &event)?;
            if breaks {
                // Panics without printing a message.
                std::panic::resume_unwind(Box::new("on purpose"));
            }
            if gives_up {
                return Err(StoreError::from(StoreErrorKind::Full));
            }
            Ok(seq)
        });
        match outcome {
            Ok(seq) => kept.push((id, package_id, seq)),
            Err(error) if breaks => assert_eq!(error.kind(), StoreErrorKind::Broken),
            Err(error) if gives_up => assert_eq!(error.kind(), StoreErrorKind::Full),
            Err(error) => panic!("{error}: {}", error.detail()),
        }
    }
    kept
}

/// Reads while others write: every snapshot has as many packages as events, and no gap.
fn watch(store: &dyn Store, projects: &[ProjectRow], times: usize) {
    for _ in 0..times {
        for project in projects {
            let id = &project.project_id;
            let (events, packages) = store
                .read(|unit| {
                    let events = unit.events(id, 0, usize::MAX)?;
                    let tallies = unit.tallies(id, None)?;
                    let packages: u64 = tallies.iter().map(|tally| tally.packages).sum();
                    Ok::<_, StoreError>((events, packages))
                })
                .expect("a snapshot");
            assert_eq!(events.len() as u64, packages);
            assert!(events.iter().map(|event| event.seq).eq(1..=packages));
        }
    }
}

fn everything_of(store: &dyn Store, project: &ProjectId) -> BTreeSet<PackageId> {
    let query = crate::PackageQuery { limit: usize::MAX, ..crate::PackageQuery::default() };
    let rows = store.read(|unit| unit.packages(project, &query)).expect("rows");
    rows.into_iter().map(|row| row.package_id).collect()
}
