//! Which task an agent gets, and for how long.

use std::collections::BTreeSet;

use accord_contract::Code;
use accord_tasks_core::operations::{
    ClaimNextAnswer, ClaimNextRequest, ClaimRequest, CreateRequest, HeartbeatRequest, InitRequest,
};
use accord_tasks_core::task::Priority;
use accord_tasks_core::{Status, TaskId};

use crate::support::{AGENT, Case, agent, human, id, ready};

fn create(case: &Case, title: &str, about: impl FnOnce(&mut CreateRequest)) -> TaskId {
    let mut request = ready(title);
    about(&mut request);
    id(&case.tree.create(&request, &human()).unwrap())
}

fn next(case: &Case, about: impl FnOnce(&mut ClaimNextRequest)) -> ClaimNextAnswer {
    let mut request = ClaimNextRequest::default();
    about(&mut request);
    case.tree.claim_next(&request, &agent(AGENT)).unwrap()
}

fn claimed(answer: ClaimNextAnswer) -> TaskId {
    assert_eq!(answer.reason, None);
    answer.claimed.unwrap().task.id
}

#[test]
fn the_most_urgent_task_comes_first_then_the_oldest() {
    let case = Case::new();
    let usual = create(&case, "usual", |_| {});
    case.clock.add(1);
    let later = create(&case, "later", |_| {});
    let urgent = create(&case, "urgent", |new| new.priority = Some(Priority::Critical));
    let low = create(&case, "low", |new| new.priority = Some(Priority::Low));
    let mut order = Vec::new();
    for left in [3, 2, 1, 0] {
        let answer = next(&case, |_| {});
        assert_eq!(answer.ready, left);
        order.push(claimed(answer));
    }
    assert_eq!(order, [urgent, usual, later, low]);
    let none = next(&case, |_| {});
    assert_eq!((none.claimed, none.reason.as_deref()), (None, Some("no_ready_task")));
}

#[test]
fn only_a_task_that_fits_is_taken() {
    let case = Case::new();
    let other = create(&case, "other agent", |new| new.agent = Some("swe-qa".into()));
    let role = create(&case, "role", |new| new.role = Some("tester".into()));
    let team = create(&case, "team", |new| new.team = Some("core".into()));
    let tagged = create(&case, "tags", |new| new.tags = Some(vec!["rust".into(), "db".into()]));
    let mine = create(&case, "mine", |new| new.agent = Some(AGENT.into()));
    assert_eq!(claimed(next(&case, |wish| wish.only_mine = Some(true))), mine);
    assert_eq!(
        next(&case, |wish| wish.only_mine = Some(true)).reason.as_deref(),
        Some("none_fits")
    );
    assert_eq!(claimed(next(&case, |wish| wish.tags = Some(vec!["rust".into()]))), tagged);
    assert_eq!(
        next(&case, |wish| wish.tags = Some(vec!["rust".into()])).reason.as_deref(),
        Some("none_fits")
    );
    assert_eq!(next(&case, |_| {}).reason.as_deref(), Some("none_fits"));
    assert_eq!(claimed(next(&case, |wish| wish.teams = Some(vec!["core".into()]))), team);
    assert_eq!(claimed(next(&case, |wish| wish.roles = Some(vec!["tester".into()]))), role);
    let left = case.tree.claim(&other.to_string(), &Default::default(), &agent(AGENT));
    assert_eq!(left.unwrap_err().code, Code::AofUnauthorizedAgent);
}

#[test]
fn limits_and_resources_hold() {
    let request = InitRequest {
        max_running: Some(3),
        team_limits: Some([("core".to_owned(), 1)].into()),
        ..InitRequest::default()
    };
    let case = Case::with(&request);
    let core = |wish: &mut ClaimNextRequest| wish.teams = Some(vec!["core".into()]);
    for _ in 0..2 {
        create(&case, "core", |new| new.team = Some("core".into()));
    }
    assert!(next(&case, core).claimed.is_some());
    assert_eq!(next(&case, core).reason.as_deref(), Some("limit_reached"));
    let first = create(&case, "db", |new| new.resource = Some("db".into()));
    let second = create(&case, "db again", |new| new.resource = Some("db".into()));
    assert_eq!(claimed(next(&case, |_| {})), first);
    assert_eq!(next(&case, |_| {}).reason.as_deref(), Some("resource_busy"));
    let busy = case.tree.claim(&second.to_string(), &Default::default(), &agent(AGENT));
    assert_eq!(busy.unwrap_err().code, Code::AofResourceBusy);
    // A task behind one that cannot be taken is taken.
    let free = create(&case, "free", |_| {});
    assert_eq!(claimed(next(&case, |_| {})), free);
    case.tree.release(&first.to_string(), &Default::default(), &human()).unwrap();
    case.tree.cancel(&first.to_string(), &Default::default(), &human()).unwrap();
    assert_eq!(claimed(next(&case, |_| {})), second);
    create(&case, "one more", |_| {});
    assert_eq!(next(&case, |_| {}).reason.as_deref(), Some("limit_reached"));
}

#[test]
fn a_broken_file_is_not_in_the_way() {
    let case = Case::new();
    let broken = create(&case, "broken", |_| {});
    let next_one = create(&case, "next", |_| {});
    // The index knows the task already.
    case.poll();
    let path = case.folder.path().join(format!("tasks/ready/{broken}.md"));
    std::fs::write(path, "not a task").unwrap();
    assert_eq!(claimed(next(&case, |_| {})), next_one);
}

#[test]
fn many_agents_never_get_the_same_task() {
    const TASKS: usize = 20;
    let case = Case::new();
    for number in 0..TASKS {
        create(&case, &format!("task {number}"), |_| {});
    }
    let trees = [case.tree.clone(), case.reopened()];
    let taken: Vec<TaskId> = std::thread::scope(|scope| {
        let agents: Vec<_> = (0..8)
            .map(|number| {
                let tree = trees[number % 2].clone();
                scope.spawn(move || {
                    let by = agent(&format!("agent-{number}"));
                    let mut taken = Vec::new();
                    while let Some(claim) =
                        tree.claim_next(&ClaimNextRequest::default(), &by).unwrap().claimed
                    {
                        taken.push(claim.task.id);
                    }
                    taken
                })
            })
            .collect();
        agents.into_iter().flat_map(|agent| agent.join().unwrap()).collect()
    });
    assert_eq!(taken.len(), TASKS);
    assert_eq!(taken.iter().collect::<BTreeSet<_>>().len(), TASKS);
    case.is_clean();
}

#[test]
fn a_heartbeat_moves_lease_and_heartbeat_and_needs_the_present_run() {
    let case = Case::new();
    let id = case.ready();
    let claim = case.tree.claim(&id.to_string(), &Default::default(), &agent(AGENT)).unwrap();
    assert_eq!(
        claim.directory,
        case.folder.path().join(format!("tasks/in-progress/{id}")).display().to_string()
    );
    case.clock.add(100);
    let request =
        HeartbeatRequest { run_id: Some(claim.run_id.clone()), ..HeartbeatRequest::default() };
    let beat = case.tree.heartbeat(&id.to_string(), &request, &agent(AGENT)).unwrap();
    assert_eq!(beat.lease_until.time(), case.clock.now().add_seconds(600));
    assert_eq!(beat.alive_until.time(), case.clock.now().add_seconds(300));
    let shown = case.tree.show(&id.to_string(), &Default::default(), &human()).unwrap();
    let lease = shown.task.lease.unwrap();
    assert_eq!((lease.until, lease.alive_until), (beat.lease_until, Some(beat.alive_until)));
    // The run is over: its heartbeat is refused, although the same agent has the task again.
    case.tree.release(&id.to_string(), &Default::default(), &agent(AGENT)).unwrap();
    case.claim(id);
    let late = case.tree.heartbeat(&id.to_string(), &request, &agent(AGENT)).unwrap_err();
    assert_eq!(late.code, Code::AofStaleRun);
    let stranger = case.tree.heartbeat(&id.to_string(), &Default::default(), &agent("swe-qa"));
    assert_eq!(stranger.unwrap_err().code, Code::AofUnauthorizedAgent);
    case.file(Status::InProgress, id);
}

#[test]
fn a_claim_with_the_id_of_its_run_can_be_repeated() {
    let case = Case::new();
    let first = case.ready();
    let second = case.ready();
    let again = |wish: &mut ClaimNextRequest| wish.run_id = Some("run_of_worker_0001".to_owned());
    let claim = next(&case, again).claimed.unwrap();
    assert_eq!((claim.task.id, claim.run_id.as_str()), (first, "run_of_worker_0001"));
    case.clock.add(100);
    // The answer was lost: the same claim, and its lease begins anew.
    let repeated = next(&case, again).claimed.unwrap();
    assert_eq!((repeated.task.id, &repeated.run_id), (first, &claim.run_id));
    assert_eq!(repeated.alive_until.time(), case.clock.now().add_seconds(300));
    let of_run = ClaimRequest { run_id: Some(claim.run_id.clone()), ..ClaimRequest::default() };
    let named = case.tree.claim(&first.to_string(), &of_run, &agent(AGENT)).unwrap();
    assert_eq!(named.run_id, claim.run_id);
    let acquired = |event: &&serde_json::Value| event["type"] == "lease.acquired";
    assert_eq!(case.events().iter().filter(acquired).count(), 1);
    // Another run, and another agent with the same id, get other tasks.
    let other = next(&case, |_| {}).claimed.unwrap();
    assert_eq!(other.task.id, second);
    let mut request = ClaimNextRequest::default();
    again(&mut request);
    let stranger = case.tree.claim_next(&request, &agent("swe-qa")).unwrap();
    assert_eq!(stranger.claimed.map(|claim| claim.task.id), None, "it is the claim of another");
    // A run that is over does not hold its task.
    case.tree.release(&first.to_string(), &Default::default(), &agent(AGENT)).unwrap();
    case.tree.claim(&first.to_string(), &Default::default(), &agent(AGENT)).unwrap();
    let third = case.ready();
    assert_eq!(next(&case, again).claimed.unwrap().task.id, third);
    let refused = ClaimNextRequest { run_id: Some("../../../etc/passwd".into()), ..request };
    let refused = case.tree.claim_next(&refused, &agent(AGENT)).unwrap_err();
    assert_eq!(refused.code, Code::AgenticInvalidSchema);
    assert_eq!(refused.pointer.as_deref(), Some("/run_id"));
    case.is_clean();
}
