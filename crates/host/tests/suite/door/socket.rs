//! The socket in the data folder.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;

use accord_host::http::Host;
use accord_host::serve::{SOCKET, Server};
use tokio::io::AsyncWriteExt as _;
use tokio::net::UnixStream;

use super::{Answer, Door, request, settings_of};
use crate::support::opened;

async fn ask(folder: &std::path::Path, method: &str, path: &str, body: &str) -> Answer {
    let mut stream = UnixStream::connect(folder.join(SOCKET)).await.unwrap();
    // Whatever host is named: who comes through the folder is known.
    let request = request("anything.example", method, path, &[], body);
    stream.write_all(request.as_bytes()).await.unwrap();
    Answer::read(&mut stream).await
}

#[tokio::test]
async fn access_to_the_folder_is_ownership() {
    let door = Door::open(&[]).await;
    let folder = door.folder.path().to_owned();
    let mode = std::fs::metadata(folder.join(SOCKET)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let made =
        ask(&folder, "POST", "/accord/v1/keys", r#"{"label": "a", "verbs": ["read"]}"#).await;
    assert_eq!(made.status, 201, "{made:?}");
    // Keys are for the network.
    assert_eq!(ask(&folder, "GET", "/accord/v1/keys", "").await.status, 200);
    door.get("/accord/v1/keys").await.refused(401, "AUTH_REQUIRED");
    let folder = door.close().await;
    assert!(!folder.path().join(SOCKET).exists());
}

#[tokio::test]
async fn a_socket_that_a_crash_left_is_replaced_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(SOCKET);
    drop(UnixListener::bind(&path).unwrap());
    assert!(path.exists(), "as a crash leaves it");
    let host = Host::open(folder.path(), settings_of(folder.path(), &[])).unwrap();
    let door = Door::serve(folder, host).await.unwrap();
    assert_eq!(ask(door.folder.path(), "GET", "/healthz", "").await.status, 200);
    // Who does not have the store does not get that far.
    let second = Host::open(door.folder.path(), settings_of(door.folder.path(), &[]));
    assert_eq!(second.unwrap_err().code.as_str(), "STORE_LOCKED");
    assert_eq!(ask(door.folder.path(), "GET", "/healthz", "").await.status, 200);
    let folder = door.close().await;
    std::fs::write(&path, "mine").unwrap();
    let host = opened(folder.path(), settings_of(folder.path(), &[])).await;
    let refused = Server::bind(host).await.map(|_| ()).unwrap_err();
    assert_eq!(refused.code.as_str(), "SERVE_SOCKET_FAILED");
    assert_eq!(std::fs::read(&path).unwrap(), b"mine");
}

#[tokio::test]
async fn a_path_too_long_for_a_socket_is_said_to_be() {
    let folder = tempfile::tempdir().unwrap();
    let long = folder.path().join("d".repeat(120));
    let host = Host::open(&long, settings_of(&long, &[])).unwrap();
    let refused = Server::bind(host).await.map(|_| ()).unwrap_err();
    assert_eq!(refused.code.as_str(), "SERVE_SOCKET_FAILED");
    assert!(refused.message.contains("too long"), "{refused}");
}
