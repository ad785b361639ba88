//! The corpus that is part of the binary.

use accord_kit::Corpus;

#[test]
fn the_embedded_corpus_is_the_one_in_the_repository() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus");
    let embedded = Corpus::embedded().unwrap();
    let on_disk = Corpus::from_dir(folder.as_ref()).unwrap();
    let list = |corpus: &Corpus| -> Vec<(String, String)> {
        corpus.protocols().map(|p| (p.name().to_owned(), p.digest())).collect()
    };
    assert_eq!(list(&embedded), list(&on_disk));
}

#[test]
fn every_clause_has_a_case() {
    let corpus = Corpus::embedded().unwrap();
    let uncovered: Vec<&str> =
        corpus.uncovered_clauses().iter().map(|clause| clause.id.as_str()).collect();
    assert_eq!(uncovered, [""; 0], "write a case for each of these, or take the clause out");
}
