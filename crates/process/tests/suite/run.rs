//! [`accord_process::run`] against children that do what they should not.

use accord_process::{Cancel, Ending, Overflow, Spec, run};

use crate::{LONG, SHORT, assert_gone, sh, wait_until};

#[test]
fn a_child_gets_its_input_and_its_environment_and_gives_both_outputs_and_a_code() {
    let folder = tempfile::tempdir().unwrap();
    let invocation =
        sh("cat; printf \"$WORD\"; pwd >&2; exit 7").env("WORD", "added").cwd(folder.path());
    let outcome = run(&Spec::new(invocation).stdin("in ")).unwrap();
    assert_eq!(outcome.ending, Ending::Exited(7));
    assert_eq!(outcome.stdout, b"in added");
    let printed = String::from_utf8(outcome.stderr).unwrap();
    assert_eq!(
        std::fs::canonicalize(printed.trim()).unwrap(),
        std::fs::canonicalize(folder.path()).unwrap()
    );
    assert!(!outcome.timed_out && !outcome.stdout_truncated && !outcome.stderr_truncated);
}

#[test]
fn arguments_are_never_read_by_a_shell() {
    let invocation = accord_process::Invocation::new("printf", ["%s", "$(echo no); `no` > x"]);
    let outcome = run(&Spec::new(invocation)).unwrap();
    assert_eq!(outcome.stdout, b"$(echo no); `no` > x");
}

#[test]
fn a_signal_is_not_an_exit_code() {
    let outcome = run(&Spec::new(sh("kill -15 $$"))).unwrap();
    assert_eq!(outcome.ending, Ending::Signalled(15));
    assert!(!outcome.timed_out);
}

#[test]
fn a_child_that_ignores_sigterm_is_killed_at_the_limit() {
    let spec = Spec::new(sh("trap '' TERM INT HUP; echo before; while :; do sleep 5; done"));
    let outcome = run(&spec.time_limit(SHORT)).unwrap();
    assert!(outcome.timed_out);
    assert_eq!(outcome.ending, Ending::Signalled(9));
    assert_eq!(outcome.stdout, b"before\n");
    assert!(outcome.duration < LONG, "{outcome:?}");
}

#[test]
fn a_grandchild_dies_with_the_group_at_the_limit() {
    let folder = tempfile::tempdir().unwrap();
    let pid_file = folder.path().join("pid");
    let script = format!("sleep 600 & echo $! > {}; wait", pid_file.display());
    let outcome = run(&Spec::new(sh(&script)).time_limit(SHORT)).unwrap();
    assert!(outcome.timed_out);
    assert_gone(&pid_file);
}

#[test]
fn a_grandchild_that_keeps_the_pipe_open_is_killed_when_the_leader_ends() {
    let folder = tempfile::tempdir().unwrap();
    let pid_file = folder.path().join("pid");
    let script = format!("sleep 600 & echo $! > {}; echo done", pid_file.display());
    let outcome = run(&Spec::new(sh(&script))).unwrap();
    assert_eq!(outcome.ending, Ending::Exited(0));
    assert_eq!(outcome.stdout, b"done\n");
    assert!(outcome.duration < LONG, "{outcome:?}");
    assert_gone(&pid_file);
}

#[test]
fn a_grandchild_that_left_the_group_does_not_make_us_wait() {
    // The subshell leads a group of its own, out of reach, and keeps printing for minutes.
    let script =
        "set -m; (i=0; while [ $i -lt 30000 ]; do echo x; sleep 0.02; i=$((i+1)); done) & exit 0";
    let outcome = run(&Spec::new(sh(script))).unwrap();
    assert_eq!(outcome.ending, Ending::Exited(0));
    assert!(outcome.duration < LONG, "{outcome:?}");
}

#[test]
fn a_run_that_is_given_up_ends_at_once_with_its_group() {
    let folder = tempfile::tempdir().unwrap();
    let pid_file = folder.path().join("pid");
    let script = format!("sleep 600 & echo $! > {}; wait", pid_file.display());
    let word = Cancel::new();
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            wait_until("the id of the grandchild", || {
                !std::fs::read_to_string(&pid_file).unwrap_or_default().is_empty()
            });
            word.cancel();
        });
        run(&Spec::new(sh(&script)).cancel(word.clone())).unwrap()
    });
    assert!(outcome.cancelled && !outcome.timed_out);
    assert!(outcome.duration < LONG, "{outcome:?}");
    assert_gone(&pid_file);
}

#[test]
fn a_child_that_closes_its_output_and_never_ends_is_killed_at_the_limit() {
    let spec = Spec::new(sh("exec >&- 2>&-; sleep 600"));
    let outcome = run(&spec.time_limit(SHORT)).unwrap();
    assert!(outcome.timed_out);
    assert!(outcome.duration < LONG, "{outcome:?}");
}

#[test]
fn a_child_that_never_reads_does_not_block_us() {
    let input = vec![b'x'; 4 * 1024 * 1024];
    let outcome = run(&Spec::new(sh("exec <&-; echo fine")).stdin(input.clone())).unwrap();
    assert_eq!(outcome.ending, Ending::Exited(0));
    assert_eq!(outcome.stdout, b"fine\n");

    let outcome = run(&Spec::new(sh("sleep 600")).stdin(input).time_limit(SHORT)).unwrap();
    assert!(outcome.timed_out);
}

#[test]
fn a_large_input_is_delivered_while_the_output_is_read() {
    let input = vec![b'y'; 3 * 1024 * 1024];
    let spec = Spec::new(sh("cat")).stdin(input.clone());
    let outcome = run(&spec.stdout_limit(input.len(), Overflow::Kill)).unwrap();
    assert_eq!(outcome.ending, Ending::Exited(0));
    assert_eq!(outcome.stdout.len(), input.len());
    assert!(!outcome.stdout_truncated);
}

#[test]
fn endless_output_is_cut_and_reported() {
    let endless = Spec::new(sh("while :; do echo 0123456789; done"));
    let outcome = run(&endless.clone().stdout_limit(1000, Overflow::Kill)).unwrap();
    assert!(outcome.stdout_truncated && !outcome.timed_out);
    assert_eq!(outcome.stdout.len(), 1000);
    assert_eq!(outcome.ending, Ending::Signalled(9));

    let discarding = endless.stdout_limit(1000, Overflow::Discard).time_limit(SHORT);
    let outcome = run(&discarding).unwrap();
    assert!(outcome.stdout_truncated && outcome.timed_out);
    assert_eq!(outcome.stdout.len(), 1000);
}

#[test]
fn the_last_words_on_stderr_are_kept() {
    let script =
        "i=0; while [ $i -lt 2000 ]; do echo noise $i >&2; i=$((i+1)); done; echo last >&2";
    let outcome = run(&Spec::new(sh(script)).stderr_limit(64)).unwrap();
    assert!(outcome.stderr_truncated);
    assert_eq!(outcome.stderr.len(), 64);
    assert!(outcome.stderr.ends_with(b"noise 1999\nlast\n"));
}
