//! What `accord run` prints for people.

use crate::run_place::{Place, plan};
use crate::snapshot::Transcript;

/// Commands in one repository.
struct Story {
    place: Place,
    transcript: Transcript,
}

impl Story {
    fn types(&mut self, words: &str) {
        let ran = self.place.run(words);
        self.transcript.add(&format!("run {words}"), &ran);
    }
}

#[test]
fn a_run_by_hand() {
    let mut story = Story { place: Place::new(), transcript: Transcript::default() };
    story.types("status");
    story.types("init --name Shop --goal 'to sell'");
    story.types("init");
    story.place.git(&["init", "--quiet"]);
    story.place.git(&["config", "user.name", "T"]);
    story.place.git(&["config", "user.email", "t@example.org"]);
    story.place.commit();
    story.types("start");
    story.types("start");
    story.types("assign nobody");
    story.types("assign");
    story.types("dispatch");
    story.types("status");
    story.types("accept");
    story.types("reject --reason 'another day'");
    story.types("stage --summary planned");
    story.types("accept");
    story.types("history");
    story.types("decisions");
    story.types("checkpoint");
    story.types("escalate --reason 'wait for Ada'");
    story.types("status");
    story.types("resolve");
    story.types("resolve --yes --actor human:lead --note agreed");
    story.types("approve-completion");
    story.types("doctor");
    story.types("events --type turn_accepted");
    story.types("events --limit 3");
    story.transcript.check("run-by-hand");
}

#[test]
fn a_gate() {
    let mut story = Story { place: Place::begun(), transcript: Transcript::default() };
    plan(&story.place);
    story.types("assign pm");
    story.place.commit();
    story.types("assign pm");
    story.types("dispatch");
    story.types("stage --summary planned --decision 'small first' --next-phase");
    story.types("accept --checkpoint");
    story.types("status");
    story.types("approve-transition --dry-run");
    story.types("approve-transition");
    story.types("approve-transition --yes --expect 00000000000000000000000000000000");
    story.types("approve-transition --yes --actor human:lead");
    story.types("history");
    story.types("decisions");
    story.transcript.check("run-gate");
}

#[test]
fn what_stands_in_the_way_is_said_with_what_to_do() {
    let mut story = Story { place: Place::begun(), transcript: Transcript::default() };
    story.types("start");
    story.types("stage --summary planned");
    story.types("status --repo nowhere");
    story.types("coordinator status");
    story.types("dispatch --turn turn_nope");
    // A commit would fail here, also where the machine has an identity for git.
    story.place.git(&["config", "user.name", ""]);
    story.types("doctor");
    story.place.git(&["config", "user.name", "T"]);
    story.place.configure(|config| {
        let routing = config["routing"].as_object_mut().expect("phases");
        let planning = routing.shift_remove("planning").expect("a phase");
        routing.insert("preparing".to_owned(), planning);
    });
    story.types("doctor");
    story.transcript.check("run-trouble");
}

#[test]
fn a_turn_can_be_named_by_the_beginning_of_its_id() {
    let place = Place::begun();
    let assigned = place.json("assign pm");
    let turn = assigned["turn"]["turn_id"].as_str().expect("an id");
    let given = place.json(&format!("dispatch --turn {}", &turn[..9]));
    assert_eq!(given["turn"]["turn_id"], turn);
    place.run("dispatch --turn turn_zzz").refused("turn_not_active");
}

/// An agent that opens the gate that it stands before, and one that writes the phase.
#[test]
fn an_agent_that_edits_what_judges_it() {
    let edits = [
        (
            "config",
            "sed -i 's/\"requires_human_approval\":true/\"requires_human_approval\":false/g' \
             agentxchain.json",
        ),
        ("state", "sed -i 's/\"phase\": \"planning\"/\"phase\": \"qa\"/' .agentxchain/state.json"),
    ];
    for (name, edit) in edits {
        let script = format!(
            "echo begun; until grep -q first_output_at .agentxchain/state.json; do sleep 0.02; \
             done; {edit}; mkdir -p \"$(dirname \"$AGENTXCHAIN_STAGING_PATH\")\"; \
             echo '{{}}' > \"$AGENTXCHAIN_STAGING_PATH\""
        );
        let place = Place::begun_with(|config| {
            config["roles"]["pm"]["runtime"] = serde_json::json!("agent");
            config["rules"]["max_turn_retries"] = serde_json::json!(1);
            config["runtimes"]["agent"] = serde_json::json!({
                "type": "local_cli", "command": ["/bin/sh", "-c", script]});
        });
        let mut story = Story { place, transcript: Transcript::default() };
        story.types("step");
        story.types("status");
        story.types("adopt");
        story.types("adopt --undo --yes");
        story.types("adopt");
        story.transcript.check(&format!("run-guarded-{name}"));
    }
}
