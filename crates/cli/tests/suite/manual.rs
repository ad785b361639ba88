//! The pages about the HTTP interface are what the routes say, and their commands work.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use accord_host::http::{EXAMPLES, Example, pages};
use serde_json::Value;

use crate::accord::{Ran, run};
use crate::server::Server;

/// Where the commands say that the server listens.
const WRITTEN_ADDRESS: &str = "http://127.0.0.1:7171";

/// How curl says that its time is up: a stream of events has no other end.
const TIME_IS_UP: i32 = 28;
/// The routes whose answer is a stream without an end.
const FOLLOWING: [&str; 3] = ["events", "follow_inbox", "watch_events"];

#[test]
fn the_pages_are_what_the_routes_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/http");
    let pages = pages();
    if std::env::var_os("ACCORD_BLESS").is_some_and(|value| value == "1") {
        std::fs::create_dir_all(&folder).expect("a folder");
        for (name, text) in &pages {
            std::fs::write(folder.join(name), text).expect("a page");
        }
    }
    let there: BTreeSet<String> = std::fs::read_dir(&folder)
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .collect();
    assert_eq!(there, pages.keys().cloned().collect());
    for (name, text) in &pages {
        let written = std::fs::read_to_string(folder.join(name)).expect("a page");
        assert!(
            *text == written,
            "docs/http/{name} is not what the routes say; ACCORD_BLESS=1 writes it again"
        );
    }
}

#[test]
fn every_route_has_a_command_to_try_it_with() {
    for (name, text) in pages() {
        assert!(name == "README.md" || text.contains("```sh\ncurl "), "{name}");
    }
}

#[test]
fn the_commands_of_the_pages_work_one_after_the_other() {
    let curl = Command::new("curl").arg("--version").output();
    if !curl.is_ok_and(|curl| curl.status.success()) {
        assert!(std::env::var_os("CI").is_none(), "curl is needed to try the commands");
        eprintln!("SKIPPED: there is no curl to try the commands of docs/http with");
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let data = place.path().join(".accord");
    let server = Server::start(&data, &[]);
    let mut known = Known { url: server.url.clone(), variables: Vec::new() };
    for example in EXAMPLES {
        let ran = known.run(example, place.path());
        let (shown, status) = shown(&ran);
        let ended = ran.code;
        assert!(
            ended == 0 || (FOLLOWING.contains(&example.route) && ended == TIME_IS_UP),
            "{}: {ran:?}",
            example.route
        );
        assert_eq!(status, example.status, "{}: {shown}", example.route);
        known.learn(example.route, shown);
    }
}

/// What the commands answered so far.
struct Known {
    url: String,
    variables: Vec<(&'static str, String)>,
}

impl Known {
    fn run(&self, example: &Example, place: &Path) -> Ran {
        let backups = place.join("backups").to_string_lossy().into_owned();
        let command =
            example.shown().replace(WRITTEN_ADDRESS, &self.url).replace("/backups", &backups);
        // The status comes last, on a line of its own.
        let command = command.replacen("curl ", "curl -sS -w '\\n%{http_code}' ", 1);
        let mut shell = Command::new("sh");
        shell
            .args(["-c", &command])
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(place);
        run(shell, "")
    }

    fn learn(&mut self, route: &str, shown: &str) {
        let document: Value = serde_json::from_str(shown).unwrap_or_default();
        let first = self.variables.iter().find(|(name, _)| *name == "TASK_ID").cloned();
        if let (true, Some((_, first))) = (route == "create_task", first) {
            self.variables.push(("FIRST_TASK_ID", first));
        }
        let reported: &[(&str, &str)] = match route {
            "start_session" => &[("SESSION_ID", "/session_id")],
            "create_key" => &[("ACCORD_KEY", "/secret"), ("KEY_ID", "/key/key_id")],
            "create_task" => &[("TASK_ID", "/result/task/id")],
            "ggui_handshake" => &[("HANDSHAKE_ID", "/result/handshakeId")],
            "ggui_render" => {
                &[("LIVE_SESSION_ID", "/result/sessionId"), ("BLUEPRINT_ID", "/result/blueprintId")]
            }
            _ => &[],
        };
        for (name, place) in reported {
            let value = document.pointer(place).and_then(Value::as_str);
            self.variables.push((name, value.expect(place).to_owned()));
        }
    }
}

/// What was answered, and the status.
fn shown(ran: &Ran) -> (&str, u16) {
    let text = &ran.stdout;
    let (shown, status) = text.trim_end().rsplit_once('\n').unwrap_or(("", text.trim()));
    (shown, status.parse().unwrap_or(0))
}
