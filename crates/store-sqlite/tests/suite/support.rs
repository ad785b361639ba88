//! What the tests share.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use accord_base::ProjectId;
use accord_memory_core::PackageId;
use accord_store::testing::Generator;
use accord_store::{
    EventEntry, PackageIndex, PackageRow, ProjectQuery, ProjectRow, Result, RevisionRow, Store,
    StoreError, StoreExt as _,
};
use accord_store_sqlite::{Options, SqliteStore};

/// Set in a process that a test has started to run itself again.
pub(crate) const CHILD: &str = "ACCORD_STORE_TEST_CHILD";

pub(crate) fn open(folder: &Path) -> SqliteStore {
    SqliteStore::open(folder, &Options::default()).unwrap()
}

/// Why the store in a folder is not opened.
pub(crate) fn refusal(folder: &Path) -> StoreError {
    let opened = SqliteStore::open(folder, &Options::default());
    opened.map(|_| ()).unwrap_err()
}

pub(crate) fn project(id: &str) -> ProjectRow {
    ProjectRow { project_id: ProjectId::new(id).unwrap(), ..Generator::new(1).project_row() }
}

/// A package that nothing but its id tells from others.
pub(crate) fn package(project: &str, id: &str) -> PackageRow {
    let (row, ..) = Generator::new(5).package_row();
    let mut row = PackageRow {
        project_id: ProjectId::new(project).unwrap(),
        package_id: PackageId::new(id).unwrap(),
        quarantine: None,
        ..row
    };
    row.state.revision = 1;
    row.state.status = accord_memory_core::package::Status::Complete;
    row
}

pub(crate) fn log() -> Vec<RevisionRow> {
    vec![Generator::new(1).revision(1)]
}

pub(crate) fn event(text: &str) -> EventEntry {
    EventEntry { only_for: None, text: text.to_owned(), ..Generator::new(1).event() }
}

/// Deposits a package whose body is `body`, with an event that names it; adds the project where it
/// is not there.
pub(crate) fn deposit(store: &dyn Store, project_id: &str, id: &str, body: &str) -> Result<u64> {
    add(store, project_id, id, PackageIndex::of_parts(["", "", "", "", body], &[]), false)
}

/// The same of a package that a person should review, and that asks a question.
pub(crate) fn ask_for_review(store: &dyn Store, project_id: &str, id: &str) -> Result<u64> {
    let questions = [format!("What about {id}?")];
    add(store, project_id, id, PackageIndex::of_parts([""; 5], &questions), true)
}

fn add(
    store: &dyn Store,
    project_id: &str,
    id: &str,
    index: PackageIndex,
    waits: bool,
) -> Result<u64> {
    let (project, mut row) = (project(project_id), package(project_id, id));
    if waits {
        row.state.status = accord_memory_core::package::Status::AwaitingReview;
        row.state.review_type = accord_memory_core::package::ReviewType::Human;
    }
    let event = event(id);
    store.write(move |unit| {
        if unit.project(&row.project_id)?.is_none() {
            unit.insert_project(&project)?;
        }
        unit.insert_package(&row, &index, &log())?;
        unit.append_event(&row.project_id, &event)
    })
}

/// The ids of the packages that a store holds, project by project; every one of them whole, with
/// its event, in the order of their events.
pub(crate) fn whole_packages(store: &dyn Store) -> Vec<(String, String)> {
    let projects = ProjectQuery { archived: true, after: None, limit: usize::MAX };
    let found = store.read(|unit| {
        let mut found = Vec::new();
        for project in unit.projects(&projects)? {
            let id = &project.project_id;
            let events = unit.events(id, 0, usize::MAX)?;
            let counted: u64 = unit.tallies(id, None)?.iter().map(|tally| tally.packages).sum();
            assert_eq!(counted, events.len() as u64, "as many packages as events");
            assert!(events.iter().map(|event| event.seq).eq(1..=counted), "no gap");
            // The inbox among them: it has what its sources say.
            assert_eq!(unit.check_derived(Some(id))?, []);
            for event in events {
                let package = PackageId::new(event.entry.text.as_str()).unwrap();
                assert!(unit.package(id, &package)?.is_some(), "{package} is there");
                assert_eq!(unit.revisions(id, &package)?, log(), "{package} has its log");
                found.push((id.as_str().to_owned(), event.entry.text));
            }
        }
        Ok::<_, StoreError>(found)
    });
    found.unwrap()
}

/// What the process was given that a test has started to run itself again; `None` in the test.
pub(crate) fn given() -> Option<String> {
    std::env::var(CHILD).ok()
}

/// Starts this binary again with one test, which is given a text.
pub(crate) fn start(test: &str, text: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(CHILD, text)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Runs one test of this binary again in a namespace of its own, in which `mount` says what is
/// mounted on the folder `$D`. Says whether that was possible; where it was not and must be, fails.
pub(crate) fn in_namespace(test: &str, folder: &Path, mount: &str) -> bool {
    let script = format!("set -e; D=\"$2\"; {mount}; exec \"$0\" --exact \"$1\" --nocapture");
    let able = Command::new("unshare").args(["-Urm", "true"]).status();
    if !able.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED {test}: no user namespaces here");
        assert!(std::env::var_os("CI").is_none(), "CI must be able to run {test}");
        return false;
    }
    let output = Command::new("unshare")
        .args(["-Urm", "sh", "-c", &script])
        .arg(std::env::current_exe().unwrap())
        .arg(test)
        .arg(folder)
        .env(CHILD, folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{complained}");
    assert!(said.contains("1 passed"), "{said}");
    true
}
