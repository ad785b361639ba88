//! Workers that do not have the files of their tasks: a hub, and a worker in another folder, as
//! separate processes, joined through a proxy that the test cuts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::accord::{Ran, run};
use crate::memory::bare;
use crate::proxy::{Proxy, serve_behind};
use crate::server::Server;
use crate::task_place::Tasks;
use crate::wait::{exit_of, output_of, pid_in, signal, wait_for_end_of, wait_until};

/// A hub with tasks, and the machine of a worker.
pub(crate) struct Scene {
    pub(crate) tasks: Tasks,
    pub(crate) server: Server,
    pub(crate) proxy: Proxy,
    pub(crate) laptop: TempDir,
}

impl Scene {
    pub(crate) fn new(init: &str) -> Self {
        let (tasks, proxy) = (Tasks::new(), Proxy::new());
        tasks.yes(&format!("init {init}"));
        let server = serve_behind(&proxy, &tasks.data(), &[]);
        proxy.mend(&server.address);
        let laptop = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(laptop.path().join("repo")).expect("a folder");
        Self { tasks, server, proxy, laptop }
    }

    /// The folder that the worker is started in.
    pub(crate) fn repo(&self) -> PathBuf {
        self.laptop.path().join("repo")
    }

    /// The folders of runs that are there.
    pub(crate) fn runs(&self) -> Vec<PathBuf> {
        let above = self.laptop.path().join("state/accord/remote");
        let hubs = std::fs::read_dir(above).into_iter().flatten().flatten();
        let runs = hubs.flat_map(|hub| std::fs::read_dir(hub.path()).into_iter().flatten());
        let runs = runs.flatten().map(|run| run.path());
        // Beside them are the claims that are under way.
        runs.filter(|run| !run.ends_with("claims")).collect()
    }

    /// A command on the machine of the worker.
    pub(crate) fn command(&self, words: &str) -> Command {
        let words = shell_words::split(&format!("task {words}")).expect("words");
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let mut command = bare(&words);
        let home = self.laptop.path();
        command
            .current_dir(self.repo())
            .env("HOME", home)
            .env("XDG_STATE_HOME", home.join("state"));
        command.env("ACCORD_URL", &self.proxy.url).env("ACCORD_PROJECT", "shop");
        command
    }

    pub(crate) fn ran(&self, words: &str) -> Ran {
        run(self.command(words), "")
    }

    /// Runs a worker to its end.
    #[track_caller]
    pub(crate) fn work(&self, script: &str) -> Ran {
        let ran = self.ran(&self.words(script));
        assert_eq!(ran.code, 0, "{ran:?}");
        ran
    }

    /// Starts a worker.
    pub(crate) fn start(&self, script: &str) -> Child {
        let mut command = self.command(&self.words(script));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().expect("accord starts")
    }

    pub(crate) fn words(&self, script: &str) -> String {
        let path = self.repo().join("agent.sh");
        std::fs::write(&path, script).expect("a file");
        format!("work --agent 'sh {}' --as dev --once", path.display())
    }

    /// The files in the outputs of a task, in the tree.
    pub(crate) fn outputs(&self, id: &str) -> BTreeMap<String, Content> {
        let shown = self.tasks.json(&format!("show {id}"));
        let folder = shown["task"]["folder"].as_str().expect("a folder");
        files(&self.tasks.root().join(folder).join("outputs"))
    }

    /// What is uploaded and not in the tree yet.
    pub(crate) fn staged(&self) -> BTreeMap<String, Content> {
        files(&self.tasks.root().join("state/accord/staged"))
    }
}

/// The bytes of a file; a failed comparison does not print them.
#[derive(PartialEq)]
pub(crate) struct Content(pub(crate) Vec<u8>);

impl std::fmt::Debug for Content {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

/// The files below a folder.
fn files(root: &Path) -> BTreeMap<String, Content> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(root).expect("inside").display().to_string();
            // It may be gone by now.
            found.extend(std::fs::read(path).ok().map(|bytes| (name, Content(bytes))));
        }
    }
    found
}

/// An agent that leaves many bytes, a program and a report, and keeps a copy of all of it.
const LARGE: &str = r#"cat > "$ACCORD_TASK_DIR/work/briefing.md"
cd "$ACCORD_TASK_DIR/outputs"
head -c 6000000 /dev/urandom > large.bin
mkdir -p deep/er && printf '#!/bin/sh\n' > deep/er/run.sh && chmod +x deep/er/run.sh
: > empty
echo summary > summary.md
echo '{"outcome":"done","notes":"from afar"}' > report.json
mkdir -p "$OLDPWD/copy" && cp -R . "$OLDPWD/copy"
cp ../work/briefing.md "$OLDPWD/briefing.md"
"#;

#[test]
fn a_worker_elsewhere_gets_its_inputs_and_leaves_its_outputs_in_the_tree() {
    let scene = Scene::new("--title Shop");
    let first = scene.tasks.create("First --ready --no-review --agent dev");
    scene.work("echo '# the format' > $ACCORD_TASK_DIR/outputs/format.md");
    let shown = scene.tasks.json(&format!("show {first}"));
    assert_eq!(shown["task"]["status"], "review", "no report leads to a review: {shown}");
    scene.tasks.yes(&format!("approve {first} --yes"));
    let words = format!("'Write it' --agent dev --after {first} --instructions 'With care'");
    let id = scene.tasks.create(&words);
    wait_until("the task to be ready", || scene.tasks.status(&id) == "ready");
    let inputs = scene.tasks.root().join(format!("tasks/ready/{id}/inputs"));
    std::fs::write(inputs.join("plan.md"), "the plan").expect("written");
    // More files than the briefing names.
    for number in 0..130 {
        std::fs::write(inputs.join(format!("some-{number}")), "part").expect("written");
    }
    let reads = format!(
        "cat $ACCORD_TASK_DIR/inputs/plan.md > plan\n\
         ls $ACCORD_TASK_DIR/inputs | wc -l > count\n\
         find $ACCORD_TASK_DIR/../.. -name format.md -exec cat {{}} \\; > format\n{LARGE}"
    );
    let ran = scene.work(&reads);
    assert!(ran.stderr.contains(&format!("{id} is review: the agent ended its work")), "{ran:?}");
    let read = |name: &str| std::fs::read_to_string(scene.repo().join(name)).expect("a file");
    assert_eq!((read("plan").as_str(), read("format").as_str()), ("the plan", "# the format\n"));
    assert_eq!(read("count").trim(), "131");
    let page = scene.ran(&format!("outputs {id} --inputs --after inputs/some-98"));
    assert!(page.stdout.contains("inputs/some-99") && page.stderr.is_empty(), "{page:?}");
    assert!(!page.stdout.contains("inputs/plan.md"), "{page:?}");
    let briefing = read("briefing.md");
    for part in ["Write it", "With care", "plan.md", "format.md", "state/accord/remote"] {
        assert!(briefing.contains(part), "{part}: {briefing}");
    }
    let outputs = scene.outputs(&id);
    assert_eq!(outputs, files(&scene.repo().join("copy")));
    assert_eq!(outputs.len(), 5);
    assert_eq!((scene.staged(), scene.runs()), (BTreeMap::new(), Vec::new()));
    // Reviewers read them, here and there.
    let listed = scene.ran(&format!("outputs {id}"));
    assert!(listed.stdout.contains("outputs/deep/er/run.sh"), "{listed:?}");
    let to = scene.repo().join("fetched");
    let fetched = scene.ran(&format!("outputs {id} large.bin --output {}", to.display()));
    assert_eq!(fetched.code, 0, "{fetched:?}");
    assert_eq!(std::fs::read(to).expect("a file"), outputs["large.bin"].0);
    assert_eq!(scene.tasks.yes(&format!("outputs {id} summary.md")), "summary\n");
    scene.ran(&format!("outputs {id} none.md")).refused("output_not_found");
    // What a review sent back is there for the next attempt, which may remove some of it.
    scene.tasks.yes(&format!("send-back {id} 'without the large file' --yes"));
    let sent = scene.proxy.sent();
    scene.work(
        "cd $ACCORD_TASK_DIR/outputs && rm large.bin && cp empty again && test -x deep/er/run.sh\n\
         head -c 3000000 /dev/urandom > other.bin\n\
         echo '{\"outcome\":\"done\",\"notes\":\"again\"}' > report.json",
    );
    let names: Vec<String> = scene.outputs(&id).into_keys().collect();
    let all = ["again", "deep/er/run.sh", "empty", "other.bin", "report.earlier.json"];
    assert_eq!(names, [&all[..], &["report.json", "summary.md"]].concat());
    let sent = scene.proxy.sent() - sent;
    assert!(sent < 4_000_000, "{sent} bytes: what the hub has is not sent again");
}

#[test]
fn a_report_in_a_message_comes_after_the_outputs() {
    let scene = Scene::new("--title Shop");
    let report = |door: &str| {
        format!(
            r#"echo made > "$ACCORD_TASK_DIR/outputs/made"
cat <<END {door}
{{"protocol":"aof","version":1,"type":"completion.report","taskId":"$ACCORD_TASK_ID",
"fromAgent":"dev","toAgent":"accord","sentAt":"2099-01-01T00:00:00Z","payload":{{"outcome":"done",
"summaryRef":"outputs/made","tests":{{"total":1,"passed":1,"failed":0}},"notes":"sent"}}}}
END
"#
        )
    };
    let accord = env!("CARGO_BIN_EXE_accord");
    let doors = [format!("| {accord} task message"), "| tr -d '\\n' | sed 's/^/AOF\\/1 /'".into()];
    for door in doors {
        let id = scene.tasks.create("One --ready --agent dev");
        let ran = scene.work(&report(&door));
        let shown = scene.tasks.json(&format!("show {id}"));
        assert_eq!(shown["task"]["run"]["result"]["notes"], "sent", "{door}: {ran:?} {shown}");
        assert_eq!(shown["missing"], serde_json::json!([]), "{shown}");
        assert_eq!(scene.outputs(&id)["made"].0, b"made\n", "{door}: {ran:?}");
    }
}

#[test]
fn an_output_with_a_name_that_is_refused_stops_no_other() {
    let scene = Scene::new("--project shop");
    let id = scene.tasks.yes("create Name --ready --id-only").trim().to_owned();
    let ran = scene.work(
        "cd $ACCORD_TASK_DIR/outputs && echo x > \"$(printf 'a\\nb')\" && echo y > good\n\
         echo '{\"outcome\":\"done\"}' > report.json",
    );
    assert!(ran.stderr.contains("not uploaded: 1") && ran.stderr.contains("a b"), "{ran:?}");
    let names: Vec<String> = scene.outputs(&id).into_keys().collect();
    assert_eq!(names, ["good", "report.json"], "{ran:?}");
}

#[test]
fn an_upload_goes_on_where_a_killed_worker_left_it() {
    let scene = Scene::new("--title Shop");
    let id = scene.tasks.create("One --ready --agent dev");
    scene.proxy.cut_after(3_500_000);
    let mut worker = scene.start(LARGE);
    wait_until("the network to break in the middle", || scene.proxy.is_cut());
    let parts = |scene: &Scene| {
        let staged = scene.staged().into_iter();
        let parts = staged.filter(|(path, _)| path.contains("/parts/"));
        parts.map(|(_, bytes)| bytes.0.len() as u64).max().unwrap_or(0)
    };
    wait_until("a part on the hub", || parts(&scene) >= 1_000_000);
    signal(worker.id(), "-KILL");
    exit_of(&mut worker, "the worker");
    assert_eq!(scene.tasks.status(&id), "in-progress");
    assert!(scene.outputs(&id).is_empty(), "nothing is in the tree before the report");
    scene.proxy.mend(&scene.server.address);
    let (sent, known) = (scene.proxy.sent(), parts(&scene));
    let next = scene.ran(&scene.words("exit 1"));
    assert!(next.stderr.contains("the worker of dev was killed"), "{next:?}");
    assert!(next.stderr.contains(&format!("{id} is review")), "{next:?}");
    assert_eq!(next.code, 1, "there was no other task: {next:?}");
    let sent = scene.proxy.sent() - sent;
    assert!(sent < 6_000_000 - known + 100_000, "{sent} bytes after {known} were there");
    assert_eq!(scene.outputs(&id), files(&scene.repo().join("copy")));
    assert_eq!((scene.staged(), scene.runs()), (BTreeMap::new(), Vec::new()));
}

#[test]
fn a_cut_network_is_waited_for() {
    let scene = Scene::new("--title Shop");
    let id = scene.tasks.create("One --ready --agent dev");
    scene.proxy.cut_after(2_500_000);
    let worker = scene.start(LARGE);
    wait_until("the network to break", || scene.proxy.is_cut());
    scene.proxy.mend(&scene.server.address);
    let output = output_of(worker, "the worker");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("trying again"), "{said}");
    assert_eq!(scene.outputs(&id), files(&scene.repo().join("copy")));
    assert_eq!(scene.tasks.status(&id), "review");
}

/// An agent that says that it began and works until it is ended.
pub(crate) const ENDLESS: &str = r#"echo mine > "$ACCORD_TASK_DIR/outputs/mine"
echo $$ > pid.new && mv pid.new pid
while :; do sleep 0.1; done
"#;

#[test]
fn a_worker_that_lost_its_task_ends_its_agent_and_changes_nothing() {
    let scene = Scene::new("--heartbeat 2");
    let id = scene.tasks.create("One --ready --agent dev");
    let worker = scene.start(ENDLESS);
    let began = scene.repo().join("pid");
    wait_until("the agent to begin", || began.exists());
    let claim = scene.tasks.json(&format!("show {id}"));
    let run = claim["task"]["lease"]["run_id"].as_str().expect("a run").to_owned();
    scene.proxy.cut();
    // Before it can ask the hub again: the lease may be over.
    wait_for_end_of(&pid_in(&began));
    wait_until("the hub to take the task back", || scene.tasks.status(&id) == "ready");
    // Another worker does it meanwhile.
    scene.tasks.yes(&format!("claim {id} --as dev"));
    scene.proxy.mend(&scene.server.address);
    let output = output_of(worker, "the worker");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("the server did not answer for as long as the lease of"), "{said}");
    assert!(said.contains("was taken from this run; the agent was ended"), "{said}");
    // What the agent left is where the worker says.
    let [kept] = &scene.runs()[..] else { panic!("one folder is kept: {said}") };
    assert!(said.contains(&format!("what the agent left is in {}", kept.display())), "{said}");
    assert!(files(kept).keys().any(|path| path.ends_with("outputs/mine")));
    assert_eq!((scene.staged(), scene.outputs(&id)), (BTreeMap::new(), BTreeMap::new()));
    assert_eq!(scene.tasks.status(&id), "in-progress");
    // Its token is of an earlier run.
    let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    let path = format!(
        "/accord/v1/projects/shop/tasks/{id}/outputs?agent=dev&run_id={run}&path=outputs/x\
         &sha256={digest}"
    );
    let (status, refused) = scene.server.ask("PUT", &path, "abc");
    assert_eq!((status, &refused["error"]["code"]), (409, &Value::from("stale_run")), "{refused}");
    // A kept folder is not taken for that of a killed worker.
    let next = scene.ran(&scene.words("exit 1"));
    assert!(!next.stderr.contains("was killed"), "{next:?}");
}

#[test]
fn a_person_on_the_hub_ends_the_agent() {
    let scene = Scene::new("--heartbeat 604800");
    let id = scene.tasks.create("One --ready --agent dev");
    let worker = scene.start(ENDLESS);
    wait_until("the agent to begin", || scene.repo().join("pid").exists());
    scene.tasks.yes(&format!("cancel {id}"));
    let output = output_of(worker, "the worker");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("was moved to cancelled by somebody else"), "{said}");
    assert_eq!(scene.tasks.status(&id), "cancelled");
}

#[test]
fn an_agent_whose_worker_was_killed_is_ended_by_the_next_one() {
    let scene = Scene::new("--title Shop");
    let id = scene.tasks.create("One --ready --agent dev");
    let mut worker = scene.start(ENDLESS);
    let began = scene.repo().join("pid");
    wait_until("the agent to begin", || began.exists());
    signal(worker.id(), "-KILL");
    exit_of(&mut worker, "the worker");
    let ran = scene.work("echo '{\"outcome\":\"done\"}' > $ACCORD_TASK_DIR/outputs/report.json");
    assert!(ran.stderr.contains("the worker of dev was killed"), "{ran:?}");
    wait_for_end_of(std::fs::read_to_string(&began).expect("a pid").trim());
    assert_eq!(scene.tasks.status(&id), "review", "{ran:?}");
    assert_eq!(scene.outputs(&id).into_keys().collect::<Vec<_>>(), ["report.json"]);
}

/// A secret that is recognised as one.
const TOKEN: &str = "ghp_9aK2mQx7Lp4Rt8Vw1Zc6Nb3Yd5Hf0Js2Gu7E";

#[test]
fn reviewers_on_the_hub_see_what_changed_in_the_repository_of_the_worker() {
    let scene = Scene::new("--title Shop");
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@example.org"]).args(words);
        let ran = git.current_dir(scene.repo()).output().expect("git");
        assert!(ran.status.success(), "git {words:?}: {ran:?}");
    };
    let write = |name: &str, text: &str| {
        std::fs::write(scene.repo().join(name), text).expect("written");
    };
    git(&["init", "-q"]);
    write("known.txt", "one\ntwo\n");
    write("gone.txt", "gone\n");
    write("dirty.txt", "as committed\n");
    git(&["add", "-A"]);
    git(&["commit", "-qm", "begin"]);
    write("dirty.txt", "changed before the claim\n");
    write("mine.txt", "of somebody else\n");
    let id = scene.tasks.create("One --ready --agent dev");
    scene.work(&format!(
        "echo three >> known.txt && rm gone.txt && printf 'key = {TOKEN}\\nplain\\n' > new.txt\n\
         printf '\\000\\001' > data.bin && seq 100000 > long.txt\n\
         echo '{{\"outcome\":\"done\",\"deliverables\":[\"new.txt\",\"none.txt\"]}}' \
         > $ACCORD_TASK_DIR/outputs/report.json"
    ));
    let listed = scene.tasks.json(&format!("outputs {id} --diff"));
    let changes = listed["changes"]["files"].as_array().expect("changes");
    let named = |name: &str| changes.iter().find(|file| file["path"] == name);
    let diff = |name: &str| named(name).and_then(|file| file["diff"].as_str()).expect("a diff");
    assert!(diff("known.txt").contains("\n+three\n"), "{listed}");
    assert!(diff("gone.txt").contains("\n-gone\n"), "{listed}");
    assert_eq!(named("gone.txt").expect("a file")["size"], Value::Null);
    assert!(diff("new.txt").contains("[removed: a token of GitHub]\n+plain\n"), "{listed}");
    assert!(!listed.to_string().contains(TOKEN), "{listed}");
    let binary = named("data.bin").expect("a file");
    assert_eq!((&binary["binary"], &binary["size"]), (&true.into(), &2.into()));
    assert!(
        binary["sha256"].as_str().expect("a digest").len() == 64 && binary.get("diff").is_none()
    );
    let long = named("long.txt").expect("a file");
    assert!(long["cut"] == true && diff("long.txt").len() <= 64 * 1024, "{}", long["size"]);
    assert!(listed["changes"]["cuts"][0].as_str().expect("a text").starts_with("long.txt: "));
    for name in ["dirty.txt", "mine.txt"] {
        assert_eq!(named(name), None, "{name} was so before the claim");
    }
    // A decision is about it, too, and the report is compared with it.
    let shown = scene.tasks.json(&format!("show {id}"));
    assert_eq!(shown["observed"]["elsewhere"], true);
    assert_eq!(shown["observed"]["changes"].as_str().expect("a digest").len(), 64);
    assert_eq!(shown["missing"], serde_json::json!(["none.txt"]));
    let text = scene.tasks.yes(&format!("show {id}"));
    assert!(text.contains(&format!("accord task outputs {id} --diff")), "{text}");
    let printed = scene.ran(&format!("outputs {id} --diff")).stdout;
    assert!(printed.contains("  +three\n") && printed.contains("cut: long.txt"), "{printed}");
    // What somebody changed in the record since is not shown.
    let record = scene.tasks.root().join(format!("runs/{id}/changes.json"));
    let forged = std::fs::read_to_string(&record).expect("a record").replace("three", "four");
    std::fs::write(&record, forged).expect("written");
    let listed = scene.tasks.json(&format!("outputs {id} --diff"));
    assert_eq!(listed.get("changes"), None);
}
