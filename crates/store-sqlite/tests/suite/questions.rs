//! Who asks a question: the newest, however many there are.

use accord_base::ProjectId;
use accord_contract::Timestamp;
use accord_memory_core::package::Status;
use accord_store::{
    MAX_SOURCES, ModelStore, PackageIndex, Quarantine, QuestionQuery, Store, StoreExt as _,
};

use crate::support::{log, open, package, project};

#[test]
fn the_newest_that_ask_are_named_and_others_take_the_place_of_those_that_go() {
    let folder = tempfile::tempdir().unwrap();
    many_ask(&ModelStore::new());
    many_ask(&open(folder.path()));
}

fn many_ask(store: &dyn Store) {
    store.write(|unit| unit.insert_project(&project("p"))).unwrap();
    // Neither from old to new nor the other way.
    for number in [7, 3, 14, 1, 9, 12, 0, 5, 13, 2, 8, 11, 4, 10, 6] {
        let mut row = package("p", &format!("n{number:02}"));
        row.created_at = Timestamp::parse(&format!("2026-04-18T20:00:{number:02}Z")).unwrap();
        row.state.status = match number {
            12 => Status::Draft,
            _ => Status::Complete,
        };
        let questions = ["Why?".to_owned(), "Why?".to_owned()];
        let index = PackageIndex::of_parts([""; 5], &questions);
        store.write(move |unit| unit.insert_package(&row, &index, &log())).unwrap();
    }
    let author = package("p", "any").actor;
    let everybody = QuestionQuery {
        limit: 5,
        sources: 99,
        drafts: accord_store::Drafts::None,
        ..QuestionQuery::default()
    };
    let of_author = QuestionQuery { drafts: accord_store::Drafts::Of(&author), ..everybody };
    let newest = [14, 13, 11, 10, 9, 8, 7, 6, 5, 4];
    assert_eq!(newest.len(), MAX_SOURCES);
    assert_eq!(asking(store, &everybody), newest);
    assert_eq!(asking(store, &of_author), [14, 13, 12, 11, 10, 9, 8, 7, 6, 5]);
    let window = QuestionQuery {
        since: Some(Timestamp::parse("2026-04-18T20:00:10Z").unwrap().time()),
        ..everybody
    };
    assert_eq!(asking(store, &window), [14, 13, 11, 10]);

    for (number, away, left) in [
        (14, true, [13, 11, 10, 9, 8, 7, 6, 5, 4, 3]),
        (9, true, [13, 11, 10, 8, 7, 6, 5, 4, 3, 2]),
        (14, false, [14, 13, 11, 10, 8, 7, 6, 5, 4, 3]),
    ] {
        let row = package("p", &format!("n{number:02}"));
        let quarantine = away.then(|| Quarantine {
            at: row.created_at.clone(),
            reason: "its hash is another".to_owned(),
        });
        store
            .write(move |unit| {
                unit.quarantine_package(&row.project_id, &row.package_id, quarantine.as_ref())
            })
            .unwrap();
        assert_eq!(asking(store, &everybody), left);
    }
}

/// The numbers of the packages that ask the only question.
fn asking(store: &dyn Store, query: &QuestionQuery<'_>) -> Vec<u32> {
    let project = ProjectId::new("p").unwrap();
    let questions = store.read(|unit| unit.questions(&project, query));
    let [question] = &questions.unwrap()[..] else {
        panic!("there is one question");
    };
    assert_eq!(question.text, "Why?");
    let ids = question.sources.iter();
    ids.map(|id| id.as_str()[1..].parse().unwrap()).collect()
}
