//! Search by meaning.

use std::sync::Arc;
use std::time::Duration;

use accord_base::{Caller, KeyScope, Verb};
use accord_contract::Code;
use accord_memory::{
    Embedder, EmbeddingOptions, EmbeddingState, Memory, MemoryOptions, RelevantPage,
};
use accord_memory_core::operations::{DigestParams, PullParams, SearchBy};
use accord_memory_core::package::Status;
use accord_memory_core::query::{DigestQuery, Pull, PullMode, Relevant};
use accord_store::Engine;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::embedding_server::{EmbeddingServer, Mood};
use crate::support::{deposit, engines, project_id};

/// The bound of every wait.
const PATIENCE: Duration = Duration::from_secs(120);

/// Options with times that are long enough for a busy machine.
pub(crate) fn options(server: &EmbeddingServer) -> EmbeddingOptions {
    let options = EmbeddingOptions::new(server.url(), "mini");
    EmbeddingOptions { query_timeout: PATIENCE, timeout: PATIENCE, ..options }
}

/// Options for a server that never answers a query.
pub(crate) fn impatient(server: &EmbeddingServer) -> EmbeddingOptions {
    EmbeddingOptions { query_timeout: Duration::from_millis(300), ..options(server) }
}

pub(crate) fn memory(engine: &Arc<dyn Engine>, options: EmbeddingOptions) -> Memory {
    let embedder = Some(Arc::new(Embedder::new(options).unwrap()));
    Memory::new(Arc::clone(engine) as _, MemoryOptions { embedder, ..MemoryOptions::default() })
}

/// Makes vectors until it is dropped.
pub(crate) struct Queue(JoinHandle<()>);

impl Queue {
    pub(crate) fn start(memory: &Memory) -> Self {
        let memory = memory.clone();
        Self(tokio::spawn(async move { memory.embed_packages(std::future::pending()).await }))
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Waits until the queue has made vectors for so many packages, and nothing waits.
pub(crate) async fn made(memory: &Memory, count: u64) {
    wait_until("the vectors", || {
        let status = memory.options().embedder.as_ref().unwrap().status();
        status.made >= count && status.waiting == 0 && status.state == EmbeddingState::Up
    })
    .await;
}

pub(crate) async fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let waited = tokio::time::timeout(PATIENCE, async {
        while !condition() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    waited.await.unwrap_or_else(|_| panic!("waited {PATIENCE:?} for {what}"));
}

pub(crate) fn asked(query: &str, status: Option<Status>) -> Relevant {
    let params = PullParams {
        mode: Some(PullMode::Relevant),
        query: Some(query.to_owned()),
        status,
        ..PullParams::default()
    };
    match Pull::of(params, &project_id("atlas")).unwrap() {
        Pull::Relevant(asked) => asked,
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn search(memory: &Memory, query: &str, by: Option<SearchBy>) -> RelevantPage {
    let (caller, atlas) = (Caller::owner(), project_id("atlas"));
    memory.relevant(&caller, &atlas, Relevant { by, ..asked(query, None) }).await.unwrap()
}

pub(crate) fn ids(page: &RelevantPage) -> Vec<&str> {
    let found = page.packages.iter().zip(&page.scores);
    found
        .map(|(package, score)| {
            assert_eq!(package.package_id, score.package_id);
            package.package_id.as_str()
        })
        .collect()
}

fn codes(page: &RelevantPage) -> Vec<&str> {
    page.warnings.iter().map(|warning| warning.code.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_means_alike_is_found() {
    for (engine, _folder) in engines() {
        let server = EmbeddingServer::start();
        let memory = memory(&engine, options(&server));
        deposit(&memory, "pkg_car", json!({"title": "The automobile"})).await;
        deposit(&memory, "pkg_ship", json!({"title": "The vessel", "status": "draft"})).await;
        let _queue = Queue::start(&memory);
        made(&memory, 2).await;
        let capabilities = memory.conformance().await.capabilities;
        assert!(capabilities.semantic_search && capabilities.hybrid_search);
        let meaning = Some(SearchBy::Meaning);
        let page = search(&memory, "a car", meaning).await;
        assert_eq!((ids(&page)[0], page.warnings.len()), ("pkg_car", 0));
        assert!(page.scores[0].score > 0.9 && page.scores[1].score < 0.5, "{:?}", page.scores);
        // Words do not find it, and the default does.
        assert!(ids(&search(&memory, "a car", Some(SearchBy::Words)).await).is_empty());
        let page = search(&memory, "a car", None).await;
        assert_eq!((ids(&page)[0], page.searched), ("pkg_car", SearchBy::Both));
        // Later packages are known, too, and filters hold.
        deposit(&memory, "pkg_cat", json!({"title": "The feline"})).await;
        made(&memory, 3).await;
        assert_eq!(ids(&search(&memory, "my cat", meaning).await)[0], "pkg_cat");
        let atlas = project_id("atlas");
        let drafts = asked("my cat", Some(Status::Draft));
        let page = memory
            .relevant(&Caller::owner(), &atlas, Relevant { by: meaning, ..drafts })
            .await
            .unwrap();
        assert_eq!(ids(&page), ["pkg_ship"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn words_and_meaning_are_joined() {
    for (engine, _folder) in engines() {
        let server = EmbeddingServer::start();
        let memory = memory(&engine, options(&server));
        let titles = [
            ("pkg_both", "An automobile called Rosinante"),
            ("pkg_meaning", "An automobile"),
            ("pkg_words", "Rosinante"),
            ("pkg_none", "A vessel"),
        ];
        for (id, title) in titles {
            deposit(&memory, id, json!({"title": title})).await;
        }
        let _queue = Queue::start(&memory);
        made(&memory, 4).await;
        for by in [None, Some(SearchBy::Both)] {
            let page = search(&memory, "car rosinante", by).await;
            assert_eq!(ids(&page), ["pkg_both", "pkg_meaning", "pkg_words", "pkg_none"]);
            assert_eq!(page.scores[0].matched, ["rosinante"]);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_superseded_package_is_behind_its_successor_in_every_kind_of_search() {
    for (engine, _folder) in engines() {
        let server = EmbeddingServer::start();
        let memory = memory(&engine, options(&server));
        for (id, members) in [
            ("pkg_old", json!({"title": "The automobile Rosinante"})),
            ("pkg_new", json!({"title": "A vessel", "x-supersedes": ["pkg_old"]})),
            ("pkg_other", json!({"title": "The automobile"})),
        ] {
            deposit(&memory, id, members).await;
        }
        let _queue = Queue::start(&memory);
        made(&memory, 3).await;
        for by in [SearchBy::Words, SearchBy::Meaning, SearchBy::Both] {
            let text = if by == SearchBy::Words { "rosinante" } else { "car rosinante" };
            let page = search(&memory, text, Some(by)).await;
            let place = |id: &str| ids(&page).iter().position(|found| *found == id);
            assert!(place("pkg_new").unwrap() < place("pkg_old").unwrap(), "{by:?} {page:?}");
            assert_eq!(page.superseded.len(), 1);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_best_passage_of_a_long_package_counts() {
    let server = EmbeddingServer::start();
    let (engine, _folder) = engines().remove(1);
    let memory = memory(&engine, options(&server));
    let filler = "All of this is about a boat that went far away.\n".repeat(400);
    let body = format!("{filler}\nThe query was sluggish.\n\n{filler}");
    deposit(&memory, "pkg_long", json!({"title": "Notes", "content_md": body})).await;
    deposit(&memory, "pkg_short", json!({"title": "Erase the boat; latency"})).await;
    let _queue = Queue::start(&memory);
    made(&memory, 2).await;
    let texts: Vec<usize> = server.asked().iter().map(texts_of).collect();
    assert!(texts.iter().all(|count| *count <= 16), "{texts:?}");
    assert!(texts.iter().sum::<usize>() > 20, "the package is sent in passages: {texts:?}");
    let page = search(&memory, "vessel", Some(SearchBy::Meaning)).await;
    assert_eq!(ids(&page)[0], "pkg_long");
}

fn texts_of(asked: &crate::embedding_server::Asked) -> usize {
    asked.body["input"].as_array().map_or(0, Vec::len)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_without_the_server_is_by_words_and_says_so() {
    let mut server = EmbeddingServer::start();
    let (engine, _folder) = engines().remove(1);
    let memory = memory(&engine, options(&server));
    deposit(&memory, "pkg_car", json!({"title": "The automobile"})).await;
    let queue = Queue::start(&memory);
    made(&memory, 1).await;
    // A query that is known needs no server.
    assert_eq!(search(&memory, "a car", None).await.searched, SearchBy::Both);
    let requests = server.asked().len();
    assert_eq!(ids(&search(&memory, "a car", None).await), ["pkg_car"]);
    assert_eq!(server.asked().len(), requests);

    drop(queue);
    server.stop();
    assert_eq!(search(&memory, "a car", None).await.searched, SearchBy::Both);
    for by in [None, Some(SearchBy::Both)] {
        let page = search(&memory, "the automobile", by).await;
        assert_eq!((ids(&page), page.searched), (vec!["pkg_car"], SearchBy::Words));
        assert_eq!(codes(&page), ["search_by_words_alone"]);
    }
    let page = search(&memory, "the automobile", Some(SearchBy::Words)).await;
    assert_eq!(codes(&page), Vec::<&str>::new());
    let (caller, atlas) = (Caller::owner(), project_id("atlas"));
    let by = Some(SearchBy::Meaning);
    let refused =
        memory.relevant(&caller, &atlas, Relevant { by, ..asked("boat", None) }).await.unwrap_err();
    assert_eq!(refused.code, Code::AgenticSearchUnavailable);
    let capabilities = memory.conformance().await.capabilities;
    assert!(!capabilities.semantic_search && !capabilities.hybrid_search);
    assert!(capabilities.keyword_search);

    // The queue notices that the server works again, without a package to send.
    let _queue = Queue::start(&memory);
    server.start_again();
    made(&memory, 1).await;
    assert!(memory.conformance().await.capabilities.semantic_search);
    assert_eq!(search(&memory, "the vehicle", None).await.searched, SearchBy::Both);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_waits_for_the_server_only_briefly() {
    let server = EmbeddingServer::start();
    let (engine, _folder) = engines().remove(1);
    let memory = memory(&engine, impatient(&server));
    deposit(&memory, "pkg_car", json!({"title": "The automobile"})).await;
    let queue = Queue::start(&memory);
    made(&memory, 1).await;
    drop(queue);
    server.set(Mood::Hangs);
    let began = std::time::Instant::now();
    assert_eq!(codes(&search(&memory, "automobile", None).await), ["search_by_words_alone"]);
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    // For a while, searches do not even ask.
    let requests = server.asked().len();
    assert_eq!(codes(&search(&memory, "an automobile", None).await), ["search_by_words_alone"]);
    assert_eq!(server.asked().len(), requests);
    assert!(!memory.conformance().await.capabilities.semantic_search);
}

#[tokio::test(flavor = "multi_thread")]
async fn missing_vectors_are_reported() {
    let server = EmbeddingServer::start();
    let (engine, _folder) = engines().remove(1);
    let memory = memory(&engine, options(&server));
    deposit(&memory, "pkg_1", json!({"title": "The automobile"})).await;
    // The host has not made any yet.
    let page = search(&memory, "automobile", None).await;
    assert_eq!((ids(&page), page.searched), (vec!["pkg_1"], SearchBy::Words));
    assert_eq!(codes(&page), ["vectors_missing"]);
    let page = search(&memory, "automobile", Some(SearchBy::Meaning)).await;
    assert_eq!((ids(&page), codes(&page)), (Vec::new(), vec!["vectors_missing"]));
    assert!(server.asked().is_empty(), "there is nothing to compare a query with");
    let queue = Queue::start(&memory);
    made(&memory, 1).await;
    drop(queue);
    assert_eq!(codes(&search(&memory, "automobile", None).await), Vec::<&str>::new());
    deposit(&memory, "pkg_2", json!({"title": "The boat"})).await;
    let page = search(&memory, "boat", None).await;
    assert_eq!(
        page.warnings[0].message,
        "1 of 2 packages have no vectors yet and are found by \
        words alone"
    );
    assert_eq!(ids(&page)[0], "pkg_1", "the other is found by words");
}

/// Clauses: AGENTIC-R-108.
#[tokio::test(flavor = "multi_thread")]
async fn a_digest_has_snippets_that_mean_the_focus() {
    let mut server = EmbeddingServer::start();
    let (engine, _folder) = engines().remove(1);
    let memory = memory(&engine, options(&server));
    deposit(&memory, "pkg_car", json!({"title": "The automobile"})).await;
    deposit(&memory, "pkg_ship", json!({"title": "The vessel"})).await;
    let queue = Queue::start(&memory);
    made(&memory, 2).await;
    drop(queue);
    let snippets = async |focus: &str| -> Vec<String> {
        let asked = DigestParams {
            focus: Some(focus.to_owned()),
            snippets: Some(1),
            window_days: Some(3660),
            ..DigestParams::default()
        };
        let asked = DigestQuery::of(asked).unwrap();
        let digest = memory.orchestrate(&Caller::owner(), asked).await.unwrap();
        let digest: Value = serde_json::from_str(&digest).unwrap();
        let snippets = digest["snippets"].as_array().unwrap().iter();
        snippets.map(|snippet| snippet["package_id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(snippets("a boat").await, ["pkg_ship"]);
    server.stop();
    assert_eq!(snippets("an automobile").await, ["pkg_car"], "by words alone");
    assert_eq!(snippets("a slow vehicle").await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_of_a_stranger_does_not_leave_the_host() {
    let server = EmbeddingServer::start();
    let (engine, _folder) = engines().remove(1);
    let memory = memory(&engine, options(&server));
    deposit(&memory, "pkg_1", json!({"title": "The automobile"})).await;
    let queue = Queue::start(&memory);
    made(&memory, 1).await;
    drop(queue);
    let requests = server.asked().len();
    let scope = KeyScope::new(vec![Verb::Read], Some(vec![project_id("other")]));
    let stranger = Caller::key("key_1", &scope);
    let atlas = project_id("atlas");
    let refused = memory.relevant(&stranger, &atlas, asked("boat", None)).await.unwrap_err();
    assert_eq!(refused.code, Code::AccessDenied);
    assert_eq!(server.asked().len(), requests);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_that_is_too_large_for_memory_is_searched_in_the_store() {
    let server = EmbeddingServer::start();
    let (engine, _folder) = engines().remove(1);
    let roomy = memory(&engine, options(&server));
    for number in 0..30 {
        let title = ["A car", "A boat", "A cat", "Latency", "Remove it"][number % 5];
        deposit(&roomy, &format!("pkg_{number}"), json!({"title": title})).await;
    }
    let _queue = Queue::start(&roomy);
    made(&roomy, 30).await;
    let tight = memory(&engine, EmbeddingOptions { memory: 1, ..options(&server) });
    for query in ["vehicle", "feline", "erase", "a slow vessel"] {
        let by = Some(SearchBy::Meaning);
        let (one, other) = (search(&roomy, query, by).await, search(&tight, query, by).await);
        assert_eq!(one.scores, other.scores, "{query}");
        assert_eq!(one.scores.len(), 5);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_vectors_refuses_by_name() {
    let (engine, _folder) = engines().remove(0);
    let memory = crate::support::memory_over(&engine);
    deposit(&memory, "pkg_1", json!({})).await;
    let (caller, atlas) = (Caller::owner(), project_id("atlas"));
    for by in [SearchBy::Meaning, SearchBy::Both] {
        let refused =
            memory.relevant(&caller, &atlas, Relevant { by: Some(by), ..asked("a", None) }).await;
        assert_eq!(refused.unwrap_err().code, Code::AgenticSearchNotSupported);
    }
    for url in ["ftp://127.0.0.1/v1", "nonsense", "http://", ""] {
        let refused = Embedder::new(EmbeddingOptions::new(url, "mini")).unwrap_err();
        assert_eq!(refused.code, Code::SettingInvalid, "{url}");
    }
}
