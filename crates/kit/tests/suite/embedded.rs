//! The corpus that is part of the binary.

use accord_kit::Corpus;
use accord_kit::corpus::CorpusError;

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
fn one_protocol_can_be_read_without_the_others() {
    let corpus = Corpus::embedded().unwrap();
    for protocol in corpus.protocols() {
        let alone = Corpus::embedded_protocol(protocol.name()).unwrap();
        assert_eq!(alone.digest(), protocol.digest());
        assert_eq!(alone.cases().len(), protocol.cases().len());
    }
    let names: Vec<String> = corpus.protocols().map(|one| one.name().to_owned()).collect();
    for missing in ["nothing", "al", "alx/", ""] {
        let error = Corpus::embedded_protocol(missing).unwrap_err();
        let CorpusError::UnknownProtocol { asked, known } = error else { panic!("{error}") };
        assert_eq!((asked.as_str(), &known), (missing, &names));
    }
}

#[test]
fn every_clause_has_a_case() {
    let corpus = Corpus::embedded().unwrap();
    let uncovered: Vec<&str> =
        corpus.uncovered_clauses().iter().map(|clause| clause.id.as_str()).collect();
    assert_eq!(uncovered, [""; 0], "write a case for each of these, or take the clause out");
}
