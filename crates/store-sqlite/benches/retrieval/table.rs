//! The sets of questions, and the table of what engines find.

use std::cell::RefCell;
use std::collections::HashMap;

use accord_store_sqlite::{Options, SqliteStore};

use crate::commits;
use crate::evaluation::{Evaluation, Figures, Question, search};
use crate::plain::{Plain, SETTINGS};

/// Names the folder of a git repository whose commits are a set of questions.
const REPOSITORY: &str = "ACCORD_RETRIEVAL_REPOSITORY";

/// A search: the ids of the packages that a text finds, best first.
pub(crate) type Engine = (String, Box<dyn Fn(&str) -> Vec<String>>);

type Wanted = fn(&Question) -> bool;

const ALL: &str = "all questions";
const HELD_OUT: &str = "held out";

const GROUPS: [(&str, Wanted); 5] = [
    (ALL, |_| true),
    ("with words of the answer", |question| !question.is_paraphrase),
    ("paraphrased", |question| question.is_paraphrase),
    ("used to choose weights", |question| !question.is_held_out),
    (HELD_OUT, |question| question.is_held_out),
];

/// The sets, with their names.
pub(crate) fn sets() -> Vec<(String, Evaluation)> {
    let mut sets = vec![
        ("the work of a team".to_owned(), Evaluation::team()),
        ("the same in long packages".to_owned(), Evaluation::team().joined()),
        ("work on code".to_owned(), Evaluation::work()),
    ];
    match std::env::var(REPOSITORY) {
        Ok(folder) => {
            let [titles, sentences] = commits::of_repository(&folder);
            sets.push(("commits by their titles".to_owned(), titles));
            sets.push(("commits by a sentence".to_owned(), sentences));
        }
        Err(_) => {
            println!("SKIPPED: the sets made of commits; {REPOSITORY} names no git repository");
        }
    }
    sets
}

/// Prints what engines find of a set: those of `others`, plain indexes, and search. Returns whether
/// search is above the best of the others.
pub(crate) fn measure(
    name: &str,
    evaluation: &Evaluation,
    others: impl IntoIterator<Item = Engine>,
    is_wordy: bool,
) -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    let store = SqliteStore::open(folder.path(), &Options::default()).expect("a store");
    evaluation.deposit(&store);
    let plain = SETTINGS.iter().map(|setting| -> Engine {
        let plain = Plain::new(evaluation, *setting);
        (setting.name.to_owned(), Box::new(move |text| plain.search(text)))
    });
    let engines: Vec<Engine> = plain.chain(others).map(remembered).collect();
    let store = RefCell::new((store, HashMap::new()));
    let ours = |text: &str| {
        let (store, known) = &mut *store.borrow_mut();
        known.entry(text.to_owned()).or_insert_with(|| search(store, text)).clone()
    };
    let (packages, questions) = (evaluation.packages.len(), evaluation.questions.len());
    println!("\n{name}: {packages} packages, {questions} questions; recall@1, recall@5 and MRR");
    let mut is_above = true;
    for (group, wanted) in GROUPS {
        let ours = evaluation.figures(wanted, ours);
        if ours.questions == 0 {
            continue;
        }
        println!("  {group} ({})", ours.questions);
        let mut best = Figures::default();
        for (name, engine) in &engines {
            let theirs = evaluation.figures(wanted, engine);
            best.first = best.first.max(theirs.first);
            best.recall = best.recall.max(theirs.recall);
            best.reciprocal = best.reciprocal.max(theirs.reciprocal);
            print(name, theirs);
        }
        print("Accord", ours);
        if matches!(group, ALL | HELD_OUT) {
            is_above &= ours.recall >= best.recall && ours.reciprocal > best.reciprocal;
        }
    }
    for question in evaluation.questions.iter().filter(|it| is_wordy && !it.is_held_out) {
        let found = ours(&question.text);
        let first = &found[..found.len().min(5)];
        if !first.iter().any(|id| question.answers.contains(id)) {
            println!("  missed: {} -> {:?}, found {first:?}", question.text, question.answers);
        }
    }
    if !is_above {
        println!("  BELOW: another engine finds more");
    }
    is_above
}

/// An engine that is asked once for each text: every group of questions asks again.
fn remembered((name, engine): Engine) -> Engine {
    let known: RefCell<HashMap<String, Vec<String>>> = RefCell::default();
    let search = move |text: &str| {
        known.borrow_mut().entry(text.to_owned()).or_insert_with(|| engine(text)).clone()
    };
    (name, Box::new(search))
}

fn print(name: &str, figures: Figures) {
    let Figures { first, recall, reciprocal, .. } = figures;
    let (first, recall) = (first * 100.0, recall * 100.0);
    println!("    {name:<20}{first:>8.1} %{recall:>8.1} %{reciprocal:>9.3}");
}
