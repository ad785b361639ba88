//! Which folder holds the tasks of a project.

use std::time::{Duration, Instant};

use accord_base::{By, Door, ProjectId};
use accord_contract::Code;
use accord_host::http::Host;
use accord_host::settings::Settings;
use accord_tasks_core::operations::{CreateRequest, InitRequest, ReviewMode};

fn lead() -> By {
    By::parse("human:lead", Door::Http).unwrap()
}

fn project(id: &str) -> ProjectId {
    ProjectId::new(id).unwrap()
}

/// Makes the tree of a project, which is new.
fn init(host: &Host, project: &ProjectId) {
    let answer = host.tasks().init(project, &InitRequest::default(), &lead()).unwrap();
    assert!(answer.created, "{answer:?}");
    let again = host.tasks().init(project, &InitRequest::default(), &lead()).unwrap();
    assert!(!again.created, "{again:?}");
}

#[test]
fn a_first_change_that_is_refused_leaves_nothing() {
    let parent = tempfile::tempdir().unwrap();
    let data = parent.path().join(".accord");
    let host = Host::tasks_only(&data, Settings::default()).unwrap();
    let (atlas, agent) = (project("atlas"), By::parse("builder", Door::Http).unwrap());
    let mut request = CreateRequest {
        title: "Ship it".into(),
        depends_on: Some(vec!["TASK-2026-02-09-001".into()]),
        ..CreateRequest::default()
    };
    let refused = host.tasks().create(&atlas, &request, &lead()).unwrap_err();
    assert_eq!(refused.code, Code::AofDependencyNotFound);
    request.depends_on = None;
    request.review_required = Some(false);
    let refused = host.tasks().create(&atlas, &request, &agent).unwrap_err();
    assert_eq!(refused.code, Code::AofPersonRequired);
    let settings = InitRequest { review: Some(ReviewMode::Guide), ..InitRequest::default() };
    let refused = host.tasks().init(&atlas, &settings, &agent).unwrap_err();
    assert_eq!(refused.code, Code::AofPersonRequired);
    assert!(!data.exists(), "a refused change left {}", data.display());
    let created = host.tasks().create(&atlas, &request, &lead()).unwrap();
    assert!(data.join("projects/atlas").join(created.task.path).is_file());
}

#[test]
fn a_reader_creates_nothing_and_a_tree_has_the_name_of_its_project() {
    let data = tempfile::tempdir().unwrap();
    let host = Host::tasks_only(data.path(), Settings::default()).unwrap();
    let atlas = project("atlas");
    assert!(host.tasks().find(&atlas).unwrap().is_none());
    assert_eq!(host.tasks().get(&atlas).err().unwrap().code, Code::AofNoTaskTree);
    assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 0, "something was created");
    init(&host, &atlas);
    assert!(data.path().join("projects/atlas/tasks/ready").is_dir());
    assert!(host.tasks().find(&atlas).unwrap().is_some());
    // An id that AOF does not allow, and whose slug another project has.
    init(&host, &project("Atlas"));
    assert!(data.path().join("projects/atlas-9dee1c0e/tasks").is_dir());
    assert!(!data.path().join("accord.db").exists(), "the store was opened");
}

#[test]
fn the_first_tree_makes_a_private_data_folder_that_git_ignores() {
    use std::os::unix::fs::PermissionsExt as _;
    let parent = tempfile::tempdir().unwrap();
    let data = parent.path().join(".accord");
    let host = Host::tasks_only(&data, Settings::default()).unwrap();
    init(&host, &project("atlas"));
    assert_eq!(std::fs::read_to_string(data.join(".gitignore")).unwrap(), "*\n");
    let mode = std::fs::metadata(&data).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "{mode:o}");
}

#[test]
fn a_linked_folder_takes_the_place_of_the_one_in_the_data_folder() {
    let (data, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let host = Host::tasks_only(data.path(), Settings::default()).unwrap();
    let atlas = project("atlas");
    init(&host, &atlas);
    host.tasks().link(&atlas, Some(elsewhere.path().to_owned()));
    assert_eq!(host.tasks().folder(&atlas), elsewhere.path());
    assert!(host.tasks().find(&atlas).unwrap().is_none(), "that folder has no tree");
    init(&host, &atlas);
    assert!(elsewhere.path().join("tasks/ready").is_dir());
    host.tasks().link(&atlas, None);
    assert_eq!(host.tasks().folder(&atlas), data.path().join("projects/atlas"));
}

#[test]
fn a_folder_that_was_removed_is_noticed() {
    let data = tempfile::tempdir().unwrap();
    let host = Host::tasks_only(data.path(), Settings::default()).unwrap();
    let atlas = project("atlas");
    init(&host, &atlas);
    std::fs::remove_dir_all(data.path().join("projects/atlas")).unwrap();
    assert!(host.tasks().find(&atlas).unwrap().is_none());
    init(&host, &atlas);
    assert!(data.path().join("projects/atlas/tasks/done").is_dir());
}

#[test]
fn a_process_that_stays_notices_what_others_change() {
    let data = tempfile::tempdir().unwrap();
    let host = Host::tasks_only(data.path(), Settings::default()).unwrap();
    let atlas = project("atlas");
    init(&host, &atlas);
    let tree = host.tasks().get(&atlas).unwrap();
    let request =
        CreateRequest { title: "Ship it".into(), ready: Some(true), ..CreateRequest::default() };
    let id = tree.create(&request, &lead()).unwrap().task.id;
    let file = |status: &str| data.path().join(format!("projects/atlas/tasks/{status}/{id}.md"));
    std::fs::rename(file("ready"), file("backlog")).unwrap();
    let began = Instant::now();
    while !std::fs::read_to_string(file("backlog")).unwrap().contains("status: backlog") {
        assert!(began.elapsed() < Duration::from_secs(30), "the edit was not noticed");
        // As every request does.
        host.tasks().find(&atlas).unwrap();
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_trial_leaves_the_data_folder_alone() {
    let data = tempfile::tempdir().unwrap();
    let host = Host::in_memory(data.path(), Settings::default()).unwrap();
    init(&host, &project("atlas"));
    let folder = host.tasks().folder(&project("atlas"));
    assert!(folder.is_dir() && !folder.starts_with(data.path()));
    assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 0);
    drop(host);
    assert!(!folder.exists(), "the trial was left behind");
}
