//! Attacks of a worker on what judges it and on its person: in each sandbox, as root and as an
//! ordinary user.
//!
//! `turns.txt` and `tasks.txt` are the table. Each attack is a script that a worker runs. It says
//! whether it reached its goal; where a worker could be deceived, such as by a private home, the
//! person looks as well. An attack that is prevented without a sandbox has a control: a person
//! reaches its goal in the same way. The documents on trust say the same as the table.
//!
//! `ACCORD_ATTACKS='a name|another'` selects the attacks whose names contain one of these texts.

mod desk;
mod pages;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::sync::Mutex;
use std::time::Instant;

use desk::{Desk, Said, Template, User, is_root};
use table::{Attack, Kind, MODES, Outcome, attacks};

#[test]
fn no_attack_is_in_the_table_twice() {
    let attacks = attacks();
    let scripts: BTreeSet<_> = attacks.iter().map(|it| (it.kind, &it.script, &it.with)).collect();
    let names: BTreeSet<_> = attacks.iter().map(|it| &it.name).collect();
    assert_eq!((scripts.len(), names.len()), (attacks.len(), attacks.len()));
    assert!(attacks.len() >= 80, "{}", attacks.len());
}

#[test]
fn off() {
    check(User::Own, 0);
}

#[test]
fn landlock() {
    check(User::Own, 1);
}

#[test]
fn bubblewrap() {
    check(User::Own, 2);
}

#[test]
fn off_as_an_ordinary_user() {
    check(User::Ordinary, 0);
}

#[test]
fn landlock_as_an_ordinary_user() {
    check(User::Ordinary, 1);
}

#[test]
fn bubblewrap_as_an_ordinary_user() {
    check(User::Ordinary, 2);
}

#[test]
fn a_sandbox_that_is_required_and_missing_stops_the_worker() {
    let desk = Desk::plain(User::Own, Kind::Turn, "bubblewrap");
    // Git must be found, bubblewrap must not.
    let said = desk.run(
        "mkdir \"$DESK/only\" && ln -s \"$(command -v git)\" \"$DESK/only/git\"\n\
         accord=$(command -v accord); PATH=\"$DESK/only\" \"$accord\" run step",
        "",
    );
    assert!(!said.is_success, "{said:?}");
    assert!(said.text.contains("it has no sandbox: bubblewrap is not installed"), "{said:?}");
}

#[test]
fn nothing_of_a_sandbox_is_left_in_the_tree() {
    if !is_available(User::Own, "bubblewrap") {
        return;
    }
    let desk = Desk::plain(User::Own, Kind::Turn, "bubblewrap");
    let said = desk.attack("ls -A > seen.txt; git status --short >> seen.txt");
    assert!(said.is_success, "{said:?}");
    let read = |name: &str| std::fs::read_to_string(desk.at("repo").join(name)).expect(name);
    let seen = read("seen.txt");
    assert!(seen.lines().any(|line| line == ".mcp.json"), "{seen}");
    // Git does not see what stands in the place of a missing file.
    assert!(!seen.contains("?? .mcp.json"), "{seen}");
    for name in [".mcp.json", ".claude", ".envrc", "opencode.json"] {
        assert!(!desk.at("repo").join(name).exists(), "{name} is left");
    }
    let status = desk.run("accord run status --json", "").text;
    assert!(status.contains("\"status\":\"active\""), "{status}");
    let history = read(".agentxchain/history.jsonl");
    assert!(history.contains("\"worker_sandbox\":\"bubblewrap\""), "{history}");
}

/// What the agent of a task needs. Each line succeeds in every sandbox.
const WORK: [&str; 6] = [
    "echo code > made.txt",
    "git add made.txt",
    "git -c user.name=a -c user.email=a@b.invalid commit -qm made",
    "echo draft > \"$DIR/work/draft.txt\"",
    "echo done > \"$DIR/outputs/summary.md\"",
    "accord task list --json",
];

#[test]
fn the_agent_of_a_task_can_work() {
    let script: String =
        WORK.map(|line| format!("( {line} ) || echo '{line}' >> failed.log\n")).concat();
    for mode in MODES {
        if !is_available(User::Own, mode) {
            continue;
        }
        let desk = Desk::plain(User::Own, Kind::Task, mode);
        let said = desk.attack(&script);
        assert!(said.is_success && said.text.contains("is review"), "{mode}: {said:?}");
        let failed = std::fs::read_to_string(desk.at("work/failed.log")).unwrap_or_default();
        assert_eq!(failed, "", "{mode}: {said:?}");
    }
}

/// Attacks that one worker makes, and what becomes of all of them.
struct Group<'a> {
    kind: Kind,
    outcome: Outcome,
    with: BTreeSet<String>,
    attacks: Vec<&'a Attack>,
}

/// Runs the table in one mode.
#[track_caller]
fn check(user: User, mode: usize) {
    // Otherwise each desk would make its own.
    let _template = Template::shared();
    if !is_available(user, MODES[mode]) {
        return;
    }
    let mut attacks = attacks();
    if let Ok(names) = std::env::var("ACCORD_ATTACKS") {
        attacks.retain(|it| names.split('|').any(|name| it.name.contains(name)));
    }
    attacks.retain(|it| !it.with.contains("sysctl") || has_sysctl(user));
    let groups = Mutex::new(groups(&attacks, mode));
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        let work = || {
            let next = || groups.lock().expect("no panic").pop();
            while let Some(group) = next() {
                let found = check_group(user, mode, &group);
                wrong.lock().expect("no panic").extend(found);
            }
        };
        for _ in 0..THREADS {
            scope.spawn(work);
        }
    });
    let wrong = wrong.into_inner().expect("no panic");
    assert!(wrong.is_empty(), "{user:?}, {}:\n{}", MODES[mode], wrong.join("\n"));
}

/// How many groups of one test run at once: most of their time they wait.
const THREADS: usize = 3;

/// Attacks with equal outcomes and needs share a worker. Those that are to be alone share one only
/// where a sandbox prevents them. Attacks that are noticed share a worker if Accord prints
/// different texts about them, and those of a turn if one line of a document promises it.
fn groups(attacks: &[Attack], mode: usize) -> Vec<Group<'_>> {
    let mut groups: BTreeMap<_, Group<'_>> = BTreeMap::new();
    for attack in attacks {
        let (kind, outcome) = (attack.kind, attack.outcomes[mode]);
        let mut with = attack.with.clone();
        if mode > 0 && outcome == Outcome::Prevented && !with.contains("fails") {
            with.retain(|need| !["alone", "kills"].contains(&need.as_str()));
        }
        with.remove("sysctl");
        let alone = with.contains("alone").then_some(&attack.name);
        let is_judged = kind == Kind::Turn && outcome == Outcome::Noticed;
        let line = is_judged.then_some(&attack.lines[0]);
        for batch in 0.. {
            let key = (kind, outcome, with.clone(), alone, line, batch);
            let new = || Group { kind, outcome, with: with.clone(), attacks: Vec::new() };
            let others = &mut groups.entry(key).or_insert_with(new).attacks;
            if outcome != Outcome::Noticed || others.iter().all(|it| it.said != attack.said) {
                others.push(attack);
                break;
            }
        }
    }
    groups.into_values().collect()
}

/// What is not as the table says.
fn check_group(user: User, mode: usize, group: &Group<'_>) -> Vec<String> {
    let begun = Instant::now();
    let Group { kind, outcome, with, attacks } = group;
    let (said, reached) = attempt(user, mode, group);
    let text = &said.text;
    let mut wrong = Vec::new();
    for attack in attacks {
        let found = reached.get(&attack.name).copied().unwrap_or(Outcome::Prevented);
        if found != *outcome {
            wrong.push(format!("{}: {found:?}, not {outcome:?}: {text}", attack.name));
        }
        // The control needs no worker, so it is the same for every user.
        let has_control = mode == 0 && user == User::Own && *outcome == Outcome::Prevented;
        if has_control && !reaches_as_person(attack) {
            wrong.push(format!("{}: a person does not reach its goal either", attack.name));
        }
    }
    let names: Vec<&String> = attacks.iter().map(|it| &it.name).collect();
    // Otherwise the outcome could be that the attack was noticed.
    let is_good = !with.contains("fails") && !with.contains("kills");
    if *outcome != Outcome::Noticed && is_good {
        let notice = if *kind == Kind::Turn { "warning" } else { CHANGED };
        if !said.is_success || text.contains(notice) {
            wrong.push(format!("{names:?} were noticed: {text}"));
        }
    }
    println!("{:?}: {names:?}", begun.elapsed());
    wrong
}

/// How the finding about what git, agents and editors execute begins.
const CHANGED: &str = "changed while the agent ran";

/// Lets one worker run attacks. Returns what was printed, and the attacks that reached their goals.
fn attempt<'a>(
    user: User,
    mode: usize,
    group: &Group<'a>,
) -> (Said, BTreeMap<&'a String, Outcome>) {
    let attacks = &group.attacks;
    let mut script = String::new();
    for (at, attack) in attacks.iter().enumerate() {
        script.push_str(&format!("(AT={at}\n{}) && echo {at} >> reached.txt\n", attack.script));
    }
    let desk = Desk::new(user, group.kind, MODES[mode], &group.with);
    let given: String = attacks.iter().map(|it| it.given.as_str()).collect();
    if !given.is_empty() {
        let given = desk.run(&given, "");
        assert!(given.is_success, "{given:?}");
    }
    let mut said = desk.attack(&script);
    let reached = std::fs::read_to_string(desk.work_tree().join("reached.txt")).unwrap_or_default();
    let reached: BTreeSet<&str> = reached.lines().collect();
    let mut seen = Vec::new();
    for (at, attack) in attacks.iter().enumerate() {
        if attack.with.contains("blind") || reached.contains(at.to_string().as_str()) {
            let found = desk.run(&format!("AT={at}\n{}", attack.see), "");
            said.text += &found.text;
            if found.is_success {
                seen.push(*attack);
            }
        }
    }
    if group.kind == Kind::Task {
        let lint = "accord task poll; accord task lint --json | sed 's/},{/},\\n{/g'";
        let lint = format!("{lint}; cat \"$TREE\"/events/*.jsonl\n");
        let more = if group.outcome == Outcome::Noticed { &lint } else { "" };
        said.text += &desk.run(&format!("{more}accord task show \"$ATTACKED\""), "").text;
    }
    let log = std::fs::read_to_string(desk.work_tree().join("attacks.log")).unwrap_or_default();
    println!("{}: {}\n{log}", attacks[0].name, said.text);
    let outcome = |attack: &&'a Attack| {
        let is_noticed = is_said(&said.text, &desk.expand(&attack.said));
        let outcome = if is_noticed { Outcome::Noticed } else { Outcome::NotStopped };
        (&attack.name, outcome)
    };
    let reached = seen.iter().map(outcome).collect();
    (said, reached)
}

/// Whether one line has these parts, in order.
fn is_said(text: &str, parts: &str) -> bool {
    let rest = |line, part| Some(str::split_once(line, part)?.1);
    !parts.is_empty() && text.lines().any(|line| parts.split(" … ").try_fold(line, rest).is_some())
}

/// Whether the same script reaches its goal if no worker runs it.
fn reaches_as_person(attack: &Attack) -> bool {
    let desk = Desk::new(User::Own, attack.kind, MODES[0], &attack.with);
    let script = if attack.control.is_empty() { &attack.script } else { &attack.control };
    let see = &attack.see;
    desk.run(&format!("{}AT=0\n(\n{script}) && (\n{see})", attack.given), "").is_success
}

/// Whether the person could change a setting of the kernel.
fn has_sysctl(user: User) -> bool {
    let opened = std::fs::OpenOptions::new().append(true).open("/proc/sys/kernel/core_pattern");
    user == User::Own && opened.is_ok()
}

/// Whether the table can be run. Without that the test says why, and fails in CI.
fn is_available(user: User, mode: &'static str) -> bool {
    let why = match user {
        User::Ordinary if !is_root() => "only root runs it as another user".to_owned(),
        User::Ordinary if Command::new("setpriv").arg("--version").output().is_err() => {
            "setpriv is missing".to_owned()
        }
        _ => {
            let said = Desk::plain(user, Kind::Turn, mode).attack("true");
            if !said.text.contains("it has no sandbox") {
                assert!(said.is_success, "{user:?}, {mode}: {said:?}");
                return true;
            }
            said.text
        }
    };
    // An ordinary user who runs the tests has run the table already.
    let is_done = user == User::Ordinary && !is_root();
    assert!(std::env::var_os("CI").is_none() || is_done, "{user:?}, {mode}: {why}");
    println!("SKIPPED: the attacks in mode {mode} ({user:?}): {why}");
    false
}
