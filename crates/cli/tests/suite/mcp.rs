//! `accord mcp`: the real program, as an MCP client starts it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

use crate::accord::run;
use crate::memory::{Memory, Way, bare};
use crate::wait::{LIMIT, exit_of};

/// An MCP client and the program that it started.
pub(crate) struct Agent {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<String>,
    next: u64,
}

impl Agent {
    fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("accord starts");
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let (lines, output) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines() {
                let _ = lines.send(line.expect("text"));
            }
        });
        Self { input: child.stdin.take(), child, output, next: 0 }
    }

    /// Starts it on a data folder, and begins.
    fn on(memory: &Memory, more: &[&str]) -> Self {
        let mut command = bare(&[&["mcp"], more].concat());
        command.env("ACCORD_DATA", memory.data());
        Self::begun(command)
    }

    pub(crate) fn begun(command: Command) -> Self {
        let mut agent = Self::start(command);
        // A client that shows pages gets all tools.
        let pages = json!({"mimeTypes": ["text/html;profile=mcp-app"]});
        let begin = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {"extensions": {"io.modelcontextprotocol/ui": pages}},
            "clientInfo": {"name": "test-client", "version": "1"}
        });
        let welcome = agent.ask("initialize", &begin);
        assert_eq!(welcome["result"]["serverInfo"]["name"], "accord");
        agent.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        agent
    }

    fn say(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("it listens");
        writeln!(input, "{message}").expect("it reads");
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let line = self.output.recv_timeout(LIMIT).expect("it answers");
        let answer: Value = serde_json::from_str(&line).expect("standard output is MCP alone");
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Calls a tool that may wait, with a progress token. Returns the result, and how often the
    /// server said that the call goes on.
    pub(crate) fn call_with_progress(&mut self, tool: &str, arguments: &Value) -> (Value, usize) {
        self.next += 1;
        let (id, token) = (self.next, "t1");
        let params =
            json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": token}});
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
        for count in 0.. {
            let line = self.output.recv_timeout(LIMIT).expect("it answers");
            let mut said: Value = serde_json::from_str(&line).expect("JSON");
            if said["id"] == id {
                return (said["result"].take(), count);
            }
            assert_eq!(said["method"], "notifications/progress", "{said}");
            assert_eq!(said["params"]["progressToken"], token, "{said}");
        }
        unreachable!("the numbers do not end")
    }

    /// Calls a tool, and waits for nothing.
    pub(crate) fn begin_call(&mut self, tool: &str, arguments: &Value) {
        self.next += 1;
        let params = json!({"name": tool, "arguments": arguments});
        let method = "tools/call";
        self.say(&json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params}));
    }

    /// Ends it as a crash would.
    pub(crate) fn kill(mut self) {
        self.child.kill().expect("it is killed");
        self.child.wait().expect("it ends");
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        let answer = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert!(answer["error"].is_null(), "{answer}");
        answer["result"].clone()
    }

    /// The document in the text of a result.
    #[track_caller]
    pub(crate) fn read(&mut self, tool: &str, arguments: &Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{result}");
        serde_json::from_str(result["content"][0]["text"].as_str().expect("a text")).expect("JSON")
    }

    /// Closes its input, and gives the exit code and what it said on standard error, beside the
    /// line about its memory with which it begins.
    fn leave(self) -> (Option<i32>, String) {
        let (code, said) = self.leave_with_all();
        let (first, rest) = said.split_once('\n').unwrap_or((&said, ""));
        assert!(first.starts_with("accord: using the "), "{said}");
        (code, rest.to_owned())
    }

    /// The same, with everything that it said.
    fn leave_with_all(mut self) -> (Option<i32>, String) {
        drop(self.input.take());
        let status = exit_of(&mut self.child, "accord mcp, whose input was closed");
        let mut said = String::new();
        let mut stderr = self.child.stderr.take().expect("a pipe");
        stderr.read_to_string(&mut said).expect("text");
        assert!(self.output.iter().next().is_none(), "nothing is said unasked");
        (status.code(), said)
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // Only where a test ended early is there something left.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_tools_are_those_in_the_repository() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/mcp.md")).expect("the page is there");
    let memory = Memory::new();
    let sets: [(&[&str], &str); 6] = [
        (&[], "mcp-tools.json"),
        (&["--tools", "relay"], "mcp-tools-relay.json"),
        (&["--tools", "tasks"], "mcp-tools-tasks.json"),
        (&["--tools", "live"], "mcp-tools-live.json"),
        (&["--tools", "inbox"], "mcp-tools-inbox.json"),
        (&["--tools", "runs"], "mcp-tools-runs.json"),
    ];
    for (more, file) in sets {
        let mut agent = Agent::on(&memory, more);
        let tools = agent.ask("tools/list", &json!({}))["result"]["tools"].clone();
        let text = format!("{:#}\n", tools);
        let path = root.join("contracts/accord").join(file);
        if std::env::var_os("ACCORD_BLESS").is_some_and(|value| value == "1") {
            std::fs::write(&path, &text).expect("the file can be written");
        }
        let kept = std::fs::read_to_string(&path).expect("the file is there");
        assert!(
            kept == text,
            "contracts/accord/{file} is not what the tools say; ACCORD_BLESS=1 writes it again"
        );
        for tool in tools.as_array().expect("a list") {
            let name = tool["name"].as_str().expect("a name");
            assert!(page.contains(&format!("`{name}`")), "docs/mcp.md does not speak of {name}");
        }
        assert_eq!(agent.leave(), (Some(0), String::new()));
    }
}

#[test]
fn an_agent_works_on_a_folder_without_a_host() {
    let memory = Memory::new();
    let mut agent = Agent::on(&memory, &["--project", "shop", "--actor", "agent:builder"]);
    agent.call("memory_session_start", &json!({}));
    let receipt =
        agent.call("memory_deposit", &json!({"title": "Cart works", "open_questions": ["Taxes?"]}));
    let id = receipt["structuredContent"]["package_id"].as_str().expect("an id").to_owned();
    let package = agent.read("memory_pull", &json!({"package_id": id}));
    assert_eq!(package["created_by"]["id"], "builder");
    assert!(package["created_by"]["session_id"].is_string());
    let missing = agent.read("memory_pull", &json!({"package_id": "pkg_none"}));
    assert_eq!(missing, Value::Null);
    for budget in [300, 2_000, 8_000] {
        let oriented = agent.call("memory_orient", &json!({"max_tokens": budget}));
        let text = oriented["content"][0]["text"].as_str().expect("a text");
        assert!(accord_base::tokens(text) <= budget, "{text}");
        let short = &id["pkg_".len()..][..8];
        assert!(text.contains("Taxes?") && text.contains(short), "{text}");
    }
    let refused = agent.call("memory_deposit", &json!({"title": "x".repeat(201)}));
    assert_eq!(refused["isError"], true);
    assert_eq!(refused["structuredContent"]["error"]["code"], "invalid_schema");
    let unknown = agent.ask("tools/call", &json!({"name": "memory_depositt"}));
    assert_eq!(unknown["error"]["code"], -32602);

    // It holds nothing: another agent, and the command, work on the same folder meanwhile.
    let mut other = Agent::on(&memory, &["--project", "shop"]);
    let oriented = other.read("memory_orient", &json!({"format": "bundle"}));
    assert_eq!(oriented["open_questions"], json!(["Taxes?"]));
    let listed = memory.json(&["session", "list"]);
    assert!(listed["sessions"][0]["ended_at"].is_null());
    assert_eq!(agent.leave(), (Some(0), String::new()));
    // The session that it left open has ended with it.
    let listed = memory.json(&["session", "list"]);
    assert!(listed["sessions"][0]["ended_at"].is_string(), "{listed}");
    assert_eq!(other.leave(), (Some(0), String::new()));
}

#[test]
fn an_agent_without_a_key_reviews_nothing_as_a_person() {
    let memory = Memory::new();
    let words = ["--project", "shop", "--actor", "agent:claude"];
    let mut agent = Agent::on(&memory, &words);
    let made = agent.call("memory_deposit", &json!({"title": "Mine", "status": "draft"}));
    let package = made["structuredContent"]["package_id"].as_str().expect("an id").to_owned();
    let flag = json!({"package_id": package, "review_type": "human"});
    let flagged = agent.call("memory_flag", &flag);
    assert_eq!(flagged["isError"], false, "{flagged}");
    let review = json!({"package_id": package, "action": "approve", "actor": "human:lead"});
    let is_refused = |answer: &Value| {
        assert_eq!(answer["structuredContent"]["error"]["code"], "person_required", "{answer}");
    };
    is_refused(&agent.call("memory_review", &review));
    is_refused(&agent.call("memory_session_start", &json!({"actor": "human:lead"})));
    is_refused(&agent.call("memory_deposit", &json!({"title": "T", "actor": "human:lead"})));
    let waiting = agent.read("memory_pull", &json!({"package_id": package}));
    assert_eq!(waiting["status"], "awaiting_review", "{waiting}");
    // The server of a person is that person's.
    let mut person = Agent::on(&memory, &["--project", "shop", "--actor", "human:lead"]);
    let reviewed = person.call("memory_review", &review);
    assert_eq!(reviewed["isError"], false, "{reviewed}");
}

#[test]
fn the_tools_of_tasks_open_no_store() {
    let place = tempfile::tempdir().expect("a folder");
    let data = place.path().join(".accord");
    let begin = |agent: &str| {
        let actor = format!("agent:{agent}");
        let mut command =
            bare(&["mcp", "--tools", "tasks", "--project", "shop", "--actor", &actor]);
        command.env("ACCORD_DATA", &data);
        Agent::begun(command)
    };
    let (mut one, mut two) = (begin("one"), begin("two"));
    let made = one.call("aof_dispatch", &json!({"title": "Cart", "brief": "Make a cart."}));
    let first = made["structuredContent"]["taskId"].clone();
    let after = json!({"title": "Till", "brief": "Make a till.", "dependsOn": [first]});
    one.call("aof_dispatch", &after);
    // Both use the same tree at the same time, and one of them gets the task.
    let claimed = two.call("aof_claim", &json!({}));
    assert_eq!(claimed["structuredContent"]["taskId"], first, "{claimed}");
    let none = one.call("aof_claim", &json!({}));
    assert_eq!(none["structuredContent"]["claimed"], false, "{none}");
    let run = claimed["structuredContent"]["runId"].clone();
    let done = json!({"taskId": first, "runId": run, "summary": "It holds things."});
    let done = two.call("aof_task_complete", &done);
    assert_eq!(done["structuredContent"]["finalStatus"], "review", "{done}");
    assert!(!data.join("accord.db").exists(), "the store was opened");
    // The first of them says that the folder is new.
    assert_eq!(one.leave().0, Some(0));
    assert_eq!(two.leave().0, Some(0));
}

#[test]
fn agents_share_a_memory_however_they_reach_it() {
    let memory = Memory::reached(Way::Url);
    let mut by_socket = Agent::on(&memory, &["--project", "shop"]);
    by_socket.call("memory_fact_assert", &json!({"subject": "s", "predicate": "p", "value": "v"}));
    let mut command = bare(&["mcp", "--project", "shop", "--url", &memory.host().url]);
    command.env("ACCORD_KEY", memory.key());
    let mut by_url = Agent::begun(command);
    let facts = by_url.read("memory_facts", &json!({}));
    assert_eq!(facts["facts"][0]["value"], "v");
    assert_eq!(by_url.leave(), (Some(0), String::new()));

    // Without its key, and when the host is gone, calls are refused with what to do.
    let mut keyless =
        Agent::begun(bare(&["mcp", "--project", "shop", "--url", &memory.host().url]));
    let refused = keyless.call("memory_facts", &json!({}));
    assert_eq!(refused["structuredContent"]["error"]["code"], "AUTH_REQUIRED");
    let mut nowhere =
        Agent::begun(bare(&["mcp", "--project", "shop", "--url", "http://127.0.0.1:1"]));
    let refused = nowhere.call("memory_facts", &json!({}));
    assert_eq!(refused["structuredContent"]["error"]["code"], "HOST_UNREACHABLE");
}

#[test]
fn a_key_says_in_whose_name_an_agent_writes() {
    let memory = Memory::reached(Way::Url);
    let words = ["key", "create", "--label", "builder", "--actor", "agent:builder", "--project"];
    let mut command = bare(&[&words[..], &["shop", "--verb", "read", "--verb", "write"]].concat());
    command.env("ACCORD_DATA", memory.data());
    let made = run(command, "");
    assert_eq!(made.code, 0, "{made:?}");
    let serve = |url: &str| {
        let mut command = bare(&["mcp", "--project", "shop", "--url", url]);
        command.env("ACCORD_KEY", made.stdout.trim());
        Agent::begun(command)
    };
    // The client calls itself otherwise.
    let mut agent = serve(&memory.host().url);
    let stored = agent.read("memory_deposit", &json!({"title": "Two caches"}));
    let found = agent.read("memory_pull", &json!({"package_id": stored["package_id"]}));
    assert_eq!(found["created_by"], json!({"id": "builder", "type": "agent"}), "{found}");
    // A host that is away keeps no tools from being offered.
    let mut away = serve("http://127.0.0.1:1");
    let refused = away.call("memory_facts", &json!({}));
    assert_eq!(refused["structuredContent"]["error"]["code"], "HOST_UNREACHABLE");
}

#[test]
fn only_the_tools_that_are_wanted_are_offered() {
    let memory = Memory::new();
    let mut agent = Agent::on(&memory, &["--tools", "memory_pull,memory_deposit"]);
    let tools = agent.ask("tools/list", &json!({}))["result"]["tools"].clone();
    let names: Vec<&str> =
        tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["memory_pull", "memory_deposit"]);
    let refused = agent.ask("tools/call", &json!({"name": "memory_orient", "arguments": {}}));
    assert_eq!(refused["error"]["code"], -32602);

    let mut command = bare(&["mcp", "--tools", "memories"]);
    command.env("ACCORD_DATA", memory.data());
    let said = run(command, "").refused("MCP_TOOL_UNKNOWN");
    assert!(said.contains("memory"), "{said}");
    let mut command = bare(&["mcp", "--actor", "nobody"]);
    command.env("ACCORD_DATA", memory.data());
    run(command, "").refused("USAGE");
}

#[test]
fn packages_are_resources_of_the_command() {
    let memory = Memory::new();
    let id = memory.deposit("Cart works", &[]);
    let mut agent = Agent::on(&memory, &["--project", "shop"]);
    let listed = agent.ask("resources/list", &json!({}))["result"]["resources"].clone();
    let uri = format!("accord://projects/shop/packages/{id}");
    assert_eq!((&listed[0]["uri"], &listed[0]["title"]), (&json!(uri), &json!("Cart works")));
    let read = agent.ask("resources/read", &json!({"uri": uri}))["result"].clone();
    let text = read["contents"][0]["text"].as_str().expect("a text");
    let package: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(package["package_id"], id.as_str());
    let prompts = agent.ask("prompts/list", &json!({}))["result"]["prompts"].clone();
    assert_eq!(prompts[0]["name"], "brief_me");
    // A project that the first deposit will create has none yet.
    let mut early = Agent::on(&memory, &["--project", "new"]);
    assert_eq!(early.ask("resources/list", &json!({}))["result"]["resources"], json!([]));
    // A set of tools without them says so.
    let mut relay = Agent::on(&memory, &["--project", "shop", "--tools", "relay"]);
    assert_eq!(relay.ask("resources/list", &json!({}))["error"]["code"], -32_601);
    let status = relay.read("relay_status", &json!({}));
    assert_eq!(status["packages"][0]["id"], id.as_str());
}

#[test]
fn it_ends_with_its_input_whatever_came_before() {
    let memory = Memory::new();
    for input in [
        "",
        "\n\nnot json\n{\"half\": ",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{}}\n",
    ] {
        let mut command = bare(&["mcp"]);
        command.env("ACCORD_DATA", memory.data());
        let ran = run(command, input);
        assert_eq!(ran.code, 0, "{input:?} {ran:?}");
        for line in ran.stdout.lines() {
            assert!(serde_json::from_str::<Value>(line).is_ok(), "{line}");
        }
    }
}

#[test]
fn it_says_which_memory_it_works_on_and_answers_what_is_no_message() {
    let memory = Memory::new();
    let place = memory.data();
    for (which, garbage, code) in
        [("new data folder", "garbage", -32_700), ("data folder", "[]", -32_600)]
    {
        let mut agent = Agent::on(&memory, &[]);
        writeln!(agent.input.as_mut().expect("it listens"), "{garbage}").expect("it reads");
        let answer = agent.output.recv_timeout(LIMIT).expect("a line");
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert_eq!(answer.get("id"), Some(&Value::Null), "{answer}");
        let (ended, said) = agent.leave_with_all();
        assert_eq!(ended, Some(0));
        let reported = format!("accord: using the {which} {}\n", place.display());
        assert_eq!(said, reported);
    }
}

#[test]
fn of_requests_with_one_id_at_a_time_one_is_carried_out() {
    let memory = Memory::new();
    let mut agent = Agent::on(&memory, &["--project", "shop"]);
    let message = json!({
        "jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": {"name": "memory_fact_assert",
            "arguments": {"subject": "s", "predicate": "p", "value": "v"}}
    });
    for _ in 0..120 {
        agent.say(&message);
    }
    let (mut done, mut refused) = (0, 0);
    for _ in 0..120 {
        let line = agent.output.recv_timeout(LIMIT).expect("every line is answered");
        let answer: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(answer["id"], 7);
        if answer["error"].is_null() {
            done += 1;
        } else {
            assert_eq!(answer["error"]["code"], -32_600, "{answer}");
            let message = answer["error"]["message"].as_str().expect("a text");
            assert!(message.starts_with("MCP_DUPLICATE_ID: "), "{message}");
            refused += 1;
        }
    }
    assert!(done >= 1 && refused >= 1, "{done} {refused}");
    // After its answer, an id can be used again.
    agent.next = 6;
    agent.read("memory_facts", &json!({}));
    assert_eq!(agent.leave(), (Some(0), String::new()));
}

#[test]
fn malformed_params_are_answered_with_what_is_wrong() {
    let memory = Memory::new();
    let mut command = bare(&["mcp"]);
    command.env("ACCORD_DATA", memory.data());
    let mut agent = Agent::start(command);
    // Also before the client has begun.
    let refused = agent.ask("initialize", &json!({"protocolVersion": "2025-06-18"}));
    assert_eq!(refused["error"]["code"], -32_602, "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("capabilities is missing"));
    let begin = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"}
    });
    agent.ask("initialize", &begin);
    for (method, params, code, words) in [
        ("tools/call", json!({}), -32_602, "name is missing"),
        ("tools/call", json!({"name": "memory_pull", "arguments": 1}), -32_602, "not a number"),
        ("tools/cal", json!({}), -32_601, "did you mean tools/call?"),
        ("logging/setLevel", json!({"level": "info"}), -32_601, "does not offer the method"),
    ] {
        let refused = agent.ask(method, &params);
        assert_eq!(refused["error"]["code"], code, "{refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains(words), "{refused}");
    }
}

#[test]
fn a_client_of_2026_07_28_works_without_initialize() {
    let memory = Memory::new();
    let mut command = bare(&["mcp", "--project", "shop"]);
    command.env("ACCORD_DATA", memory.data());
    let mut agent = Agent::start(command);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "modern", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let discovered = agent.ask("server/discover", &json!({"_meta": meta}));
    let versions = &discovered["result"]["supportedVersions"];
    assert!(
        versions.as_array().is_some_and(|all| all.contains(&json!("2026-07-28"))),
        "{discovered}"
    );
    let mut call = |tool: &str, arguments: Value| {
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        let answer = agent.ask("tools/call", &params);
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        answer["result"].clone()
    };
    // The process is the connection, so later calls belong to the session.
    call("memory_session_start", json!({"actor": "agent:ada"}));
    call("memory_deposit", json!({"title": "T"}));
    let pulled = call("memory_pull", json!({}));
    let text = pulled["content"][0]["text"].as_str().expect("a text");
    let list: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(list["packages"][0]["created_by"]["id"], "ada");
    assert!(list["packages"][0]["created_by"]["session_id"].is_string());
}
