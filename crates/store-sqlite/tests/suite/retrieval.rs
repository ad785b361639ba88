//! How well search finds: never worse than a plain full-text index on the same questions. The
//! benchmark `retrieval` prints the figures.

use accord_store::terms::for_query;

use crate::evaluation::{Evaluation, Figures, Plain, Question, search, words};
use crate::support::open;

#[test]
fn search_finds_more_than_a_plain_index() {
    let evaluation = Evaluation::load();
    assert!(evaluation.packages.len() >= 150);
    assert!(evaluation.questions.len() >= 200);
    let paraphrases = evaluation.questions.iter().filter(|question| question.is_paraphrase);
    assert!(paraphrases.count() * 2 >= evaluation.questions.len());
    finds_more(&evaluation);
}

#[test]
fn search_finds_more_in_long_packages_too() {
    finds_more(&Evaluation::load().joined());
}

fn finds_more(evaluation: &Evaluation) {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    evaluation.deposit(&store);
    let plain = Plain::new(evaluation);
    let measure = |wanted: fn(&Question) -> bool| -> [Figures; 3] {
        let all_words = evaluation.figures(wanted, |text| plain.search(words(text)));
        let no_function_words = evaluation.figures(wanted, |text| {
            plain.search(for_query(text).terms.iter().map(|term| term.word.as_str()))
        });
        let ours = evaluation.figures(wanted, |text| search(&store, text));
        [all_words, no_function_words, ours]
    };
    for wanted in [|_: &Question| true, |question: &Question| question.is_held_out] {
        let [baselines @ .., ours] = measure(wanted);
        for baseline in baselines {
            assert!(ours.recall >= baseline.recall, "{ours:?} against {baseline:?}");
            assert!(ours.reciprocal > baseline.reciprocal, "{ours:?} against {baseline:?}");
        }
    }
    let [.., with_words] = measure(|question| !question.is_paraphrase);
    assert!(with_words.recall > 0.98 && with_words.reciprocal > 0.94, "{with_words:?}");
    let [.., paraphrased] = measure(|question| question.is_paraphrase);
    assert!(paraphrased.recall > 0.4, "{paraphrased:?}");
}
