//! The documents on trust, compared with the table: each line has an attack, each attack a line,
//! and both say the same.

use std::collections::BTreeMap;

use super::table::{Attack, Outcome, attacks};

/// For each mode: whether all attacks of a line are prevented. `None` if the line does not say it.
type Promise = [Option<bool>; 3];

/// A table that is compared: page, heading, and what the cells of a line promise.
type Table = (&'static str, &'static str, fn(&[&str]) -> Promise);

const TABLES: [Table; 6] = [
    ("run-trust.md", "What happens to a foreign change", |cells| {
        let is_prevented =
            ["is not applied", "removes it"].iter().any(|it| cells[1].starts_with(it));
        [Some(is_prevented), None, None]
    }),
    ("run-trust.md", "What is not stopped", |cells| not_stopped(cells[1])),
    ("task-trust.md", "What is held", |_| [Some(false), None, None]),
    ("task-trust.md", "What is not stopped", |cells| not_stopped(cells[2])),
    ("task-trust.md", "The socket of an attempt", |cells| [Some(cells[1] != "allowed"); 3]),
    ("sandbox.md", "What a worker can see and change", |cells| {
        let says = |cell: &str| {
            let is_no = ["cannot", "not ", "private", "none"].iter().any(|it| cell.starts_with(it));
            let is_yes = cell.starts_with("can be") && !cell.contains(" if ");
            is_no.then_some(true).or(is_yes.then_some(false))
        };
        [None, says(cells[2]), says(cells[1])]
    }),
];

/// What a line of a list of what is not stopped promises, by the sandboxes that prevent it.
fn not_stopped(prevented_by: &str) -> Promise {
    let by = |name| Some(prevented_by.contains(name) && !prevented_by.starts_with("nothing"));
    [Some(false), by("Landlock"), by("bubblewrap")]
}

/// What no attack can show, because it needs a program or a person that a test does not have: how
/// the entries of the list below the table begin.
const NOT_ATTACKED: [&str; 2] =
    ["it passes its connection", "it changes the page of a live session"];

#[test]
fn the_list_of_what_has_no_attack_is_short() {
    for (name, known) in [("run-trust.md", &NOT_ATTACKED[..]), ("task-trust.md", &[])] {
        let page = page(name);
        let (_, below) = page.split_once("\n## What is not stopped\n").expect("the heading");
        let section = below.split("\n## ").next().unwrap_or_default();
        let entries: Vec<&str> = section.lines().filter_map(|it| it.strip_prefix("- ")).collect();
        let is_known = entries.len() == known.len()
            && entries.iter().zip(known).all(|(entry, start)| entry.starts_with(start));
        assert!(is_known, "{name}: {entries:?}");
    }
}

#[test]
fn the_documents_say_what_the_table_shows() {
    let attacks = attacks();
    let mut wrong = Vec::new();
    let mut lines: BTreeMap<(&str, &str), Vec<&Attack>> = BTreeMap::new();
    for attack in &attacks {
        if attack.lines.is_empty() {
            wrong.push(format!("{}: no line of a document", attack.name));
        }
        for (page, start) in &attack.lines {
            lines.entry((page, start)).or_default().push(attack);
        }
    }
    for (name, heading, promise) in TABLES {
        for line in table(&page(name), heading) {
            let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
            let is_of = |(page, start): &(&str, &str)| *page == name && cells[0].starts_with(start);
            let found: Vec<_> = lines.keys().copied().filter(is_of).collect();
            let [found] = found[..] else {
                wrong.push(format!("{name}: {} starts of attacks: {line}", found.len()));
                continue;
            };
            let attacks = lines.remove(&found).unwrap_or_default();
            for (mode, promised) in promise(&cells).into_iter().enumerate() {
                let is_prevented = |it: &&Attack| it.outcomes[mode] == Outcome::Prevented;
                let are_prevented = attacks.iter().all(is_prevented);
                if promised.is_some_and(|promised| promised != are_prevented) {
                    wrong.push(format!("{name}: mode {mode} is not as promised: {line}"));
                }
            }
        }
    }
    for ((name, start), attacks) in lines {
        // A promise in a text is a paragraph.
        if !["run-approvals.md", "sandbox.md", "task-trust.md"].contains(&name)
            || !page(name).contains(&format!("\n{start}"))
        {
            wrong.push(format!("{name} has no line {start:?}: {}", attacks[0].name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn page(name: &str) -> String {
    let path = format!("{}/../../docs/reference/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect(name)
}

/// The lines of the first table below a heading.
fn table(page: &str, heading: &str) -> Vec<String> {
    let below = page.lines().skip_while(|line| *line != format!("## {heading}"));
    let lines = below.skip_while(|line| !line.starts_with('|'));
    let lines = lines.take_while(|line| line.starts_with('|')).skip(2);
    let lines: Vec<String> = lines.map(str::to_owned).collect();
    assert!(!lines.is_empty(), "no table below {heading}");
    lines
}
