//! Items that nobody has looked at, and what receivers are told: in the store and in the model.

use accord_base::ProjectId;
use accord_base::inbox::{Urgency, Waiting, kind};
use accord_contract::Time;
use accord_store::{ModelStore, NoticeRow, Result, Store, StoreExt as _};

use crate::support::{open, project};

fn shop() -> ProjectId {
    ProjectId::new("shop").unwrap()
}

fn at(millis: i64) -> Time {
    Time::from_unix_millis(millis)
}

fn task(subject: &str, urgency: Urgency) -> Waiting {
    let title = format!("Blocked: {subject}");
    Waiting { urgency, ..Waiting::new(kind::TASK_BLOCKED, subject, 1, title, at(1)) }
}

fn set(store: &dyn Store, items: &[Waiting]) {
    let items = items.to_vec();
    store.write(move |unit| unit.set_task_items(&shop(), &items)).unwrap();
}

/// The subjects that are unseen at a time. They are seen afterwards.
fn look(store: &dyn Store, now: i64) -> Vec<String> {
    let looked: Result<Vec<String>> = store.write(move |unit| {
        let rows = unit.unseen_items(at(now), 9)?;
        for row in &rows {
            unit.see_item(row, at(now))?;
        }
        let mut subjects: Vec<String> = rows.into_iter().map(|it| it.waiting.subject).collect();
        subjects.sort();
        Ok(subjects)
    });
    looked.unwrap()
}

fn each(test: impl Fn(&dyn Store)) {
    let folder = tempfile::tempdir().unwrap();
    let (engine, model) = (open(folder.path()), ModelStore::new());
    for store in [&engine as &dyn Store, &model] {
        store.write(|unit| unit.insert_project(&project("shop"))).unwrap();
        test(store);
    }
}

#[test]
fn an_item_is_unseen_until_somebody_looks_and_again_when_it_is_more_urgent() {
    each(|store| {
        let rising = Waiting {
            rises: Some((at(50), Urgency::Loss)),
            shown_from: Some(at(20)),
            ..task("b", Urgency::Piece)
        };
        set(store, &[task("a", Urgency::Piece), rising.clone()]);
        assert_eq!(look(store, 10), ["a"]);
        assert_eq!(look(store, 19), Vec::<String>::new());
        assert_eq!(look(store, 20), ["b"]);
        assert_eq!(look(store, 49), Vec::<String>::new());
        assert_eq!(look(store, 50), ["b"], "time has made it more urgent");
        // The same again is nothing new. Another urgency is.
        set(store, &[task("a", Urgency::Piece), rising.clone()]);
        assert_eq!(look(store, 60), Vec::<String>::new());
        set(store, &[task("a", Urgency::Chain), rising]);
        assert_eq!(look(store, 70), ["a"]);
    });
}

#[test]
fn what_was_told_is_kept_until_the_item_is_gone() {
    each(|store| {
        set(store, &[task("a", Urgency::Piece)]);
        let row = store.read(|unit| unit.unseen_items(at(9), 1)).unwrap().remove(0);
        let notice = NoticeRow {
            project_id: shop(),
            item: row.id(),
            source: NoticeRow::source_of(&row),
            urgency: Urgency::Piece,
            from: at(9),
            message: Some("m".to_owned()),
            told_at: None,
        };
        let put = notice.clone();
        store
            .write(move |unit| {
                unit.put_notice("ops", &put)?;
                unit.put_notice("gone", &put)?;
                unit.keep_receivers(&["ops".to_owned()])
            })
            .unwrap();
        let untold = |name: &str| store.read(|unit| unit.untold(name)).unwrap();
        assert!(untold("ops").is_some() && untold("gone").is_none());
        let items = store.read(|unit| unit.untold_items("ops", 9)).unwrap();
        assert_eq!(items, [(notice.clone(), Some(row))]);
        store.write(|unit| unit.tell("ops", "another", at(10))).unwrap();
        assert!(untold("ops").is_some());
        store.write(|unit| unit.tell("ops", "m", at(10))).unwrap();
        assert!(untold("ops").is_none());
        let found = || store.read(|unit| unit.last_told("ops", &shop(), &notice.source)).unwrap();
        assert_eq!(found().unwrap().told_at, Some(at(10)));
        store.write(|unit| unit.forget_notices(at(99))).unwrap();
        assert!(found().is_some(), "it still waits");
        set(store, &[]);
        store.write(|unit| unit.forget_notices(at(10))).unwrap();
        assert!(found().is_some(), "it was told not so long ago");
        store.write(|unit| unit.forget_notices(at(11))).unwrap();
        assert!(found().is_none());
    });
}
