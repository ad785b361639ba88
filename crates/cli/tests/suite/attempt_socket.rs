//! The socket of an attempt: what a worker reaches of Accord, and as whom.

use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::accord::run;
use crate::memory::bare;
use crate::run_place::Place;
use crate::task_place::Tasks;
use crate::wait::pid_in;

/// What a worker does with the command, each with its answer in a file of `$SEEN`. It has neither a
/// data folder nor a key.
const USE: &str = r#"cat > /dev/null
unset ACCORD_DATA
cd /
ask() { file=$1; shift; "$ACCORD" "$@" > "$SEEN/$file" 2>&1; echo "exit $?" >> "$SEEN/$file"; }
echo "$ACCORD_SOCKET" > "$SEEN/socket"
stat -c %a "${ACCORD_SOCKET%/*}" > "$SEEN/mode"
echo "${ACCORD_KEY-none} ${ACCORD_CONFORMANCE_TOKEN-none} $KEPT" > "$SEEN/key"
ask list task list --json
ask deposit context deposit --title Found --json
ask flags task list --json --data /nowhere
ask person task create Forged --actor human:lead --json
ask script task create Forged --actor script:nightly --json
ask other task create Forged --actor agent:other --json
ask project task list --project other --json
ask approve task approve "$ACCORD_TASK_ID" --yes --json
ask admin key create --label mine --json
ask store store compact --json
printf '%s\n' "$INITIALIZE" "$DEPOSIT" | ask mcp mcp --actor human:lead --data /nowhere
ask report task message --now "$REPORT" --json
"#;

/// What the worker left in a file: the document, and the exit code.
fn seen(folder: &Path, name: &str) -> (Value, i32) {
    let text = std::fs::read_to_string(folder.join(name)).expect(name);
    let exit = text.lines().last().and_then(|line| line.strip_prefix("exit "));
    let document = text.lines().find(|line| line.starts_with('{'));
    let document = document.and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
    (document, exit.expect("an exit code").parse().expect("a number"))
}

fn text_in(folder: &Path, name: &str) -> String {
    std::fs::read_to_string(folder.join(name)).expect(name).trim().to_owned()
}

#[track_caller]
fn works_through_its_socket(tasks: &Tasks) {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let id = tasks.create("One --ready");
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "client", "version": "1"}}});
    let deposit = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "memory_deposit", "arguments": {"title": "Told"}}});
    let report = json!({
        "protocol": "aof", "version": 1, "type": "completion.report", "taskId": id,
        "fromAgent": "dev", "toAgent": "accord",
        "payload": {"outcome": "done", "summaryRef": "outputs/summary.md", "deliverables": [],
            "tests": {"total": 0, "passed": 0, "failed": 0}, "blockers": [], "notes": "It works"},
    });
    let agent = tasks.agent("use.sh", USE);
    let mut command = tasks.command(&format!("work --agent '{agent}' --as dev --once"));
    command.env("SEEN", folder).env("ACCORD", env!("CARGO_BIN_EXE_accord"));
    command.env("INITIALIZE", initialize.to_string()).env("DEPOSIT", deposit.to_string());
    command.env("REPORT", format!("AOF/1 {report}"));
    command.env("ACCORD_KEY", "ak_1").env("ACCORD_CONFORMANCE_TOKEN", "t").env("KEPT", "kept");
    let worked = run(command, "");
    assert_eq!(worked.code, 0, "{worked:?}");

    assert_eq!(text_in(folder, "mode"), "700");
    assert_eq!(text_in(folder, "key"), "none none kept");
    for name in ["list", "flags"] {
        let (list, code) = seen(folder, name);
        assert_eq!((code, &list["result"]["tasks"][0]["id"]), (0, &json!(id)), "{list}");
    }
    let (deposited, code) = seen(folder, "deposit");
    let by = json!({"id": "dev", "type": "agent"});
    assert_eq!((code, &deposited["created_by"]), (0, &by), "{deposited}");
    for (name, refusal) in [
        ("person", "not_for_workers"),
        ("script", "not_for_workers"),
        ("other", "unauthorized"),
        ("project", "unauthorized"),
        ("approve", "not_for_workers"),
        ("admin", "unauthorized"),
        ("store", "not_for_workers"),
    ] {
        let (refused, code) = seen(folder, name);
        assert_eq!((code, &refused["code"]), (2, &json!(refusal)), "{name}: {refused}");
    }
    // The actor that the settings of an MCP client name is not that of the attempt.
    let mcp = text_in(folder, "mcp");
    assert!(mcp.contains("\"isError\":false"), "{mcp}");
    let (reported, code) = seen(folder, "report");
    assert_eq!((code, &reported["ok"]), (0, &json!(true)), "{reported}");
    assert_eq!(tasks.status(&id), "review");
    assert_eq!(tasks.json("list")["tasks"].as_array().map(Vec::len), Some(1), "a forged task");
    let mut command = bare(&["context", "pull", "--project", "shop", "--json"]);
    command.env("ACCORD_DATA", tasks.data());
    let pulled = run(command, "").stdout;
    assert!(pulled.contains("Found") && pulled.contains("Told"), "{pulled}");
    assert!(!pulled.contains("human"), "{pulled}");

    let socket = text_in(folder, "socket");
    assert!(!Path::new(&socket).parent().expect("a folder").exists(), "{socket} is left");
}

#[test]
fn a_worker_needs_only_its_socket() {
    works_through_its_socket(&Tasks::new());
}

#[test]
fn a_worker_needs_only_its_socket_beside_a_host() {
    let tasks = Tasks::new();
    tasks.yes("init");
    works_through_its_socket(&tasks.served());
}

#[test]
fn the_worker_of_a_turn_reaches_the_memory_of_its_project() {
    const USE: &str = r#": > /dev/null; unset ACCORD_DATA
echo "${ACCORD_SOCKET:-none}" > socket.txt
"$ACCORD" context deposit --title "Of a turn" --json > deposit.txt 2>&1
"#;
    let place = Place::begun_with(|config| {
        config["roles"]["pm"]["runtime"] = json!("agent");
        config["runtimes"]["agent"] = json!({"type": "local_cli", "command": ["sh", "-c", USE]});
    });
    let data = tempfile::tempdir().expect("a folder");
    let step = |data: Option<&Path>| {
        let mut command = place.command("step");
        command.env("ACCORD", env!("CARGO_BIN_EXE_accord"));
        if let Some(data) = data {
            command.env("ACCORD_DATA", data);
        }
        let ran = run(command, "");
        assert!(ran.stderr.contains("without a result"), "{ran:?}");
        let read = |name: &str| text_in(place.root(), name);
        (read("socket.txt"), read("deposit.txt"))
    };
    let nowhere = data.path().join("none");
    assert_eq!(step(Some(&nowhere)).0, "none", "nothing to reach");
    let mut command = bare(&["context", "deposit", "--title", "First", "--project", "shop"]);
    command.args(["--actor", "human:lead"]).env("ACCORD_DATA", data.path());
    assert_eq!(run(command, "").code, 0);
    let (socket, deposited) = step(Some(data.path()));
    assert_ne!(socket, "none");
    let deposited: Value = serde_json::from_str(&deposited).expect(&deposited);
    assert_eq!(deposited["created_by"], json!({"id": "pm", "type": "agent"}), "{deposited}");
    assert_eq!(deposited["project_id"], "shop", "{deposited}");
}

#[test]
fn the_folder_of_a_killed_supervisor_is_removed_by_the_next() {
    let (tasks, folder) = (Tasks::new(), tempfile::tempdir().expect("a folder"));
    let temporary = folder.path().join("t");
    // Folders of others: another name, something else in it.
    std::fs::create_dir_all(temporary.join("accord-others")).expect("folders");
    std::fs::create_dir_all(temporary.join("accord-abc123")).expect("folders");
    let started = |script: &str| {
        tasks.create("One --ready");
        let agent = tasks.agent("agent.sh", script);
        let mut command = tasks.command(&format!("work --agent '{agent}' --as dev --once"));
        command.env("TMPDIR", &temporary).env("SEEN", folder.path());
        command
    };
    let script = "cat > /dev/null; echo \"$ACCORD_SOCKET\" > \"$SEEN/socket\"; sleep 600";
    let mut command = started(script);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut killed = command.spawn().expect("it starts");
    let socket = pid_in(&folder.path().join("socket"));
    let left = Path::new(&socket).parent().expect("its folder").to_owned();
    assert!(left.starts_with(&temporary), "{socket}");
    // Another attempt leaves the folder of a running one alone.
    let other = run(started("cat > /dev/null"), "");
    assert_eq!((other.code, left.join("s").exists()), (0, true), "{other:?}");
    killed.kill().expect("killed");
    killed.wait().expect("it ended");
    assert!(left.exists(), "it was killed");
    let next = run(started("cat > /dev/null"), "");
    assert_eq!((next.code, left.exists()), (0, false), "{next:?}");
    assert!(temporary.join("accord-others").exists() && temporary.join("accord-abc123").exists());
}
