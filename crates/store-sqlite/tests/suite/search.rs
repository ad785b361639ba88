//! Search: words in, packages out, and nothing that anybody writes is syntax.

use accord_base::ProjectId;
use accord_store::{
    PackageIndex, Quarantine, SearchQuery, SearchResults, StoreError, StoreExt as _,
};
use accord_store_sqlite::SqliteStore;

use crate::support::{deposit, log, open, package};

const NASTY: [&str; 18] = [
    "\" OR (",
    "*",
    "NEAR(a b, 2)",
    "a AND NOT b",
    "title : x",
    "{title} : x",
    "-x",
    "^x",
    "x*",
    "1:x",
    "\"",
    "'; DROP TABLE package; --",
    "\u{0}",
    "🦀🦀",
    "+",
    "a\"b\"c",
    "…",
    "x OR",
];

#[test]
fn queries_and_texts_are_data() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    for (number, text) in NASTY.iter().enumerate() {
        deposit(&store, "p", &format!("n{number}"), text).unwrap();
    }
    for query in NASTY {
        let found = search(&store, "p", query);
        let words = query.chars().any(char::is_alphanumeric);
        assert_eq!(found.hits.is_empty(), !words, "{query:?}");
    }
    store.check().unwrap();
}

#[test]
fn no_project_meets_the_words_of_another() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    // Eleven projects, so that the number of one begins as that of another.
    for number in 1..=11 {
        deposit(&store, &format!("p{number}"), "same id", &format!("needle straw{number}"))
            .unwrap();
    }
    for number in 1..=11 {
        let project = format!("p{number}");
        let found = search(&store, &project, "needle");
        assert_eq!(found.hits.len(), 1);
        assert_eq!(found.hits[0].package.project_id.as_str(), project);
        let other = format!("straw{}", number % 11 + 1);
        assert!(search(&store, &project, &other).hits.is_empty());
        assert!(search(&store, &project, &format!("{}:needle", number % 11 + 1)).hits.len() == 1);
    }
    assert!(search(&store, "p12", "needle").hits.is_empty());
}

#[test]
fn where_a_word_stands_and_how_rare_it_is_decides() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    deposit(&store, "p", "filler", "common words").unwrap();
    let texts = [
        ("in the body", ["common", "", "", "", "queue"]),
        ("in the title", ["queue", "", "", "", "common"]),
        ("in a decision", ["common", "queue", "", "", ""]),
        ("elsewhere", ["common", "", "", "", "common common"]),
    ];
    for (id, parts) in texts {
        let (row, index) = (package("p", id), PackageIndex::of_parts(parts, &[]));
        store.write(move |unit| unit.insert_package(&row, &index, &log())).unwrap();
    }
    assert_eq!(
        ids(&search(&store, "p", "Queues")),
        ["in the title", "in a decision", "in the body"]
    );
    let both = search(&store, "p", "common queue");
    assert_eq!(ids(&both)[..3], ["in the title", "in a decision", "in the body"]);
    assert_eq!(both.hits[0].matched, ["common", "queue"]);
    assert!(both.hits.is_sorted_by(|a, b| a.score >= b.score));
    assert!(search(&store, "p", "absent").hits.is_empty());
}

#[test]
fn a_word_that_stands_nearly_everywhere_is_left_out_before_it_costs() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    deposit(&store, "p", "needle", "the rare needle").unwrap();
    let rows: Vec<_> = (0..1_200).map(|number| package("p", &format!("n{number}"))).collect();
    let index = PackageIndex::of_parts(["", "", "", "", "the usual"], &[]);
    store
        .write(move |unit| {
            for row in &rows {
                unit.insert_package(row, &index, &log())?;
            }
            Ok::<_, StoreError>(())
        })
        .unwrap();
    let found = search(&store, "p", "usual needle, USUAL");
    assert_eq!(ids(&found), ["needle"]);
    assert_eq!(found.left_out, ["usual"]);
    // Where nothing else is asked for, what was deposited last is better than nothing.
    let found = search(&store, "p", "is the usual");
    assert_eq!(ids(&found)[..2], ["n1199", "n1198"]);
    assert!(found.hits.iter().all(|hit| hit.score == 0.0));
}

#[test]
fn a_package_that_is_quarantined_is_not_found_and_comes_back_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    deposit(&store, "p", "one", "needle").unwrap();
    deposit(&store, "p", "two", "needle").unwrap();
    let before = search(&store, "p", "needle");
    let row = package("p", "two");
    let (project, id) = (row.project_id.clone(), row.package_id.clone());
    let damaged =
        Quarantine { at: row.created_at.clone(), reason: "its hash is another".to_owned() };
    store.write(move |unit| unit.quarantine_package(&project, &id, Some(&damaged))).unwrap();
    assert_eq!(ids(&search(&store, "p", "needle")), ["one"]);
    let (project, id) = (row.project_id.clone(), row.package_id.clone());
    store.write(move |unit| unit.quarantine_package(&project, &id, None)).unwrap();
    assert_eq!(search(&store, "p", "needle"), before);
}

#[test]
fn an_index_that_is_made_again_finds_the_new_words_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    deposit(&store, "p", "one", "straw").unwrap();
    let row = package("p", "one");
    let index = PackageIndex::of_parts(["needle", "", "", "", ""], &[]);
    store
        .write(move |unit| unit.reindex_package(&row.project_id, &row.package_id, &index))
        .unwrap();
    assert!(search(&store, "p", "straw").hits.is_empty());
    assert_eq!(ids(&search(&store, "p", "needle")), ["one"]);
    store.check().unwrap();
}

#[test]
fn scripts_without_spaces_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    deposit(&store, "p", "one", "決定を東京で行った").unwrap();
    deposit(&store, "p", "two", "京都の決まり").unwrap();
    assert_eq!(ids(&search(&store, "p", "東京")), ["one"]);
    assert_eq!(search(&store, "p", "京").hits.len(), 2);
}

fn search(store: &SqliteStore, project: &str, text: &str) -> SearchResults {
    let query = SearchQuery { text, limit: 10, ..SearchQuery::default() };
    let project = ProjectId::new(project).unwrap();
    store.read(|unit| unit.search(&project, &query)).unwrap()
}

fn ids(found: &SearchResults) -> Vec<&str> {
    let hits = found.hits.iter();
    hits.map(|hit| hit.package.package_id.as_str()).collect()
}
