//! Contents by their digest.

use accord_base::{Caller, KeyScope, Verb};
use accord_canon::sha256;
use accord_host::http::api_as;
use accord_host::settings::Settings;
use axum::body::Body;
use http_body_util::BodyExt as _;
use hyper::Request;
use serde_json::json;

use crate::support::{Answer, Asker, World, package, project_id};

fn path(content: &str) -> String {
    format!("/v1/blobs/sha256:{}", sha256(content.as_bytes()).hex())
}

async fn put(asker: &Asker, path: &str, content: &str) -> Answer {
    asker.ask("PUT", path, &[("content-type", "text/markdown")], content).await
}

fn of_project(content: &str, project: &str) -> String {
    format!("{}?project_id={project}", path(content))
}

fn key(world: &World, verb: Verb, projects: &[&str]) -> Asker {
    let projects = projects.iter().map(|id| project_id(id)).collect();
    world.key(&KeyScope::new(vec![verb], Some(projects)))
}

/// The files below the folder of blobs.
fn files(world: &World) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![world.host.folder().join("blobs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten() {
            let entry = entry.unwrap();
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(entry.path()),
                false => found.push(entry.file_name().into_string().unwrap()),
            }
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn a_content_is_stored_once_and_read_by_its_digest() {
    let world = World::new();
    let owner = world.owner();
    let stored = put(&owner, &path("hello"), "hello").await.expect(201);
    let digest = format!("sha256:{}", sha256(b"hello").hex());
    assert_eq!(stored, json!({"digest": digest, "size": 5}));
    put(&owner, &path("hello"), "hello").await.expect(200);
    assert_eq!(files(&world), [&digest[7..]]);
    let read = owner.get(&path("hello")).await;
    assert_eq!((read.status, read.text.as_str()), (200, "hello"));
    assert_eq!(read.header("etag"), format!("\"{digest}\""));
    assert_eq!(read.header("content-length"), "5");
    assert!(read.header("cache-control").contains("immutable"));
    assert_eq!(read.header("x-content-type-options"), "nosniff");
    let head = owner.ask("HEAD", &path("hello"), &[], "").await;
    assert_eq!((head.status, head.header("content-length"), head.text.as_str()), (200, "5", ""));
    let known = format!("W/\"x\", \"{digest}\"");
    let known = owner.ask("GET", &path("hello"), &[("if-none-match", &known)], "").await;
    assert_eq!((known.status, known.text.as_str()), (304, ""));
    put(&owner, &path(""), "").await.expect(201);
    assert_eq!(owner.get(&path("")).await.text, "");
}

#[tokio::test]
async fn a_part_of_a_content_can_be_read() {
    let world = World::new();
    let owner = world.owner();
    put(&owner, &path("0123456789"), "0123456789").await.expect(201);
    let part = owner.ask("GET", &path("0123456789"), &[("range", "bytes=2-4")], "").await;
    assert_eq!((part.status, part.text.as_str()), (206, "234"));
    assert_eq!(part.header("content-range"), "bytes 2-4/10");
    let other = [("range", "bytes=2-4"), ("if-range", "\"another\"")];
    let whole = owner.ask("GET", &path("0123456789"), &other, "").await;
    assert_eq!((whole.status, whole.text.len()), (200, 10));
    let beyond = owner.ask("GET", &path("0123456789"), &[("range", "bytes=10-")], "").await;
    assert_eq!((beyond.status, beyond.header("content-range")), (416, "bytes */10"));
    let error = beyond.refused(416, "HTTP_RANGE_NOT_SATISFIABLE");
    assert_eq!(error["size"], 10, "{error}");
}

#[tokio::test]
async fn another_content_than_the_digest_says_is_not_kept() {
    let world = World::new();
    let owner = world.owner();
    let refused = put(&owner, &path("hello"), "hallo").await.refused(400, "blob_digest_mismatch");
    let digest = sha256(b"hallo").hex();
    assert!(refused["message"].as_str().unwrap().contains(&digest), "{refused}");
    assert_eq!(files(&world), [""; 0]);
    owner.get(&path("hello")).await.refused(404, "blob_not_found");
    for wrong in ["/v1/blobs/sha256:00", "/v1/blobs/md5:00", "/v1/blobs/hello"] {
        put(&owner, wrong, "hello").await.refused(400, "invalid_schema");
        owner.get(wrong).await.refused(400, "invalid_schema");
    }
}

#[tokio::test]
async fn a_content_larger_than_the_limit_is_not_kept() {
    let mut settings = Settings::default();
    settings.blobs.max_bytes.0 = 100;
    let world = World::with(settings);
    let (large, fits) = ("y".repeat(101), "y".repeat(100));
    put(&world.owner(), &path(&large), &large).await.refused(413, "payload_too_large");
    assert_eq!(files(&world), [""; 0]);
    put(&world.owner(), &path(&fits), &fits).await.expect(201);
}

#[tokio::test]
async fn a_host_without_blobs_says_so() {
    let mut settings = Settings::default();
    settings.blobs.enabled = false;
    let world = World::with(settings);
    let refused =
        put(&world.owner(), &path("hello"), "hello").await.refused(501, "not_implemented");
    assert_eq!(refused["missing_capability"], "blob_storage");
    world.owner().get(&path("hello")).await.refused(501, "not_implemented");
}

#[tokio::test]
async fn a_project_sees_its_own_contents_alone() {
    let world = World::new();
    let (atlas, borealis) =
        (key(&world, Verb::Write, &["atlas"]), key(&world, Verb::Write, &["borealis"]));
    let reader = key(&world, Verb::Read, &["atlas"]);
    // A key for one project needs not name it. What is stored creates the project as any write
    // does.
    put(&atlas, &path("hello"), "hello").await.expect(201);
    world.owner().get("/v1/projects/atlas").await.expect(200);
    put(&atlas, &of_project("hello", "atlas"), "hello").await.expect(200);
    assert_eq!(reader.get(&path("hello")).await.text, "hello");
    assert_eq!(
        reader.get(&of_project("hello", "atlas")).await.header("content-type"),
        "text/markdown"
    );
    // Neither reading nor storing tells another project that it is there.
    key(&world, Verb::Read, &["borealis"]).get(&path("hello")).await.refused(404, "blob_not_found");
    borealis.get(&path("hello")).await.refused(403, "unauthorized");
    put(&borealis, &path("hello"), "hello").await.expect(201);
    put(&borealis, &of_project("hello", "atlas"), "hello").await.refused(403, "unauthorized");
    put(&reader, &path("hello"), "hello").await.refused(403, "unauthorized");
    reader.get(&of_project("hello", "borealis")).await.refused(403, "unauthorized");
    let several = key(&world, Verb::Write, &["atlas", "borealis"]);
    put(&several, &path("more"), "more").await.refused(403, "unauthorized");
    put(&several, &of_project("more", "borealis"), "more").await.expect(201);
    // What belongs to no project is for those who are let into all.
    put(&world.owner(), &path("loose"), "loose").await.expect(201);
    reader.get(&path("loose")).await.refused(404, "blob_not_found");
    assert_eq!(world.owner().get(&path("loose")).await.text, "loose");
    world.owner().get(&of_project("loose", "atlas")).await.refused(404, "blob_not_found");
}

#[tokio::test]
async fn archived_and_unknown_projects_take_none() {
    let world = World::new();
    let owner = world.owner();
    owner.deposit(&package("pkg_1")).await;
    owner.post("/v1/projects/atlas/archive", &json!({})).await.expect(200);
    put(&owner, &of_project("hello", "atlas"), "hello").await.refused(403, "project_archived");
    let mut settings = Settings::default();
    settings.strict_projects = true;
    let strict = World::with(settings);
    put(&strict.owner(), &of_project("hello", "atlas"), "hello")
        .await
        .refused(404, "project_not_found");
}

#[tokio::test]
async fn a_damaged_content_is_not_served_to_its_end() {
    let world = World::new();
    let owner = world.owner();
    let large = "0123456789".repeat(100_000);
    for content in ["hello", &large] {
        put(&owner, &path(content), content).await.expect(201);
        let digest = sha256(content.as_bytes()).hex();
        let file = world.host.folder().join("blobs").join(&digest[..2]).join(&digest);
        let mut bytes = std::fs::read(&file).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(&file, bytes).unwrap();
    }
    owner.get(&path("hello")).await.refused(500, "blob_damaged");
    let api = api_as(&world.host, Caller::owner());
    let request = Request::get(path(&large)).body(Body::empty()).unwrap();
    let answer = api.call(request).await.unwrap();
    assert_eq!(answer.status(), 200);
    answer.into_body().collect().await.unwrap_err();
    // Stored again, it is sound again.
    put(&owner, &path("hello"), "hello").await.expect(200);
    assert_eq!(owner.get(&path("hello")).await.text, "hello");
}

#[tokio::test]
async fn what_uploads_left_is_gone_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let left = folder.path().join("blobs/partial/.tmp123");
    std::fs::create_dir_all(left.parent().unwrap()).unwrap();
    std::fs::write(&left, "half").unwrap();
    let host = accord_host::http::Host::open(folder.path(), Settings::default()).unwrap();
    assert!(!left.exists());
    drop(host);
}
