//! Search: words in, packages out, and nothing that anybody writes is syntax.

use accord_base::ProjectId;
use accord_store::{
    Engine as _, PackageIndex, Quarantine, SearchQuery, SearchResults, StoreError, StoreExt as _,
};
use accord_store_sqlite::{Options, SqliteStore};

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
    let words = "apple bridge candle desert engine forest garden hammer island jacket kettle";
    let straw = |number: usize| words.split(' ').nth(number - 1).unwrap();
    // Eleven projects, so that the number of one begins as that of another.
    for number in 1..=11 {
        deposit(&store, &format!("p{number}"), "same id", &format!("needle {}", straw(number)))
            .unwrap();
    }
    for number in 1..=11 {
        let project = format!("p{number}");
        let found = search(&store, &project, "needle");
        assert_eq!(found.hits.len(), 1);
        assert_eq!(found.hits[0].package.project_id.as_str(), project);
        let other = straw(number % 11 + 1);
        assert!(search(&store, &project, other).hits.is_empty());
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

#[test]
fn identifiers_are_found_as_they_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    // Each has the words of its neighbours, but not side by side.
    let texts = [
        ("version", "Upgrade to 2.4.1 done. 3 services left, 1 of 4 in staging."),
        ("other version", "Upgrade to 2.4.0 done, 1 failed. 2 of 4 services in staging: 1, 2."),
        ("file", "The limit is in src/retry/retry_backoff.rs, line 12."),
        ("other file", "The backoff of src/queue.rs does not retry; rs, backoff."),
        ("code", "The printer answers E_LOCK_17 until midnight."),
        ("other code", "Lock 17 is open; the printer is E, and another lock is 18."),
        ("name", "call is_ready() before the start"),
        ("other name", "the start is ready when the call is there"),
    ];
    for (id, body) in texts {
        deposit(&store, "p", id, body).unwrap();
    }
    for (query, id) in [
        ("2.4.1", "version"),
        ("v upgrade 2.4.0?", "other version"),
        ("retry_backoff.rs", "file"),
        ("where is src/retry/retry_backoff.rs", "file"),
        ("E_LOCK_17", "code"),
        ("what does e-lock-17 mean", "code"),
        ("is_ready", "name"),
    ] {
        assert_eq!(ids(&search(&store, "p", query))[0], id, "{query}");
    }
}

#[test]
fn names_are_found_by_their_parts_and_in_every_style() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let texts = [
        ("name", "The bug is in parseHttpHeader of the client."),
        ("parts", "Every header needs a proxy; http alone cannot parse that."),
        ("snake", "open_file takes a mode"),
        ("hash", "Fixed in 3f9a1c27be04d5aa90e1 and released."),
        ("other hash", "Fixed in 3f9b7721c0aa41 and released."),
        ("version", "Rolled out v5.4.2 on Friday with 1 of 4 hosts."),
    ];
    for (id, body) in texts {
        deposit(&store, "p", id, body).unwrap();
    }
    for (query, id) in [
        ("parse http header", "name"),
        ("parse_http_header", "name"),
        ("ParseHTTPHeader", "name"),
        ("parsehttpheader", "name"),
        ("PARSE-HTTP-HEADER", "name"),
        ("open file", "snake"),
        ("openFile", "snake"),
        ("openfile", "snake"),
        ("3f9a1c2", "hash"),
        ("3f9a", "hash"),
        ("3f9a1c27be04", "hash"),
        ("what did 3f9a1c27be04d5aa90e1ffff0000 fix", "hash"),
        ("5.4.2", "version"),
        ("v5.4.2", "version"),
        ("5.4", "version"),
    ] {
        assert_eq!(ids(&search(&store, "p", query)).first(), Some(&id), "{query}");
    }
    // The name says its parts.
    let found = search(&store, "p", "parse_http_header");
    assert_eq!(found.hits[0].matched, ["parse_http_header"]);
    assert_eq!(ids(&search(&store, "p", "3f9a1c2")), ["hash"]);
}

#[test]
fn a_misspelt_long_word_finds_its_word_where_nothing_else_does() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    deposit(&store, "p", "pool", "The connection pool of the postgres driver").unwrap();
    deposit(&store, "p", "lock", "A lock, a socket and a rocket").unwrap();
    deposit(&store, "q", "other", "conection of another project").unwrap();
    for query in ["conection", "connecton", "conenction", "postgers", "cpnnection", "driiver"] {
        assert_eq!(ids(&search(&store, "p", query)), ["pool"], "{query}");
    }
    let both = search(&store, "p", "conection pool");
    assert_eq!(both.hits[0].matched, ["conection", "pool"]);
    // Short words and other first letters are not corrected beside words that are found.
    assert_eq!(ids(&search(&store, "p", "rock pool")), ["pool"]);
    assert_eq!(ids(&search(&store, "p", "xocket pool")), ["pool"]);
    // A word that is there is not a mistake.
    assert_eq!(ids(&search(&store, "p", "socket")), ["lock"]);
    assert!(search(&store, "p", "entirely different").hits.is_empty());
}

/// The average length of the packages of one project decides, not that of all.
#[test]
fn other_projects_change_no_score() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    deposit(&store, "p", "short", "queue").unwrap();
    deposit(&store, "p", "long", &format!("queue {}", "straw ".repeat(40))).unwrap();
    let before = search(&store, "p", "queue");
    for number in 0..20 {
        deposit(&store, "q", &format!("n{number}"), &"straw ".repeat(500)).unwrap();
    }
    assert_eq!(search(&store, "p", "queue"), before);
    // A package that is indexed again counts with its new length alone.
    let row = package("p", "long");
    let index = |text: &str| PackageIndex::of_parts(["", "", "", "", text], &[]);
    for text in ["queue", &format!("queue {}", "straw ".repeat(40))] {
        let (row, index) = (row.clone(), index(text));
        store
            .write(move |unit| unit.reindex_package(&row.project_id, &row.package_id, &index))
            .unwrap();
    }
    assert_eq!(search(&store, "p", "queue").hits[0].score, before.hits[0].score);
    let damage = store.read(|unit| unit.check_derived(Some(&row.project_id)));
    assert_eq!(damage.unwrap(), []);
}

#[test]
fn a_question_is_what_it_is_about() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    deposit(&store, "p", "answer", "The lease is renewed by a heartbeat.").unwrap();
    deposit(&store, "p", "noise", "What did we do, and how, and why? It is what it is.").unwrap();
    let question = search(&store, "p", "How is it that the lease is renewed?");
    assert_eq!(ids(&question), ["answer"]);
    assert_eq!(question, search(&store, "p", "lease renewed"));
    assert_eq!(question.hits[0].matched, ["lease", "renewed"]);
    assert!(question.left_out.is_empty());
    assert_eq!(ids(&search(&store, "p", "what is it"))[0], "noise");
}

#[test]
fn the_passage_that_answers_finds_a_long_package() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let filler = "staff met and spoke about many things of the week ".repeat(20);
    let scattered = format!("The certificate {filler} of the printer {filler} has expired.");
    let together = format!("{filler} The printer's certificate has expired. {filler}");
    deposit(&store, "p", "together", &together).unwrap();
    deposit(&store, "p", "scattered", &scattered).unwrap();
    let found = search(&store, "p", "Which printer certificate has expired?");
    assert_eq!(ids(&found), ["together", "scattered"]);
}

#[test]
fn words_in_the_index_that_are_not_those_of_the_text_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    deposit(&store, "p", "one", "straw in a stack").unwrap();
    let row = package("p", "one");
    let found = |text: &str| {
        let index = PackageIndex::of_parts(["", "", "", "", text], &[]);
        let damaged = store.read(|unit| {
            let row = unit.package(&row.project_id, &row.package_id)?.unwrap();
            unit.check_index(&row, &index)
        });
        let damaged: Result<_, StoreError> = damaged;
        damaged.unwrap().len()
    };
    assert_eq!(found("straw in a stack"), 0);
    assert_eq!(found("straw in a barn"), 1, "another word");
    assert_eq!(found("straw in a stack, a stack"), 1, "another length");
}

/// The cost of a query is limited also where words are repeated very often.
#[test]
fn a_word_that_is_repeated_too_often_counts_once_in_each_package() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = Options::default();
    options.common.occurrences = 50;
    let store = SqliteStore::open(folder.path(), &options).unwrap();
    for number in 0..4 {
        deposit(&store, "p", &format!("n{number}"), &"log ".repeat(20 + number)).unwrap();
    }
    deposit(&store, "p", "needle", "a needle in the log").unwrap();
    assert_eq!(ids(&search(&store, "p", "needle log"))[0], "needle");
    let found = search(&store, "p", "log");
    assert_eq!(ids(&found), ["needle", "n0", "n1", "n2", "n3"], "the shortest first");
    assert!(found.left_out.is_empty());
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
