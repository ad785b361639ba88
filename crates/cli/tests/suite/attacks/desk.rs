//! The desk of a person whose agent attacks: a home, governed repositories, tasks, and sockets.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::table::Kind;
use crate::accord::{program, run};
use crate::memory::bare;
use crate::run_approvals::waiting;
use crate::run_place::Place;
use crate::server::Server;
use crate::task_place::Tasks;
use crate::terminal::at_terminal_with;
use crate::wait::output_of;

/// The person whose agent attacks.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum User {
    /// The user who runs the tests.
    Own,
    /// A user without any right of root, if root runs the tests.
    Ordinary,
}

/// A user and group that owns nothing else.
const ORDINARY: &str = "4242";

/// What every desk is a copy of.
pub(super) struct Template {
    folder: TempDir,
    program: PathBuf,
    /// A task in review, one that a person blocked, one that is ready for nobody's agent, and the
    /// one whose agent attacks; a package of that agent that waits for a person.
    names: [(&'static str, String); 5],
}

impl Template {
    /// The one that other tests use at present, or a new one.
    pub(super) fn shared() -> Arc<Self> {
        static SHARED: Mutex<Weak<Template>> = Mutex::new(Weak::new());
        let mut shared = SHARED.lock().expect("no test panicked here");
        shared.upgrade().unwrap_or_else(|| {
            let made = Arc::new(Self::make());
            *shared = Arc::downgrade(&made);
            made
        })
    }

    fn make() -> Self {
        let folder = tempfile::tempdir_in(base()).expect("a folder");
        let mut program = PathBuf::from(program());
        if !program.starts_with(base().parent().expect("a folder")) {
            let copy = folder.path().join("accord");
            std::fs::copy(&program, &copy).expect("a copy");
            program = copy;
        }
        shell(folder.path(), "chmod 755 .; mkdir desk");
        let desk = folder.path().join("desk");
        let write = |name: &str, text: &str| {
            let path = desk.join(name);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        };
        for name in ["home/.bashrc", "home/.claude/x", "state/x", "elsewhere/x", "plain/x"] {
            write(name, "true\n");
        }
        write("home/.ssh/id", "secret\n");
        write("home/key", "ak_secret\n");
        write("task-agent.sh", TASK_AGENT);
        let repo = Place::begun_with(|config| {
            config["roles"]["pm"]["runtime"] = json!("agent");
            config["rules"]["max_turn_retries"] = json!(1);
            config["runtimes"]["agent"] = json!({"type": "local_cli", "command": ["./agent.sh"]});
        });
        repo.write("agent.sh", TURN_AGENT);
        repo.write(".gitignore", "*.log\nreached.txt\nseen.txt\nstolen*\nignored/\n");
        shell(repo.root(), "chmod 755 agent.sh");
        repo.commit();
        let waiting = waiting(|_| {});
        let tasks = Tasks::new();
        let review = tasks.create("Reviewed --ready");
        let agent = tasks.agent("good.sh", "cat > /dev/null");
        tasks.yes(&format!("work --agent '{agent}' --as dev --once"));
        assert_eq!(tasks.status(&review), "review");
        let blocked = tasks.create("Blocked --ready");
        tasks.yes(&format!("block {blocked} 'a person decides'"));
        let cancelled = tasks.create("Cancelled");
        tasks.yes(&format!("cancel {cancelled}"));
        let other = tasks.create("Other --ready --agent other");
        let attacked = tasks.create("Attacked --ready --agent dev");
        // The worker of a turn gets a socket if there is something to reach.
        let mut deposit = bare(&["context", "deposit", "--title", "First", "--review", "human"]);
        deposit.args(["--actor", "agent:dev", "--project", "shop", "--json"]);
        deposit.env("ACCORD_DATA", tasks.data());
        let deposited = run(deposit, "").yes();
        let deposited: Value = serde_json::from_str(&deposited).expect("a document");
        let package = deposited["package_id"].as_str().expect("an id").to_owned();
        let make = format!(
            "cp -a '{}' repo; cp -a '{}' waiting; cp -a '{}' data; {MORE}",
            repo.root().display(),
            waiting.root().display(),
            tasks.data().display()
        );
        shell(&desk, &make);
        // What a perfect forgery would look like.
        tasks.yes(&format!("approve {review} --yes"));
        let forged = format!("cp -a '{}/projects/shop' forged", tasks.data().display());
        shell(folder.path(), &format!("{forged}; chmod -R a+rX forged"));
        let names = [
            ("REVIEW", review),
            ("BLOCKED", blocked),
            ("OTHER", other),
            ("ATTACKED", attacked),
            ("PACKAGE", package),
        ];
        Self { folder, program, names }
    }
}

/// Runs a script that succeeds.
#[track_caller]
fn shell(folder: &Path, script: &str) {
    let mut shell = Command::new("sh");
    shell.args(["-ec", script]).current_dir(folder).stdin(Stdio::null());
    let ran = shell.output().expect("a shell");
    assert!(ran.status.success(), "{script}: {ran:?}");
}

/// The folders in which the agent of a task works: a repository, a linked worktree of it, and a
/// submodule.
const MORE: &str = r#"
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=protocol.file.allow GIT_CONFIG_VALUE_0=always
for name in work super; do
    git init -q $name
    git -C $name config user.name T
    git -C $name config user.email t@example.org
    printf 'reached.txt\n*.log\nstolen*\n' > $name/.gitignore
    git -C $name add .gitignore
    git -C $name commit -qm first
done
git -C super submodule --quiet add ../work sub
git -C super commit -qm second
mkdir bin
find . -name '*.sample' -delete
"#;

/// The agent of a turn. It reports as it should, whatever else it does. It begins when its start is
/// recorded: that record would replace an edit of the state.
const TURN_AGENT: &str = r#"#!/bin/sh
exec > attacks.log 2>&1
until grep -q worker_pid .agentxchain/state.json; do sleep 0.01; done
touch reached.txt; date > work.md
eval "$ATTACKS"
more=$(sed 's/.*/, "&"/' declared.log | tr -d '\n')
printf '%s' "$RESULT" |
    sed "s/RUN/$AGENTXCHAIN_RUN_ID/; s/TURN/$AGENTXCHAIN_TURN_ID/; s|\"work.md\"|&$more|" \
        > "$AGENTXCHAIN_STAGING_PATH"
"#;

const RESULT: &str = r#"{"schema_version": "1.0", "run_id": "RUN", "turn_id": "TURN",
"role": "pm", "runtime_id": "agent", "status": "completed", "summary": "Done.",
"decisions": [], "objections": [], "files_changed": ["work.md"], "artifacts_created": [],
"verification": {"status": "skipped"}, "artifact": {"type": "workspace", "ref": null},
"proposed_next_role": "human"}"#;

const TASK_AGENT: &str = r#"cat > /dev/null
exec > attacks.log 2>&1
touch reached.txt
TASK=$ACCORD_TASK_ID; DIR=$ACCORD_TASK_DIR
eval "$ATTACKS"
true
"#;

/// What the scripts of workers and persons share.
const HELPERS: &str = r#"
# Makes a file that the result declares, unless git ignores it as what stands in its place.
plant() {
    mkdir -p "$(dirname "$1")" && echo evil > "$1" || return
    git check-ignore -q "$1" || echo "$1" >> declared.log
}
# The processes that start workers.
supervisors() { grep -lsx accord-workers /proc/[0-9]*/comm | tr -dc '0-9\n'; }
any_supervisor() { for it in $(supervisors); do eval "$1" && return; done; false; }
own_supervisor() {
    above=$(sed -n 's/^PPid:[^0-9]*//p' /proc/$PPID/status)
    grep -qsx accord-workers "/proc/$above/comm"
}
# Ends the launcher of this worker and its supervisor.
end_accord() {
    own_supervisor && kill -STOP $PPID && kill -9 "$above" && kill -9 $PPID
}
# Leaves a process behind that runs a script when the person lets it. It can wait for the end of
# the worker.
leave() {
    setsid env -i PATH="$PATH" HOME="$PERSON" XDG_STATE_HOME="$STATE" WAITING="$WAITING" \
        ACCORD_DATA="$DATA" ACCORD_PROJECT=shop TREE="$TREE" REVIEW="$REVIEW" DESK="$DESK" \
        FORGED="$FORGED" \
        sh -c "
            await_end() { while grep -qs . /proc/$$/cmdline; do sleep 0.02; done; }
            touch begun$AT.log; until test -e go$AT.log; do sleep 0.02; done; $1
        " "leftover$AT:$PWD" > left$AT.log 2>&1 < /dev/null &
    left=$!
    until test -e begun$AT.log; do sleep 0.02; done
}
# Lets it, and waits for its end.
let_go() { touch go$AT.log; await_none "leftover$AT:$PWD"; cat left$AT.log; }
# Waits until no process or thread has this text in its words or its name. A chain of processes
# could be missed once.
await_none() {
    echo "$1" > own.log
    seen=0
    until test $seen = 5; do
        seen=$((seen + 1))
        sleep 0.02
        cat /proc/[0-9]*/cmdline /proc/[0-9]*/task/*/comm 2> /dev/null | tr -d '\0' |
            grep -qaF -f own.log && seen=0
    done
}
# Lets the agent of the next task run a script.
again() {
    accord task create Next --ready --agent dev
    ATTACKS=$1 accord task work --agent "sh $DESK/task-agent.sh" --as dev --once
}
# Makes a repository whose configuration has a program for git.
nested() {
    git init -q nested && cd nested && echo x > x && echo '* filter=evil' > .gitattributes &&
        git -c user.name=a -c user.email=a@b.invalid commit -q --allow-empty -m a &&
        git add x && git config filter.evil.clean "touch '$PERSON/ran'; cat" && cd ..
}
approve() { (cd "$WAITING" && $1 accord run approve-transition --yes --actor human:lead); }
has_passed() { grep -q gate_approved "$WAITING/.agentxchain/events.jsonl"; }
# A task file with a lease of an agent.
leased() {
    times='\n  acquiredAt: 2026-01-01T00:00:00.000Z\n  expiresAt: 2099-01-01T00:00:00.000Z'
    sed "s/^status: .*/status: in-progress\nlease:\n  agent: $1$times\n  renewCount: 0/" "$2"
}
# Calls a tool over MCP: name, arguments, options.
tool() {
    begin='"params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo":'
    begin="\"method\": \"initialize\", $begin {\"name\": \"x\", \"version\": \"1\"}}"
    call="\"method\": \"tools/call\", \"params\": {\"name\": \"$1\", \"arguments\": $2}"
    printf '{"jsonrpc": "2.0", "id": 1, %s}\n{"jsonrpc": "2.0", "id": 2, %s}\n' \
        "$begin" "$(echo "$call" | tr '\n' ' ')" | accord mcp $3 | tail -n 1
}
call() { tool "$@" | grep -q '"isError":false'; }
# The agent asks a question of which a person decides: the session.
ask() {
    contract='{"actionSpec": {"approve": {"label": "Approve"}}, "x-answeredBy": "person"}'
    draft="{\"intent\": \"Approve\", \"blueprintDraft\": {\"contract\": $contract}}"
    as='--tools live --actor agent:dev'
    id=$(tool ggui_handshake "$draft" "$as" | grep -o 'hs_[0-9a-f]*' | head -n 1)
    tool ggui_render "{\"handshakeId\": \"$id\", \"props\": {}}" "$as" |
        grep -o 'live_[0-9a-f]*' | head -n 1
}
page() { test "$(curl -s -m 60 -o page.log -w '%{http_code}' $1 "$2")" = 200; }
is_done() { test -e "$TREE/tasks/done/$REVIEW.md"; }
"#;

/// What Accord printed while a worker attacked, and whether it succeeded.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) is_success: bool,
    pub(super) text: String,
}

/// A person with a home, and all that an agent could attack.
pub(super) struct Desk {
    user: User,
    kind: Kind,
    mode: &'static str,
    with: BTreeSet<String>,
    folder: TempDir,
    template: Arc<Template>,
    host: Option<Server>,
    abstract_name: String,
    port: std::net::TcpListener,
    _sockets: [UnixListener; 2],
}

impl Desk {
    /// A desk for attacks without needs.
    pub(super) fn plain(user: User, kind: Kind, mode: &'static str) -> Self {
        Self::new(user, kind, mode, &BTreeSet::new())
    }

    /// A desk for attacks with equal needs.
    pub(super) fn new(user: User, kind: Kind, mode: &'static str, with: &BTreeSet<String>) -> Self {
        let template = Template::shared();
        let folder = tempfile::tempdir_in(base()).expect("a folder");
        let at = folder.path();
        let mut parts = match kind {
            Kind::Turn => "repo waiting".to_owned(),
            Kind::Task => "work plain task-agent.sh".to_owned(),
        };
        let mut make = format!("ln -s '{}' bin/accord\n", template.program.display());
        if with.contains("governed") {
            parts += " repo";
        }
        if with.contains("linked") {
            make += "git -C work worktree add -q ../linked\n";
        }
        if with.contains("submodule") {
            parts += " super";
            make += "(cd super/sub && git config user.name T && git config user.email t@a.bc)\n";
        }
        if with.contains("inside") {
            make += "mkdir work/var; mv data work/var; echo var >> work/.gitignore\n";
        }
        let from = template.folder.path().display();
        let parts = format!("home state elsewhere bin data {parts}");
        let copy = format!("cd '{from}/desk'; cp -a {parts} \"$OLDPWD\"; cd \"$OLDPWD\"");
        shell(at, &format!("{copy}\n{make}"));
        let name = |path: &Path| path.file_name().expect("a name").to_string_lossy().into_owned();
        let abstract_name = format!("accord-{}", name(at));
        let address = SocketAddr::from_abstract_name(&abstract_name).expect("a name");
        let sockets = [
            UnixListener::bind(at.join("home/socket")).expect("a socket"),
            UnixListener::bind_addr(&address).expect("a socket"),
        ];
        if user == User::Ordinary {
            shell(at, &format!("chown -hR {ORDINARY}:{ORDINARY} ."));
        }
        let port = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let mut desk = Self {
            user,
            kind,
            mode,
            with: with.clone(),
            folder,
            template,
            host: None,
            abstract_name,
            port,
            _sockets: sockets,
        };
        if desk.has("host") {
            let mut serve = desk.command(&[OsStr::new("accord"), OsStr::new("serve")]);
            serve.args(["--listen", "127.0.0.1:0", "--data"]).arg(desk.data());
            serve.stdin(Stdio::null()).stderr(Stdio::null());
            desk.host = Some(Server::begin(&mut serve));
        }
        desk
    }

    /// A text in which variables stand for what the template has.
    pub(super) fn expand(&self, text: &str) -> String {
        let names = self.template.names.iter();
        names.fold(text.to_owned(), |text, (name, value)| text.replace(&format!("${name}"), value))
    }

    pub(super) fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn has(&self, need: &str) -> bool {
        self.with.contains(need)
    }

    /// The data folder.
    fn data(&self) -> PathBuf {
        self.at(if self.has("inside") { "work/var/data" } else { "data" })
    }

    /// The folder that the worker works in.
    pub(super) fn work_tree(&self) -> PathBuf {
        let layouts = [
            ("governed", "repo"),
            ("linked", "linked"),
            ("plain", "plain"),
            ("submodule", "super/sub"),
        ];
        let layout = layouts.iter().find(|(need, _)| self.has(need));
        match (self.kind, layout) {
            (Kind::Turn, _) => self.at("repo"),
            (Kind::Task, Some((_, folder))) => self.at(folder),
            (Kind::Task, None) => self.at("work"),
        }
    }

    /// A command that the person types in the work tree.
    fn command(&self, words: &[&OsStr]) -> Command {
        let bare = bare(&[]);
        let mut command = match self.user {
            User::Own => Command::new(words[0]),
            User::Ordinary => {
                let mut command = ordinary(self.has("terminal"));
                command.arg(words[0]);
                command
            }
        };
        command.args(&words[1..]).current_dir(self.work_tree());
        for (name, value) in bare.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.at("bin")).chain(std::env::split_paths(&path));
        command.env("PATH", std::env::join_paths(folders).expect("folders without a colon"));
        for (name, value) in &self.template.names {
            command.env(name, value);
        }
        for (name, value) in [
            ("ACCORD_WORKERS_SANDBOX", self.mode),
            ("ACCORD_WORKERS_HIDE_ENV", "CLOUD_*"),
            ("ACCORD_ACTOR", "human:lead"),
            ("ACCORD_PROJECT", "shop"),
            ("ACCORD_SECOND_KEY", "secret"),
            ("CLOUD_TOKEN", "secret"),
            ("RESULT", RESULT),
            ("ABSTRACT", &self.abstract_name),
            ("PORT", &self.port.local_addr().expect("an address").port().to_string()),
            ("HOST_URL", self.host.as_ref().map_or("", |host| &host.url)),
        ] {
            command.env(name, value);
        }
        for (name, folder) in [
            ("HOME", "home"),
            ("PERSON", "home"),
            ("STATE", "state"),
            ("XDG_STATE_HOME", "state"),
            ("WAITING", "waiting"),
            ("SSH_AUTH_SOCK", "home/socket"),
        ] {
            command.env(name, self.folder.path().join(folder));
        }
        command
            .env("DESK", self.folder.path())
            .env("FORGED", self.template.folder.path().join("forged"))
            .env("DATA", self.data())
            .env("TREE", self.data().join("projects/shop"));
        command.env("ACCORD_DATA", self.data()).env_remove("XDG_CONFIG_HOME");
        if let Some(git) = self.with.iter().find_map(|need| need.strip_prefix("git=")) {
            command.env("ACCORD_WORKERS_GIT", git);
        }
        command
    }

    /// Lets a worker run a script: what Accord printed.
    pub(super) fn attack(&self, script: &str) -> Said {
        let agent =
            shell_words::quote(&self.at("task-agent.sh").display().to_string()).into_owned();
        let start = match self.kind {
            Kind::Turn => "accord run step".to_owned(),
            Kind::Task => format!("accord task work --agent \"sh {agent}\" --as dev --once"),
        };
        self.run(&start, &format!("{HELPERS}{script}"))
    }

    /// Runs a script in a shell of the person, which leaves a secret file open to the programs that
    /// it starts.
    pub(super) fn run(&self, script: &str, attacks: &str) -> Said {
        let names = "TASK=$REVIEW DIR=$TREE/tasks/review/$REVIEW; export TERMINAL=$(tty)";
        let script = format!("exec 9< \"$PERSON/.ssh/id\"\n{names}{HELPERS}{script}");
        let mut command = self.command(&["sh", "-c", &script].map(OsStr::new));
        command.env("ATTACKS", attacks);
        if self.has("terminal") {
            let session = at_terminal_with(command, &[]);
            let text = session.shown + &session.stdout;
            return Said { is_success: session.code == 0, text };
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("a shell");
        let Output { status, stdout, stderr } = output_of(child, &script);
        let text = [stdout, stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
        Said { is_success: status.success(), text: text.concat() }
    }
}

/// A folder for desks that every user can reach.
fn base() -> PathBuf {
    static REACHED: OnceLock<bool> = OnceLock::new();
    let own = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let is_reached = || {
        let mut test = ordinary(false);
        test.args(["test", "-x"]).arg(own);
        !is_root() || test.status().is_ok_and(|status| status.success())
    };
    match *REACHED.get_or_init(is_reached) {
        true => own.to_owned(),
        false => std::env::temp_dir(),
    }
}

/// A command of the ordinary user, without its words. A terminal becomes that of the user.
fn ordinary(has_terminal: bool) -> Command {
    let own = if has_terminal { "chown $0 \"$(tty)\";" } else { "" };
    let script = format!("{own} exec setpriv --reuid $0 --regid $0 --clear-groups -- \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, ORDINARY]);
    command
}

pub(super) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
