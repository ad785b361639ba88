//! The table of attacks: `turns.txt` and `tasks.txt`, one paragraph per attack.

use std::collections::BTreeSet;

/// Whose worker makes the attack.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Kind {
    Turn,
    Task,
}

/// What becomes of an attack.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) enum Outcome {
    /// It does not reach its goal.
    Prevented,
    /// It reaches its goal, and Accord refuses the work, puts the change back, or names it.
    Noticed,
    NotStopped,
}

/// The sandboxes, in the order of [`Attack::outcomes`].
pub(super) const MODES: [&str; 3] = ["off", "landlock", "bubblewrap"];

/// An attack, and its outcome in each sandbox.
#[derive(Debug)]
pub(super) struct Attack {
    pub(super) kind: Kind,
    pub(super) name: String,
    pub(super) outcomes: [Outcome; 3],
    /// The lines of the documents that promise the outcomes: the page, and how the line begins.
    pub(super) lines: Vec<(String, String)>,
    /// What the worker and its person must have. Attacks with equal needs share a worker.
    pub(super) with: BTreeSet<String>,
    /// What the person does before the worker starts.
    pub(super) given: String,
    /// What Accord prints about the attack if it is noticed.
    pub(super) said: String,
    /// Succeeds if the goal was reached, as far as the worker sees.
    pub(super) script: String,
    /// Succeeds if the goal was reached, seen by the person.
    pub(super) see: String,
    /// What a person runs to reach the same goal, if it is not the script.
    pub(super) control: String,
}

/// Reads both files.
pub(super) fn attacks() -> Vec<Attack> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/attacks");
    let read = |(kind, file): (Kind, &str)| {
        let text = std::fs::read_to_string(format!("{folder}/{file}")).expect(file);
        let is_comment = |line: &&str| line.starts_with('#');
        let text: Vec<&str> = text.lines().filter(|line| !is_comment(line)).collect();
        let text = text.join("\n");
        let paragraphs = text.split("\n\n").map(str::trim).filter(|it| !it.is_empty());
        paragraphs.map(|paragraph| attack(kind, paragraph)).collect::<Vec<_>>()
    };
    [(Kind::Turn, "turns.txt"), (Kind::Task, "tasks.txt")].into_iter().flat_map(read).collect()
}

/// One paragraph: the name, then lines that begin with the name of a member.
fn attack(kind: Kind, paragraph: &str) -> Attack {
    let mut lines = paragraph.lines();
    let name = lines.next().unwrap_or_default().to_owned();
    let mut attack = Attack {
        kind,
        name,
        outcomes: [Outcome::Prevented; 3],
        lines: Vec::new(),
        with: BTreeSet::new(),
        given: String::new(),
        said: String::new(),
        script: String::new(),
        see: String::new(),
        control: String::new(),
    };
    for line in lines {
        let (member, value) = line.trim().split_once(' ').unwrap_or_default();
        let value = value.trim();
        match member {
            "outcomes" => {
                let outcomes: Vec<Outcome> = value.split(' ').map(outcome).collect();
                attack.outcomes = outcomes.try_into().expect("three outcomes");
            }
            "line" => {
                let (page, start) = value.split_once(": ").expect("a page and a line");
                attack.lines.push((page.to_owned(), start.to_owned()));
            }
            "with" => attack.with.extend(value.split(' ').map(str::to_owned)),
            "given" => attack.given += &format!("{value}\n"),
            "said" => attack.said = value.to_owned(),
            "do" => attack.script += &format!("{value}\n"),
            "see" => attack.see += &format!("{value}\n"),
            "control" => attack.control += &format!("{value}\n"),
            _ => panic!("{}: {line}", attack.name),
        }
    }
    let is_noticed = attack.outcomes.contains(&Outcome::Noticed);
    assert_eq!(is_noticed, !attack.said.is_empty(), "{}: `said` is for notices", attack.name);
    if attack.see.is_empty() {
        attack.see = "true\n".to_owned();
    }
    assert!(!attack.script.is_empty(), "{} does nothing", attack.name);
    attack
}

fn outcome(word: &str) -> Outcome {
    match word {
        "prevented" => Outcome::Prevented,
        "noticed" => Outcome::Noticed,
        "open" => Outcome::NotStopped,
        other => panic!("{other} is no outcome"),
    }
}
