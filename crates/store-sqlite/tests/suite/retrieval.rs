//! How well search finds: never worse than a plain full-text index on the same questions. The
//! benchmark `retrieval` prints the figures.

use crate::evaluation::{Evaluation, Figures, Question, search};
use crate::plain::{Plain, SETTINGS};
use crate::support::open;

#[test]
fn search_finds_more_than_a_plain_index() {
    let evaluation = Evaluation::team();
    assert!(evaluation.packages.len() >= 150);
    assert!(evaluation.questions.len() >= 200);
    let paraphrases = evaluation.questions.iter().filter(|question| question.is_paraphrase);
    assert!(paraphrases.count() * 2 >= evaluation.questions.len());
    finds_more(&evaluation);
}

#[test]
fn search_finds_more_in_long_packages_too() {
    finds_more(&Evaluation::team().joined());
}

/// Names, paths, hashes, versions, misspelt words, superseded packages.
#[test]
fn search_finds_more_in_work_on_code() {
    let evaluation = Evaluation::work();
    assert!(evaluation.packages.len() >= 60 && evaluation.questions.len() >= 60);
    finds_more(&evaluation);
}

fn finds_more(evaluation: &Evaluation) {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    evaluation.deposit(&store);
    let plain = SETTINGS.map(|setting| Plain::new(evaluation, setting));
    let ours = |wanted: fn(&Question) -> bool| -> Figures {
        evaluation.figures(wanted, |text| search(&store, text))
    };
    for wanted in [|_: &Question| true, |question: &Question| question.is_held_out] {
        let ours = ours(wanted);
        for (plain, setting) in plain.iter().zip(SETTINGS) {
            let theirs = evaluation.figures(wanted, |text| plain.search(text));
            let pair = format!("{ours:?} against {theirs:?} of {}", setting.name);
            assert!(ours.recall >= theirs.recall, "{pair}");
            assert!(ours.reciprocal > theirs.reciprocal, "{pair}");
        }
    }
    let with_words = ours(|question| !question.is_paraphrase);
    assert!(with_words.recall > 0.97 && with_words.reciprocal > 0.9, "{with_words:?}");
    let paraphrased = ours(|question| question.is_paraphrase);
    assert!(paraphrased.questions == 0 || paraphrased.recall > 0.4, "{paraphrased:?}");
}
