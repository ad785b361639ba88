//! A person says what to be told, and where.

use accord_base::{ActorId, ActorKey, ActorType, KeyScope, Verb};
use accord_host::settings::{PersonalUrls, Setting, Settings};
use serde_json::{Value, json};

use crate::notify::{Receiver, ask};
use crate::scheduling::serve;
use crate::support::{Asker, World, project_id, wait_until};

const OWN: &str = "/accord/v1/notifications?actor=human:lead";

fn rule(url: &str, more: Value) -> Value {
    let mut rule = json!({"name": "hook", "format": "json", "url": url});
    rule.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    rule
}

async fn put(asker: &Asker, rules: &Value) -> crate::support::Answer {
    asker.ask("PUT", OWN, &[], &json!({"rules": rules}).to_string()).await
}

fn any(settings: &mut Settings) {
    settings.notify.personal = PersonalUrls::Any;
    settings.notify.group = Setting::parse("1ms").unwrap();
}

#[tokio::test]
async fn rules_are_those_of_a_person_and_mistakes_are_named() {
    let world = World::new();
    let owner = world.owner();
    let none = owner.get(OWN).await.expect(200);
    assert_eq!((&none["actor"], &none["rules"]), (&json!("human:lead"), &json!([])));
    let rules = json!([{"name": "mail", "format": "mail", "urgency": 2, "quiet": "22:00-07:00"}]);
    assert_eq!(put(&owner, &rules).await.expect(200)["rules"], rules);
    assert_eq!(owner.get(OWN).await.expect(200)["rules"], rules);
    // Two that change the rules that they read: the second reads them again.
    let version = owner.get(OWN).await.expect(200)["version"].clone();
    let change = json!({"rules": [], "expect": version}).to_string();
    let changed = owner.ask("PUT", OWN, &[], &change).await.expect(200);
    owner.ask("PUT", OWN, &[], &change).await.refused(412, "decision_stale");
    let again = json!({"rules": rules, "expect": changed["version"]}).to_string();
    owner.ask("PUT", OWN, &[], &again).await.expect(200);
    let other = owner.get("/accord/v1/notifications?actor=human:ops").await.expect(200);
    assert_eq!(other["rules"], json!([]));
    let agent = world.key_of("coder");
    agent.get("/accord/v1/notifications").await.refused(403, "person_required");
    // A link to one question is no access to more.
    let scope = KeyScope::new(vec![Verb::Read, Verb::Write], None);
    let guest = Asker::through_host(&world.host, accord_base::Caller::guest(&scope));
    guest.get(OWN).await.expect(403);
    put(&guest, &json!([])).await.expect(403);
    let before = owner.get(OWN).await.expect(200)["rules"].clone();
    for (rule, pointer) in [
        (json!({"name": "A b", "format": "mail"}), "/rules/0/name"),
        (json!({"name": "a", "format": "json"}), "/rules/0/url"),
        (json!({"name": "a", "format": "mail", "url": "https://example.org/"}), "/rules/0/url"),
        (json!({"name": "a", "format": "mail", "quiet": "22:00-25:00"}), "/rules/0/quiet"),
        (json!({"name": "a", "format": "mail", "urgency": 5}), "/rules/0/urgency"),
        (json!({"name": "a", "format": "ntfy", "url": "http://1.1.1.1/"}), "/rules/0/url"),
        (json!({"name": "a", "format": "json", "url": "http://u:p@1.1.1.1/"}), "/rules/0/url"),
        (json!({"name": "a", "format": "json", "url": "file:///etc/passwd"}), "/rules/0/url"),
    ] {
        let answer = put(&owner, &json!([rule])).await;
        assert!(answer.status >= 400 && answer.text.contains(pointer), "{rule}: {}", answer.text);
    }
    assert_eq!(owner.get(OWN).await.expect(200)["rules"], before);
}

#[tokio::test]
async fn a_private_address_is_refused_by_whatever_name() {
    let world = World::new();
    let owner = world.owner();
    for host in [
        "127.0.0.1",
        "localhost",
        "2130706433",
        "0x7f.1",
        "0.0.0.0",
        "10.0.0.1",
        "169.254.169.254",
        "[::1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[fe80::1]",
        "[fd00:ec2::254]",
        "[64:ff9b::7f00:1]",
    ] {
        let rules = json!([rule(&format!("http://{host}:80/"), json!({}))]);
        let refused = put(&owner, &rules).await.refused(422, "WIRE_FIELD_VALUE");
        assert!(refused["message"].as_str().unwrap().contains("cannot connect"), "{refused}");
    }
    put(&owner, &json!([rule("http://1.1.1.1/", json!({}))])).await.expect(200);
}

/// What was permitted before, or a name whose address has changed, is checked again.
#[tokio::test(flavor = "multi_thread")]
async fn an_address_is_checked_each_time() {
    let (data, receiver) = (tempfile::tempdir().unwrap(), Receiver::new());
    let served = serve(data.path(), any).await;
    let owner = Asker::of(&served.host);
    put(&owner, &json!([rule(&receiver.url, json!({}))])).await.expect(200);
    ask(&owner, "pkg_1", &["Which tax?".to_owned()]).await;
    receiver.hears(1).await;
    drop(owner);
    served.close().await;
    let served = serve(data.path(), |settings| {
        any(settings);
        settings.notify.personal = PersonalUrls::Public;
    })
    .await;
    ask(&Asker::of(&served.host), "pkg_2", &["Which other tax?".to_owned()]).await;
    let host = served.host.clone();
    wait_until("the refusal", || host.metrics().text().contains("accord_notify_receivers_down 1"))
        .await;
    assert_eq!(receiver.asked(), 1, "no connection was opened");
    drop(host);
    served.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_told_what_the_key_reads_while_it_is_valid() {
    let (data, receiver) = (tempfile::tempdir().unwrap(), Receiver::new());
    let served = serve(data.path(), any).await;
    let owner = Asker::of(&served.host);
    let lead = ActorKey { id: ActorId::new("lead").unwrap(), kind: ActorType::Human };
    let key = json!({
        "label": "lead", "verbs": ["read", "write"], "projects": ["shop"],
        "actor": {"id": "lead", "type": "human"},
    });
    let key = owner.post("/accord/v1/keys", &key).await.expect(201)["key"].clone();
    let id = key["key_id"].as_str().unwrap().to_owned();
    let verbs = vec![Verb::Read, Verb::Write];
    let scope = KeyScope::new(verbs, Some(vec![project_id("shop")])).bound_to(lead, false);
    let caller = accord_base::Caller::key(id.clone(), &scope);
    let person = Asker::through_host(&served.host, caller);
    put(&person, &json!([rule(&receiver.url, json!({}))])).await.expect(200);
    ask(&owner, "pkg_1", &["Which tax?".to_owned()]).await;
    let shop = |id: &str, question: &str| {
        let mut package = crate::support::package_with(id, json!({"open_questions": [question]}));
        package["project_id"] = "shop".into();
        package
    };
    owner.deposit(&shop("pkg_s1", "Which price?")).await;
    let heard = receiver.hears(1).await;
    assert_eq!(heard[0].body["title"].as_str().unwrap().get(..6), Some("[shop]"), "{heard:?}");
    owner.delete(&format!("/accord/v1/keys/{id}")).await.expect(200);
    owner.deposit(&shop("pkg_s2", "Which other price?")).await;
    // Somebody else hears of it; the person does not.
    let other = "/accord/v1/notifications?actor=human:ops";
    let rules = json!({"rules": [rule(&receiver.url, json!({"name": "ops"}))]});
    owner.ask("PUT", other, &[], &rules.to_string()).await.expect(200);
    owner.deposit(&shop("pkg_s3", "Which third price?")).await;
    let heard = receiver.hears(2).await;
    assert!(heard[1..].iter().all(|one| one.body["receiver"] == "human:ops/ops"), "{heard:?}");
    served.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_goes_to_the_stored_address() {
    let data = tempfile::tempdir().unwrap();
    let got = data.path().join("got");
    let script = format!("sh -c 'cat > {0}.part && mv {0}.part {0}'", got.display());
    let served = serve(data.path(), |settings| {
        any(settings);
        settings.notify.mail = Setting::parse(&script).unwrap();
    })
    .await;
    let owner = Asker::of(&served.host);
    let lead = json!({"name": "lead", "email": "lead@example.org"});
    owner.post("/accord/v1/people", &lead).await.expect(201);
    put(&owner, &json!([{"name": "mail", "format": "mail"}])).await.expect(200);
    ask(&owner, "pkg_1", &["Which tax?".to_owned()]).await;
    wait_until("the mail", || got.exists()).await;
    let mail = std::fs::read_to_string(&got).unwrap();
    assert!(mail.starts_with("To: lead@example.org\r\nSubject: [atlas] "), "{mail}");
    served.close().await;
}
