//! Decisions about what waits at an edge: who takes them, about what, and how they end.

use accord_api::operations::decisions::DecisionParams;
use accord_api::operations::edge_decisions::{
    EdgeDecision, EdgeDecisionRequest, EdgeDecisionState, EdgeVerb,
};
use accord_api::operations::edges::{EdgeEntry, EdgeEntryKind};
use accord_base::{By, Caller, Door, KnownBy, Presence, Verb};
use accord_contract::{Code, Value, Wire as _};
use serde_json::json;

use crate::edges::{Hub, entry, hubs, key, lead};

const ITEM: &str = "run_1/gate/ship/turn_1";

/// The body of a request for a gate, with the digest of its evidence.
fn gate(words: &str, commands: &[&str]) -> Value {
    let body = json!({"title": words, "verbs": ["approve", "send_back"], "commands": commands});
    let digest = accord_outbox::evidence::digest(body.as_object().unwrap()).unwrap();
    let mut body = body;
    body["evidence"] = digest.as_str().into();
    body["version"] = digest.into();
    body
}

fn asked(seq: u64, body: Value) -> EdgeEntry {
    let request = entry(seq, EdgeEntryKind::Request, ITEM, body);
    EdgeEntry { type_name: "run.gate".into(), ..request }
}

fn reported(seq: u64, decision: &EdgeDecision, state: EdgeDecisionState) -> EdgeEntry {
    let body = json!({"reason": "it says why", "decision": decision.encode()});
    let told = entry(seq, EdgeEntryKind::Decision, decision.decision_id.as_str(), body);
    EdgeEntry { type_name: state.as_str().into(), ..told }
}

fn approver() -> Caller {
    key("k9", "human:lead", &[Verb::Read, Verb::Write, Verb::Approve])
}

fn by(name: &str) -> By {
    By::parse(name, Door::Http).unwrap().present(Presence::from(KnownBy::Key))
}

impl Hub {
    async fn decide(&self, who: &str, evidence: &Value) -> Result<EdgeDecision, Code> {
        let request = EdgeDecisionRequest {
            item: ITEM.into(),
            verb: EdgeVerb::Approve,
            evidence: evidence["evidence"].as_str().unwrap().into(),
            note: Some("ship it".into()),
        };
        let of = (&self.project, &self.edge);
        let decided = self.memory.decide_edge_item(&approver(), of, by(who), request).await;
        decided.map_err(|refused| refused.code)
    }

    async fn withdraw(&self, decision: &EdgeDecision) -> Result<EdgeDecision, Code> {
        let of = (&self.project, &self.edge);
        let (id, by) = (&decision.decision_id, by("human:lead"));
        let withdrawn = self.memory.withdraw_edge_decision(&approver(), of, id, by).await;
        withdrawn.map_err(|refused| refused.code)
    }

    async fn state(&self) -> (EdgeDecisionState, Option<String>) {
        let of = (&self.project, &self.edge);
        let newest = self.memory.edge_decisions(&lead(), of).await.unwrap().remove(0);
        (newest.state, newest.reason)
    }

    async fn records(&self) -> Vec<(String, String, Option<String>)> {
        let all = DecisionParams::default();
        let page = self.memory.decisions(&lead(), &self.project, all).await.unwrap();
        let record = |it: accord_base::decision::DecisionRecord| {
            (it.decision_id.to_string(), it.outcome, it.taken_over_from)
        };
        page.decisions.into_iter().map(record).collect()
    }

    async fn asks(&self, body: &Value) {
        self.join(&lead()).await.unwrap();
        self.send(&lead(), vec![asked(1, body.clone())], None).await.unwrap();
    }
}

#[tokio::test]
async fn a_decision_goes_to_the_edge_and_is_recorded_once_when_it_was_applied() {
    for (hub, _folder) in hubs().await {
        let body = gate("one", &[]);
        hub.asks(&body).await;
        let decided = hub.decide("human:lead", &body).await.unwrap();
        assert_eq!(decided.state, EdgeDecisionState::Waiting);
        assert_eq!((decided.actor.as_str(), decided.known_by), ("human:lead", KnownBy::Key));
        let lasts = decided.expires_at.time().millis_since(decided.decided_at.time());
        assert_eq!(lasts, 24 * 60 * 60 * 1000);
        let refused = hub.decide("human:lead", &body).await.unwrap_err();
        assert_eq!(refused, Code::EdgeDecisionWaits);
        let item = hub.memory.edge_item(&lead(), (&hub.project, &hub.edge), ITEM).await.unwrap();
        assert_eq!(item.decision.unwrap().decision_id, decided.decision_id);
        assert_eq!(item.evidence.as_deref(), body["evidence"].as_str());
        // Every contact of the edge has it until it ends.
        for _ in 0..2 {
            let told = hub.send(&lead(), Vec::new(), None).await.unwrap().decisions;
            assert_eq!(told.len(), 1);
            assert!(told[0].seconds_left.unwrap() > 86_000);
        }
        let taken = reported(2, &decided, EdgeDecisionState::Taken);
        let told = hub.send(&lead(), vec![taken], None).await.unwrap().decisions;
        assert_eq!(told[0].state, EdgeDecisionState::Taken);
        // The request ended because the decision was applied.
        let ended = entry(3, EdgeEntryKind::RequestEnded, ITEM, json!({}));
        let applied = reported(4, &decided, EdgeDecisionState::Applied);
        let done = hub.send(&lead(), vec![ended, applied], None).await.unwrap();
        assert!(done.decisions.is_empty());
        assert_eq!(hub.state().await.0, EdgeDecisionState::Applied);
        let id = decided.decision_id.to_string();
        assert_eq!(hub.records().await, [(id.clone(), "approved".into(), None)]);
        let again = reported(5, &decided, EdgeDecisionState::Applied);
        hub.send(&lead(), vec![again], None).await.unwrap();
        assert_eq!(hub.records().await.len(), 1);
        assert_eq!(hub.withdraw(&decided).await.unwrap_err(), Code::EdgeDecisionEnded);
        let kinds = hub.kinds();
        assert_eq!(kinds.iter().filter(|kind| *kind == "edge.decision").count(), 3, "{kinds:?}");
        assert_eq!(kinds.iter().filter(|kind| *kind == "decision.recorded").count(), 1);
    }
}

#[tokio::test]
async fn a_decision_is_about_what_the_edge_sent_last() {
    for (hub, _folder) in hubs().await {
        let (one, two) = (gate("one", &[]), gate("two", &["make deploy"]));
        hub.asks(&one).await;
        assert_eq!(hub.decide("human:lead", &two).await, Err(Code::XchainEvidenceChanged));
        hub.decide("human:lead", &one).await.unwrap();
        hub.send(&lead(), vec![asked(2, two.clone())], None).await.unwrap();
        let returned = (EdgeDecisionState::Returned, Some("changed since".to_owned()));
        assert_eq!(hub.state().await, returned);
        // Commands of a gate: one hour.
        let decided = hub.decide("human:lead", &two).await.unwrap();
        let lasts = decided.expires_at.time().millis_since(decided.decided_at.time());
        assert_eq!(lasts, 60 * 60 * 1000);
        // It ended at the edge before the edge took the decision.
        let ended = entry(3, EdgeEntryKind::RequestEnded, ITEM, json!({}));
        hub.send(&lead(), vec![ended], None).await.unwrap();
        assert_eq!(hub.state().await.0, EdgeDecisionState::Superseded);
        assert!(hub.records().await.is_empty());
        // A digest that is not that of the request is refused on receipt.
        let mut forged = gate("three", &[]);
        forged["title"] = "four".into();
        let refused = hub.send(&lead(), vec![asked(4, forged)], None).await.unwrap_err();
        assert_eq!(refused, Code::EdgeDamaged);
    }
}

#[tokio::test]
async fn a_decision_can_be_withdrawn_until_it_was_applied() {
    for (hub, _folder) in hubs().await {
        let body = gate("one", &[]);
        hub.asks(&body).await;
        let decided = hub.decide("human:lead", &body).await.unwrap();
        assert_eq!(hub.withdraw(&decided).await.unwrap().state, EdgeDecisionState::Withdrawn);
        assert!(hub.send(&lead(), Vec::new(), None).await.unwrap().decisions.is_empty());
        // Another one, which the edge applied before it heard of the withdrawal.
        let decided = hub.decide("human:lead", &body).await.unwrap();
        let taken = reported(2, &decided, EdgeDecisionState::Taken);
        hub.send(&lead(), vec![taken], None).await.unwrap();
        hub.withdraw(&decided).await.unwrap();
        let applied = reported(3, &decided, EdgeDecisionState::Applied);
        hub.send(&lead(), vec![applied], None).await.unwrap();
        assert_eq!(hub.state().await.0, EdgeDecisionState::Applied);
        assert_eq!(hub.records().await.len(), 1);
    }
}

#[tokio::test]
async fn only_what_the_join_names_is_decided_and_by_whom() {
    for (hub, _folder) in hubs().await {
        let body = gate("one", &[]);
        hub.asks(&body).await;
        assert_eq!(hub.decide("human:eve", &body).await, Err(Code::EdgeNotDecidable));
        let mut bare = gate("one", &[]);
        let members = bare.as_object_mut().unwrap();
        members.remove("verbs");
        members.insert("why_not".into(), "the gate uses credentials".into());
        let digest = accord_outbox::evidence::digest(members).unwrap();
        bare["evidence"] = digest.into();
        hub.send(&lead(), vec![asked(2, bare.clone())], None).await.unwrap();
        assert_eq!(hub.decide("human:lead", &bare).await, Err(Code::EdgeNotDecidable));
        let mut other = asked(3, body.clone());
        other.type_name = "run.block".into();
        hub.send(&lead(), vec![other], None).await.unwrap();
        assert_eq!(hub.decide("human:lead", &body).await, Err(Code::EdgeNotDecidable));
    }
}

#[tokio::test]
async fn a_hub_that_was_restored_records_what_it_does_not_know() {
    for (hub, _folder) in hubs().await {
        let body = gate("one", &[]);
        hub.asks(&body).await;
        let mut decided = hub.decide("human:lead", &body).await.unwrap();
        decided.decision_id = "dec_other".parse().unwrap();
        hub.restored();
        let applied = reported(2, &decided, EdgeDecisionState::Applied);
        hub.send(&lead(), vec![applied], None).await.unwrap();
        let from = Some("edge edge_1".to_owned());
        assert_eq!(hub.records().await, [("dec_other".into(), "approved".into(), from)]);
    }
}

#[tokio::test]
async fn a_decision_expires_by_the_clock_of_the_project() {
    for (hub, _folder) in hubs().await {
        for (seq, (body, hours)) in
            [(gate("one", &[]), 24), (gate("two", &["make"]), 1)].into_iter().enumerate()
        {
            hub.join(&lead()).await.unwrap();
            hub.send(&lead(), vec![asked(seq as u64 + 1, body.clone())], None).await.unwrap();
            let decided = hub.decide("human:lead", &body).await.unwrap();
            let at = decided.decided_at.time();
            hub.time_is(at.add_seconds(hours * 3_600 - 60));
            let told = hub.send(&lead(), Vec::new(), None).await.unwrap().decisions;
            assert_eq!((told.len(), told[0].seconds_left.unwrap() <= 60), (1, true));
            hub.time_is(at.add_seconds(hours * 3_600));
            assert!(hub.send(&lead(), Vec::new(), None).await.unwrap().decisions.is_empty());
            let why = Some("the edge did not apply it in time".to_owned());
            assert_eq!(hub.state().await, (EdgeDecisionState::Expired, why));
            assert_eq!(hub.withdraw(&decided).await.unwrap_err(), Code::EdgeDecisionEnded);
        }
    }
}

#[tokio::test]
async fn a_hub_that_was_restored_asks_for_the_decision_again() {
    for (hub, _folder) in hubs().await {
        let body = gate("one", &[]);
        hub.asks(&body).await;
        let decided = hub.decide("human:lead", &body).await.unwrap();
        // What a person did with the decision since the backup is not known here.
        hub.restored();
        let why = "the hub was restored from a backup since; look at it, and decide again";
        let returned = (EdgeDecisionState::Returned, Some(why.to_owned()));
        assert_eq!(hub.state().await, returned, "before the edge is heard of");
        assert!(hub.send(&lead(), Vec::new(), None).await.unwrap().decisions.is_empty());
        assert_eq!(hub.state().await, returned);
        // The edge had taken it: it is not to be applied.
        let taken = reported(2, &decided, EdgeDecisionState::Taken);
        let told = hub.send(&lead(), vec![taken], None).await.unwrap().decisions;
        assert!(told.is_empty(), "{told:?}");
        let again = hub.decide("human:lead", &body).await.unwrap();
        assert_ne!((&again.decision_id, &again.hub), (&decided.decision_id, &decided.hub));
        let told = hub.send(&lead(), Vec::new(), None).await.unwrap().decisions;
        assert_eq!(told.len(), 1);
        // The edge had applied the first one before the hub was restored.
        let ended = entry(3, EdgeEntryKind::RequestEnded, ITEM, json!({}));
        let applied = reported(4, &decided, EdgeDecisionState::Applied);
        hub.send(&lead(), vec![ended, applied], None).await.unwrap();
        let records = hub.records().await;
        assert_eq!(records.len(), 1, "{records:?}");
        assert_eq!(records[0].0, decided.decision_id.to_string());
        assert_eq!(hub.state().await.0, EdgeDecisionState::Superseded, "the second one");
    }
}

#[tokio::test]
async fn an_edge_makes_no_decision() {
    use EdgeDecisionState::{Applied, Taken, Waiting};
    for (hub, _folder) in hubs().await {
        let body = gate("one", &[]);
        hub.asks(&body).await;
        let made = hub.decide("human:lead", &body).await.unwrap();
        hub.withdraw(&made).await.unwrap();
        let id = |digit: char| format!("dec_{}", digit.to_string().repeat(32)).parse().unwrap();
        let forged = |digit: char, hub: &str| EdgeDecision {
            decision_id: id(digit),
            hub: hub.to_owned(),
            known_by: KnownBy::Login,
            ..made.clone()
        };
        // As if this hub had made it, with a first entry that makes it known.
        let own = forged('1', &made.hub);
        let entries = vec![reported(2, &own, Taken), reported(3, &own, Applied)];
        hub.send(&lead(), entries, None).await.unwrap();
        let waiting = forged('2', &made.hub);
        hub.send(&lead(), vec![reported(4, &waiting, Waiting)], None).await.unwrap();
        assert!(hub.records().await.is_empty());
        let of = (&hub.project, &hub.edge);
        assert_eq!(hub.memory.edge_decisions(&lead(), of).await.unwrap().len(), 1);
        // Nothing is in the way of a person.
        let decided = hub.decide("human:lead", &body).await.unwrap();
        hub.withdraw(&decided).await.unwrap();

        // After a restore the word of the edge counts for what its join allows, as its word.
        let before = made.hub.clone();
        hub.restored();
        let refused = [
            EdgeDecision { actor: "human:eve".into(), ..forged('3', &before) },
            EdgeDecision { type_name: "package.review".into(), ..forged('4', &before) },
            EdgeDecision { type_name: "task.review".into(), ..forged('5', &before) },
            EdgeDecision { verb: EdgeVerb::Cancel, ..forged('6', &before) },
            forged('7', "inc_other"),
        ];
        let entries = refused.iter().zip(5..).map(|(it, seq)| reported(seq, it, Applied));
        hub.send(&lead(), entries.collect(), None).await.unwrap();
        assert!(hub.records().await.is_empty());
        let told = reported(10, &forged('8', &before), Applied);
        hub.send(&lead(), vec![told], None).await.unwrap();
        let all = DecisionParams::default();
        let page = hub.memory.decisions(&lead(), &hub.project, all).await.unwrap();
        let [record] = &page.decisions[..] else { panic!("{page:?}") };
        assert_eq!(record.taken_over_from.as_deref(), Some(&*format!("edge {}", hub.edge)));
        assert_eq!(record.known_by, KnownBy::Nothing);
    }
}

#[tokio::test]
async fn only_who_may_decide_withdraws() {
    for (hub, _folder) in hubs().await {
        let body = gate("one", &[]);
        hub.asks(&body).await;
        let made = hub.decide("human:lead", &body).await.unwrap();
        let of = (&hub.project, &hub.edge);
        let (id, mia) = (&made.decision_id, by("human:mia"));
        let refused = hub.memory.withdraw_edge_decision(&approver(), of, id, mia).await;
        assert_eq!(refused.unwrap_err().code, Code::EdgeNotDecidable);
        hub.withdraw(&made).await.unwrap();
    }
}
