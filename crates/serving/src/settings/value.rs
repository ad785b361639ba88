//! The types of settings, and how their values are written.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use accord_live_core::subset::Policy as SchemaPolicy;
use accord_live_core::version::VersionPolicy;
use accord_process::{GitAccess, SandboxMode};
use hyper::Uri;
use serde_json::Value;

pub trait Setting: Sized {
    /// Parses a value. The error follows the text in a message: `"x" is not a size`.
    fn parse(text: &str) -> Result<Self, String>;

    /// The value as `accord config show` prints it.
    fn show(&self) -> Value;
}

/// A size in bytes, written as `512`, `32KiB`, `5MiB` or `1GiB`.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Bytes(pub u64);

/// The URL of an HTTP server. It has no user name and password, because settings are shown.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HttpUrl(String);

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum LogFormat {
    Text,
    Json,
}

/// A command: the program and its arguments.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct CommandLine {
    text: String,
    words: Vec<String>,
}

/// The URL of a webhook. It has no user name and password, because settings are shown.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct WebhookUrl(String);

/// What starts a ready task.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ExecutorKind {
    /// Nothing: agents claim tasks themselves.
    Manual,
    Command,
}

/// Whether a decision without a login or key needs a terminal.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TerminalRule {
    /// It does not, if the request names the person.
    Optional,
    Required,
}

/// Where commands of gates run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum GateSandbox {
    Sandbox,
    /// Without a sandbox.
    Open,
}

/// Where people may have their own messages sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PersonalUrls {
    Public,
    Any,
    Off,
}

const PERSONAL: [(&str, PersonalUrls); 3] =
    [("public", PersonalUrls::Public), ("any", PersonalUrls::Any), ("off", PersonalUrls::Off)];

// `B` is last, because the other names end in it.
const UNITS: [(&str, u64); 4] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

impl Setting for Bytes {
    fn parse(text: &str) -> Result<Self, String> {
        let unit = UNITS.iter().find(|(name, _)| text.ends_with(name));
        let (name, factor) = unit.unwrap_or(&("", 1));
        let count = text.strip_suffix(name).unwrap_or(text).trim_end();
        let count = count.parse::<u64>().ok().and_then(|count| count.checked_mul(*factor));
        count.map(Self).ok_or_else(|| "is not a size; write 512, 32KiB, 5MiB or 1GiB".into())
    }

    fn show(&self) -> Value {
        self.to_string().into()
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole =
            |(_, factor): &&(&str, u64)| self.0 >= *factor && self.0.is_multiple_of(*factor);
        match UNITS.iter().find(whole) {
            Some((name, factor)) => write!(f, "{}{name}", self.0 / factor),
            None => write!(f, "{}B", self.0),
        }
    }
}

impl Setting for Duration {
    fn parse(text: &str) -> Result<Self, String> {
        let number = |suffix: &str| text.strip_suffix(suffix)?.trim_end().parse::<u64>().ok();
        let millis = number("ms")
            .or_else(|| number("s")?.checked_mul(1_000))
            .or_else(|| number("m")?.checked_mul(60_000))
            .or_else(|| number("")?.checked_mul(1_000));
        match millis {
            // A longer time could overflow when it is added to a clock.
            Some(millis @ 1..=86_400_000) => Ok(Self::from_millis(millis)),
            _ => Err("is not a duration from 1ms to 1440m; write 500ms, 10s or 2m".into()),
        }
    }

    fn show(&self) -> Value {
        match self.as_millis() {
            millis if millis % 1_000 == 0 => format!("{}s", millis / 1_000).into(),
            millis => format!("{millis}ms").into(),
        }
    }
}

impl Setting for bool {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err("is neither true nor false".into()),
        }
    }

    fn show(&self) -> Value {
        (*self).into()
    }
}

impl Setting for u32 {
    fn parse(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| "is not a whole number".into())
    }

    fn show(&self) -> Value {
        (*self).into()
    }
}

impl Setting for usize {
    fn parse(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(0) | Err(_) => Err("is not a whole number of at least 1".into()),
            Ok(count) => Ok(count),
        }
    }

    fn show(&self) -> Value {
        (*self).into()
    }
}

impl Setting for PersonalUrls {
    fn parse(text: &str) -> Result<Self, String> {
        let found = PERSONAL.iter().find(|(word, _)| *word == text).map(|(_, urls)| *urls);
        found.ok_or_else(|| "is none of public, any and off".into())
    }

    fn show(&self) -> Value {
        let found = PERSONAL.iter().find(|(_, urls)| urls == self);
        found.map(|(word, _)| *word).into()
    }
}

impl Setting for VersionPolicy {
    fn parse(text: &str) -> Result<Self, String> {
        Self::parse(text).ok_or_else(|| "is neither reject nor advisory".into())
    }

    fn show(&self) -> Value {
        self.as_str().into()
    }
}

impl Setting for SchemaPolicy {
    fn parse(text: &str) -> Result<Self, String> {
        Self::parse(text).ok_or_else(|| "is none of reject, warn and off".into())
    }

    fn show(&self) -> Value {
        self.as_str().into()
    }
}

/// Parses the address that a server listens on: an IP address and a port. `localhost` means
/// 127.0.0.1. The error follows the text in a message.
pub fn listen_address(text: &str) -> Result<SocketAddr, String> {
    let named = text.strip_prefix("localhost:");
    let text = named.map_or_else(|| text.to_owned(), |port| format!("127.0.0.1:{port}"));
    text.parse()
        .map_err(|_| "is not an address with a port, such as 127.0.0.1:7171 or [::1]:7171".into())
}

impl Setting for SocketAddr {
    fn parse(text: &str) -> Result<Self, String> {
        listen_address(text)
    }

    fn show(&self) -> Value {
        self.to_string().into()
    }
}

impl Setting for String {
    fn parse(text: &str) -> Result<Self, String> {
        Ok(text.into())
    }

    fn show(&self) -> Value {
        self.as_str().into()
    }
}

impl Setting for Option<String> {
    fn parse(text: &str) -> Result<Self, String> {
        Ok((!text.is_empty()).then(|| text.into()))
    }

    fn show(&self) -> Value {
        self.as_deref().into()
    }
}

impl Setting for Option<PathBuf> {
    fn parse(text: &str) -> Result<Self, String> {
        Ok((!text.is_empty()).then(|| text.into()))
    }

    fn show(&self) -> Value {
        let path = self.as_ref();
        path.map(|path| path.to_string_lossy().into_owned()).into()
    }
}

/// The URL in a setting, which has no user name and password. `instead` says where they belong.
fn http_url(text: &str, instead: &str) -> Result<Option<Uri>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    let uri: Option<Uri> = text.parse().ok();
    let uri = uri.filter(|uri| accord_client::Endpoint::from_uri(uri).is_ok());
    let uri = uri.ok_or("is not a URL that begins with http:// or https://")?;
    if uri.authority().is_some_and(|authority| authority.as_str().contains('@')) {
        return Err(format!("has a user name; {instead}"));
    }
    Ok(Some(uri))
}

impl HttpUrl {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Setting for Option<HttpUrl> {
    fn parse(text: &str) -> Result<Self, String> {
        let uri = http_url(text, "write a key into a file and name that file")?;
        if uri.as_ref().is_some_and(|uri| uri.query().is_some()) {
            return Err("has a query, and the path /embeddings cannot be added to it".into());
        }
        Ok(uri.map(|_| HttpUrl(text.into())))
    }

    fn show(&self) -> Value {
        self.as_ref().map(HttpUrl::as_str).into()
    }
}

impl WebhookUrl {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Setting for Option<WebhookUrl> {
    fn parse(text: &str) -> Result<Self, String> {
        let uri = http_url(text, "sign the requests with a secret file instead")?;
        Ok(uri.map(|_| WebhookUrl(text.into())))
    }

    fn show(&self) -> Value {
        self.as_ref().map(WebhookUrl::as_str).into()
    }
}

impl CommandLine {
    /// A command of its arguments; `None` if there are none.
    pub(super) fn of(words: Vec<String>) -> Option<Self> {
        let text = shell_words::join(&words);
        (!words.is_empty()).then_some(Self { text, words })
    }

    pub fn words(&self) -> &[String] {
        &self.words
    }
}

impl Setting for Option<CommandLine> {
    fn parse(text: &str) -> Result<Self, String> {
        let words =
            shell_words::split(text).map_err(|error| format!("is not a command: {error}"))?;
        Ok((!words.is_empty()).then(|| CommandLine { text: text.into(), words }))
    }

    fn show(&self) -> Value {
        self.as_ref().map(|command| command.text.as_str()).into()
    }
}

impl Setting for SandboxMode {
    fn parse(text: &str) -> Result<Self, String> {
        let found = SANDBOXES.iter().find(|(word, _)| *word == text);
        let found = found.map(|(_, mode)| *mode);
        found.ok_or_else(|| "is none of auto, bubblewrap, landlock and off".into())
    }

    fn show(&self) -> Value {
        let found = SANDBOXES.iter().find(|(_, mode)| mode == self);
        found.map(|(word, _)| *word).into()
    }
}

const SANDBOXES: [(&str, SandboxMode); 4] = [
    ("auto", SandboxMode::Auto),
    ("bubblewrap", SandboxMode::Bubblewrap),
    ("landlock", SandboxMode::Landlock),
    ("off", SandboxMode::Off),
];

impl Setting for Option<GitAccess> {
    fn parse(text: &str) -> Result<Self, String> {
        match text {
            "" => Ok(None),
            "read" => Ok(Some(GitAccess::Read)),
            "commit" => Ok(Some(GitAccess::Commit)),
            _ => Err("is neither read nor commit".into()),
        }
    }

    fn show(&self) -> Value {
        let word = |access: &GitAccess| match access {
            GitAccess::Read => "read",
            GitAccess::Commit => "commit",
        };
        self.as_ref().map(word).into()
    }
}

/// Absolute paths; `~/` is the home folder.
impl Setting for Vec<PathBuf> {
    fn parse(text: &str) -> Result<Self, String> {
        let paths = Vec::<String>::parse(text)?.into_iter().map(|path| {
            let home = std::env::home_dir().filter(|home| home.is_absolute());
            match (path.strip_prefix("~/"), home) {
                (Some(below), Some(home)) => home.join(below),
                _ => PathBuf::from(path),
            }
        });
        let paths: Self = paths.collect();
        match paths.iter().all(|path| path.is_absolute()) {
            true => Ok(paths),
            false => Err("has a path that does not begin with / or ~/".into()),
        }
    }

    fn show(&self) -> Value {
        self.iter().map(|path| path.to_string_lossy()).collect()
    }
}

/// Whether a value lets workers do more than the one that holds. A value that cannot be read is
/// not weaker: it is refused elsewhere.
pub(super) fn is_weaker(name: &str, text: &str, held: &str) -> bool {
    match name {
        "workers.sandbox" => {
            let mode = |text: &str| SandboxMode::parse(text).ok();
            // `auto` may end without a sandbox, `landlock` never does.
            let is_weaker = |mode, held| {
                mode < held || (mode, held) == (SandboxMode::Auto, SandboxMode::Landlock)
            };
            mode(text).zip(mode(held)).is_some_and(|(mode, held)| is_weaker(mode, held))
        }
        "workers.git" => text != "read" && text != held,
        "workers.visible" | "workers.writable" | "workers.keep" => !text.is_empty(),
        "decide.terminal" => text != held && held == "required",
        "workers.gates" => text == "open" && text != held,
        "workers.hide_env" => {
            let names = |text: &str| Vec::<String>::parse(text).unwrap_or_default();
            let hidden = names(text);
            names(held).iter().any(|name| !hidden.contains(name))
        }
        _ => false,
    }
}

/// Settings that are one of two words.
macro_rules! words {
    ($($type:ident: $one:ident = $first:literal, $other:ident = $second:literal;)+) => {$(
        impl Setting for $type {
            fn parse(text: &str) -> Result<Self, String> {
                match text {
                    $first => Ok(Self::$one),
                    $second => Ok(Self::$other),
                    _ => Err(concat!("is neither ", $first, " nor ", $second).into()),
                }
            }

            fn show(&self) -> Value {
                match self {
                    Self::$one => $first.into(),
                    Self::$other => $second.into(),
                }
            }
        }
    )+};
}

words! {
    ExecutorKind: Manual = "manual", Command = "command";
    TerminalRule: Optional = "optional", Required = "required";
    GateSandbox: Sandbox = "sandbox", Open = "open";
    LogFormat: Text = "text", Json = "json";
}

impl Setting for Vec<String> {
    fn parse(text: &str) -> Result<Self, String> {
        let items = text.split(',').map(str::trim);
        Ok(items.filter(|item| !item.is_empty()).map(String::from).collect())
    }

    fn show(&self) -> Value {
        self.as_slice().into()
    }
}
