//! Events of kinds that this version does not know pass through unchanged.

use accord_base::{Access, Caller};
use accord_contract::{Time, Timestamp};
use accord_memory::{Memory, Since, Verify, repair};
use accord_store::{Engine, EventEntry, StoreError, StoreExt as _};
use futures_util::TryStreamExt as _;
use serde_json::json;

use crate::support::{deposit, engines, memory_over, next, project_id};

const DATA: &str = r#"{"lease":{"token":7},"unknown":[1.5,null]}"#;

/// Writes a package, then an event of another protocol.
async fn write_unknown(memory: &Memory, engine: &dyn Engine) {
    deposit(memory, "pkg_1", json!({})).await;
    let entry = EventEntry {
        at: Timestamp::emit(Time::from_unix_millis(4_000_000_000_000)),
        kind: "task.lease-renewed".to_owned(),
        only_for: None,
        text: DATA.to_owned(),
    };
    let write = engine.write(move |unit| unit.append_event(&project_id("atlas"), &entry));
    assert_eq!(write, Ok::<_, StoreError>(3));
}

async fn is_sound(memory: &Memory) -> bool {
    let asked = Verify { project: Some(project_id("atlas")), quarantine: true };
    let report = memory.verify(&Caller::owner(), asked, |_| {}).await.unwrap();
    assert_eq!(report.events, 3);
    report.is_sound()
}

fn stored_text(engine: &dyn Engine) -> String {
    let rows = engine.read(|unit| unit.events(&project_id("atlas"), 2, 1));
    let rows: Vec<_> = rows.map_err(|error: StoreError| error).unwrap();
    assert_eq!(rows[0].entry.kind, "task.lease-renewed");
    rows[0].entry.text.clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn followers_get_them() {
    for (engine, _folder) in engines() {
        let memory = memory_over(&engine);
        write_unknown(&memory, &*engine).await;
        let (caller, atlas) = (Caller::owner(), project_id("atlas"));
        let follower = memory.follow(&caller, &atlas, Since::After(0)).await;
        let events = next(&mut follower.unwrap()).await;
        let document = events[2].document_for(&Access::open());
        assert_eq!(document["type"], "task.lease-renewed");
        assert_eq!(document["data"].to_string(), DATA);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn verify_and_repair_keep_them() {
    for (engine, _folder) in engines() {
        let memory = memory_over(&engine);
        write_unknown(&memory, &*engine).await;
        assert!(is_sound(&memory).await);
        let mut reported = Vec::new();
        let repaired = repair(&*engine, &mut |done, total| reported.push((done, total))).unwrap();
        assert_eq!((repaired.sound, repaired.set_aside), (1, 0));
        assert_eq!(reported, [(0, 1), (1, 1)]);
        assert!(is_sound(&memory).await);
        assert_eq!(stored_text(&*engine), DATA);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn export_and_import_work_beside_them() {
    let (caller, atlas) = (Caller::owner(), project_id("atlas"));
    for (from, to) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        let (source, _source_folder) = engines().swap_remove(from);
        let (target, _target_folder) = engines().swap_remove(to);
        let (memory, other) = (memory_over(&source), memory_over(&target));
        write_unknown(&memory, &*source).await;
        write_unknown(&other, &*target).await;
        let export = memory.export(&caller, &atlas).await.unwrap();
        let pieces: Vec<_> = export.into_pieces().unwrap().try_collect().await.unwrap();
        let mut intake = other.begin_import(&caller, &atlas).unwrap();
        for piece in pieces {
            intake.put(piece).await.unwrap();
        }
        let summary = intake.finish(|_, _| {}).await.unwrap();
        assert_eq!((summary.unchanged.packages, summary.refused_count), (1, 0));
        assert!(is_sound(&other).await);
        assert_eq!(stored_text(&*source), DATA);
        assert_eq!(stored_text(&*target), DATA);
    }
}
