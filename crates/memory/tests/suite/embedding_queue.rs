//! The queue that makes vectors: restarts, outages, other models, servers that misbehave.

use std::sync::Arc;
use std::time::Duration;

use accord_memory::{EmbeddingOptions, EmbeddingState, EmbeddingStatus, Memory, repair};
use accord_memory_core::operations::SearchBy;
use accord_store::{Engine, Space, StoreError, StoreExt as _};
use serde_json::json;

use crate::embedding_server::{EmbeddingServer, Mood};
use crate::meaning::{Queue, ids, impatient, made, memory, options, search, wait_until};
use crate::support::{deposit, engines, project_id};

fn status(memory: &Memory) -> EmbeddingStatus {
    memory.options().embedder.as_ref().unwrap().status()
}

/// How many vectors of a model and dimension each package has, in the order of their ids.
fn kept(engine: &Arc<dyn Engine>, model: &str, dimension: usize) -> Vec<(String, usize)> {
    let space = Space { model, dimension };
    let rows = engine.read(|unit| unit.embeddings(&project_id("atlas"), space, 0, usize::MAX));
    let rows = rows.unwrap_or_else(|error: StoreError| panic!("{error}"));
    let mut kept: Vec<_> = (rows.into_iter())
        .map(|row| (row.package_id.as_str().to_owned(), row.values.len() / dimension))
        .collect();
    kept.sort();
    kept
}

/// The texts that were sent, without probes.
fn sent(server: &EmbeddingServer) -> Vec<String> {
    let texts = server.asked().into_iter().flat_map(|asked| {
        let texts = asked.body["input"].as_array().cloned().unwrap_or_default();
        texts.into_iter().map(|text| text.as_str().unwrap().to_owned())
    });
    texts.filter(|text| text != "accord").collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_survives_restarts_and_outages() {
    for (engine, _folder) in engines() {
        let mut server = EmbeddingServer::start();
        server.stop();
        let first = memory(&engine, options(&server));
        let queue = Queue::start(&first);
        deposit(&first, "pkg_1", json!({"title": "A car"})).await;
        wait_until("the outage", || status(&first).state == EmbeddingState::Down).await;
        assert!(status(&first).last_error.unwrap().contains("connection refused"));
        drop(queue);
        drop(first);
        // The deposits of a command that opens the folder itself.
        let command = memory(&engine, options(&server));
        deposit(&command, "pkg_2", json!({"title": "A boat"})).await;
        drop(command);

        server.start_again();
        let second = memory(&engine, options(&server));
        let queue = Queue::start(&second);
        made(&second, 2).await;
        assert_eq!(sent(&server), ["A boat", "A car"], "the newest first, each once");
        drop(queue);
        // Nothing is sent again.
        let third = memory(&engine, options(&server));
        let _queue = Queue::start(&third);
        deposit(&third, "pkg_3", json!({"title": "A cat"})).await;
        made(&third, 1).await;
        assert_eq!(sent(&server), ["A boat", "A car", "A cat"]);
        // The server goes away and comes back while the queue runs.
        server.stop();
        deposit(&third, "pkg_4", json!({"title": "Latency"})).await;
        wait_until("the outage", || status(&third).state == EmbeddingState::Down).await;
        wait_until("the count", || status(&third).waiting == 1).await;
        server.start_again();
        made(&third, 2).await;
        let all = ["pkg_1", "pkg_2", "pkg_3", "pkg_4"].map(|id| (id.to_owned(), 1));
        assert_eq!(kept(&engine, "mini", 6), all);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_model_makes_all_vectors_again() {
    for (engine, _folder) in engines() {
        let server = EmbeddingServer::start();
        let first = memory(&engine, options(&server));
        for number in 0..40 {
            deposit(&first, &format!("pkg_{number}"), json!({"title": "A car"})).await;
        }
        let queue = Queue::start(&first);
        made(&first, 40).await;
        drop(queue);
        let other = EmbeddingOptions { model: "large".to_owned(), ..options(&server) };
        let prefixed = EmbeddingOptions { passage_prefix: "passage: ".to_owned(), ..other.clone() };
        for (options, model) in [(other, "large"), (prefixed, "large \"passage: \"")] {
            let second = memory(&engine, options);
            let page = search(&second, "a vehicle", None).await;
            assert_eq!(page.searched, SearchBy::Words, "there are no vectors of this model");
            let _queue = Queue::start(&second);
            made(&second, 40).await;
            assert_eq!(kept(&engine, "mini", 6), []);
            assert_eq!(kept(&engine, model, 6).len(), 40);
            assert_eq!(search(&second, "a vehicle", None).await.searched, SearchBy::Both);
        }
        assert!(sent(&server).contains(&"passage: A car".to_owned()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_has_as_many_texts_as_the_setting_allows() {
    for (engine, _folder) in engines() {
        let server = EmbeddingServer::start();
        let memory = memory(&engine, EmbeddingOptions { batch: 50, ..options(&server) });
        for number in 0..60 {
            deposit(&memory, &format!("pkg_{number}"), json!({"title": "A car"})).await;
        }
        let _queue = Queue::start(&memory);
        made(&memory, 60).await;
        let texts = server
            .asked()
            .into_iter()
            .map(|asked| asked.body["input"].as_array().map_or(0, Vec::len));
        // The first is the probe.
        assert_eq!(texts.collect::<Vec<_>>(), [1, 50, 10]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_dimension_makes_all_vectors_again() {
    let server = EmbeddingServer::start();
    let (engine, _folder) = engines().remove(1);
    let memory = memory(&engine, options(&server));
    deposit(&memory, "pkg_1", json!({"title": "A car"})).await;
    let _queue = Queue::start(&memory);
    made(&memory, 1).await;
    assert_eq!(search(&memory, "a vehicle", Some(SearchBy::Meaning)).await.packages.len(), 1);
    // Another model behind the same name.
    server.set(Mood::Longer(3));
    deposit(&memory, "pkg_2", json!({"title": "A boat"})).await;
    made(&memory, 3).await;
    assert_eq!(kept(&engine, "mini", 6), []);
    assert_eq!(kept(&engine, "mini", 9).len(), 2);
    let page = search(&memory, "a vehicle", Some(SearchBy::Meaning)).await;
    assert_eq!(ids(&page), ["pkg_1", "pkg_2"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_that_the_server_refuses_do_not_stop_the_others() {
    for mood in [Mood::RefusesLonger(300, 400), Mood::RefusesLonger(300, 500)] {
        let server = EmbeddingServer::start();
        server.set(mood);
        let (engine, _folder) = engines().remove(1);
        let memory = memory(&engine, options(&server));
        let long = "A cat. ".repeat(100);
        deposit(&memory, "pkg_1", json!({"title": "A car"})).await;
        deposit(&memory, "pkg_2", json!({"title": "Long", "handoff_note": long})).await;
        deposit(&memory, "pkg_3", json!({"title": "A boat"})).await;
        let _queue = Queue::start(&memory);
        made(&memory, 3).await;
        assert_eq!(kept(&engine, "mini", 6).len(), 3);
        let page = search(&memory, "feline", Some(SearchBy::Meaning)).await;
        assert_eq!(ids(&page)[0], "pkg_2", "its beginning has a vector");
        assert!(status(&memory).failures > 0);
    }
    let server = EmbeddingServer::start();
    server.set(Mood::FailsWith("poison"));
    let (engine, _folder) = engines().remove(1);
    let memory = memory(&engine, options(&server));
    for number in 0..10 {
        let title = if number == 4 { "poison" } else { "A car" };
        deposit(&memory, &format!("pkg_{number}"), json!({"title": title})).await;
    }
    let _queue = Queue::start(&memory);
    made(&memory, 10).await;
    let kept = kept(&engine, "mini", 6);
    let without: Vec<_> = kept.iter().filter(|(_, vectors)| *vectors == 0).collect();
    assert_eq!((kept.len(), without), (10, vec![&("pkg_4".to_owned(), 0)]));
    assert_eq!(status(&memory).state, EmbeddingState::Up);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_fails_with_everything_is_down_and_packages_wait() {
    let huge = "x".repeat(65 << 20);
    for (answer, said) in [
        (Mood::Answers(500, "", "oops".into()), "answered 500"),
        (Mood::Answers(503, "retry-after: 1\r\n", String::new()), "answered 503"),
        (Mood::Answers(400, "", r#"{"error": "no embeddings"}"#.into()), "no embeddings"),
        (Mood::Answers(404, "", r#"{"error": "model not found"}"#.into()), "model not found"),
        (Mood::Answers(200, "", "<html>".into()), "not of the API"),
        (Mood::Answers(200, "", r#"{"data": []}"#.into()), "0 vectors came for 1"),
        (Mood::Answers(200, "", r#"{"data":[{"embedding":[0,0]}]}"#.into()), "no length"),
        (Mood::Answers(200, "", huge), "larger than"),
        (Mood::Answers(302, "location: http://127.0.0.1:1/\r\n", String::new()), "answered 302"),
    ] {
        let server = EmbeddingServer::start();
        server.set(answer);
        let (engine, _folder) = engines().remove(0);
        let memory = memory(&engine, options(&server));
        deposit(&memory, "pkg_1", json!({"title": "A car"})).await;
        let _queue = Queue::start(&memory);
        wait_until(said, || status(&memory).state == EmbeddingState::Down).await;
        let last = status(&memory).last_error.unwrap();
        assert!(last.contains(said), "{last}");
        assert!(!memory.conformance().await.capabilities.semantic_search);
        assert_eq!(kept(&engine, "mini", 6), []);
        server.set(Mood::Well);
        made(&memory, 1).await;
        assert!(memory.conformance().await.capabilities.semantic_search);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_slow_server_gets_fewer_texts() {
    let server = EmbeddingServer::start();
    server.set(Mood::HangsWithSeveral);
    let (engine, _folder) = engines().remove(0);
    let options = EmbeddingOptions { timeout: Duration::from_millis(500), ..options(&server) };
    let memory = memory(&engine, options);
    for number in 0..4 {
        deposit(&memory, &format!("pkg_{number}"), json!({"title": "A car"})).await;
    }
    let _queue = Queue::start(&memory);
    made(&memory, 4).await;
    assert_eq!(kept(&engine, "mini", 6).len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_that_waited_in_vain_makes_requests_smaller() {
    let server = EmbeddingServer::start();
    let (engine, _folder) = engines().remove(0);
    let memory = memory(&engine, impatient(&server));
    deposit(&memory, "pkg_0", json!({"title": "A car"})).await;
    let queue = Queue::start(&memory);
    made(&memory, 1).await;
    server.set(Mood::HangsWith("zebra"));
    assert_eq!(search(&memory, "zebra", None).await.searched, SearchBy::Words);
    drop(queue);
    for number in 1..40 {
        deposit(&memory, &format!("pkg_{number}"), json!({"title": "A boat"})).await;
    }
    let before = server.asked().len();
    let _queue = Queue::start(&memory);
    made(&memory, 40).await;
    let sizes = server.asked().split_off(before).into_iter();
    let sizes: Vec<_> =
        sizes.map(|asked| asked.body["input"].as_array().map_or(0, Vec::len)).collect();
    assert!(sizes.contains(&8) && sizes.iter().all(|size| *size <= 8), "{sizes:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_is_sent_and_can_be_replaced_while_it_runs() {
    let server = EmbeddingServer::start();
    let said = r#"{"error": {"message": "Incorrect API key provided: old-key"}}"#;
    server.set(Mood::Answers(401, "", said.to_owned()));
    let folder = tempfile::tempdir().unwrap();
    let key_file = folder.path().join("key");
    std::fs::write(&key_file, "old-key\n").unwrap();
    let (engine, _folder) = engines().remove(0);
    let options = EmbeddingOptions {
        key_file: Some(key_file.clone()),
        dimensions: Some(6),
        ..options(&server)
    };
    let memory = memory(&engine, options);
    deposit(&memory, "pkg_1", json!({"title": "A car"})).await;
    let _queue = Queue::start(&memory);
    wait_until("the refusal", || status(&memory).state == EmbeddingState::Down).await;
    let last = status(&memory).last_error.unwrap();
    assert!(last.contains("401: it refuses the key") && !last.contains("old-key"), "{last}");
    let first = &server.asked()[0];
    assert_eq!(first.path, "/v1/embeddings");
    assert_eq!(first.authorization.as_deref(), Some("Bearer old-key"));
    assert_eq!(first.body, json!({"model": "mini", "input": ["accord"], "dimensions": 6}));
    std::fs::write(&key_file, "new-key").unwrap();
    server.set(Mood::Well);
    made(&memory, 1).await;
    let last = server.asked().pop().unwrap();
    assert_eq!(last.authorization.as_deref(), Some("Bearer new-key"));
    // A key that cannot be read is an outage, too.
    std::fs::remove_file(&key_file).unwrap();
    deposit(&memory, "pkg_2", json!({"title": "A boat"})).await;
    wait_until("the outage", || status(&memory).state == EmbeddingState::Down).await;
    assert!(status(&memory).last_error.unwrap().contains("embeddings.key_file"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_of_requests_is_respected() {
    let server = EmbeddingServer::start();
    let (engine, _folder) = engines().remove(0);
    let memory = memory(&engine, options(&server));
    let _queue = Queue::start(&memory);
    wait_until("the server", || status(&memory).state == EmbeddingState::Up).await;
    server.set(Mood::Answers(429, "retry-after: 2\r\n", String::new()));
    let asked = server.asked().len();
    let began = std::time::Instant::now();
    deposit(&memory, "pkg_1", json!({"title": "A car"})).await;
    server.wait_for_requests(asked + 1);
    server.set(Mood::Well);
    made(&memory, 1).await;
    assert!(began.elapsed() >= Duration::from_secs(2), "{:?}", began.elapsed());
    assert_eq!(status(&memory).state, EmbeddingState::Up, "a limit is not an outage");
    assert!(status(&memory).last_error.unwrap().contains("limits the rate"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repair_makes_vectors_again() {
    for (engine, _folder) in engines() {
        let server = EmbeddingServer::start();
        let first = memory(&engine, options(&server));
        deposit(&first, "pkg_1", json!({"title": "A car"})).await;
        let queue = Queue::start(&first);
        made(&first, 1).await;
        drop(queue);
        drop(first);
        assert_eq!(repair(&*engine, &mut |_, _| {}).unwrap().sound, 1);
        assert_eq!(kept(&engine, "mini", 6), []);
        let second = memory(&engine, options(&server));
        let _queue = Queue::start(&second);
        made(&second, 1).await;
        assert_eq!(kept(&engine, "mini", 6).len(), 1);
    }
}
