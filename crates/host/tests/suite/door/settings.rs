//! Settings, and the rules of starting.

use std::path::PathBuf;

use accord_api::operations::keys::KeyRequest;
use accord_base::Caller;
use accord_contract::Wire as _;
use accord_host::serve::Server;
use accord_host::settings::{Bytes, DECLARATIONS, Origin, Setting as _, Sources};
use serde_json::json;

use super::settings_of;
use crate::support::opened;

fn sources(
    file: &str,
    environment: &[(&str, &str)],
    flags: &[(&str, &str)],
) -> (tempfile::TempDir, Sources) {
    let folder = tempfile::tempdir().unwrap();
    if !file.is_empty() {
        std::fs::write(folder.path().join("accord.toml"), file).unwrap();
    }
    let owned = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
    };
    let sources = Sources {
        user: Some(folder.path().join("user.toml")),
        folder: folder.path().to_owned(),
        file: None,
        environment: owned(environment),
        flags: owned(flags),
    };
    (folder, sources)
}

#[test]
fn flags_win_over_the_environment_and_that_over_the_file() {
    let file = "listen = \"127.0.0.1:1\"\nstrict_projects = true\n\
                allowed_hosts = [\"a.example\", \"b.example\"]\n\
                [limits]\nbody_bytes = \"2MiB\"\nconnections = 7\n[log]\nlevel = \"warn\"\n";
    let environment = [
        ("ACCORD_LISTEN", "127.0.0.1:2"),
        ("ACCORD_LIMITS_CONNECTIONS", "8"),
        ("ACCORD_DATA", "/elsewhere"),
        ("ACCORD_SERVICE_HOST", "10.0.0.1"),
        ("PATH", "/bin"),
    ];
    let (folder, sources) = sources(file, &environment, &[("listen", "[::1]:3")]);
    let resolved = sources.resolve().unwrap();
    let settings = &resolved.settings;
    assert_eq!(settings.listen.to_string(), "[::1]:3");
    assert_eq!(settings.limits.connections, 8);
    assert_eq!(settings.limits.body_bytes, Bytes(2 << 20));
    assert_eq!(settings.limits.event_streams, 256);
    assert_eq!(settings.allowed_hosts, ["a.example", "b.example"]);
    assert!(settings.strict_projects);
    let origin = |name: &str| {
        let entry = resolved.entries.iter().find(|entry| entry.declaration.name == name);
        entry.unwrap().origin.clone()
    };
    assert_eq!(origin("listen"), Origin::Flag);
    let variable = Origin::Environment("ACCORD_LIMITS_CONNECTIONS".into());
    assert_eq!(origin("limits.connections"), variable);
    assert_eq!(origin("log.level"), Origin::File(folder.path().join("accord.toml")));
    assert_eq!(origin("limits.event_streams"), Origin::Default);
    assert_eq!(resolved.entries.len(), DECLARATIONS.len());
}

#[test]
fn names_that_are_not_known_are_refused_with_the_nearest() {
    for (file, environment, flags, near) in [
        ("listn = \"x\"", vec![], vec![], "listen"),
        ("[limits]\nbody_byte = 5", vec![], vec![], "limits.body_bytes"),
        ("[logs]\nlevel = \"info\"", vec![], vec![], "log.level"),
        ("", vec![("ACCORD_LISTN", "x")], vec![], "ACCORD_LISTEN"),
        ("", vec![], vec![("strict_project", "true")], "strict_projects"),
    ] {
        let (_folder, sources) = sources(file, &environment, &flags);
        let refused = sources.resolve().unwrap_err();
        assert_eq!(refused.code.as_str(), "SETTING_UNKNOWN", "{refused}");
        assert!(refused.message.contains(near), "{refused}");
    }
}

#[test]
fn values_that_cannot_be_are_refused() {
    for (name, value) in [
        ("listen", "7171"),
        ("listen", "localhost"),
        ("limits.body_bytes", "5 apples"),
        ("limits.body_bytes", "99999999999GiB"),
        ("limits.header_timeout", "0s"),
        ("limits.header_timeout", "forever"),
        ("limits.connections", "0"),
        ("strict_projects", "maybe"),
        ("log.format", "xml"),
        ("retention.events_days", "-1"),
        ("tls.cert", "cert.pem"),
    ] {
        let (_folder, sources) = sources("", &[], &[(name, value)]);
        let refused = sources.resolve().unwrap_err();
        assert_eq!(refused.code.as_str(), "SETTING_INVALID", "{name}={value}");
        assert!(refused.message.contains(name), "{refused}");
    }
    for file in ["listen = ", "listen = 1.5", "allowed_hosts = [1]"] {
        let (_folder, sources) = sources(file, &[], &[]);
        assert_eq!(sources.resolve().unwrap_err().code.as_str(), "SETTING_INVALID", "{file}");
    }
    // A file that is named must be there.
    let (folder, mut sources) = sources("", &[], &[]);
    sources.file = Some(folder.path().join("other.toml"));
    assert_eq!(sources.resolve().unwrap_err().code.as_str(), "INPUT_UNREADABLE");
}

#[test]
fn only_the_user_lets_workers_do_more() {
    let held = |user: &str, file: &str, flags: &[(&str, &str)]| {
        let (folder, sources) = sources(file, &[], flags);
        std::fs::write(folder.path().join("user.toml"), user).unwrap();
        let resolved = sources.resolve().unwrap();
        let is_ours = |name: &str| name.starts_with("workers.");
        let entries = resolved.entries.iter().filter(|entry| is_ours(entry.declaration.name));
        let shown = entries.map(|entry| {
            let mark = if entry.ignored.is_some() { "!" } else { "" };
            format!("{}{mark}", entry.shown())
        });
        shown.collect::<Vec<_>>().join(" ")
    };
    let weak = "[workers]\nsandbox = \"off\"\ngit = \"commit\"\nvisible = [\"/a\"]\n\
                writable = [\"/b\"]\ngates = \"open\"\nkeep = [\"vite\"]\n";
    assert_eq!(held("", "", &[]), "auto    sandbox  ");
    assert_eq!(held(weak, "", &[]), "off commit /a /b open  vite");
    assert_eq!(held("", weak, &[]), "auto! ! ! ! sandbox!  !");
    let landlock = held("[workers]\nsandbox = \"landlock\"\n", weak, &[]);
    assert_eq!(landlock, "landlock! ! ! ! sandbox!  !");
    let strong = "[workers]\nsandbox = \"bubblewrap\"\ngit = \"read\"\n";
    assert_eq!(held(weak, strong, &[]), "bubblewrap read /a /b open  vite");
    assert_eq!(held("", strong, &[("workers.sandbox", "off")]), "off read   sandbox  ");
    assert_eq!(held("listen = \"127.0.0.1:1\"\n", "", &[]), "auto    sandbox  ");
    let hide = |names: &str| format!("[workers]\nhide_env = [{names}]\n");
    let (one, two) = (hide("\"AWS_*\""), hide("\"TOKEN\", \"AWS_*\""));
    assert_eq!(held(&one, &two, &[]), "auto    sandbox TOKEN,AWS_* ");
    assert_eq!(held(&two, &one, &[]), "auto    sandbox TOKEN,AWS_*! ");
}

#[test]
fn what_is_shown_reads_back_as_itself() {
    for text in ["512B", "32KiB", "5MiB", "1GiB", "1536KiB", "0B"] {
        let bytes = Bytes::parse(text).unwrap();
        assert_eq!(bytes.to_string(), text);
    }
    assert_eq!(Bytes::parse("1024").unwrap().to_string(), "1KiB");
    let defaults = Sources::default().resolve().unwrap();
    for entry in defaults.entries {
        assert_eq!(entry.origin, Origin::Default);
        assert!(entry.declaration.about.ends_with('.'), "{}", entry.declaration.name);
    }
}

#[tokio::test]
async fn an_address_that_others_reach_needs_keys_and_tls() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = async |settings: &[(&str, &str)]| {
        let host = opened(folder.path(), settings_of(folder.path(), settings)).await;
        let bound = Server::bind(host).await;
        bound.map(|server| server.address()).map_err(|failure| failure.code.as_str())
    };
    let open = ("listen", "0.0.0.0:0");
    let proxy = ("behind_proxy", "true");
    assert_eq!(refusal(&[open]).await, Err("SERVE_KEYS_NEEDED"));
    assert_eq!(refusal(&[open, proxy]).await, Err("SERVE_KEYS_NEEDED"));
    assert_eq!(refusal(&[proxy]).await, Err("SERVE_KEYS_NEEDED"));
    assert_eq!(refusal(&[("listen", "[::]:0")]).await, Err("SERVE_KEYS_NEEDED"));
    {
        let host = opened(folder.path(), settings_of(folder.path(), &[])).await;
        let request = json!({"label": "a", "verbs": ["admin"]});
        let request = KeyRequest::from_document(request).unwrap();
        host.keys().create(&Caller::owner(), request).await.unwrap();
    }
    assert_eq!(refusal(&[open]).await, Err("SERVE_TLS_NEEDED"));
    assert!(refusal(&[proxy]).await.is_ok());
    let missing = PathBuf::from("/nowhere.pem");
    let missing = missing.to_str().unwrap();
    let tls = [open, ("tls.cert", missing), ("tls.key", missing)];
    assert_eq!(refusal(&tls).await, Err("SERVE_TLS_INVALID"));
    assert_eq!(refusal(&[("listen", "192.0.2.1:0"), proxy]).await, Err("SERVE_LISTEN_FAILED"));
}

#[test]
fn the_page_lists_every_setting() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operating.md");
    let text = std::fs::read_to_string(page).unwrap();
    let (before, rest) = text.split_once("<!-- settings -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end of settings -->").unwrap();
    let mut table = String::from("| Setting | Default | What it sets |\n|---|---|---|\n");
    for known in DECLARATIONS {
        let default = match known.default {
            "" => String::new(),
            default => format!("`{default}`"),
        };
        table.push_str(&format!("| `{}` | {default} | {} |\n", known.name, known.about));
    }
    let wanted = format!("{before}<!-- settings -->\n{table}<!-- end of settings -->{after}");
    if std::env::var_os("ACCORD_BLESS").is_some() {
        std::fs::write(page, &wanted).unwrap();
    }
    assert_eq!(std::fs::read_to_string(page).unwrap(), wanted);
}
