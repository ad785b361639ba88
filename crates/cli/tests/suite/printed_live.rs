//! What `accord live` prints for people.

use serde_json::json;

use crate::accord::run;
use crate::live_place::{Sessions, contract};
use crate::snapshot::Transcript;

/// Types a command and keeps what it prints.
fn types(sessions: &Sessions, transcript: &mut Transcript, words: &str, columns: Option<&str>) {
    let mut command = sessions.command(words);
    command.envs(columns.map(|columns| ("COLUMNS", columns)));
    transcript.add(&format!("live {words}"), &run(command, ""));
}

#[test]
fn a_session_from_its_ask_to_its_answer() {
    let (sessions, mut transcript) = (Sessions::new(), Transcript::default());
    let mut says = |words: &str| types(&sessions, &mut transcript, words, None);
    says("list");
    says("list --waiting");
    let id = sessions.ask("approve the release", &contract(), &json!({"version": "3.0"}));
    says("list");
    says("list --waiting");
    says(&format!("open {id}"));
    says(&format!("watch {id}"));
    says(&format!("answer {id}"));
    says(&format!("answer {id} decide"));
    says(&format!("answer {id} approve"));
    says(&format!("answer {id} approve --field version=two"));
    says(&format!("answer {id} approve --payload '{{\"version\":\"two\",\"by\":1}}'"));
    says(&format!("answer {id} approve --field version=2 --field note='looks right'"));
    says("list");
    says("list --waiting");
    says("answer live_unknown approve");
    let sessions = sessions.served();
    let watch = format!("watch {id} --since 0 --from-seq 0 --count 4");
    types(&sessions, &mut transcript, &watch, None);
    types(&sessions, &mut transcript, "list", Some("40"));
    let filters = [
        (r"live_[0-9a-f]{32}", "live_[id]"),
        (r"--data \S+`", "--data [folder]`"),
        (r"(event \d+)  \d\d:\d\d:\d\d", "$1  [time]"),
    ];
    transcript.check_with("live", &filters);
}
