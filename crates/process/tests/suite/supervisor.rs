//! A supervisor is an ancestor of everything that its workers start.

use std::path::Path;
use std::process::Command;

use accord_process::{Process, RunningProcess, Spec, run, supervise};
use tempfile::TempDir;

use crate::{sh, wait_until};

/// Set for the process that is the supervisor, so that the other tests have an ordinary one.
const SUPERVISOR: &str = "ACCORD_TEST_SUPERVISOR";

/// A process of its own session without an environment, whose parents end. It writes its number.
fn daemon(file: &Path) -> String {
    let file = file.display();
    format!(
        "echo 'echo $$ > {file}; exec sleep 120' > {file}.sh
         env -i setsid /bin/sh -c '/bin/sh {file}.sh > /dev/null 2>&1 < /dev/null & exit 0'
         for _ in $(seq 3000); do test -s {file} && break; sleep 0.02; done"
    )
}

#[test]
#[cfg(target_os = "linux")]
fn a_process_that_left_its_worker_has_the_supervisor_as_parent() {
    if std::env::var_os(SUPERVISOR).is_some() {
        return supervised();
    }
    let test = "supervisor::a_process_that_left_its_worker_has_the_supervisor_as_parent";
    let program = std::env::current_exe().unwrap();
    let ran = Command::new(program).args(["--exact", test]).env(SUPERVISOR, "1").output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stdout));
}

fn supervised() {
    supervise();
    let own = u64::from(std::process::id());
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("pid");
    run(&Spec::new(sh(&daemon(&file)).env("FILE", "x"))).unwrap();
    let pid: u64 = std::fs::read_to_string(&file).unwrap().trim().parse().unwrap();
    wait_until("the end of its parents", || {
        Process::find(pid).is_some_and(|process| process.parent == own)
    });
    let daemon = RunningProcess::find(pid).unwrap();
    let found = daemon.ancestors(&["FILE"]).unwrap().processes;
    assert_eq!(found[0].variables, []);
    let supervisor = found.iter().find(|process| process.pid == own).unwrap();
    assert!(supervisor.is_supervisor);
    assert!(!found[0].is_supervisor, "the process itself");
    // Once it has ended, it does not stay in the table, and no exit status is taken from others.
    run(&Spec::new(sh(&format!("kill -9 {pid}")))).unwrap();
    wait_until("the process to be reaped", || {
        let ran = run(&Spec::new(sh("exit 7"))).unwrap();
        assert_eq!(ran.ending, accord_process::Ending::Exited(7));
        Process::find(pid).is_none()
    });
}
