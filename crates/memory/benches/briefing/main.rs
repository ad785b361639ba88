//! How much of what the next agent has to know is in the briefing of a project.
//!
//! ```text
//! cargo bench -p accord-memory --bench briefing                   # the development sets
//! cargo bench -p accord-memory --bench briefing -- --held-out     # the held-out set
//! cargo bench -p accord-memory --bench briefing -- --in FOLDER    # the projects of a folder
//! cargo bench -p accord-memory --bench briefing -- --flows        # with what Accord keeps itself
//! cargo bench -p accord-memory --bench briefing -- bug-hunt       # what is missing in a project
//! cargo bench -p accord-memory --bench briefing -- bug-hunt 1000  # the briefing itself
//! ```
//!
//! A project is a JSON document in `projects`: what was deposited and when, and the things that the
//! next agent has to know, each with the phrases that say it. The held-out set was written without
//! knowledge of the ranking, and is not used to change it: it is scored only if it is asked for,
//! and shown as a table alone.

#![expect(clippy::unwrap_used, reason = "a benchmark ends at the first surprise")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads its data and its arguments")]
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

mod project;

use std::path::{Path, PathBuf};

use project::Project;

/// The budgets, in tokens.
const BUDGETS: [u32; 4] = [500, 1_000, 2_000, 4_000];

/// The sets that the ranking is made for. The second one was held out before.
const DEVELOPMENT: [&str; 2] = ["development", "held-out"];
const HELD_OUT: &str = "held-out-2";

#[tokio::main]
async fn main() {
    let mut words: Vec<String> =
        std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let has_flows = words.iter().any(|word| word == "--flows");
    words.retain(|word| word != "--flows");
    let second = words.get(1).map(String::as_str);
    match words.first().map(String::as_str) {
        None => {
            for set in DEVELOPMENT {
                table(set, &folder_of(set), has_flows).await;
            }
        }
        Some("--held-out") => table(HELD_OUT, &folder_of(HELD_OUT), has_flows).await,
        Some("--in") => {
            let folder = second.expect("--in needs a folder");
            table(folder, Path::new(folder), has_flows).await;
        }
        Some(name) => {
            look(name, second.and_then(|budget| budget.parse().ok()), has_flows).await;
        }
    }
}

/// Prints how many of the needed things are in the briefings of each project.
async fn table(set: &str, folder: &Path, has_flows: bool) {
    println!("{set:<24} {}", columns(BUDGETS.map(|budget| format!("{budget} tokens"))));
    let (mut found, mut all, mut misleading) = ([0; 4], 0, [0; 4]);
    for project in in_folder(folder) {
        let mut row = [0; 4];
        let memory = project.played(has_flows).await;
        for (place, budget) in BUDGETS.into_iter().enumerate() {
            let text = memory.briefing(budget).await;
            row[place] = project.needed.iter().filter(|one| one.is_in(&text)).count();
            misleading[place] += project.unwanted.iter().filter(|one| one.is_in(&text)).count();
            found[place] += row[place];
        }
        all += project.needed.len();
        println!("  {:<22} {}", project.name, columns(row.map(|found| found.to_string())));
    }
    println!("  {:<22} {}", format!("of {all}"), columns(found.map(|found| found.to_string())));
    println!("  {:<22} {}", "misleading", columns(misleading.map(|found| found.to_string())));
}

/// Prints what a project's briefings lack, or one of them.
async fn look(name: &str, budget: Option<u32>, has_flows: bool) {
    let mut all = DEVELOPMENT.into_iter().flat_map(|set| in_folder(&folder_of(set)));
    let project = all.find(|project| project.name == name).expect("a project of this name");
    let memory = project.played(has_flows).await;
    if let Some(budget) = budget {
        println!("{}", memory.briefing(budget).await);
        return;
    }
    for budget in BUDGETS {
        let text = memory.briefing(budget).await;
        let tokens = accord_base::tokens(&text);
        println!("{budget} tokens: {tokens} used");
        for lost in project.needed.iter().filter(|one| !one.is_in(&text)) {
            println!("  missing: {} ({})", lost.any[0], lost.what);
        }
        for shown in project.unwanted.iter().filter(|one| one.is_in(&text)) {
            println!("  misleading: {} ({})", shown.any[0], shown.what);
        }
    }
}

fn columns(cells: [String; 4]) -> String {
    cells.map(|cell| format!("{cell:>12}")).concat()
}

fn folder_of(set: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/briefing/projects").join(set)
}

/// The projects of a folder, by their names.
fn in_folder(folder: &Path) -> Vec<Project> {
    let entries = folder.read_dir().unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = entries.collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    paths.iter().map(|path| Project::read(path)).collect()
}
