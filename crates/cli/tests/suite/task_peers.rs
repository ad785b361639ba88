//! What a worker sends by itself in the name of a person: to the socket of the data folder, to a
//! server without keys, and through commands that it starts in other ways.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};

use crate::accord::{Ran, program, run};
use crate::task_place::Tasks;
use crate::wait::LIMIT;

/// What this program sends when a worker starts it as a client of its own.
const SEND: &str = "ACCORD_TEST_SEND";

/// An agent whose work a person reviews.
const GOOD: &str = "cat > /dev/null
echo '{\"outcome\":\"done\"}' > \"$ACCORD_TASK_DIR/outputs/report.json\"\n";

/// Starts its argument as a process whose parents have ended, with a clean environment and a
/// session of its own, and waits for the file that it leaves.
const DAEMON: &str = r#"daemon() {
cat > "$HERE/daemon.sh" <<END
first=\$PPID
for _ in \$(seq 100); do
test "\$(cut -d ' ' -f 4 /proc/\$\$/stat)" = "\$first" || break
sleep 0.02
done
$2
END
env -i PATH="$PATH" setsid sh -c 'sh "$0" > /dev/null 2>&1 < /dev/null & exit 0' "$HERE/daemon.sh"
for _ in $(seq 3000); do test -s "$1" && break; sleep 0.02; done
}
"#;

/// Starts its argument below many shells, each with a clean environment.
const NESTED: &str = r#"cat > "$HERE/nested.sh" <<'END'
if test "$1" -gt 0; then sh "$0" $(($1 - 1)) "$2"; else sh -c "$2"; fi
exit 0
END
nested() { env -i PATH="$PATH" sh "$HERE/nested.sh" 300 "$1"; }
"#;

/// A request, as a client of its own sends it.
struct Sent<'a> {
    path: String,
    body: Value,
    tasks: &'a Tasks,
}

impl<'a> Sent<'a> {
    fn new(tasks: &'a Tasks, path: impl Into<String>, body: Value) -> Self {
        Self { path: path.into(), body, tasks }
    }

    /// A person's verb on a task.
    fn verb(tasks: &'a Tasks, task: &str, verb: &str, actor: &str) -> Self {
        let path = format!("/accord/v1/projects/shop/tasks/{task}/{verb}?actor={actor}&door=cli");
        let needs_reason = ["block", "send-back", "reopen"].contains(&verb);
        Self::new(tasks, path, if needs_reason { json!({"reason": "why"}) } else { json!({}) })
    }

    fn text(&self) -> String {
        let body = self.body.to_string();
        format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.path,
            self.tasks.host().address,
            body.len()
        )
    }

    /// Sends it to the socket, from this process.
    fn by_socket(&self) -> (u16, Value) {
        answer(&exchange(
            &self.tasks.data().join("accord.sock").display().to_string(),
            &self.text(),
        ))
    }

    /// Sends it over the loopback interface, from this process.
    fn by_tcp(&self) -> (u16, Value) {
        answer(&exchange(&self.tasks.host().address, &self.text()))
    }

    /// The line of a script that sends it from another process, which notes the answer.
    fn line(&self, name: &str, to: &str) -> String {
        let note = self.tasks.folder().join(name).display().to_string();
        let sent = json!({"to": to, "request": self.text(), "note": note});
        let exe = std::env::current_exe().expect("this program");
        let quoted = sent.to_string().replace('\'', "'\\''");
        format!("{SEND}='{quoted}' {} --exact {THIS} > /dev/null 2>&1 < /dev/null", exe.display())
    }
}

/// The test that is also the client.
const THIS: &str = "task_peers::a_worker_cannot_send_what_a_person_decides";

/// One request on one connection: to a socket, or to an address.
fn exchange(to: &str, request: &str) -> String {
    let mut answer = String::new();
    if to.starts_with('/') {
        let mut stream = UnixStream::connect(to).expect("the host listens");
        stream.set_read_timeout(Some(LIMIT)).expect("a limit");
        stream.write_all(request.as_bytes()).expect("the host reads");
        stream.read_to_string(&mut answer).expect("an answer");
    } else {
        let mut stream = TcpStream::connect(to).expect("the host listens");
        stream.set_read_timeout(Some(LIMIT)).expect("a limit");
        stream.write_all(request.as_bytes()).expect("the host reads");
        stream.read_to_string(&mut answer).expect("an answer");
    }
    answer
}

fn answer(text: &str) -> (u16, Value) {
    let (head, body) = text.split_once("\r\n\r\n").expect("a whole response");
    (head[9..12].parse().expect("a status"), serde_json::from_str(body).unwrap_or_default())
}

/// Sends what a worker wants, and notes the answer.
fn send(sent: &str) {
    let sent: Value = serde_json::from_str(sent).expect("a request");
    let text = |name: &str| sent[name].as_str().expect("text");
    if text("note").ends_with("-left") {
        // It does not wait for the answer: the process has ended when the request is read.
        let mut stream = UnixStream::connect(text("to")).expect("the host listens");
        stream.write_all(text("request").as_bytes()).expect("the host reads");
        std::process::exit(0);
    }
    let answered = exchange(text("to"), text("request"));
    // The file is there when it is whole.
    let (early, note) = (format!("{}~", text("note")), text("note"));
    std::fs::write(&early, answered).and_then(|()| std::fs::rename(&early, note)).expect("a note");
}

/// A host with a task in review, and a ready one.
fn with_review() -> (Tasks, String, String) {
    let tasks = Tasks::new().served();
    let reviewed = tasks.create("Reviewed --ready");
    let agent = tasks.agent("good.sh", GOOD);
    work(&tasks, &agent);
    assert_eq!(tasks.status(&reviewed), "review");
    let ready = tasks.create("Next --ready");
    (tasks, reviewed, ready)
}

#[track_caller]
fn work(tasks: &Tasks, agent: &str) -> Ran {
    let mut command = tasks.command(&format!("work --agent '{agent}' --as dev --once"));
    command.env("ACCORD", program()).env("HERE", tasks.folder());
    let ran = run(command, "");
    assert_eq!(ran.code, 0, "{ran:?}");
    ran
}

#[track_caller]
fn noted(tasks: &Tasks, name: &str) -> (u16, Value) {
    let note = std::fs::read_to_string(tasks.folder().join(name));
    answer(&note.unwrap_or_else(|error| panic!("{name}: {error}")))
}

#[test]
fn a_worker_cannot_send_what_a_person_decides() {
    if let Ok(sent) = std::env::var(SEND) {
        return send(&sent);
    }
    let (tasks, reviewed, _) = with_review();
    let other = tasks.create("Another --ready");
    let socket = tasks.data().join("accord.sock").display().to_string();
    let tcp = tasks.host().address.clone();
    let approve = || Sent::verb(&tasks, &reviewed, "approve", "human:lead");
    let cleared = "env -i PATH=\"$PATH\"";
    let session = format!("setsid --wait {cleared}");
    let mut lines = format!("cat > /dev/null\n{DAEMON}{NESTED}");
    let mut refused = Vec::new();
    for (door, to) in [("socket", &socket), ("tcp", &tcp)] {
        for (name, with) in [("plain", ""), ("cleared", cleared), ("session", &session)] {
            let name = format!("{door}-{name}");
            lines += &format!("{with} {}\n", approve().line(&name, to));
            refused.push(name);
        }
        let name = format!("{door}-daemon");
        let note = tasks.folder().join(&name);
        let line = approve().line(&name, to).replace('\'', "'\\''");
        lines += &format!("daemon {} '{line}'\n", note.display());
        refused.push(name);
    }
    let line = approve().line("socket-nested", &socket).replace('\'', "'\\''");
    lines += &format!("nested '{line}'\n");
    refused.push("socket-nested".to_owned());
    // Other acts of a person.
    let person = json!({"id": "lead", "type": "human"});
    let package = json!({
        "package_id": "pkg-1", "project_id": "shop", "relay_version": "0.1", "title": "Approved",
        "status": "complete", "package_type": "standard", "review_type": "none",
        "created_at": "2026-04-18T20:00:00Z", "created_by": person,
    });
    let key = json!({"label": "mine", "verbs": ["admin"], "actor": person});
    for (name, sent) in [
        ("cancel", Sent::verb(&tasks, &other, "cancel", "human:lead")),
        ("close", Sent::verb(&tasks, &other, "close", "human:lead")),
        ("adopt", Sent::verb(&tasks, &other, "adopt", "human:lead")),
        ("send-back", Sent::verb(&tasks, &reviewed, "send-back", "human:lead")),
        ("reopen", Sent::verb(&tasks, &other, "reopen", "human:lead")),
        ("resurrect", Sent::verb(&tasks, &other, "resurrect", "human:lead")),
        // A script may change every task.
        ("script", Sent::verb(&tasks, &other, "block", "script:cleanup")),
        ("package", Sent::new(&tasks, "/v1/projects/shop/packages", package)),
        ("import", Sent::new(&tasks, "/v1/projects/shop/import", json!({}))),
        ("key", Sent::new(&tasks, "/accord/v1/keys", key)),
    ] {
        lines += &format!("{cleared} {}\n", sent.line(name, &socket));
        refused.push(name.to_owned());
    }
    // It leaves before it is answered.
    let left = Sent::verb(&tasks, &other, "cancel", "human:lead");
    lines += &format!("{}\n", left.line("socket-left", &socket));
    // As an agent it is served.
    let create = "/accord/v1/projects/shop/tasks?actor=agent:dev";
    let create = Sent::new(&tasks, create, json!({"title": "Mine"}));
    lines += &format!("{}\n", create.line("agent", &socket));
    lines += "echo '{\"outcome\":\"done\"}' > \"$ACCORD_TASK_DIR/outputs/report.json\"\n";
    let agent = tasks.agent("attacker.sh", &lines);
    work(&tasks, &agent);

    for name in &refused {
        let (status, document) = noted(&tasks, name);
        assert_eq!(
            (status, &document["error"]["code"]),
            (403, &json!("not_for_workers")),
            "{name}"
        );
    }
    assert_eq!(noted(&tasks, "agent").0, 201);
    assert_eq!(tasks.status(&reviewed), "review");
    assert_eq!(tasks.status(&other), "ready");
    // A person does the same, through the socket: a worker can hand over a connection of TCP.
    let cancel = || Sent::verb(&tasks, &other, "cancel", "human:lead");
    assert_eq!(cancel().by_tcp().0, 403);
    let (status, document) = cancel().by_socket();
    assert_eq!(status, 200, "{document}");
    let (status, document) = approve().by_socket();
    assert_eq!(status, 200, "{document}");
    assert_eq!(tasks.status(&reviewed), "done");
    let events = std::fs::read_dir(tasks.root().join("events")).expect("events");
    let events: String = events
        .map(|file| std::fs::read_to_string(file.expect("a file").path()).expect("text"))
        .collect();
    assert_eq!(events.matches("\"to\":\"done\"").count(), 1, "{events}");
}

#[test]
fn a_worker_cannot_start_a_command_that_decides() {
    for tasks in [Tasks::new(), Tasks::new().served()] {
        let id = tasks.create("Reviewed --ready");
        let agent = tasks.agent("good.sh", GOOD);
        work(&tasks, &agent);
        tasks.create("Next --ready");
        let typed = format!("\"$ACCORD\" task approve {id} --yes --project shop --data \"$DATA\"");
        let cleared = "env -i PATH=\"$PATH\" ACCORD=\"$ACCORD\" DATA=\"$DATA\"";
        let calls = [
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
                "protocolVersion": "2025-06-18", "capabilities": {},
                "clientInfo": {"name": "agent", "version": "1"}}}),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
                "name": "aof_task_cancel",
                "arguments": {"taskId": id, "actor": "human:lead", "project_id": "shop"}}}),
        ];
        let calls = calls.map(|call| call.to_string()).join("\n");
        let script = format!(
            r#"cat > /dev/null
DATA={data}
export DATA
{DAEMON}
{cleared} sh -c '{typed}' 2> "$HERE/cleared"
setsid --wait {cleared} sh -c '{typed}' 2> "$HERE/session"
daemon "$HERE/daemon" "ACCORD=$ACCORD; DATA=$DATA
{daemon} 2> $HERE/daemon~; mv $HERE/daemon~ $HERE/daemon"
cat > "$HERE/calls" <<'END'
{calls}
END
{{ cat "$HERE/calls"; for _ in $(seq 3000); do
grep -q '"id":2' "$HERE/mcp" && break; sleep 0.02
done; }} | {cleared} "$ACCORD" mcp --tools tasks --project shop --actor human:lead --data "$DATA" \
> "$HERE/mcp"
echo '{{"outcome":"done"}}' > "$ACCORD_TASK_DIR/outputs/report.json"
"#,
            data = tasks.data().display(),
            daemon =
                typed.replace('"', "").replace("$ACCORD", "\\$ACCORD").replace("$DATA", "\\$DATA"),
        );
        let agent = tasks.agent("attacker.sh", &script);
        work(&tasks, &agent);
        for name in ["cleared", "session", "daemon", "mcp"] {
            let said = std::fs::read_to_string(tasks.folder().join(name)).expect(name);
            assert!(said.contains("not_for_workers"), "{name}: {said}");
        }
        assert_eq!(tasks.status(&id), "review");
    }
}
