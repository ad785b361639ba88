//! Moving from Relay: its backups, as a folder and as lines.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;

use serde_json::{Value, json};

use crate::memory::{Memory, Way};

/// A backup of one project, in the form that `relay backup` writes.
fn write_backup(folder: &Path, project: &str) {
    let package = format!("pkg_{project}");
    let archive = format!("blobs/{project}/{package}.relay.zip");
    fs::create_dir_all(folder.join("blobs").join(project)).expect("a folder");
    fs::write(folder.join(&archive), format!("an archive of {project}")).expect("written");
    let put = |name: &str, rows: &[Value]| {
        let lines: String = rows.iter().map(|row| format!("{row}\n")).collect();
        fs::write(folder.join(name), lines).expect("written");
    };
    put(
        "projects.ndjson",
        &[json!({"id": project, "name": format!("The {project}"), "description": null,
            "created_at": "2026-04-01T00:00:00.000Z", "owner_id": "ada", "settings": {},
            "archived_at": null})],
    );
    put(
        "sessions.ndjson",
        &[json!({"id": format!("sess_{project}"), "project_id": project,
            "actor": {"type": "agent", "id": "planner"}, "started_at": "2026-04-02T00:00:00.000Z",
            "ended_at": "2026-04-02T01:00:00.000Z", "packages_pulled": [],
            "packages_deposited": []})],
    );
    let mut row = json!({"id": package, "project_id": project, "title": "Keys are idempotent",
        "description": "", "status": "pending_review", "package_type": "standard",
        "review_type": "human", "parent_package_id": null, "created_by_type": "agent",
        "created_by_id": "planner", "session_id": format!("sess_{project}"), "tags": [],
        "open_questions": ["Who rotates them?"], "decisions_made": ["Keys live a day"],
        "handoff_note": "Refunds next", "estimated_next_actor": null, "deliverables": [
            {"path": "deliverables/main.rs", "type": "rs"}], "storage_path": archive,
        "context_md": "# Keys", "significance": 8, "topic": null, "artifact_type": "decision",
        "created_at": "2026-04-02T00:30:00.010Z"});
    row["manifest"] = json!({"relay_version": "0.1", "package_id": package, "project_id": project,
        "created_at": "2026-04-02T00:30:00.000Z", "created_by": {"type": "agent", "id": "planner",
            "session_id": format!("sess_{project}")}, "title": "Keys are idempotent",
        "description": "", "status": "pending_review", "package_type": "standard",
        "review_type": "human", "parent_package_id": null, "child_package_ids": [],
        "dependencies": [], "tags": [], "deliverables": [
            {"path": "deliverables/main.rs", "type": "rs"}], "open_questions":
            ["Who rotates them?"], "decisions_made": ["Keys live a day"], "handoff_note":
            "Refunds next", "estimated_next_actor": null, "context_diff_ref": ".cdiff"});
    put("packages.ndjson", &[row]);
    let fact = |id: &str, value: &str, from: &str, to: Value| {
        json!({"id": format!("{id}_{project}"), "project_id": project, "subject": "db",
            "relation": "engine", "object": value, "source_package_id": null,
            "asserted_by_type": "agent", "asserted_by_id": "planner", "valid_from": from,
            "ended_at": to, "created_at": from})
    };
    put(
        "facts.ndjson",
        &[
            fact("fact_2", "sqlite", "2026-04-03T00:00:00.007Z", Value::Null),
            fact(
                "fact_1",
                "postgres",
                "2026-04-02T00:00:00.000Z",
                json!("2026-04-03T00:00:00.000Z"),
            ),
        ],
    );
    let manifest = json!({"backup_format_version": "1", "project_ids": [project]});
    fs::write(folder.join("manifest.json"), format!("{manifest:#}")).expect("written");
}

fn folder(memory: &Memory, name: &str) -> String {
    let folder = memory.file(name);
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

#[test]
fn a_backup_comes_in_with_its_archives() {
    for way in [Way::Folder, Way::Url] {
        let memory = Memory::reached(way);
        let backup = folder(&memory, "backup");
        write_backup(Path::new(&backup), "shop");
        let said = memory.ran(&["context", "import", &backup]).yes();
        assert!(said.contains("added: 1 project, 1 session, 1 package, 2 facts"), "{said}");
        assert!(said.contains("archives: 1 stored"), "{said}");
        let package = memory.json(&["context", "pull", "pkg_shop"]);
        assert_eq!(package["package_type"], "decision");
        assert_eq!(package["status"], "awaiting_review");
        let hash = package["x-archive"]["hash"].as_str().expect("a hash").to_owned();
        let digits = hash.strip_prefix("sha256:").expect("a digest");
        let stored = memory.data().join("blobs").join(&digits[..2]).join(digits);
        assert_eq!(fs::read_to_string(stored).expect("a blob"), "an archive of shop");
        // Nothing is sent twice, and nothing changes.
        let again = memory.ran(&["context", "import", &backup, "--json"]).yes();
        let again: Value = serde_json::from_str(&again).expect("JSON");
        assert_eq!(
            again["archives"],
            json!({"stored": 0, "unchanged": 1, "failed": 0,
            "why": null})
        );
        assert_eq!(again["unchanged"]["packages"], 1);
        assert_eq!(again["added"]["packages"], 0);
        memory.ran(&["context", "verify"]).yes();
    }
}

#[test]
fn a_backup_of_all_projects_comes_in() {
    let memory = Memory::new();
    let backup = folder(&memory, "all");
    for project in ["shop", "atlas"] {
        let own = Path::new(&backup).join(project);
        fs::create_dir(&own).expect("a folder");
        write_backup(&own, project);
    }
    fs::write(Path::new(&backup).join("manifest.json"), "{}").expect("written");
    let said = memory.ran(&["context", "import", &backup]).yes();
    assert_eq!(said.matches("archives: 1 stored").count(), 2, "{said}");
    let listed = memory.json(&["project", "list"]);
    let names: Vec<_> = listed["projects"].as_array().expect("a list").iter().collect();
    assert_eq!(names.len(), 2);
    assert!(names.iter().any(|project| project["name"] == "The atlas"), "{listed}");
}

#[test]
fn its_files_come_in_through_a_pipe_in_any_order() {
    let memory = Memory::new();
    let backup = folder(&memory, "backup");
    write_backup(Path::new(&backup), "shop");
    let read = |name: &str| {
        fs::read_to_string(Path::new(&backup).join(format!("{name}.ndjson"))).expect("rows")
    };
    let mut exported = Vec::new();
    for order in [
        ["facts", "packages", "projects", "sessions"],
        ["sessions", "facts", "projects", "packages"],
        ["projects", "sessions", "packages", "facts"],
    ] {
        let other = Memory::new();
        let lines: String = order.iter().map(|name| read(name)).collect();
        let ran = other.ran_with(&["context", "import", "-"], &lines);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(ran.stdout.contains("added: 1 project, 1 session, 1 package, 2 facts"), "{ran:?}");
        assert!(ran.stderr.contains("1 archive of packages not imported"), "{ran:?}");
        let listed = other.json(&["project", "list"]);
        assert_eq!(listed["projects"].as_array().map(Vec::len), Some(1));
        assert_eq!(listed["projects"][0]["name"], "The shop");
        exported.push(other.ran(&["context", "export", "--all"]).yes());
    }
    assert!(exported.windows(2).all(|pair| pair[0] == pair[1]), "{exported:?}");
}

#[test]
fn a_row_names_no_file_outside_of_its_backup() {
    let memory = Memory::new();
    let backup = folder(&memory, "backup");
    write_backup(Path::new(&backup), "shop");
    let secret = memory.file("secret");
    fs::write(&secret, "secret").expect("written");
    let rows = Path::new(&backup).join("packages.ndjson");
    let row: Value = serde_json::from_str(&fs::read_to_string(&rows).expect("rows")).expect("JSON");
    let link = Path::new(&backup).join("link.zip");
    std::os::unix::fs::symlink(&secret, &link).expect("a link");
    let paths = [secret.as_str(), "../secret", "blobs/../../secret", "link.zip", "", "blobs"];
    let lines: String = paths
        .iter()
        .enumerate()
        .map(|(number, path)| {
            let mut row = row.clone();
            for place in ["/id", "/manifest/package_id"] {
                *row.pointer_mut(place).expect("a member") = json!(format!("pkg_{number}"));
            }
            row["storage_path"] = json!(path);
            format!("{row}\n")
        })
        .collect();
    fs::write(&rows, lines).expect("written");
    let ran = memory.ran(&["context", "import", &backup]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stderr.contains("the backup does not have them"), "{ran:?}");
    assert!(!ran.stdout.contains("archives"), "{ran:?}");
    assert!(!memory.data().join("blobs").exists() || is_empty(&memory.data().join("blobs")));
}

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).expect("a folder").next().is_none()
}

#[test]
fn archives_that_cannot_be_stored_are_counted() {
    let memory = Memory::new();
    memory.ran(&["project", "create", "other"]).yes();
    fs::write(memory.data().join("accord.toml"), "[blobs]\nenabled = false\n").expect("written");
    let backup = folder(&memory, "backup");
    write_backup(Path::new(&backup), "shop");
    let ran = memory.ran(&["context", "import", &backup]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.contains("added: 1 project, 1 session, 1 package, 2 facts"), "{ran:?}");
    assert!(ran.stdout.contains("not stored: 1 archive: "), "{ran:?}");
    // With blob storage the same command completes it.
    fs::remove_file(memory.data().join("accord.toml")).expect("removed");
    let said = memory.ran(&["context", "import", &backup]).yes();
    assert!(said.contains("archives: 1 stored") && !said.contains("added"), "{said}");
}

#[test]
fn a_copy_of_a_data_folder_is_for_restore() {
    let memory = Memory::new();
    memory.deposit("One", &[]);
    let backup = memory.file("copy");
    memory.ran(&["store", "backup", &backup]).yes();
    let database = format!("{backup}/accord.db");
    for input in [&backup, &database] {
        let said = memory.ran(&["context", "import", input]).refused("INPUT_UNREADABLE");
        assert!(said.contains("accord store restore"), "{said}");
    }
}

/// A host that writes half of the lines and then goes away.
#[test]
fn an_interrupted_import_says_how_far_it_got() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    let host = std::thread::spawn(move || {
        loop {
            let (mut stream, _) = listener.accept().expect("a client");
            let mut request = Vec::new();
            let mut piece = [0; 4096];
            // The body comes in chunks; an empty one is the last.
            while !request.ends_with(b"0\r\n\r\n") {
                match stream.read(&mut piece).expect("a request") {
                    0 => break,
                    length => request.extend_from_slice(&piece[..length]),
                }
            }
            let line = "{\"kind\":\"progress\",\"done\":50,\"total\":100}\n";
            let answer = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\n\
                 connection: close\r\n\r\n{line}"
            );
            stream.write_all(answer.as_bytes()).expect("an answer");
            if request.starts_with(b"POST /v1/projects/shop/import") {
                return;
            }
        }
    });
    let lines: String = (0..4)
        .map(|number| format!("{{\"project_id\":\"shop\",\"package_id\":\"pkg_{number}\"}}\n"))
        .collect();
    let memory = Memory::new();
    let ran = memory.ran_with(&["context", "import", "-", "--url", &url], &lines);
    host.join().expect("the host");
    assert_eq!(ran.code, 2, "{ran:?}");
    let said = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = "about 2 of 4 lines of shop imported; run the same command again to continue";
    assert!(said.contains(expected), "{said}");
}
