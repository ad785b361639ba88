//! A removal while an import runs.

use accord_base::Caller;
use accord_contract::Code;
use serde_json::json;
use tokio::runtime::Handle;

use crate::support::{engines, memory_over, package_with, project_id};

#[tokio::test(flavor = "multi_thread")]
async fn an_import_ends_when_its_project_is_removed() {
    for (engine, _folder) in engines() {
        for exists in [false, true] {
            let memory = memory_over(&engine);
            let (caller, atlas) = (Caller::owner(), project_id("atlas"));
            let project = json!({"project_id": "atlas", "x-conformance": true});
            if exists {
                memory.create_project(&caller, project.to_string().as_bytes()).await.unwrap();
            }
            let mut import = memory.begin_import(&caller, &atlas).unwrap();
            let mut line = json!({"project_id": "atlas", "name": "atlas", "x-conformance": true,
                "created_at": "2026-04-18T20:00:00Z"});
            for number in 0..4_000 {
                import.put(format!("{line}\n").into()).await.unwrap();
                line = package_with(&format!("pkg_{number}"), json!({}));
            }
            let (handle, remover) = (Handle::current(), memory.clone());
            let mut is_removed = false;
            let outcome = import.finish(move |_, _| {
                // Earlier batches may still wait; the removal then finds no project yet.
                if !is_removed {
                    let (caller, atlas) = (Caller::owner(), project_id("atlas"));
                    let removal = remover.remove_project(&caller, &atlas, || Ok(0));
                    is_removed = handle.block_on(removal).is_ok();
                }
            });
            let failure = outcome.await.unwrap_err();
            assert_eq!(failure.code, Code::AgenticProjectNotFound);
            assert!(failure.message.contains("was removed while"), "{}", failure.message);
            let gone = memory.project(&caller, &atlas).await.unwrap_err();
            assert_eq!(gone.code, Code::AgenticProjectNotFound);
        }
    }
}
