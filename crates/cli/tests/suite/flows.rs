//! What is decided elsewhere becomes a package of the memory by itself.

use std::path::Path;
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::accord::run;
use crate::memory::bare;
use crate::proxy::{Proxy, serve_behind};
use crate::run_place::{Place, plan};
use crate::server::Server;
use crate::task_place::Tasks;
use crate::wait::{output_of, wait_for, wait_until};

/// An agent that leaves a result.
pub(crate) const GOOD: &str = r#"cat > /dev/null
cd "$ACCORD_TASK_DIR/outputs"
echo 'The cache is cleared at midnight.' > summary.md
echo 'one' > plan.txt
echo '{"outcome": "done", "notes": "two tests are slow"}' > report.json
"#;

impl Tasks {
    /// Runs a command of the memory of the same folder, with `--json`.
    #[track_caller]
    pub(crate) fn memory(&self, words: &str) -> Value {
        serde_json::from_str(&self.said(&format!("{words} --json"))).expect("a document")
    }

    /// Runs a command of the same folder.
    #[track_caller]
    pub(crate) fn said(&self, words: &str) -> String {
        let words = shell_words::split(words).expect("words");
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut command = bare(&words);
        command.current_dir(self.folder()).env("ACCORD_DATA", self.data());
        command.env("ACCORD_PROJECT", "shop").env("ACCORD_ACTOR", "human:lead");
        let ran = run(command, "");
        assert_eq!(ran.code, 0, "{words:?}: {ran:?}");
        ran.stdout
    }

    /// A task that an agent did and that a person approved.
    #[track_caller]
    fn approved(&self, title: &str) -> String {
        let id = self.create(&format!("'{title}' --ready"));
        let agent = self.agent("good.sh", GOOD);
        self.yes(&format!("work --once --as dev --agent '{agent}'"));
        self.yes(&format!("approve {id} --yes --note 'as planned'"));
        id
    }

    /// The packages of the flow, oldest first.
    #[track_caller]
    fn kept(&self) -> Vec<Value> {
        let listed = self.memory("context pull --latest 100");
        let packages = listed["packages"].as_array().expect("a list");
        let of_flow = packages.iter().filter(|package| package["created_by"]["id"] == "accord");
        let mut packages: Vec<Value> = of_flow.cloned().collect();
        packages.reverse();
        packages
    }
}

#[test]
fn an_approved_task_leaves_a_package_without_a_host() {
    let tasks = Tasks::new();
    let id = tasks.approved("Clear the cache");
    assert!(!tasks.data().join("accord.db").exists(), "there is no memory yet");
    // The memory begins, and has what was done before.
    tasks.said("context deposit --title 'Use one cache' --decision 'one cache for all shops'");
    let packages = tasks.kept();
    let [package] = packages.as_slice() else { panic!("{packages:?}") };
    assert_eq!(package["title"], format!("Done: Clear the cache ({id})"));
    assert_eq!(package["package_type"], "auto_deposit");
    assert_eq!(package["created_by"]["type"], "script");
    assert_eq!(package["status"], "complete");
    assert_eq!(package["x-approved_by"], "human:lead");
    let source = &package["x-source"];
    assert_eq!((&source["kind"], &source["task_id"]), (&"task.done".into(), &id.as_str().into()));
    assert_eq!(source["agent"], "dev");
    let text = package["description"].as_str().expect("a text");
    for part in ["cleared at midnight", "two tests are slow", "human:lead approved it: as planned"]
    {
        assert!(text.contains(part), "{text}");
    }
    let files = package["deliverables"].as_array().expect("files");
    let paths: Vec<_> = files.iter().filter_map(|file| file["path"].as_str()).collect();
    assert!(paths.contains(&format!("tasks/done/{id}/outputs/plan.txt").as_str()), "{paths:?}");
    // Both ends name each other, and the next agent reads it in one line.
    let package_id = package["package_id"].as_str().expect("an id");
    let shown = tasks.yes(&format!("show {id}"));
    assert!(shown.contains(&format!("accord context pull {package_id}")), "{shown}");
    let briefing = tasks.said("context orient --format briefing");
    let lines: Vec<_> = briefing.lines().filter(|line| line.contains(&id)).collect();
    assert_eq!(lines.len(), 1, "{briefing}");
    let next = tasks.create("'Next' --ready");
    let claimed = tasks.yes(&format!("claim {next} --as other"));
    assert!(claimed.contains("Done: Clear the cache"), "{claimed}");
}

#[test]
fn a_result_is_kept_once_while_a_host_is_killed() {
    let mut tasks = Tasks::new();
    let mut ids = Vec::new();
    for round in 0..3 {
        tasks = tasks.served();
        ids.push(tasks.approved(&format!("Task {round}")));
        // Whether it has looked at the tree by now or not.
        tasks.kill_server();
    }
    let named = |packages: Vec<Value>| -> Vec<String> {
        let id = |package: &Value| package["x-source"]["task_id"].as_str().map(str::to_owned);
        packages.iter().filter_map(id).collect()
    };
    assert_eq!(named(tasks.kept()), ids);
    // A host that keeps running keeps results while it runs.
    let tasks = tasks.served();
    ids.push(tasks.approved("While it runs"));
    wait_until("the result to be kept", || named(tasks.kept()) == ids);
}

#[test]
fn a_task_that_was_sent_back_says_why() {
    let tasks = Tasks::new();
    let id = tasks.create("'Clear the cache' --ready");
    let agent = tasks.agent("good.sh", GOOD);
    tasks.yes(&format!("work --once --as dev --agent '{agent}'"));
    tasks.yes(&format!("send-back {id} --yes 'the second shop is missing'"));
    tasks.yes(&format!("work --once --as dev --agent '{agent}'"));
    tasks.yes(&format!("approve {id} --yes"));
    tasks.yes(&format!("reopen {id} --yes 'a third shop'"));
    tasks.yes(&format!("close {id} --yes"));
    tasks.said("project create shop");
    let packages = tasks.kept();
    let [first, second] = packages.as_slice() else { panic!("{packages:?}") };
    let said = |package: &Value| package["description"].as_str().expect("a text").to_owned();
    assert!(said(first).contains("human:lead: the second shop is missing"), "{first}");
    assert!(!said(first).contains("a third shop"), "{first}");
    assert!(said(second).contains("human:lead: a third shop"), "{second}");
}

#[test]
fn a_project_can_keep_no_results() {
    let tasks = Tasks::new();
    tasks.said("project create shop");
    std::fs::write(tasks.data().join("accord.toml"), "[flows]\ntasks_off = [\"shop\"]\n")
        .expect("written");
    let id = tasks.approved("Clear the cache");
    assert_eq!(tasks.kept(), Vec::<Value>::new());
    let shown = tasks.yes(&format!("show {id}"));
    assert!(!shown.contains("accord context pull"), "{shown}");
    // What was done meanwhile is not kept later either.
    std::fs::write(tasks.data().join("accord.toml"), "").expect("written");
    assert_eq!(tasks.kept(), Vec::<Value>::new());
    tasks.approved("Another one");
    assert_eq!(tasks.kept().len(), 1);
}

#[test]
fn a_repository_with_tasks_and_a_memory_beside_them_keeps_results() {
    let tasks = Tasks::new();
    let repo = tasks.folder().join("repo");
    std::fs::create_dir(&repo).expect("a folder");
    let at = |words: &str| {
        let words = shell_words::split(words).expect("words");
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut command = bare(&words);
        command.current_dir(&repo).env("ACCORD_ACTOR", "human:lead");
        let ran = run(command, "");
        assert_eq!(ran.code, 0, "{words:?}: {ran:?}");
        ran.stdout
    };
    at("task init --root . --project shop");
    let id = at("task create 'Clear the cache' --ready --id-only").trim().to_owned();
    at(&format!("task close {id} --yes"));
    at("project create shop --data .accord");
    let listed = at("context pull --project shop --json");
    assert!(listed.contains(&format!("Done: Clear the cache ({id})")), "{listed}");
    let shown = at(&format!("task show {id}"));
    assert!(shown.contains("accord context pull pkg_"), "{shown}");
}

#[test]
fn a_result_with_a_credential_is_kept_without_it() {
    let tasks = Tasks::new();
    let id = tasks.create("'Rotate' --ready");
    let secret = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let agent = tasks.agent(
        "leaky.sh",
        &format!(
            "cat > /dev/null\ncd $ACCORD_TASK_DIR/outputs\n\
             printf 'The token\\n{secret}\\nis new.\\n' > summary.md\n\
             echo '{{\"outcome\": \"done\"}}' > report.json\n"
        ),
    );
    tasks.yes(&format!("work --once --as dev --agent '{agent}'"));
    tasks.yes(&format!("approve {id} --yes"));
    tasks.said("project create shop");
    let packages = tasks.kept();
    let [package] = packages.as_slice() else { panic!("{packages:?}") };
    let text = package.to_string();
    assert!(!text.contains(&secret) && text.contains("is new."), "{text}");
}

/// A command that asks a person and waits.
pub(crate) fn asking(tasks: &Tasks, words: &str) -> Child {
    let words = shell_words::split(words).expect("words");
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let mut command = bare(&words);
    command.current_dir(tasks.folder()).env("ACCORD_DATA", tasks.data());
    command.env("ACCORD_PROJECT", "shop").env("ACCORD_ACTOR", "agent:ci");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("accord starts")
}

/// The session of the only question that waits.
#[track_caller]
pub(crate) fn waiting(tasks: &Tasks) -> String {
    wait_for("a question", || {
        let listed = tasks.memory("live list --waiting");
        let asks = listed["result"]["asks"].as_array()?;
        asks.first().map(|ask| ask["session_id"].as_str().expect("an id").to_owned())
    })
}

#[test]
fn an_answer_answers_the_open_question_of_the_memory() {
    for is_served in [false, true] {
        let tasks = Tasks::new();
        tasks.said(
            "context deposit --title 'Ports' --question 'Which port?' --question 'Which host?'",
        );
        let listed = tasks.memory("context pull");
        let id = listed["packages"][0]["package_id"].as_str().expect("an id").to_owned();
        let tasks = if is_served { tasks.served() } else { tasks };
        // The memory's question is asked by its id, and the answer is a text.
        let asked = asking(&tasks, &format!("context ask {id}#0"));
        let session = waiting(&tasks);
        tasks.said(&format!("live answer {session} submit --field answer=8080"));
        let output = output_of(asked, "accord context ask");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        // The same text, asked live by a script.
        let asked = asking(&tasks, "live ask 'Which host?' --option one --option two --json");
        let session = waiting(&tasks);
        tasks.said(&format!("live answer {session} two"));
        let output = output_of(asked, "accord live ask");
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let answer: Value = serde_json::from_slice(&output.stdout).expect("a document");
        wait_until("both answers", || tasks.kept().len() == 2);
        let open = tasks.memory("context questions");
        assert_eq!(open["questions"], serde_json::json!([]), "{open}");
        let kept = tasks.kept();
        assert_eq!(kept[0]["decisions_made"][0], "Which port?: 8080");
        assert_eq!(kept[1]["decisions_made"][0], "Which host?: two");
        assert_eq!(kept[1]["package_type"], "decision");
        assert_eq!(kept[1]["package_id"], answer["result"]["package_id"]);
        assert_eq!(kept[1]["x-approved_by"], "human:lead");
        assert_eq!(kept[1]["x-source"]["session_id"], session.as_str());
    }
}

#[test]
fn an_answer_is_kept_once_after_a_crash_and_without_its_secrets() {
    let mut tasks = Tasks::new().served();
    let form = serde_json::json!({"type": "object", "properties": {
        "user": {"type": "string"}, "pin": {"type": "string", "format": "password"},
    }});
    std::fs::write(tasks.folder().join("form.json"), form.to_string()).expect("a file");
    tasks.said("project create shop");
    let mut asked = asking(&tasks, "live ask 'Who signs in?' --form form.json");
    let session = waiting(&tasks);
    tasks.said(&format!("live answer {session} submit --field user=ann --field pin=9471"));
    tasks.kill_server();
    asked.kill().expect("it is killed");
    asked.wait().expect("it ends");
    for _ in 0..2 {
        let kept = tasks.kept();
        let [package] = kept.as_slice() else { panic!("{kept:?}") };
        let text = package.to_string();
        assert!(text.contains("user: ann") && !text.contains("9471"), "{text}");
    }
}

#[test]
fn a_governed_run_leaves_its_decisions_and_gates_and_reads_the_memory() {
    let place = Place::begun();
    let memory = |words: &str| {
        let words = shell_words::split(words).expect("words");
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut command = bare(&words);
        command.current_dir(place.root()).env("ACCORD_ACTOR", "human:lead");
        let ran = run(command, "");
        assert_eq!(ran.code, 0, "{words:?}: {ran:?}");
        ran.stdout
    };
    memory("project create shop --data .accord");
    memory("project use shop --data .accord");
    memory(
        "context deposit --title 'One cache' --decision 'one cache for all shops' --project shop",
    );
    let files = plan(&place);
    place.commit();
    let turn = place.work("pm", &files, |result| {
        result["phase_transition_request"] = serde_json::json!("implementation");
        result["decisions"] = serde_json::json!([{"id": "DEC-001", "category": "scope",
            "statement": "sell books first", "rationale": "they are there"}]);
    });
    for path in &files {
        place.write(path, &(place.read(path) + "\nmore\n"));
    }
    let context = place.read(&format!(".agentxchain/dispatch/turns/{turn}/CONTEXT.md"));
    assert!(context.contains("one cache for all shops"), "{context}");
    place.run("accept --checkpoint").yes();
    place.run("approve-transition --yes").yes();
    // Once, also if the commands are repeated.
    place.run("status").yes();
    let listed: Value =
        serde_json::from_str(&memory("context pull --project shop --json")).expect("a document");
    let packages = listed["packages"].as_array().expect("a list");
    let kept: Vec<_> = packages.iter().filter(|it| it["created_by"]["id"] == "accord").collect();
    let [gate, decided] = kept.as_slice() else { panic!("{listed}") };
    assert_eq!(decided["decisions_made"][0], "sell books first (they are there)");
    assert_eq!(decided["x-source"]["turn_id"], turn.as_str());
    assert_eq!(gate["x-source"]["kind"], "run.gate");
    assert_eq!(gate["x-approved_by"], "human:lead");
}

/// An agent that leaves packages and facts in the memory, through the socket of its attempt.
const LEAVES: &str = r#"cat > /dev/null
unset ACCORD_DATA
keep() { "$ACCORD" "$@" > /dev/null || exit 1; }
keep context deposit --title 'Two caches are enough' --id pkg_caches \
  --created-at 2026-11-01T10:00:00Z
[ -e "$ONCE" ] || keep fact assert cache count 2
[ -e "$ONCE" ] || keep fact assert cache count 3
[ -e "$ONCE" ] || keep fact assert cache size 9
touch "$ONCE"
echo '{"outcome": "done", "notes": "done"}' > "$ACCORD_TASK_DIR/outputs/report.json"
"#;

#[test]
fn what_rejected_work_left_leaves_the_memory() {
    let tasks = Tasks::new();
    tasks.said("project create shop");
    tasks.said("fact assert cache count 1 --actor agent:planner");
    let folder = tempfile::tempdir().expect("a folder");
    let id = tasks.create("'Clear the cache' --ready");
    let agent = tasks.agent("leaves.sh", LEAVES);
    let work = || {
        let mut command = tasks.command(&format!("work --agent '{agent}' --as dev --once"));
        command.env("ACCORD", env!("CARGO_BIN_EXE_accord")).env("ONCE", folder.path().join("once"));
        let ran = run(command, "");
        assert_eq!((ran.code, tasks.status(&id).as_str()), (0, "review"), "{ran:?}");
    };
    let has = |words: &str| {
        let answer = tasks.memory(words);
        let packages = answer["packages"].as_array().expect("packages").clone();
        packages.iter().any(|package| package["package_id"] == "pkg_caches")
    };
    let listed = || has("context pull --latest 100");
    let found = || has("context pull --query caches --limit 10");
    let facts = || {
        let list = tasks.memory("fact list");
        let facts = list["facts"].as_array().expect("facts").clone();
        let line = |fact: &Value| format!("{}={}", fact["predicate"], fact["value"]);
        facts.iter().map(line).collect::<Vec<_>>()
    };
    work();
    assert!(listed() && found());
    assert_eq!(facts(), [r#""count"="3""#, r#""size"="9""#]);
    tasks.yes(&format!("send-back {id} --yes 'one cache only'"));
    assert!(!listed() && !found());
    assert_eq!(facts(), [r#""count"="1""#]);
    // It stays what it is, under its id.
    assert_eq!(tasks.memory("context pull pkg_caches")["status"], "complete");
    tasks.said("context verify");
    assert!(!listed(), "it is not damaged");
    let kept = tasks.kept();
    let [package] = kept.as_slice() else { panic!("{kept:?}") };
    let text = package["description"].as_str().expect("a text");
    for part in ["one cache only", "Two caches are enough (pkg_caches)", "1 holds again"] {
        assert!(text.contains(part), "{text}");
    }
    // The next attempt reads it.
    let briefing = tasks.said("context orient --format briefing");
    let says = format!("Sent back {id}: one cache only; left out: Two caches are enough");
    assert!(briefing.contains(&says), "{briefing}");
    // What it deposits again is there again, and stays when the work is approved.
    work();
    assert!(listed() && found());
    // A copy of the memory does not show what was rejected either.
    tasks.yes(&format!("send-back {id} --yes 'still two'"));
    let lines = tasks.said("context export");
    assert!(lines.contains(r#""x-rejected":{"at":"#), "{lines}");
    std::fs::write(folder.path().join("lines"), lines).expect("written");
    let copy = folder.path().join("copy");
    let in_copy = |words: &str| {
        let place = folder.path().join("lines");
        let words = format!("{words} --project shop --data {}", copy.display());
        tasks.said(&words.replace("LINES", &place.display().to_string()))
    };
    in_copy("context import LINES");
    assert!(!in_copy("context pull --latest 100").contains("\n  pkg_caches"));
    assert!(in_copy("context pull pkg_caches").contains("Two caches are enough"));
    assert_eq!(in_copy("context export"), tasks.said("context export"));
    work();
    tasks.yes(&format!("approve {id} --yes"));
    assert!(listed());
    assert_eq!(facts(), [r#""count"="1""#]);
    // The result of the task and what the agent deposited are one line.
    let done = tasks.kept().pop().expect("a package");
    assert_eq!(done["parent_package_id"], "pkg_caches", "{done}");
    let briefing = tasks.said("context orient --format briefing");
    let lines: Vec<_> =
        briefing.lines().filter(|line| line.starts_with("- Two caches are enough")).collect();
    assert_eq!(lines.len(), 1, "{briefing}");
    assert!(lines[0].contains(", done"), "{briefing}");
    assert!(!briefing.contains("Done: "), "{briefing}");
}

#[test]
fn what_rejected_turns_left_leaves_the_memory() {
    for is_served in [false, true] {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite/flows_turn.sh");
        let place = Place::begun_with(|config| {
            config["roles"]["pm"]["runtime"] = serde_json::json!("agent");
            config["runtimes"]["agent"] = serde_json::json!({"type": "local_cli",
                "prompt_transport": "dispatch_bundle_only", "command": ["/bin/sh", script]});
        });
        let memory = |words: &str| {
            let words = shell_words::split(words).expect("words");
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let mut command = bare(&words);
            command.current_dir(place.root()).env("ACCORD_ACTOR", "human:lead");
            let ran = run(command, "");
            assert_eq!(ran.code, 0, "{words:?}: {ran:?}");
            ran.stdout
        };
        memory("project create shop --data .accord");
        memory("project use shop --data .accord");
        memory("fact assert cache count 1 --actor agent:planner");
        let _host = is_served.then(|| Server::start(&place.at(".accord"), &[]));
        let facts = || {
            let list: Value = serde_json::from_str(&memory("fact list --json")).expect("facts");
            let facts = list["facts"].as_array().expect("facts").clone();
            let line = |fact: &Value| format!("{}={}", fact["predicate"], fact["value"]);
            facts.iter().map(line).collect::<Vec<_>>()
        };
        let mut command = place.command("loop");
        command.env("ACCORD", env!("CARGO_BIN_EXE_accord"));
        let ran = run(command, "");
        assert!(ran.code == 0 && ran.stdout.contains("accord run send-back"), "{ran:?}");
        // The second attempt read why, and what it cannot rely on.
        let read = place.read("seen.md");
        assert!(read.contains("left out: Two caches are enough (pkg_caches)"), "{read}");
        assert!(read.contains("attempt 1: the assignment stage refused"), "{read}");
        assert!(!memory("context pull --latest 100").contains("\n  pkg_caches"));
        assert!(memory("context pull pkg_caches").contains("Two caches are enough"));
        assert_eq!(facts(), [r#""count"="1""#, r#""size"="9""#]);
        // The accepted turn counts as rejected when its request is sent back.
        place.run("send-back --reason 'No numbers yet' --yes").yes();
        assert_eq!(facts(), [r#""count"="1""#]);
        let briefing = memory("context orient --format briefing");
        assert!(briefing.contains("No numbers yet; left out: cache size = 9"), "{briefing}");
    }
}

#[test]
fn a_rejection_that_takes_nothing_back_is_told_once() {
    let (place, proxy) = (Place::begun(), Proxy::new());
    let folder = tempfile::tempdir().expect("a folder");
    let server = serve_behind(&proxy, &folder.path().join("data"), &[]);
    proxy.mend(&server.address);
    let (status, _) = server.ask("POST", "/v1/projects", r#"{"project_id":"shop","name":"Shop"}"#);
    assert_eq!(status, 201);
    let data = folder.path().join("data").display().to_string();
    let key = "key create --label lead --actor human:lead --project shop --verb read --verb write";
    let key = format!("{key} --verb approve --data {data}");
    let key = run(bare(&key.split(' ').collect::<Vec<_>>()), "").stdout.trim().to_owned();
    let types = |words: &str| {
        let mut command = place.command(words);
        command.env("ACCORD_URL", &proxy.url).env("ACCORD_PROJECT", "shop");
        command.env("ACCORD_KEY", &key);
        run(command, "").yes();
    };
    place.hand_out("pm");
    types("reject --reason 'another day'");
    assert_eq!(proxy.asked("flow=true"), 1, "the memory was told");
    let looks = proxy.asked("GET /v1/packages/");
    types("escalate --reason 'wait for Ada'");
    types("resolve --yes");
    assert_eq!(proxy.asked("flow=true"), 1, "and is not told again");
    assert_eq!(proxy.asked("GET /v1/packages/"), looks, "nor asked");
    // Another memory is told, too.
    let data = place.at(".accord").display().to_string();
    run(bare(&["project", "create", "shop", "--data", &data]), "").yes();
    let told = || {
        let told = place.state().join("accord/told");
        std::fs::read_dir(told).into_iter().flatten().flatten().count()
    };
    assert_eq!(told(), 1);
    assert_eq!(place.run("escalate --reason 'wait for Bo'").code, 0);
    assert_eq!(told(), 2);
}
