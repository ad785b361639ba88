//! What the commands of a memory print for people.

use crate::accord::{Ran, accord, run};
use crate::memory::{Memory, bare};
use crate::snapshot::Transcript;

/// Commands on one memory, with fixed ids and times.
struct Story {
    memory: Memory,
    transcript: Transcript,
    columns: Option<&'static str>,
}

impl Story {
    fn new() -> Self {
        Self { memory: Memory::new(), transcript: Transcript::default(), columns: None }
    }

    /// Types a command and keeps what it prints.
    fn types(&mut self, words: &str) -> String {
        self.types_with(words, "")
    }

    fn types_with(&mut self, words: &str, input: &str) -> String {
        let args = shell_words::split(words).expect("words");
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let columns = self.columns.map(|columns| ("COLUMNS", columns));
        let ran = self.memory.ran_in(&args, input, columns);
        self.transcript.add(words, &ran);
        ran.stdout
    }

    /// A package with an id and a time of its own.
    fn deposits(&mut self, id: &str, words: &str) {
        self.types(&format!("context deposit --id {id} --created-at 2026-04-18T20:00:00Z {words}"));
    }
}

#[test]
fn projects() {
    let mut story = Story::new();
    story.types("project list");
    story.types("project create shop --name 'The shop' --description 'Where things are sold'");
    story.types("project list");
    story.types("project show");
    story.types("project rename shop 'The new shop'");
    story.types("project archive shop");
    story.types("context deposit --title late");
    story.types("project list");
    story.types("project list --include-archived");
    story.types("project restore shop");
    story.types("project show nowhere");
    story.transcript.check("project");
}

#[test]
fn packages() {
    let mut story = Story::new();
    story.types("context pull");
    story.deposits(
        "first",
        "--title 'Chose SQLite' --decision 'one file per project' --question 'who makes backups?' \
         --handoff 'schema next' --tag store --significance 7 --topic storage",
    );
    story.deposits("first", "--title 'Something else'");
    story.deposits("second", "--title 'Schema' --review human --parent first");
    story.types("context pull");
    story.types("context pull first");
    story.types("context pull --query schema");
    story.types("context pull --query elephants");
    story.types("context pull third");
    story.types("context review second revision_requested --note 'name the columns'");
    story.types("context resubmit second");
    story.types("context review second complete --note good");
    story.types("context flag second --review agent");
    story.types("context pull second --history");
    story.types("context orient");
    story.types("context digest");
    story.types("context digest --focus schema");
    story.types("context verify");
    story.types("context deposit --title x --review nobody");
    story.transcript.check("context");
}

#[test]
fn lines_in_and_out() {
    let mut story = Story::new();
    story.deposits("first", "--title 'Chose SQLite'");
    let exported = story.memory.ran(&["context", "export"]).stdout;
    let file = story.memory.file("out.ndjson");
    story.types(&format!("context export --output {file}"));
    story.types(&format!("context import {file}"));
    let other = exported.replace("\"shop\"", "\"other\"").replace("first", "third");
    story.types_with("context import -", &other);
    story.types_with("context import -", "nonsense\n");
    story.types_with("context import -", "");
    story.transcript.check("context-lines");
}

#[test]
fn facts() {
    let mut story = Story::new();
    story.types("project create shop");
    story.types("fact list");
    story.types("fact assert api version 2.0 --valid-from 2026-04-18T20:00:00Z");
    story.types("fact assert api version 2.1 --confidence 0.5 --tag wire");
    story.types("fact list");
    story.types("fact list --history");
    story.types("fact list --subject nothing");
    story.types("fact invalidate api version");
    story.types("fact invalidate api version");
    story.transcript.check("fact");
}

#[test]
fn sessions() {
    let mut story = Story::new();
    story.types("project create shop");
    story.types("session list");
    let id = story.types("session start --id-only --callsign calm-otter");
    story.types("session start --callsign calm-otter");
    story.types("session list --active --callsign calm-otter");
    story.types(&format!("session end {}", id.trim()));
    story.types("session end");
    story.transcript.check("session");
}

#[test]
fn keys() {
    let mut story = Story::new();
    story.types("project create shop");
    story.types("key list");
    let key = story.types("key create --label planner --actor agent:planner --project shop");
    story.types("key list");
    let id = key.split('_').nth(1).unwrap_or_default().to_owned();
    story.types(&format!("key revoke {id}"));
    story.types("key list");
    story.types("key revoke 0123456789abcdef");
    story.types("key create --label x --expires soon");
    let secret = format!("accord_{id}_\\w+");
    let filters = [(secret.as_str(), "accord_[id]_[secret]"), (id.as_str(), "[id of the key]")];
    story.transcript.check_with("key", &filters);
}

#[test]
fn people() {
    let mut story = Story::new();
    story.types("person add lead");
    story.types("project create shop");
    story.types("person list");
    story.types("person add lead --email lead@example.org");
    story.types("person add lead");
    story.types("person add 'two\nlines'");
    story.types("person add agent:coder");
    story.types("person list");
    story.types("person change human:lead --email lead@example.org,coder@example.org");
    story.types("person change human:lead --email lead@example.com");
    story.types("person change human:lead --no-email");
    story.types("person change lead");
    story.types("person remove lead");
    story.types("person remove lead");
    story.transcript.check("people");
}

#[test]
fn upkeep() {
    let mut story = Story::new();
    story.types("store compact");
    story.deposits("first", "--title 'Chose SQLite'");
    let backup = story.memory.file("backup");
    story.types(&format!("store backup {backup}"));
    story.types(&format!("store backup {backup}"));
    story.types(&format!("store restore {backup}"));
    story.types(&format!("store restore {backup} --replace"));
    story.types("store compact");
    story.types("store repair");
    story.types("store trim --days 1");
    story.types("store trim --before 2999-01-01 --dry-run");
    story.types("store trim --before soon");
    story.transcript.check_with("store", &[(r"\d{4,} (bytes|now)", "[many] $1")]);
}

#[test]
fn narrow_terminals() {
    let mut story = Story::new();
    story.columns = Some("60");
    story.deposits(
        "first",
        "--title 'Chose SQLite for everything that has to survive a crash of the process' \
         --decision 'one file per project, and a backup of it every night at three o clock' \
         --question 'who makes backups?' --tag store --significance 7 --topic storage",
    );
    story.types("context pull");
    story.types(
        "fact assert 'the api of the shop' version 'two point one, which every client reads' \
         --valid-from 2026-04-18T20:00:01Z",
    );
    story.types("fact assert api version 2.0 --valid-from 2026-04-18T20:00:02Z");
    story.types("fact list");
    story.types("project list");
    story.types("key create --label 'the nightly job' --project shop --expires 2999-01-01");
    story.types("key list");
    story.types("codes RATE_LIMITED");
    for words in [&["codes"][..], &["compat", "--rules"], &["config", "show"], &["key", "list"]] {
        let ran = story.memory.ran_in(words, "", Some(("COLUMNS", "60")));
        let longest = ran.stdout.lines().map(|line| line.chars().count()).max();
        assert!(longest.is_some_and(|longest| longest <= 60), "{words:?} {longest:?}");
    }
    let secret = (r"accord_[0-9a-v]{16}_\w+", "accord_[id]_[secret]");
    let filters = [secret, (r"\b[0-9a-v]{16}\b", "[id of the key]")];
    story.transcript.check_with("narrow", &filters);
}

#[test]
fn times_of_a_list_differ() {
    let mut story = Story::new();
    for (id, time) in [("a", "20:00:01"), ("b", "20:00:02"), ("c", "21:00:00")] {
        let words = format!("--id {id} --created-at 2026-04-18T{time}Z --title {id}");
        story.types(&format!("context deposit {words}"));
    }
    let listed = story.types("context pull");
    for time in ["20:00:01Z", "20:00:02Z", "21:00:00Z"] {
        assert!(listed.contains(&format!("2026-04-18 {time}")), "{listed}");
    }
    let listed = story.types("context pull --limit 1");
    assert!(listed.contains("2026-04-18 21:00Z"), "{listed}");
}

#[test]
fn wrong_targets() {
    let mut transcript = Transcript::default();
    let mut types = |words: &str| {
        let args: Vec<&str> = words.split(' ').collect();
        transcript.add(words, &run(bare(&args), ""));
    };
    types("project list --url http://127.0.0.1:1");
    types("project list --url 127.0.0.1:7171");
    types("project list --key accord_x");
    types("project list --data /nowhere");
    types("context pull --data /nowhere");
    types("session start --project shop --data /proc/nowhere");
    types("context deposit --title x --project shop --data /nowhere");
    transcript.check("wrong-targets");
}

#[test]
fn settings() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().to_str().expect("text");
    let mut transcript = Transcript::default();
    let mut types = |words: &str| {
        let args: Vec<&str> = words.split(' ').chain(["--data", data]).collect();
        transcript.add(words, &accord(&args, ""));
    };
    types("config show");
    types("config show --set limits.conections=3");
    types("config show --set limits.connections=none");
    types("serve --listen 0.0.0.0:0");
    types("serve --listen nowhere");
    transcript.check("settings");
}

fn typed(transcript: &mut Transcript, words: &str, input: &str) -> Ran {
    let args = shell_words::split(words).expect("words");
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let ran = accord(&args, input);
    transcript.add(words, &ran);
    ran
}

#[test]
fn documents() {
    const BLOCK: &str = r#"{"type":"feature","domain":"d","payload":{"b":1,"a":[]}}"#;
    let mut transcript = Transcript::default();
    let hash = typed(&mut transcript, "kb hash", BLOCK).stdout;
    typed(&mut transcript, "kb cid", BLOCK);
    typed(&mut transcript, "kb explain", BLOCK);
    let expect = format!("kb verify --expect {}", hash.trim());
    typed(&mut transcript, &expect, BLOCK);
    typed(&mut transcript, &expect, &BLOCK.replace("\"d\"", "\"e\""));
    typed(&mut transcript, "kb verify", BLOCK);
    typed(&mut transcript, "kb hash", "{\"a\": 1, \"a\": 2}");
    typed(&mut transcript, "canon --profile jcs", "{\"b\": 1.0, \"a\": null}");
    typed(&mut transcript, "canon --profile alx", "{\"b\": 1.0, \"a\": null}");
    typed(&mut transcript, "canon --profile agentic --hash sha256", "{}");
    typed(&mut transcript, "canon --profile jcs no-such-file", "");
    typed(&mut transcript, "codes RATE_LIMITED", "");
    typed(&mut transcript, "codes rate_limited", "");
    typed(&mut transcript, "codes STORE_LOKED", "");
    typed(&mut transcript, "codes RATE", "");
    typed(&mut transcript, "codes moon", "");
    typed(&mut transcript, "schema", "");
    typed(&mut transcript, "schema run-status", "");
    typed(&mut transcript, "schema packge", "");
    typed(&mut transcript, "schema moon", "");
    typed(&mut transcript, "compat --rules", "");
    transcript.check("documents");
}

#[test]
fn conformance() {
    let mut transcript = Transcript::default();
    typed(&mut transcript, "check --protocols", "");
    typed(&mut transcript, "check alx --list --filter 'area(retry)'", "");
    typed(&mut transcript, "check alx --show alx/version/constant", "");
    typed(&mut transcript, "check alx --filter 'area(retry)' --jobs 1", "");
    typed(&mut transcript, "check alx --filter 'id(alx/version/constant)' --verbose", "");
    let wrong = "check alx --filter 'id(alx/version/constant)' --command \
                 \"sh -c 'cat >/dev/null; echo \\\"{}\\\"'\"";
    typed(&mut transcript, wrong, "");
    typed(&mut transcript, "check alx --filter 'area('", "");
    typed(&mut transcript, "check gopher", "");
    typed(&mut transcript, "check alx --command no-such-adapter-anywhere", "");
    typed(&mut transcript, "check agentic --command true", "");
    typed(&mut transcript, "conformance check --target /nowhere", "");
    typed(&mut transcript, "conformance check --token x", "");
    typed(&mut transcript, "verify protocol --tier 4", "");
    transcript.check("check");
}
