//! The events of task trees in the streams of their projects: on any engine, and as a client
//! follows them.

use std::sync::Arc;

use accord_base::Caller;
use accord_host::http::{Host, api_as};
use accord_host::settings::Settings;
use accord_store::{Engine, ModelStore};

use crate::events::Listener;
use crate::scheduling::{all_taken_over, create, events, human, logged, serve, tree};

const EVENTS: &str = "/v1/projects/atlas/events";

#[tokio::test]
async fn an_engine_in_memory_takes_each_event_over_once() {
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().join("projects/atlas");
    let tasks = tree(&folder, "atlas");
    for _ in 0..3 {
        create(&tasks, &[]);
    }
    let engine: Arc<dyn Engine> = Arc::new(ModelStore::new());
    // More hosts than one over the same engine, one after another and at the same time.
    let open = || Host::over(Arc::clone(&engine), data.path(), Settings::default()).unwrap();
    let first = open();
    all_taken_over(&first, "atlas", &folder).await;
    assert_eq!(events(&first, "atlas").await.len(), 1 + logged(&folder).len());
    create(&tasks, &[]);
    let opened: Vec<Host> = std::thread::scope(|scope| {
        let opening: Vec<_> = (0..4).map(|_| scope.spawn(open)).collect();
        opening.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for host in opened.iter().chain([&first]) {
        all_taken_over(host, "atlas", &folder).await;
    }
}

/// A client of the stream that loses its connection and comes back.
struct Client {
    /// The id of the last event, as the client sends it.
    last: String,
    /// The events of the tree: number and own type.
    heard: Vec<(u64, String)>,
}

impl Client {
    /// Follows the stream up to an event of a type.
    async fn follow_to(&mut self, host: &Host, wanted: &str) {
        let api = api_as(host, Caller::owner());
        let mut listener = Listener::new(&api, EVENTS, Some(&self.last)).await;
        loop {
            let event = listener.next().await.unwrap();
            self.last = event.id.to_string();
            let data = &event.data["data"];
            // The creation of the project comes from no tree.
            let Some(number) = data["sequence"].as_u64() else { continue };
            let own = data["type"].as_str().unwrap().to_owned();
            let has_name = own.starts_with("task.");
            assert_eq!(event.name, if has_name { own.clone() } else { format!("task.{own}") });
            self.heard.push((number, own.clone()));
            if own == wanted {
                return;
            }
        }
    }
}

/// A client that comes back misses no event of a tree and sees none twice.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_follows_tasks_across_a_restart_of_the_server() {
    let data = tempfile::tempdir().unwrap();
    let folder = data.path().join("projects/atlas");
    let tasks = tree(&folder, "atlas");
    let first = create(&tasks, &[]);
    let served = serve(data.path(), |_| {}).await;
    let mut client = Client { last: "0".to_owned(), heard: Vec::new() };
    client.follow_to(&served.host, "task.created").await;
    // The connection is lost; the server goes on, then ends.
    tasks.cancel(&first.to_string(), &Default::default(), &human()).unwrap();
    served.close().await;
    create(&tasks, &[]);
    let served = serve(data.path(), |_| {}).await;
    client.follow_to(&served.host, "task.created").await;
    // Moves of the scheduler come as they happen.
    client.follow_to(&served.host, "task.transitioned").await;
    let third = create(&tasks, &[]);
    client.follow_to(&served.host, "task.created").await;
    client.follow_to(&served.host, "task.transitioned").await;
    let heard = client.heard;
    assert_eq!(heard, logged(&folder)[..heard.len()]);
    assert!(folder.join(format!("tasks/ready/{third}.md")).exists());
    served.close().await;
}
