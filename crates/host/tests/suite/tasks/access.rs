//! Which key may act as whom.

use accord_base::{ActorId, ActorKey, ActorType, KeyScope, Verb};
use serde_json::json;

use super::{MESSAGES, TASKS, claim, create, message, report, status, verb};
use crate::support::{Asker, World, actor_key, project_id};

fn person(world: &World, verbs: &[Verb]) -> Asker {
    let lead = ActorKey { id: ActorId::new("lead").unwrap(), kind: ActorType::Human };
    world.key(&KeyScope::new(verbs.to_vec(), None).bound_to(lead, false))
}

fn agent(world: &World, name: &str) -> Asker {
    let scope = KeyScope::new(vec![Verb::Read, Verb::Write], None);
    world.key(&scope.bound_to(actor_key(name), false))
}

#[tokio::test]
async fn a_key_of_an_agent_acts_as_that_agent() {
    let world = World::new();
    let owner = world.owner();
    let task = create(&owner, json!({})).await;
    let builder = agent(&world, "builder");
    // Without an actor, the request is that of the key's agent.
    let next = builder.post(&format!("{TASKS}/claim-next"), &json!({})).await.expect(200);
    assert_eq!(next["result"]["claimed"]["task"]["lease"]["agent"], "builder");
    let as_other = builder.post(&format!("{TASKS}?actor=other"), &json!({"title": "x"})).await;
    as_other.refused(403, "unauthorized");
    let for_other = json!({"agent": "other"});
    let for_other = builder.post(&format!("{TASKS}/claim-next"), &for_other).await;
    for_other.refused(403, "unauthorized_agent");
    // A message as another agent is refused, and an event records it.
    let before = owner.get(&format!("{TASKS}/events")).await.expect(200)["result"].clone();
    let sent = message("completion.report", &task, "other", report("done"));
    builder.post(MESSAGES, &sent).await.refused(403, "unauthorized_agent");
    let after = before["last_event"].as_u64().unwrap();
    let events = owner.get(&format!("{TASKS}/events?after={after}")).await.expect(200);
    let events = &events["result"]["events"];
    assert_eq!(events[0]["type"], "protocol.message.rejected", "{events}");
    assert_eq!(events[0]["payload"]["reason"], "unauthorized_agent");
    let sent = message("completion.report", &task, "builder", report("done"));
    builder.post(MESSAGES, &sent).await.expect(200);
    // A key that may act as others does.
    let scope = KeyScope::new(vec![Verb::Write], None).bound_to(actor_key("builder"), true);
    let deputy = world.key(&scope);
    let as_other = deputy.post(&format!("{TASKS}?actor=other"), &json!({"title": "x"})).await;
    assert_eq!(as_other.expect(201)["result"]["task"]["created_by"], "other");
}

#[tokio::test]
async fn what_a_person_decides_needs_the_key_of_a_person() {
    let world = World::new();
    let owner = world.owner();
    let task = create(&owner, json!({})).await;
    claim(&owner, &task, "builder").await;
    let sent = message("completion.report", &task, "builder", report("done"));
    owner.post(MESSAGES, &sent).await.expect(200);

    let body = json!({});
    let approve = |asker: Asker, actor: &'static str| {
        let (task, body) = (task.clone(), body.clone());
        async move { verb(&asker, &task, "approve", actor, body).await }
    };
    // An agent, also with every verb, and a key of no one that says that it is a person.
    let admin = KeyScope::new(vec![Verb::Admin], None);
    let powerful = world.key(&admin.clone().bound_to(actor_key("builder"), true));
    approve(powerful.clone(), "builder").await.refused(403, "person_required");
    approve(powerful, "human:lead").await.refused(403, "person_required");
    approve(world.key(&admin), "human:lead").await.refused(403, "person_required");
    // A person without the verb.
    let reader = person(&world, &[Verb::Read, Verb::Write]);
    approve(reader, "human:lead").await.refused(403, "unauthorized");
    // Another person than that of the key.
    let lead = person(&world, &[Verb::Read, Verb::Review]);
    approve(lead.clone(), "human:other").await.refused(403, "unauthorized");
    assert_eq!(status(&owner, &task).await, "review");
    approve(lead, "human:lead").await.expect(200);
    assert_eq!(status(&owner, &task).await, "done");
    for decision in ["close", "cancel", "resurrect", "adopt"] {
        let other = create(&owner, json!({})).await;
        let agent =
            world.key(&KeyScope::new(vec![Verb::Admin], None).bound_to(actor_key("a"), false));
        verb(&agent, &other, decision, "a", json!({})).await.refused(403, "person_required");
    }
}

#[tokio::test]
async fn a_key_without_the_project_or_the_verb_sees_and_changes_nothing() {
    let world = World::new();
    let owner = world.owner();
    let task = create(&owner, json!({})).await;
    let elsewhere = KeyScope::new(vec![Verb::Admin], Some(vec![project_id("other")]));
    let elsewhere = world.key(&elsewhere);
    for path in ["", "/board", "/lint", "/events"] {
        elsewhere.get(&format!("{TASKS}{path}")).await.refused(403, "unauthorized");
    }
    elsewhere.get(&format!("{TASKS}/{task}")).await.refused(403, "unauthorized");
    elsewhere.get(&format!("{TASKS}/{task}/briefing")).await.refused(403, "unauthorized");
    let reader = world.key(&KeyScope::new(vec![Verb::Read], None));
    reader.get(TASKS).await.expect(200);
    let refused = reader.post(&format!("{TASKS}/claim-next"), &json!({"agent": "a"})).await;
    refused.refused(403, "unauthorized");
    let sent = message("completion.report", &task, "a", report("done"));
    reader.post(MESSAGES, &sent).await.refused(403, "unauthorized");
    reader.post(&format!("{TASKS}/poll"), &json!({})).await.refused(403, "unauthorized");
    // Settings need more than writing.
    let writer = world.key(&KeyScope::new(vec![Verb::Write, Verb::Review], None));
    writer.post(&format!("{TASKS}/init?actor=a"), &json!({})).await.refused(403, "unauthorized");
}
