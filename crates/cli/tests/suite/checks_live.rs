//! `accord check ggui` against servers, with and without keys, control and tools; and what two of
//! its reports say about a change.

use std::net::TcpListener;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::accord::{Ran, program, run};
use crate::memory::bare;
use crate::server::Server;

/// The token of the control.
pub(crate) const TOKEN: &str = "token-of-the-control";
/// The arguments of a server with control.
pub(crate) const CONTROL: [&str; 4] =
    ["--conformance-control", "127.0.0.1:0", "--conformance-token", TOKEN];
const PING: &str = "ggui/transport/ping-before-subscribe";
const ACK: &str = "ggui/action/ack-has-the-number";
const DRAIN: &str = "ggui/tools/consume-drains";
const WRONG_KEY: &str = "ggui/auth/a-wrong-key-is-refused";
const OTHER_KEY: &str = "ggui/auth/another-key-does-not-reach-the-app";

/// Creates two keys in a data folder: one for the app of the cases, and one for another app.
pub(crate) fn create_keys(data: &Path) -> [String; 2] {
    ["conformance", "elsewhere"].map(|project| {
        let args = ["key", "create", "--new", "--label", "kit", "--verb", "admin", "--project"];
        let mut command = bare(&[&args[..], &[project]].concat());
        command.env("ACCORD_DATA", data);
        let ran = run(command, "");
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.stdout.trim().to_owned()
    })
}

/// A host with conformance control, and two keys if it has any.
struct Tested {
    server: Server,
    control: String,
    keys: Option<[String; 2]>,
    _folder: tempfile::TempDir,
}

impl Tested {
    fn start(has_keys: bool) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let data = folder.path().join("data");
        let keys = has_keys.then(|| create_keys(&data));
        let server = Server::start(&data, &CONTROL);
        let control = server.control();
        Self { server, control, keys, _folder: folder }
    }

    /// Tests it with cases and further arguments.
    fn check(&self, cases: &[&str], more: &[&str]) -> Ran {
        check(&self.server.url, cases, more, None)
    }

    /// The arguments that name its control, without a token.
    fn control(&self) -> [&str; 2] {
        ["--control", &self.control]
    }
}

fn check(url: &str, cases: &[&str], more: &[&str], token: Option<&str>) -> Ran {
    let ids: Vec<String> = cases.iter().map(|id| format!("id({id})")).collect();
    let filter = ids.join(" | ");
    let args = ["check", "ggui", "--url", url, "--verbose", "--filter", &filter];
    let mut command = bare(&[&args[..], more].concat());
    command.env_remove("ACCORD_CONFORMANCE_TOKEN");
    command.envs(token.map(|token| ("ACCORD_CONFORMANCE_TOKEN", token)));
    run(command, "")
}

/// The line about a case.
#[track_caller]
fn line<'a>(ran: &'a Ran, id: &str) -> &'a str {
    let found = ran.stdout.lines().find(|line| line.contains(id));
    found.unwrap_or_else(|| panic!("no line about {id}: {ran:?}"))
}

/// What a refusal says, in one line.
#[track_caller]
fn refusal(ran: Ran, code: &str) -> String {
    let said = ran.refused(code).replace('│', " ");
    said.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn passes(ran: &Ran, id: &str) {
    assert!(line(ran, id).starts_with("pass "), "{ran:?}");
}

#[test]
fn the_token_of_the_control_comes_from_a_flag_or_the_environment() {
    let tested = Tested::start(false);
    let [flag, url] = tested.control();
    let given = tested.check(&[ACK], &[flag, url, "--control-token", TOKEN]);
    let inherited = check(&tested.server.url, &[ACK], &[flag, url], Some(TOKEN));
    // The flag counts before the environment.
    let args = [flag, url, "--control-token", TOKEN];
    let both = check(&tested.server.url, &[ACK], &args, Some("another-token"));
    for ran in [given, inherited, both] {
        assert_eq!(ran.code, 0, "{ran:?}");
        passes(&ran, ACK);
        assert!(!ran.stdout.contains(TOKEN));
    }
    // A run that cannot use the control says so, instead of skipping what needs it.
    for wrong in [None, Some("another-token")] {
        let said = check(&tested.server.url, &[ACK], &[flag, url], wrong);
        let said = refusal(said, "KIT_SERVER_REFUSED");
        assert!(said.contains("--control-token"), "{said}");
    }
}

#[test]
fn without_the_control_what_needs_it_is_skipped_with_the_reason() {
    let tested = Tested::start(false);
    let ran = tested.check(&[ACK, PING], &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    passes(&ran, PING);
    let skipped = line(&ran, ACK);
    assert!(skipped.starts_with("skip "), "{skipped}");
    assert!(skipped.contains("needs the conformance control"), "{skipped}");
    assert!(skipped.contains("--control"), "{skipped}");
    // Nothing but skipped cases shows nothing.
    let ran = tested.check(&[ACK], &[]);
    assert_eq!(ran.code, 2, "{ran:?}");
}

#[test]
fn keys_open_the_channel_and_what_is_about_keys_needs_them() {
    let tested = Tested::start(true);
    let keys = tested.keys.as_ref().expect("keys");
    let control = [&tested.control()[..], &["--control-token", TOKEN]].concat();
    let first = [&control[..], &["--token", &keys[0]]].concat();
    let both = [&first[..], &["--second-token", &keys[1]]].concat();
    let ran = tested.check(&[PING, WRONG_KEY, OTHER_KEY], &both);
    assert_eq!(ran.code, 0, "{ran:?}");
    for id in [PING, WRONG_KEY, OTHER_KEY] {
        passes(&ran, id);
    }
    assert!(!ran.stdout.contains(&keys[0]) && !ran.stdout.contains(&keys[1]));
    let ran = tested.check(&[PING, WRONG_KEY, OTHER_KEY], &first);
    assert_eq!(ran.code, 0, "{ran:?}");
    passes(&ran, WRONG_KEY);
    assert!(line(&ran, OTHER_KEY).contains("give it with --second-token"), "{ran:?}");
    // Without a key the host opens no socket.
    let ran = tested.check(&[PING, WRONG_KEY], &control);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(line(&ran, WRONG_KEY).contains("give one with --token"), "{ran:?}");
    assert!(ran.stdout.contains("401"), "{ran:?}");
    // A second key needs a first one.
    tested.check(&[PING], &["--second-token", &keys[1]]).refused("USAGE");
}

#[test]
fn tools_are_called_where_the_run_says() {
    let tested = Tested::start(false);
    let control = [&tested.control()[..], &["--control-token", TOKEN]].concat();
    let ran = tested.check(&[DRAIN], &[&control[..], &["--mcp", "/mcp/live"]].concat());
    assert_eq!(ran.code, 0, "{ran:?}");
    passes(&ran, DRAIN);
    // Below /mcp this host has the tools of its memory.
    let ran = tested.check(&[DRAIN], &control);
    assert!(line(&ran, DRAIN).starts_with("not implemented "), "{ran:?}");
}

#[test]
fn a_server_that_is_not_there_is_an_error_that_says_what_to_do() {
    let nobody = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", nobody.local_addr().expect("an address"));
    drop(nobody);
    let said = refusal(check(&url, &[PING], &[], None), "KIT_SERVER_UNREACHABLE");
    assert!(said.contains(&url) && said.contains("check its URL"), "{said}");
    let said = refusal(check("gopher://example", &[PING], &[], None), "USAGE");
    assert!(said.contains("is not the URL of a server"), "{said}");
}

/// Reports of runs, as files.
struct Reports {
    folder: tempfile::TempDir,
    old: Value,
}

impl Reports {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("old.json");
        let adapter = format!("{} adapter ggui --lines", program());
        let args = ["check", "ggui", "--command", &adapter, "--lines", "--filter"];
        let cases = "id(ggui/catalogs/versions/*)";
        let output = ["--format", "json", "--output", path.to_str().expect("text")];
        let ran = run(bare(&[&args[..], &[cases], &output].concat()), "");
        assert_eq!(ran.code, 0, "{ran:?}");
        let old = std::fs::read(&path).expect("a report");
        Self { folder, old: serde_json::from_slice(&old).expect("JSON") }
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).expect("written");
        path
    }

    /// The report of a run against the next version.
    fn next(&self, change: impl FnOnce(&mut Value)) -> PathBuf {
        let mut new = self.old.clone();
        new["run"]["protocol_version"] = "the next one".into();
        change(&mut new);
        self.write("new.json", &new.to_string())
    }

    fn old(&self) -> PathBuf {
        self.folder.path().join("old.json")
    }
}

fn breaking(old: &Path, new: &Path) -> Ran {
    let mut command = bare(&["check", "ggui", "--breaking"]);
    command.arg(old).arg(new);
    run(command, "")
}

#[test]
fn a_required_case_that_fails_at_the_next_version_makes_a_change_breaking() {
    let reports = Reports::new();
    let id = reports.old["cases"][0]["id"].as_str().expect("an id").to_owned();
    let new = reports.next(|new| new["cases"][0]["verdict"] = "fail".into());
    let ran = breaking(&reports.old(), &new);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    assert!(line(&ran, &id).contains("broken: passed before, and fails now"), "{ran:?}");
    assert!(ran.stdout.ends_with("breaking: 1 required case passed and now fails\n"), "{ran:?}");
    // One that does not bind is named, and does not count.
    let mut soft = reports.old.clone();
    soft["cases"][0]["strength"] = "should".into();
    let ran = breaking(&reports.write("soft.json", &soft.to_string()), &new);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(line(&ran, &id).contains("changed, not required"), "{ran:?}");
}

#[test]
fn the_same_verdicts_are_not_breaking() {
    let reports = Reports::new();
    let ran = breaking(&reports.old(), &reports.next(|_| ()));
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "not breaking\n"), "{ran:?}");
    let ran = breaking(&reports.old(), &reports.old());
    assert!(ran.stdout.contains("a difference is no change of the protocol"), "{ran:?}");
    // A case that was not run again shows nothing, and is named.
    let id = reports.old["cases"][0]["id"].as_str().expect("an id").to_owned();
    let new = reports.next(|new| drop(new["cases"].as_array_mut().expect("a list").remove(0)));
    let ran = breaking(&reports.old(), &new);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(line(&ran, &id).contains("not shown"), "{ran:?}");
}

#[test]
fn what_is_no_report_is_refused() {
    let reports = Reports::new();
    for (text, code) in [("nonsense", "CANON_INVALID_JSON"), ("{}", "WIRE_FIELD_MISSING")] {
        let bad = reports.write("bad.json", text);
        for (old, new) in [(reports.old(), bad.clone()), (bad.clone(), reports.old())] {
            let said = refusal(breaking(&old, &new), code);
            assert!(said.contains("is not a report"), "{said}");
        }
    }
    let missing = reports.folder.path().join("missing.json");
    breaking(&reports.old(), &missing).refused("INPUT_UNREADABLE");
    let other = reports.next(|new| new["run"]["protocol"] = "alx".into());
    let said = refusal(breaking(&reports.old(), &other), "USAGE");
    assert!(said.contains("about alx, not about ggui"), "{said}");
    let mut one = bare(&["check", "ggui", "--breaking"]);
    one.arg(reports.old());
    run(one, "").refused("USAGE");
}
