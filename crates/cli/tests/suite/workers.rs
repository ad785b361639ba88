//! What a worker can reach of the process that started it, and what it can leave behind.

#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::accord::run;
use crate::run_place::Place;
use crate::task_place::Tasks;
use crate::terminal::at_terminal_with;
use crate::wait::{is_running, pid_in, signal, wait_for_end_of};

/// Leaves three processes behind, each in its own way. Their ids are in `$LEFT`.
const LEAVE: &str = r#"cat > /dev/null
setsid env -i sh -c 'echo $$ > "$0/session"; exec sleep 600' "$LEFT" &
(setsid sh -c '(sh -c "echo \$\$ > \"$LEFT/orphan\"; exec sleep 600" &)' &)
nohup sh -c 'echo $$ > "$LEFT/nohup"; trap "" TERM INT HUP; sleep 600' > /dev/null 2>&1 &
for name in session orphan nohup; do
  while [ ! -s "$LEFT/$name" ]; do sleep 0.01; done
done
"#;
const LEFT: [&str; 3] = ["session", "orphan", "nohup"];

#[test]
fn nothing_outlives_the_worker_of_a_task() {
    let (tasks, left) = (Tasks::new(), tempfile::tempdir().expect("a folder"));
    let id = tasks.create("One --ready");
    let agent = tasks.agent("leave.sh", LEAVE);
    let mut command = tasks.command(&format!("work --agent '{agent}' --as dev --once"));
    command.env("LEFT", left.path());
    let worked = run(command, "");
    assert_eq!(worked.code, 0, "{worked:?}");
    assert_eq!(tasks.status(&id), "review");
    for name in LEFT {
        let pid = pid_in(&left.path().join(name));
        assert!(!is_running(&pid), "{name} outlived its worker");
    }
}

/// The table of processes shows such a process as one that has ended.
#[test]
fn a_process_whose_first_thread_has_ended_does_not_outlive_its_worker() {
    const PROGRAM: &str = "
        int pthread_create(unsigned long *, void *, void *(*)(void *), void *);
        void pthread_exit(void *);
        unsigned sleep(unsigned);
        static void *stay(void *none) { for (;;) sleep(600); return none; }
        int main(void) {
            unsigned long thread;
            pthread_create(&thread, 0, stay, 0);
            pthread_exit(0);
        }";
    let (tasks, left) = (Tasks::new(), tempfile::tempdir().expect("a folder"));
    tasks.create("One --ready");
    compile(PROGRAM, &left.path().join("stay"));
    let agent = tasks.agent(
        "leave.sh",
        r#"cat > /dev/null
setsid "$LEFT/stay" < /dev/null > /dev/null 2>&1 & pid=$!
until grep -q ') Z ' /proc/$pid/stat; do sleep 0.01; done
echo $pid > "$LEFT/thread"
"#,
    );
    let mut command = tasks.command(&format!("work --agent '{agent}' --as dev --once"));
    command.env("LEFT", left.path());
    let worked = run(command, "");
    assert_eq!(worked.code, 0, "{worked:?}");
    assert!(!is_running(&pid_in(&left.path().join("thread"))), "it outlived its worker");
}

/// It is faster than a look at the table of processes, which has some hundred more here.
#[test]
fn a_chain_of_processes_does_not_outlive_its_worker() {
    const PROGRAM: &str = r#"
        int fork(void);
        int setsid(void);
        void _exit(int);
        int open(const char *, int, ...);
        long write(int, const void *, unsigned long);
        int main(int count, char **words) {
            if (fork()) return 0;
            setsid();
            for (long round = 0;; round++) {
                if (fork()) _exit(0);
                int file = round == 1000 ? open(words[1], 1) : -1;
                if (file >= 0) write(file, "1\n", 2);
            }
        }"#;
    let (tasks, left) = (Tasks::new(), tempfile::tempdir().expect("a folder"));
    tasks.create("One --ready");
    let name = format!("chain-{}", std::process::id());
    compile(PROGRAM, &left.path().join(&name));
    let script = format!(
        r#"cat > /dev/null
for _ in $(seq 200); do sleep 600 & done
: > "$LEFT/begun"
"$LEFT/{name}" "$LEFT/begun" < /dev/null > /dev/null 2>&1
until [ -s "$LEFT/begun" ]; do sleep 0.01; done
"#
    );
    let agent = tasks.agent("leave.sh", &script);
    let mut command = tasks.command(&format!("work --agent '{agent}' --as dev --once"));
    command.env("LEFT", left.path());
    let worked = run(command, "");
    assert_eq!(worked.code, 0, "{worked:?}");
    // A process that was not ended yet shows up sooner or later, also one that is never seen twice.
    for _ in 0..20 {
        let names = std::fs::read_dir("/proc").expect("processes").flatten();
        let mut found = names.filter(|it| {
            let comm = std::fs::read_to_string(it.path().join("comm")).unwrap_or_default();
            comm.trim_end() == name && is_running(&it.file_name().to_string_lossy())
        });
        assert!(found.next().is_none(), "the chain outlived its worker");
    }
}

/// Compiles a program in C, with the linker of Rust.
fn compile(program: &str, file: &Path) {
    let source = file.with_extension("c");
    std::fs::write(&source, program).expect("written");
    let mut compiler = Command::new("cc");
    compiler.args(["-pthread", "-o"]).arg(file).arg(&source);
    assert!(compiler.status().expect("a compiler").success());
}

#[test]
fn a_worker_that_kills_its_launcher_gains_nothing() {
    let (tasks, left) = (Tasks::new(), tempfile::tempdir().expect("a folder"));
    tasks.create("One --ready");
    let agent = tasks.agent("kill.sh", &format!("{LEAVE}\nkill -9 $PPID\n"));
    let mut command = tasks.command(&format!("work --agent '{agent}' --as dev --once"));
    command.env("LEFT", left.path());
    let worked = run(command, "");
    assert_eq!(worked.code, 0, "{worked:?}");
    for name in LEFT {
        let pid = pid_in(&left.path().join(name));
        assert!(!is_running(&pid), "{name} outlived its worker");
    }
}

#[test]
fn a_killed_supervisor_takes_its_workers_along() {
    let (tasks, left) = (Tasks::new(), tempfile::tempdir().expect("a folder"));
    tasks.create("One --ready");
    let agent = tasks.agent("stay.sh", &format!("{LEAVE}\nsleep 600\n"));
    let mut command = tasks.command(&format!("work --agent '{agent}' --as dev --once"));
    command.env("LEFT", left.path()).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let pids: Vec<String> = LEFT.iter().map(|name| pid_in(&left.path().join(name))).collect();
    signal(child.id(), "-KILL");
    child.wait().expect("it ended");
    for pid in &pids {
        wait_for_end_of(pid);
    }
}

#[test]
fn nothing_outlives_the_worker_of_a_turn() {
    let left = tempfile::tempdir().expect("a folder");
    let script = format!("LEFT='{}'; export LEFT\n{LEAVE}", left.path().display());
    let place = Place::begun_with(|config| {
        config["roles"]["pm"]["runtime"] = json!("agent");
        config["runtimes"]["agent"] =
            json!({"type": "local_cli", "command": ["sh", "-c", script.replace("cat >", ": >")]});
    });
    let ran = place.run("step");
    assert!(ran.stderr.contains("without a result"), "{ran:?}");
    for name in LEFT {
        let pid = pid_in(&left.path().join(name));
        assert!(!is_running(&pid), "{name} outlived its worker");
    }
}

#[test]
fn a_worker_has_no_terminal_and_no_file_of_its_supervisor() {
    const LOOK: &str = r#"cat > /dev/null
(echo y > /dev/tty) 2> /dev/null && seen=opened
echo "${seen:-none}" > "$SEEN/tty"
ls /proc/self/fd | tr '\n' ' ' > "$SEEN/files"
"#;
    let (tasks, seen) = (Tasks::new(), tempfile::tempdir().expect("a folder"));
    tasks.create("One --ready");
    let agent = tasks.agent("look.sh", LOOK);
    let work = tasks.command(&format!("work --agent '{agent}' --as dev --once"));
    // A shell that leaves a file open to the programs that it starts.
    let mut command = Command::new("sh");
    command.args(["-c", "exec 9</dev/null; exec \"$0\" \"$@\""]);
    command.arg(work.get_program()).args(work.get_args());
    command.current_dir(tasks.folder()).env("SEEN", seen.path());
    for (name, value) in work.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let worked = at_terminal_with(command, &[]);
    assert_eq!(worked.code, 0, "{}", worked.shown);
    let read = |name: &str| {
        let path: PathBuf = seen.path().join(name);
        std::fs::read_to_string(path).expect("the worker looked")
    };
    assert_eq!(read("tty"), "none\n");
    // The fourth is the folder that `ls` reads.
    assert_eq!(read("files"), "0 1 2 3 ");
}

#[test]
fn a_worker_does_not_get_secrets() {
    let (tasks, seen) = (Tasks::new(), tempfile::tempdir().expect("a folder"));
    tasks.create("One --ready");
    let agent = tasks.agent("look.sh", "cat > /dev/null; env > \"$SEEN/env\"");
    let mut command = tasks.command(&format!("work --agent '{agent}' --as dev --once"));
    command.env("SEEN", seen.path()).env("ACCORD_WORKERS_HIDE_ENV", "CLOUD_*, TOKEN");
    for name in ["ACCORD_SECOND_KEY", "CLOUD_SECRET", "TOKEN", "TOKENS"] {
        command.env(name, "value");
    }
    let worked = run(command, "");
    assert_eq!(worked.code, 0, "{worked:?}");
    let env = std::fs::read_to_string(seen.path().join("env")).expect("the worker looked");
    for (name, is_seen) in
        [("ACCORD_SECOND_KEY", false), ("CLOUD_SECRET", false), ("TOKEN", false), ("TOKENS", true)]
    {
        let has = env.lines().any(|line| line.starts_with(&format!("{name}=")));
        assert_eq!(has, is_seen, "{name}: {env}");
    }
}

/// A namespace that needs no rights has only the processes that were started in it.
#[test]
fn a_process_that_hides_its_parents_decides_nothing() {
    let unshared = |words: &[&str], command: &Command| {
        let mut unshare = Command::new("unshare");
        unshare.args(["-Urpf", "--mount-proc"]).args(words).arg(command.get_program());
        unshare.args(command.get_args());
        unshare
    };
    if !unshared(&[], &Command::new("true")).output().is_ok_and(|ran| ran.status.success()) {
        assert!(std::env::var_os("CI").is_none(), "user namespaces are not allowed here");
        eprintln!("not run: user namespaces are not allowed here");
        return;
    }
    let (tasks, left) = (Tasks::new(), tempfile::tempdir().expect("a folder"));
    let id = tasks.create("One --ready");
    let agent = tasks.agent("good.sh", "cat > /dev/null");
    let worked = tasks.ran(&format!("work --agent '{agent}' --as dev --once"));
    assert_eq!(worked.code, 0, "{worked:?}");
    assert_eq!(tasks.status(&id), "review");
    let approve = tasks.command(&format!("approve {id} --yes --actor human:lead"));
    let hidden = |words: &[&str]| {
        let mut command = unshared(words, &approve);
        command.env_clear().current_dir(tasks.folder());
        command.env("PATH", std::env::var_os("PATH").expect("a path"));
        command.env("ACCORD_DATA", tasks.data()).env("ACCORD_PROJECT", "shop");
        run(command, "")
    };
    // The worker of another task runs, and could have started it.
    tasks.create("Two --ready");
    let agent = tasks.agent("stay.sh", "cat > /dev/null\necho $$ > \"$LEFT/pid\"; sleep 600");
    let mut command = tasks.command(&format!("work --agent '{agent}' --as dev --once"));
    command.env("LEFT", left.path()).stdin(Stdio::null());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let pid = pid_in(&left.path().join("pid"));
    for words in [&[][..], &["setsid", "-w"]] {
        let ran = hidden(words);
        assert_eq!(ran.code, 2, "{words:?}: {ran:?}");
        assert!(ran.stderr.contains("not_for_workers"), "{words:?}: {ran:?}");
    }
    assert_eq!(tasks.status(&id), "review");
    signal(child.id(), "-KILL");
    child.wait().expect("it ended");
    wait_for_end_of(&pid);
    // A person's own process is not hidden.
    tasks.yes(&format!("approve {id} --yes --actor human:lead"));
}

/// In a mount namespace of its own, a worker can put other files over those of `/proc`.
#[test]
fn a_process_that_covers_proc_decides_nothing() {
    const COVER: &str = r#"cat > /dev/null
cat > "$LEFT/cover.sh" <<'END'
for folder in /proc/[0-9]*; do
  [ "$(cat $folder/comm 2> /dev/null)" = accord-workers ] || continue
  mount --bind "$LEFT/comm" $folder/comm || exit 0
done
touch "$LEFT/covered"
"$ACCORD" task close "$OTHER" --yes --actor human:lead
END
echo bash > "$LEFT/comm"
env -i PATH="$PATH" LEFT="$LEFT" OTHER="$OTHER" ACCORD="$ACCORD" ACCORD_DATA="$DATA" \
  ACCORD_PROJECT=shop unshare -Urm sh "$LEFT/cover.sh" > "$LEFT/said" 2>&1
true
"#;
    let (tasks, left) = (Tasks::new(), tempfile::tempdir().expect("a folder"));
    tasks.create("One --ready");
    let other = tasks.create("Two");
    let agent = tasks.agent("cover.sh", COVER);
    let mut command = tasks.command(&format!("work --agent '{agent}' --as dev --once"));
    let accord = command.get_program().to_owned();
    command.env("LEFT", left.path()).env("OTHER", &other);
    command.env("DATA", tasks.data()).env("ACCORD", accord);
    let worked = run(command, "");
    assert_eq!(worked.code, 0, "{worked:?}");
    if !left.path().join("covered").exists() {
        assert!(std::env::var_os("CI").is_none(), "user namespaces are not allowed here");
        eprintln!("not run: user namespaces are not allowed here");
        return;
    }
    let said = std::fs::read_to_string(left.path().join("said")).expect("an answer");
    assert!(said.contains("not_for_workers"), "{said}");
    assert_eq!(tasks.status(&other), "backlog");
}
