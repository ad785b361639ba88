//! What a query finds: names, hashes, versions, misspelt words, and what supersedes what.

use serde_json::{Value, json};

use crate::support::{Asker, World, days_ago, each, package_with};

async fn found(asker: &Asker, query: &str) -> Value {
    let query = query.replace(' ', "%20");
    let path = format!("/v1/projects/atlas/packages?mode=relevant&query={query}");
    asker.get(&path).await.expect(200)
}

fn ids(list: &Value) -> Vec<&str> {
    each(&list["packages"], "package_id")
}

#[tokio::test(flavor = "multi_thread")]
async fn names_hashes_versions_and_misspelt_words_are_found() {
    let world = World::new();
    let owner = world.owner();
    for (id, members) in [
        ("name", json!({"title": "parseHttpHeader accepts folded lines"})),
        ("path", json!({"deliverables": [{"path": "src/net/conn_pool.rs", "type": "rs"}]})),
        ("hash", json!({"title": "Crash fixed", "content_md": "Fixed in 3f9a1c27be04d5."})),
        ("version", json!({"title": "Server rolled out", "content_md": "It is v5.4.2 now."})),
        ("word", json!({"title": "Garbage collection of artifacts"})),
    ] {
        owner.deposit(&package_with(id, members)).await;
    }
    for (query, id) in [
        ("parse http header", "name"),
        ("conn pool", "path"),
        ("connPool", "path"),
        ("3f9a1c2", "hash"),
        ("5.4.2", "version"),
        ("garbage colection", "word"),
        ("artefacts", "word"),
    ] {
        assert_eq!(ids(&found(&owner, query).await)[0], id, "{query}");
    }
    let list = found(&owner, "parse_http_header").await;
    assert_eq!(list["scores"][0]["matched"], json!(["parse_http_header"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_superseded_package_stands_behind_what_supersedes_it() {
    let world = World::new();
    let owner = world.owner();
    let made = |id: &str, members: Value| {
        let mut package = package_with(id, json!({"created_at": days_ago(1)}));
        package.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        package
    };
    for (id, members) in [
        // It has the words of the query more often than the ones that supersede it.
        ("first", json!({"title": "Tokens are kept in a file", "description": "A token file."})),
        ("second", json!({"title": "Tokens: the key chain", "x-supersedes": ["first"]})),
        ("third", json!({"title": "A hardware key", "x-supersedes": ["second"]})),
        ("other", json!({"title": "Files of tokens in tests"})),
    ] {
        owner.deposit(&made(id, members)).await;
    }
    let list = found(&owner, "token file").await;
    let order = ids(&list);
    let place = |id: &str| order.iter().position(|found| *found == id).expect(id);
    // The last one replaces the others, also without the words of the query.
    assert!(place("third") < place("second") && place("second") < place("first"), "{order:?}");
    assert!(place("other") < place("first"), "{order:?}");
    // The mark is in the item, beside the package.
    assert_eq!(list["x-superseded"], json!({"first": ["second"], "second": ["third"]}));
    let scores = list["scores"].as_array().unwrap();
    assert_eq!(each(&list["scores"], "package_id"), order);
    assert_eq!(scores[place("first")]["superseded_by"], json!(["second"]));
    assert_eq!(scores[place("third")].get("superseded_by"), None);
    assert_eq!(scores[place("third")]["matched"], json!([]));
    let values = scores.iter().map(|score| score["score"].as_f64().unwrap());
    assert!(values.is_sorted_by(|one, other| one >= other), "{scores:?}");
    // Also where only few packages are asked for.
    let path = "/v1/projects/atlas/packages?mode=relevant&limit=2&query=token%20file";
    assert!(order[..2].contains(&"third"), "{order:?}");
    assert_eq!(ids(&owner.get(path).await.expect(200)), order[..2]);
    // A filter that the later ones do not pass leaves what it asks for.
    let by = json!({"id": "ada", "type": "agent", "session_id": "sess_1"});
    owner.deposit(&made("alone", json!({"title": "Token file", "created_by": by}))).await;
    owner.deposit(&made("later", json!({"title": "None", "x-supersedes": ["alone"]}))).await;
    let path = "/v1/projects/atlas/packages?mode=relevant&session_id=sess_1&query=token%20file";
    assert_eq!(ids(&owner.get(path).await.expect(200)), ["alone"]);
}
