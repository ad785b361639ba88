//! How well search finds packages, beside a plain full-text index.
//!
//! ```text
//! cargo bench -p accord-store-sqlite --bench retrieval -- [--missed]
//! ```
//!
//! With `--missed`, every question without an answer among the first five results is printed.
#![expect(clippy::disallowed_methods, reason = "a benchmark reads its arguments")]

mod evaluation;

use std::process::ExitCode;

use accord_store::terms::for_query;
use accord_store_sqlite::{Options, SqliteStore};

use evaluation::{Evaluation, Plain, Question, search, words};

const ALL: &str = "all questions";
const HELD_OUT: &str = "held out";

type Wanted = fn(&Question) -> bool;

const GROUPS: [(&str, Wanted); 5] = [
    (ALL, |_| true),
    ("with words of the answer", |question| !question.is_paraphrase),
    ("paraphrased", |question| question.is_paraphrase),
    ("used to choose weights", |question| !question.is_held_out),
    (HELD_OUT, |question| question.is_held_out),
];

fn main() -> ExitCode {
    let is_wordy = std::env::args().any(|argument| argument == "--missed");
    let is_above = measure("as they are", &Evaluation::load(), is_wordy)
        & measure("joined to long packages", &Evaluation::load().joined(), is_wordy);
    if is_above {
        return ExitCode::SUCCESS;
    }
    println!("\nFAILED: search is not above the plain index");
    ExitCode::FAILURE
}

/// Prints the figures of an evaluation. Returns whether search is above the plain index.
fn measure(what: &str, evaluation: &Evaluation, is_wordy: bool) -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    let store = SqliteStore::open(folder.path(), &Options::default()).expect("a store");
    evaluation.deposit(&store);
    let plain = Plain::new(evaluation);
    let (packages, questions) = (evaluation.packages.len(), evaluation.questions.len());
    println!("retrieval, {what}: {packages} packages, {questions} questions; recall@5 and MRR");
    println!("  {:<32}{:>16}{:>20}{:>16}", "", "plain FTS5", "no function words", "Accord");
    let mut is_above = true;
    for (name, wanted) in GROUPS {
        let all_words = evaluation.figures(wanted, |text| plain.search(words(text)));
        let some_words = evaluation.figures(wanted, |text| {
            let query = for_query(text);
            plain.search(query.terms.iter().map(|term| term.word.as_str()))
        });
        let ours = evaluation.figures(wanted, |text| search(&store, text));
        let [a, b, c] = [all_words, some_words, ours]
            .map(|figures| format!("{:.1} % {:.3}", figures.recall * 100.0, figures.reciprocal));
        println!("  {:<32}{a:>16}{b:>20}{c:>16}", format!("{name} ({})", ours.questions));
        if matches!(name, ALL | HELD_OUT) {
            is_above &= ours.recall >= some_words.recall && ours.reciprocal > some_words.reciprocal;
        }
    }
    for question in evaluation.questions.iter().filter(|_| is_wordy) {
        let found = search(&store, &question.text);
        let first = &found[..found.len().min(5)];
        if !first.iter().any(|id| question.answers.contains(id)) {
            println!("  missed: {} -> {:?}, found {first:?}", question.text, question.answers);
        }
    }
    is_above
}
