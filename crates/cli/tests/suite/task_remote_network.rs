//! Workers on other machines whose network is cut at a moment that matters: while a claim is
//! answered, while the agent works, and when it has ended.

use std::fs::{self, FileTimes};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::accord::{Ran, run};
use crate::memory::bare;
use crate::proxy::serve_behind;
use crate::task_remote::{ENDLESS, Scene};
use crate::wait::{exit_of, output_of, pid_in, signal, wait_for, wait_until};

/// An agent that reports at once.
const REPORTS: &str = r#"echo '{"outcome":"done","notes":"did it"}' \
> "$ACCORD_TASK_DIR/outputs/report.json""#;

/// An agent that says that it began, and reports when it may.
const WAITS: &str = r#"echo $$ > pid.new && mv pid.new pid
until [ -e go ]; do sleep 0.05; done
echo made > "$ACCORD_TASK_DIR/outputs/made"
echo '{"outcome":"done","notes":"did it"}' > "$ACCORD_TASK_DIR/outputs/report.json"
"#;

impl Scene {
    /// How often a task was claimed.
    fn claims(&self, id: &str) -> usize {
        let events = self.tasks.yes(&format!("watch --no-wait --json --task {id}"));
        events.lines().filter(|line| line.contains("lease.acquired")).count()
    }

    /// The file that a worker writes when its agent has ended.
    fn end(&self) -> Option<PathBuf> {
        let mut ends = self.runs().into_iter().map(|run| run.join("end.json"));
        ends.rfind(|end| end.exists())
    }

    /// Serves the tasks again after the server was killed.
    fn serve_again(&mut self) {
        self.server.kill();
        self.server = serve_behind(&self.proxy, &self.tasks.data(), &[]);
        self.proxy.mend(&self.server.address);
    }

    fn notes(&self, id: &str) -> Value {
        self.tasks.json(&format!("show {id}"))["task"]["run"]["result"]["notes"].clone()
    }
}

#[test]
fn a_claim_whose_answer_is_lost_is_the_same_claim_again() {
    let scene = Scene::new("--title Shop");
    let id = scene.tasks.create("One --ready --agent dev");
    let other = scene.tasks.create("Two --ready --agent dev");
    scene.proxy.lose_answer("/claim-next");
    let ran = scene.work(REPORTS);
    assert!(!scene.proxy.loses(), "the answer was lost");
    assert!(ran.stderr.contains("trying again"), "{ran:?}");
    assert_eq!((scene.tasks.status(&id).as_str(), scene.claims(&id)), ("review", 1), "{ran:?}");
    assert_eq!((scene.tasks.status(&other).as_str(), scene.claims(&other)), ("ready", 0));
    let claims = scene.laptop.path().join("state/accord/remote");
    let left = fs::read_dir(claims).expect("a folder").flatten();
    let left: usize = left.map(|hub| list(&hub.path().join("claims")).len()).sum();
    assert_eq!(left, 0, "the next claim has an id of its own");
}

fn list(folder: &std::path::Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

#[test]
fn a_claim_that_a_killed_worker_never_heard_of_is_that_of_the_next_one() {
    let scene = Scene::new("--title Shop");
    let id = scene.tasks.create("One --ready --agent dev");
    scene.proxy.cut_at_answer("/claim-next");
    let mut worker = scene.start(REPORTS);
    wait_until("the network to be cut", || scene.proxy.is_cut());
    wait_until("the claim", || scene.tasks.status(&id) == "in-progress");
    signal(worker.id(), "-KILL");
    exit_of(&mut worker, "the worker");
    scene.proxy.mend(&scene.server.address);
    // Its lease lasts for minutes.
    let ran = scene.work(REPORTS);
    assert_eq!((scene.tasks.status(&id).as_str(), scene.claims(&id)), ("review", 1), "{ran:?}");
}

#[test]
fn work_that_ends_without_a_network_is_reported_after_a_restart_of_the_server() {
    let mut scene = Scene::new("--title Shop");
    let id = scene.tasks.create("One --ready --agent dev");
    let worker = scene.start(WAITS);
    pid_in(&scene.repo().join("pid"));
    scene.proxy.cut();
    fs::write(scene.repo().join("go"), "").expect("written");
    wait_for("the agent to end", || scene.end());
    assert_eq!(scene.tasks.status(&id), "in-progress");
    scene.serve_again();
    let output = output_of(worker, "the worker");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.contains("trying again"), "{said}");
    assert_eq!(scene.tasks.status(&id), "review", "{said}");
    assert_eq!((scene.notes(&id), scene.claims(&id)), (json!("did it"), 1), "{said}");
    assert_eq!(scene.outputs(&id)["made"].0, b"made\n");
}

#[test]
fn an_agent_goes_on_while_the_network_is_cut() {
    let mut scene = Scene::new("--title Shop");
    let id = scene.tasks.create("One --ready --agent dev");
    let worker = scene.start(WAITS);
    let pid = pid_in(&scene.repo().join("pid"));
    scene.proxy.cut();
    scene.serve_again();
    assert!(crate::wait::is_running(&pid), "the lease holds");
    fs::write(scene.repo().join("go"), "").expect("written");
    let output = output_of(worker, "the worker");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert_eq!((scene.tasks.status(&id).as_str(), scene.claims(&id)), ("review", 1), "{said}");
}

#[test]
fn an_answer_to_the_end_of_a_run_that_is_lost_does_no_harm() {
    let scene = Scene::new("--title Shop");
    let id = scene.tasks.create("One --ready --agent dev");
    scene.proxy.lose_answer("/run-end");
    let ran = scene.work(REPORTS);
    assert!(!scene.proxy.loses() && ran.stderr.contains("trying again"), "{ran:?}");
    assert!(ran.stderr.contains(&format!("{id} is review: the agent ended its work")), "{ran:?}");
    assert_eq!((scene.notes(&id), scene.claims(&id)), (json!("did it"), 1));
    assert_eq!(scene.runs(), Vec::<PathBuf>::new());
}

#[test]
fn a_report_in_a_message_that_is_not_answered_is_sent_when_the_agent_ends() {
    let scene = Scene::new("--title Shop");
    let id = scene.tasks.create("One --ready --agent dev");
    let accord = env!("CARGO_BIN_EXE_accord");
    // The agent does not wait for long, and fails.
    let script = format!(
        r#"echo $$ > pid.new && mv pid.new pid
until [ -e go ]; do sleep 0.05; done
echo made > "$ACCORD_TASK_DIR/outputs/made"
cat > message <<END
{{"protocol":"aof","version":1,"type":"completion.report","taskId":"$ACCORD_TASK_ID",
"fromAgent":"dev","toAgent":"accord","sentAt":"2099-01-01T00:00:00Z","payload":{{"outcome":"done",
"summaryRef":"outputs/made","tests":{{"total":1,"passed":1,"failed":0}},"notes":"by message"}}}}
END
{accord} task message < message & sender=$!
until ls "$ACCORD_TASK_DIR"/../../../unsent.json; do sleep 0.05; done
kill -9 $sender
exit 1
"#
    );
    let worker = scene.start(&script);
    pid_in(&scene.repo().join("pid"));
    scene.proxy.cut();
    fs::write(scene.repo().join("go"), "").expect("written");
    wait_for("the agent to end", || scene.end());
    scene.proxy.mend(&scene.server.address);
    let output = output_of(worker, "the worker");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert_eq!(scene.notes(&id), "by message", "{said}");
    assert_eq!((scene.tasks.status(&id).as_str(), scene.claims(&id)), ("review", 1), "{said}");
    assert_eq!(scene.outputs(&id)["made"].0, b"made\n");
}

#[test]
fn folders_of_failed_runs_are_kept_for_a_while() {
    let scene = Scene::new("--title Shop");
    scene.tasks.create("One --ready --agent dev");
    let failed = scene.ran(&scene.words("exit 1"));
    let [old] = &scene.runs()[..] else { panic!("one is kept: {failed:?}") };
    let used = scene.tasks.create("Two --ready --agent dev");
    let mut worker = scene.start(ENDLESS);
    pid_in(&scene.repo().join("pid"));
    let of_worker: Vec<PathBuf> = scene.runs().into_iter().filter(|run| run != old).collect();
    let age = |run: &PathBuf| {
        let then = SystemTime::now() - Duration::from_secs(40 * 86_400);
        for name in ["run.json", "end.json"] {
            let Ok(file) = fs::File::options().write(true).open(run.join(name)) else { continue };
            file.set_times(FileTimes::new().set_modified(then)).expect("a time");
        }
    };
    age(old);
    of_worker.iter().for_each(age);
    // Another worker, which finds no task.
    let ran = scene.ran("work --agent true --as other --once");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert_eq!(scene.runs(), of_worker, "{ran:?}");
    scene.tasks.yes(&format!("cancel {used}"));
    assert!(exit_of(&mut worker, "the worker").success());
}

#[test]
fn what_a_worker_with_the_key_of_an_agent_saw_is_what_its_machine_says() {
    let scene = Scene::new("--title Shop");
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@example.org"]).args(words);
        let ran = git.current_dir(scene.repo()).output().expect("git");
        assert!(ran.status.success(), "git {words:?}: {ran:?}");
    };
    git(&["init", "-q"]);
    fs::write(scene.repo().join("known.txt"), "one\n").expect("written");
    git(&["add", "-A"]);
    git(&["commit", "-qm", "begin"]);
    let words = "key create --label dev --actor agent:dev --project shop --verb read --verb write";
    let mut create = bare(&words.split(' ').collect::<Vec<_>>());
    create.arg("--data").arg(scene.tasks.data());
    let key = run(create, "").stdout.trim().to_owned();
    let id = scene.tasks.create("One --ready --agent dev --check 'test -e known.txt'");
    let mut work = scene.command(&scene.words(&format!("echo two >> known.txt; {REPORTS}")));
    work.env("ACCORD_KEY", key);
    let ran: Ran = run(work, "");
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(!ran.stderr.contains("are not recorded"), "{ran:?}");
    let shown = scene.tasks.json(&format!("show {id}"));
    let observed = &shown["observed"];
    assert_eq!((&observed["said_by"], &observed["elsewhere"]), (&json!("dev"), &json!(true)));
    assert_eq!(observed["checks"][0]["exit_code"], 0, "{shown}");
    assert!(shown["sandbox"].as_str().expect("a text").ends_with(", says the machine of dev"));
    let text = scene.tasks.yes(&format!("show {id}"));
    assert!(text.contains("said by  the machine of dev, and not seen by this host"), "{text}");
    let listed = scene.tasks.yes(&format!("outputs {id} --diff"));
    assert!(listed.starts_with("so says the machine of dev"), "{listed}");
    assert!(listed.contains("  +two\n"), "{listed}");
    // A check that runs here is a fact, beside the words of the other machine.
    let repo = scene.repo();
    scene.tasks.yes(&format!("check {id} --cwd {}", repo.display()));
    let observed = scene.tasks.json(&format!("show {id}"))["observed"].clone();
    assert_eq!((&observed["said_by"], &observed["checked_here"]), (&json!("dev"), &json!(true)));
}
