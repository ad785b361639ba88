//! `project.yaml`, and the settings that count only as set through Accord.

use std::fs;

use accord_base::{By, Door};
use accord_contract::Code;
use accord_tasks::Tree;
use accord_tasks_core::Status;
use accord_tasks_core::operations::{
    AdoptRequest, ApplyMode, InitRequest, LayoutName, LintQuery, ReviewMode, ShowQuery,
};
use accord_tasks_core::task::{OnViolation, Priority};
use serde_json::json;

use crate::support::{AGENT, Case, Clock, agent, human, kinds, ready};

fn guide() -> InitRequest {
    InitRequest {
        apply: Some(ApplyMode::SessionEnd),
        review: Some(ReviewMode::Guide),
        ..InitRequest::default()
    }
}

#[test]
fn a_new_tree_has_a_manifest_that_the_reference_reads() {
    let case = Case::new();
    let manifest = case.text("project.yaml");
    // `type` and `owner` are required by the reference's schema.
    let expected = "id: shop\ntitle: shop\nstatus: active\ntype: swe\nowner:\n  team: system\n  \
                    lead: system\napply: at-once\nreview: human\nlayout: guide\n";
    assert_eq!(manifest, expected);
    for status in Status::ALL {
        assert!(case.folder.path().join(format!("tasks/{status}")).is_dir());
    }
    assert!(case.events().is_empty());
    // The same again changes nothing.
    let again = case.tree.init(&InitRequest::default(), &agent(AGENT)).unwrap();
    assert!(!again.created);
    assert_eq!(case.text("project.yaml"), expected);
    case.is_clean();
}

#[test]
fn a_project_that_aof_does_not_allow_gets_a_slug_and_keeps_its_id() {
    let folder = tempfile::tempdir().unwrap();
    let environment = Clock::default().environment();
    let tree = Tree::open(folder.path(), "Map Service", environment.clone()).unwrap();
    let made = tree.init(&InitRequest::default(), &human()).unwrap();
    assert_eq!(
        (made.project_id.as_str(), made.aof_id.as_str()),
        ("Map Service", "map-service-4cfcfdfc")
    );
    let manifest = fs::read_to_string(folder.path().join("project.yaml")).unwrap();
    assert!(
        manifest.starts_with("id: map-service-4cfcfdfc\nprojectId: Map Service\n"),
        "{manifest}"
    );
    assert_eq!(Tree::project_in(folder.path()).unwrap(), "Map Service");
    // Files name the project as the reference does.
    let id = tree.create(&ready("x"), &human()).unwrap().task.id;
    let file = fs::read_to_string(folder.path().join(format!("tasks/ready/{id}.md"))).unwrap();
    assert!(file.contains("\nproject: map-service-4cfcfdfc\n"), "{file}");
    assert_eq!(
        tree.show(&id.to_string(), &ShowQuery::default(), &human()).unwrap().task.project_id,
        "Map Service"
    );
    // Both names open it, and no other one does.
    Tree::open(folder.path(), "map-service-4cfcfdfc", environment.clone()).unwrap();
    let other = Tree::open(folder.path(), "shop", environment).err().unwrap();
    assert_eq!(other.code, Code::AofProjectMismatch);
}

#[test]
fn a_folder_without_a_manifest_is_no_tree_of_a_project() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(Tree::project_in(folder.path()).unwrap_err().code, Code::AofNoTaskTree);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "a reader writes nothing");
    fs::write(folder.path().join("project.yaml"), "id: [").unwrap();
    let broken = Tree::open(folder.path(), "shop", Clock::default().environment());
    assert_eq!(broken.err().unwrap().code, Code::AofProjectManifestInvalid);
}

#[test]
fn apply_and_review_do_not_follow_the_file() {
    let case = Case::new();
    let path = case.folder.path().join("project.yaml");
    let text = case.text("project.yaml");
    let edited = text.replace("review: human", "review: guide").replace("at-once", "session-end");
    fs::write(&path, &edited).unwrap();
    case.reviewed();
    let rules = case.tree.settings().rules();
    assert_eq!((rules.apply, rules.review), (ApplyMode::AtOnce, ReviewMode::Human));
    // The same words, said through Accord by a person.
    case.tree.init(&guide(), &human()).unwrap();
    let rules = case.tree.settings().rules();
    assert_eq!((rules.apply, rules.review), (ApplyMode::SessionEnd, ReviewMode::Guide));
    assert_eq!(case.text("project.yaml"), edited);
    let committed = case.text("state/accord/settings.json");
    assert!(
        committed.contains("\"by\": \"human:reviewer\"") && committed.contains("\"door\": \"cli\"")
    );
    let events = case.events();
    let last = events.last().unwrap();
    assert_eq!(last["type"], "system.config-changed");
    assert_eq!(last["payload"]["review"], json!({"from": "human", "to": "guide"}));
}

#[test]
fn an_agent_does_not_change_who_reviews() {
    let case = Case::new();
    let refused = case.tree.init(&guide(), &agent(AGENT)).unwrap_err();
    assert_eq!(refused.code, Code::AofPersonRequired);
    // Nor in a new tree.
    let folder = tempfile::tempdir().unwrap();
    let tree = Tree::open(folder.path(), "shop", Clock::default().environment()).unwrap();
    let refused = tree.init(&guide(), &By::parse("script:ci", Door::Http).unwrap()).unwrap_err();
    assert_eq!(refused.code, Code::AofPersonRequired);
    assert!(!folder.path().join("project.yaml").exists());
}

#[test]
fn other_settings_are_read_again_when_the_file_changes() {
    let case = Case::new();
    let path = case.folder.path().join("project.yaml");
    let text = format!(
        "# Ours.\n{}leaseTtlMs: 90000 # short\nteam-channel: x\n",
        case.text("project.yaml")
    );
    fs::write(&path, &text).unwrap();
    let id = case.ready();
    let claimed = case.tree.claim(&id.to_string(), &Default::default(), &agent(AGENT)).unwrap();
    assert_eq!(claimed.lease_until.time(), case.clock.now().add_seconds(90));
    // A change through Accord keeps comments and members of others.
    let request = InitRequest { heartbeat_ttl_ms: Some(30_000), ..InitRequest::default() };
    let answer = case.tree.init(&request, &human()).unwrap();
    assert_eq!((answer.lease_ttl_ms, answer.heartbeat_ttl_ms), (90_000, 30_000));
    assert_eq!(case.text("project.yaml"), format!("{text}heartbeatTtlMs: 30000\n"));
    // A broken file does not count, and is reported.
    fs::write(&path, "id: [").unwrap();
    case.ready();
    assert_eq!(case.tree.settings().times().lease_seconds, 90);
    let lint = case.tree.lint(&Default::default(), &human()).unwrap();
    assert_eq!(lint.findings[0].path, "project.yaml");
}

#[test]
fn new_tasks_get_what_the_project_says() {
    let case = Case::new();
    let text = case.text("project.yaml");
    let more = "defaults: {priority: high, team: core}\nsla: {defaultMaxInProgressMs: 60000, \
                onViolation: block}\n";
    fs::write(case.folder.path().join("project.yaml"), format!("{text}{more}")).unwrap();
    let usual = case.tree.create(&ready("x"), &human()).unwrap().task;
    assert_eq!((usual.priority, usual.team.as_deref()), (Priority::High, Some("core")));
    assert_eq!(
        (usual.max_in_progress_ms, usual.on_violation),
        (Some(60_000), Some(OnViolation::Block))
    );
    let mut own = ready("x");
    (own.priority, own.agent) = (Some(Priority::Low), Some(AGENT.into()));
    (own.max_in_progress_ms, own.on_violation) = (Some(90_000), Some(OnViolation::Alert));
    let own = case.tree.create(&own, &human()).unwrap().task;
    assert_eq!((own.priority, own.team), (Priority::Low, None));
    assert_eq!(
        (own.max_in_progress_ms, own.on_violation),
        (Some(90_000), Some(OnViolation::Alert))
    );
}

#[test]
fn runs_are_written_where_the_layout_says_and_read_in_both() {
    let request = InitRequest { layout: Some(LayoutName::Upstream), ..InitRequest::default() };
    let case = Case::with(&request);
    let id = case.claimed();
    assert!(case.folder.path().join(format!("state/runs/{id}/run.json")).exists());
    assert!(!case.folder.path().join("runs").exists());
    // A result that another tool left in the other layout counts too.
    let from = case.folder.path().join(format!("state/runs/{id}"));
    fs::create_dir_all(case.folder.path().join("runs")).unwrap();
    fs::rename(&from, case.folder.path().join(format!("runs/{id}"))).unwrap();
    let done = case.tree.message(&case.report(id, "done"), &agent(AGENT)).unwrap();
    assert_eq!(done.status, Some(Status::Review));
    assert!(from.join("run_result.json").exists());
    assert!(kinds(&case.events()).contains(&"task.completed"));
}

#[test]
fn settings_that_came_with_git_stay_and_do_not_count() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(".git")).unwrap();
    let tree = Tree::open(folder.path(), "shop", Clock::default().environment()).unwrap();
    tree.init(&guide(), &human()).unwrap();
    let manifest = folder.path().join("project.yaml");
    let text = fs::read_to_string(&manifest).unwrap().replace("review: guide", "review: human");
    fs::write(&manifest, &text).unwrap();
    tree.create(&ready("x"), &human()).unwrap();
    assert_eq!(fs::read_to_string(&manifest).unwrap(), text);
    let lint = || {
        let lint = tree.lint(&LintQuery::default(), &human()).unwrap();
        lint.findings.into_iter().map(|finding| finding.code).collect::<Vec<_>>()
    };
    assert_eq!(lint(), ["settings_not_committed"]);
    tree.adopt_settings(&AdoptRequest::default(), &human()).unwrap();
    assert_eq!(lint(), Vec::<String>::new());
    assert_eq!(fs::read_to_string(&manifest).unwrap(), text);
}
