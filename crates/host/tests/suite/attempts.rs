//! What a worker can do through the socket of its attempt, with any request that it can write. The
//! caller behind the socket is a person at a terminal, who may do everything.

use accord_base::worker::{Attempt, AttemptSocket as _};
use accord_base::{ActorId, Caller, ProjectId};
use accord_host::client::Client;
use accord_host::http::api_as;
use accord_host::serve::AttemptSocket;
use serde_json::json;
use tokio::runtime::Handle;

use crate::support::{Asker, World, wait_until};

const TASKS: &str = "/accord/v1/projects/atlas/tasks";
const SPOOFED: &str = "atlas boss TASK-2026-01-01-009";

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_through_the_socket_is_the_workers() {
    let world = World::new();
    let attempt = Attempt {
        project: ProjectId::new("atlas").unwrap(),
        agent: ActorId::new("dev").unwrap(),
        work: "TASK-2026-01-01-001".to_owned(),
        id: Some("run-1".to_owned()),
    };
    let api = api_as(&world.host, Caller::owner().saying_terminal(true));
    let socket = AttemptSocket::open(api, &attempt, &Handle::current()).unwrap();
    let path = socket.path().to_owned();
    let worker = Asker::through(Client::socket(&path).unwrap());

    let owner = world.owner();
    let made = owner.post(&format!("{TASKS}?actor=human:lead"), &json!({"title": "T"})).await;
    let task = made.expect(201)["result"]["task"]["id"].as_str().unwrap().to_owned();

    let me = worker.get("/accord/v1/me").await.expect(200);
    assert_eq!((&me["caller"], &me["actor"]["id"]), (&json!("worker"), &json!("dev")), "{me}");
    assert_eq!(me["projects"], json!(["atlas"]), "{me}");

    // Headers of the request change nothing.
    for headers in [&[][..], &[("x-accord-attempt", SPOOFED), ("x-accord-terminal", "yes")][..]] {
        let create = |actor: &str| format!("{TASKS}{actor}");
        let body = json!({"title": "T"}).to_string();
        let made = worker.ask("POST", &create(""), headers, &body).await.expect(201);
        assert_eq!(made["result"]["task"]["created_by"], "dev", "{made}");
        for (actor, code) in [
            ("?actor=human:lead", "not_for_workers"),
            ("?actor=script:nightly", "not_for_workers"),
            ("?actor=agent:boss", "unauthorized"),
        ] {
            worker.ask("POST", &create(actor), headers, &body).await.refused(403, code);
        }
        for (path, code) in [
            (format!("{TASKS}/{task}/approve"), "not_for_workers"),
            (format!("{TASKS}/{task}/approve?actor=human:lead"), "not_for_workers"),
            (format!("{TASKS}/{task}/adopt?actor=human:lead"), "not_for_workers"),
        ] {
            worker.ask("POST", &path, headers, "{}").await.refused(403, code);
        }
        worker.ask("GET", "/accord/v1/keys", headers, "").await.refused(403, "unauthorized");
        let elsewhere = "/accord/v1/projects/other/tasks";
        worker.ask("GET", elsewhere, headers, "").await.refused(403, "unauthorized");
        // Pages are for people.
        worker.ask("GET", "/live/ls_1", headers, "").await.refused(403, "not_for_workers");
    }
    let session = json!({"actor_id": "lead", "actor_type": "human"});
    worker.post("/v1/projects/atlas/sessions", &session).await.refused(403, "not_for_workers");

    // A header that cannot be read takes all rights.
    let bad = [("x-accord-attempt", "atlas")];
    let answer = owner.ask("GET", "/accord/v1/me", &bad, "").await;
    answer.refused(400, "HTTP_MALFORMED");

    drop(socket);
    let folder = path.parent().unwrap().to_owned();
    wait_until("the folder of the socket to go", || !folder.exists()).await;
    let gone = Client::socket(&path).unwrap();
    assert!(gone.connect().await.is_err());
}
