//! The agent of a task in bubblewrap: it does its work, reports, and changes nothing that judges.

use std::process::Command;

use super::is_available;
use crate::accord::run;
use crate::task_place::Tasks;

/// What the agent needs. Each line succeeds.
const WORK: [&str; 6] = [
    "echo code > made.txt",
    "git add made.txt",
    "git -c user.name=a -c user.email=a@b.invalid commit -qm made",
    "echo draft > \"$ACCORD_TASK_DIR/work/draft.txt\"",
    "echo done > \"$ACCORD_TASK_DIR/outputs/summary.md\"",
    "accord task list --json",
];

/// What must not succeed.
const ATTACKS: [&str; 9] = [
    "echo x >> \"$ACCORD_TASK_DIR.md\"",
    "echo x > \"$ACCORD_TASK_DIR/inputs/x\"",
    "mv \"$ACCORD_TASK_DIR\" \"$ACCORD_TASK_DIR.old\"",
    "echo x > \"$DATA/accord.toml\"",
    "echo x > .git/hooks/pre-commit",
    "git config core.fsmonitor ./evil.sh",
    "echo '{}' > .mcp.json",
    "env -i PATH=\"$PATH\" ACCORD_DATA=\"$DATA\" ACCORD_PROJECT=shop \
     \"$ACCORD\" task approve \"$ACCORD_TASK_ID\" --yes --actor human:lead",
    "accord task approve \"$OTHER\" --yes --actor human:lead",
];

/// The attacks that destroy nothing, and so can be shown to pass without a sandbox.
const SHOWN: [usize; 4] = [1, 4, 5, 6];

#[test]
fn the_agent_of_a_task_works_and_changes_nothing_that_judges() {
    if !is_available("bubblewrap") {
        return;
    }
    let tasks = Tasks::new();
    for words in [&["init", "-q"][..], &["commit", "-q", "--allow-empty", "-m", "first"]] {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b.invalid"]).args(words);
        assert!(git.current_dir(tasks.folder()).status().expect("git").success());
    }
    let other = tasks.create("Other --ready");
    let agent = tasks.agent("good.sh", "cat > /dev/null");
    tasks.yes(&format!("work --agent '{agent}' --as dev --once"));
    assert_eq!(tasks.status(&other), "review");
    let id = tasks.create("One --ready");
    let accord = tasks.command("list").get_program().to_owned();
    let accord = accord.to_string_lossy();
    let start = format!("cat > /dev/null\nACCORD='{accord}'\naccord() {{ \"$ACCORD\" \"$@\"; }}\n");
    let mut script = start.clone();
    for (at, line) in WORK.iter().enumerate() {
        script.push_str(&format!("( {line} ) > /dev/null || echo {at} >> failed.txt\n"));
    }
    let attack =
        |at: usize| format!("( {} ) > /dev/null 2>&1 && echo {at} >> passed.txt\n", ATTACKS[at]);
    script.extend((0..ATTACKS.len()).map(attack));
    let work = |script: &str, sandbox: &str| {
        let agent = tasks.agent("attack.sh", &format!("{script}true\n"));
        let mut command = tasks.command(&format!("work --agent '{agent}' --as dev --once"));
        command.env("ACCORD_WORKERS_SANDBOX", sandbox).env("OTHER", &other);
        command.env("DATA", tasks.data());
        let ran = run(command, "");
        assert_eq!(ran.code, 0, "{ran:?}");
        ran
    };
    let ran = work(&script, "bubblewrap");
    assert!(ran.stderr.contains("the sandbox is bubblewrap"), "{ran:?}");
    let read = |name: &str| std::fs::read_to_string(tasks.folder().join(name)).unwrap_or_default();
    assert_eq!((read("failed.txt"), read("passed.txt")), (String::new(), String::new()), "{ran:?}");
    assert_eq!((tasks.status(&id), tasks.status(&other)), ("review".into(), "review".into()));
    assert!(!tasks.folder().join(".mcp.json").exists(), "a placeholder is left");
    let findings = |id: &str| tasks.json(&format!("show {id}"))["findings"].to_string();
    assert!(!findings(&id).contains("changed while"), "{}", findings(&id));
    let two = tasks.create("Two --ready");
    work(&SHOWN.into_iter().fold(start, |script, at| script + &attack(at)), "off");
    assert_eq!(read("passed.txt"), SHOWN.map(|at| format!("{at}\n")).concat());
    let changed = "changed while the agent ran: .git/config, .git/hooks, .mcp.json";
    assert!(findings(&two).contains(changed), "{}", findings(&two));
}
