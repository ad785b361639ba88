//! Search by meaning, with an embedder that knows a few words.

use std::sync::Arc;

use accord_base::Caller;
use accord_memory::embed::Embedder;
use accord_memory::{Memory, MemoryOptions, SearchBy};
use accord_memory_core::package::Status;
use accord_memory_core::query::{PackageFilter, Params, Pull, Relevant};
use accord_store::ModelStore;
use serde_json::json;

use crate::support::{deposit, project_id};

/// Knows that some words mean alike.
struct Thesaurus;

impl Embedder for Thesaurus {
    fn embed(&self, text: &str) -> Vec<f32> {
        let text = text.to_lowercase();
        let groups = [["car", "automobile"], ["ship", "vessel"], ["feline", "cat"]];
        let counts = groups.map(|group| {
            let found = group.iter().map(|word| text.matches(word).count());
            found.sum::<usize>() as f32
        });
        counts.to_vec()
    }
}

fn memory() -> Memory {
    let options = MemoryOptions { embedder: Some(Arc::new(Thesaurus)), ..MemoryOptions::default() };
    Memory::new(Arc::new(ModelStore::new()), options)
}

async fn find(
    memory: &Memory,
    query: &str,
    by: Option<SearchBy>,
    status: Option<Status>,
) -> Vec<String> {
    let pairs = [("mode", "relevant"), ("query", query)];
    let Pull::Relevant(asked) =
        Pull::parse(&Params::new(pairs).unwrap(), &project_id("atlas")).unwrap()
    else {
        panic!("a relevant pull");
    };
    let filter = PackageFilter { status, session: None };
    let asked = Relevant { filter, ..asked };
    let page = memory.relevant(&Caller::owner(), &project_id("atlas"), asked, by).await.unwrap();
    let found = page.packages.iter().zip(&page.scores);
    found
        .map(|(package, score)| {
            assert_eq!(package.package_id, score.package_id);
            package.package_id.as_str().to_owned()
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_means_alike_is_found() {
    let memory = memory();
    let declared = memory.conformance();
    assert!(declared.capabilities.semantic_search && declared.capabilities.hybrid_search);
    deposit(&memory, "pkg_car", json!({"title": "The automobile"})).await;
    deposit(&memory, "pkg_ship", json!({"title": "The vessel", "status": "draft"})).await;
    let meaning = Some(SearchBy::Meaning);
    assert_eq!(find(&memory, "a car", meaning, None).await[0], "pkg_car");
    assert_eq!(find(&memory, "a car", Some(SearchBy::Words), None).await, Vec::<String>::new());
    // Later packages are known, too, and filters hold.
    deposit(&memory, "pkg_cat", json!({"title": "The feline"})).await;
    assert_eq!(find(&memory, "my cat", meaning, None).await[0], "pkg_cat");
    assert_eq!(find(&memory, "my cat", meaning, Some(Status::Draft)).await, ["pkg_ship"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn words_and_meaning_are_joined() {
    let memory = memory();
    deposit(&memory, "pkg_both", json!({"title": "An automobile called Rosinante"})).await;
    deposit(&memory, "pkg_meaning", json!({"title": "An automobile"})).await;
    deposit(&memory, "pkg_words", json!({"title": "Rosinante"})).await;
    for by in [None, Some(SearchBy::Both)] {
        let found = find(&memory, "car rosinante", by, None).await;
        assert_eq!(found[0], "pkg_both");
        assert_eq!(found.len(), 3);
    }
}
