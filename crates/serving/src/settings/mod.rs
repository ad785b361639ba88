//! Settings: their names, defaults, values and sources.
//!
//! Each setting is declared once below. Its type, its default, its place in `accord.toml`, the name
//! of its environment variable and its line in `accord config show` follow from the declaration.
//!
//! Invariants:
//! - A flag overrides the environment, which overrides the file of the data folder, which
//!   overrides the file of the user, which overrides the default.
//! - The file of a data folder cannot weaken a setting of `workers`: a clone, or a worker, could
//!   bring it.
//! - The file of a data folder that was found, not named, cannot name servers and programs unless
//!   the user trusts it.
//! - An unknown name is an error in every source.
//! - No setting is a secret, so all of them can be shown.

mod edit;
mod receivers;
mod sources;
mod trust;
mod value;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use accord_base::policy::DecisionRules;
use accord_live_core::subset::Policy as SchemaPolicy;
use accord_live_core::version::VersionPolicy;
use accord_process::{GitAccess, SandboxMode, SandboxRules};

pub use self::edit::write_settings;
pub use self::receivers::{ReceiverPlace, ReceiverSetting, Receivers};
pub use self::sources::{CONFIG_FILE, Entry, Origin, Resolved, Sources, variable_of};
pub use self::trust::{Untrusted, check_trusted};
pub use self::value::{
    Bytes, CommandLine, ExecutorKind, GateSandbox, HttpUrl, LogFormat, PersonalUrls, Setting,
    TerminalRule, WebhookUrl, listen_address,
};

/// The declaration of a setting.
#[derive(Clone, Copy, Debug)]
pub struct Declaration {
    /// Its name, with its table: `limits.body_bytes`.
    pub name: &'static str,
    /// The text of its default value.
    pub default: &'static str,
    /// What it sets, in one sentence.
    pub about: &'static str,
}

macro_rules! settings {
    (
        $($field:ident: $type:ty = $default:literal, $about:literal;)+
        $($(#[doc = $group_about:literal])+ $group:ident: $struct:ident = $table:literal {
            $($member:ident: $member_type:ty = $member_default:literal, $member_about:literal;)+
        })+
    ) => {
        /// The values of all settings.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub struct Settings {
            $(#[doc = $about] pub $field: $type,)+
            $($(#[doc = $group_about])+ pub $group: $struct,)+
        }

        $(
            $(#[doc = $group_about])+
            #[derive(Clone, Debug, PartialEq)]
            #[non_exhaustive]
            pub struct $struct {
                $(#[doc = $member_about] pub $member: $member_type,)+
            }
        )+

        /// Every setting, in the order in which they are shown.
        pub const DECLARATIONS: &[Declaration] = &[
            $(Declaration {
                name: stringify!($field),
                default: $default,
                about: $about,
            },)+
            $($(Declaration {
                name: concat!($table, ".", stringify!($member)),
                default: $member_default,
                about: $member_about,
            },)+)+
        ];

        impl Settings {
            /// Reads every setting from its text; a failure names the setting.
            fn build<'t>(
                text: impl Fn(&str) -> &'t str,
            ) -> Result<Self, (&'static str, String)> {
                Ok(Self {
                    $($field: read(stringify!($field), &text)?,)+
                    $($group: $struct {
                        $($member: read(
                            concat!($table, ".", stringify!($member)), &text,
                        )?,)+
                    },)+
                })
            }

            /// The value of a setting, as it is shown.
            fn shown(&self, name: &str) -> Option<serde_json::Value> {
                $(if name == stringify!($field) {
                    return Some(self.$field.show());
                })+
                $($(if name == concat!($table, ".", stringify!($member)) {
                    return Some(self.$group.$member.show());
                })+)+
                None
            }
        }
    };
}

settings! {
    listen: SocketAddr = "127.0.0.1:7171",
        "The address and port that the server listens on; port 0 takes a free port.";
    behind_proxy: bool = "false", "Whether a proxy in front of the server terminates TLS.";
    allowed_hosts: Vec<String> = "",
        "Additional host names that requests may use, such as accord.example.org.";
    allowed_origins: Vec<String> = "",
        "Web origins whose pages may send requests, such as `https://board.example.org`.";
    strict_projects: bool = "false",
        "Whether a project must be created before something is written to it.";
    metrics_open: bool = "false",
        "Whether /metrics can be read without a key on a server that has keys.";

    project: Option<String> = "",
        "The project of commands that name none; `accord project use` sets it.";
    url: Option<String> = "",
        "The server of commands that name neither a server nor a data folder.";

    /// TLS of the server itself.
    tls: Tls = "tls" {
        cert: Option<PathBuf> = "", "The file with the certificate and its chain, in PEM.";
        key: Option<PathBuf> = "", "The file with the private key, in PEM.";
    }

    /// Decisions of people.
    decide: Decide = "decide" {
        terminal: TerminalRule = "optional",
            "Whether a decision without a login or key needs a terminal: optional (a process of \
             the same user may name the person, and the record says that there was no terminal) \
             or required.";
    }

    /// The sandbox of workers. Only the user's own configuration can make it weaker.
    workers: Workers = "workers" {
        sandbox: SandboxMode = "auto",
            "The sandbox of workers on Linux: auto (bubblewrap, else Landlock, else none), \
             bubblewrap, landlock or off. With bubblewrap or landlock, no worker starts where it \
             does not work.";
        git: Option<GitAccess> = "",
            "What a worker in bubblewrap may change in .git: read (nothing) or commit (objects, \
             refs and index). Empty is read for governed turns, and commit for tasks.";
        visible: Vec<PathBuf> = "",
            "Paths below the home folder or a temporary folder that workers may read, such as \
             ~/toolchain.";
        writable: Vec<PathBuf> = "", "Paths outside of the work tree that workers may change.";
        gates: GateSandbox = "sandbox",
            "Where commands of gates run: sandbox (as hooks do, and they can commit) or open (with \
             your home folder and without a sandbox, for example to deploy).";
        hide_env: Vec<String> = "",
            "Environment variables that workers do not get, besides the keys of Accord: names, or \
             beginnings of names with a * behind them, such as AWS_*. Separated by commas.";
        keep: Vec<String> = "",
            "Programs that a worker may leave running, such as vite or npm run dev: names, or \
             beginnings of command lines. They stay workers. In bubblewrap nothing is left. \
             Separated by commas.";
    }

    /// What is deleted automatically.
    retention: Retention = "retention" {
        events_days: u32 = "0", "Delete events after this many days; 0 keeps all.";
        blobs_days: u32 = "0", "Delete unreferenced blobs after this many days; 0 keeps all.";
    }

    /// The log on standard error.
    log: Log = "log" {
        format: LogFormat = "text", "The format of the log: text or json.";
        level: String = "info",
            "The log level (error, warn, info, debug, trace) or a filter such as \
             accord_host=debug.";
    }

    /// Files that packages refer to.
    blobs: Blobs = "blobs" {
        enabled: bool = "true", "Whether the server stores blobs.";
        max_bytes: Bytes = "64MiB", "The largest blob.";
    }

    /// Search by meaning.
    embeddings: Embeddings = "embeddings" {
        url: Option<HttpUrl> = "",
            "The address of a server with the OpenAI-compatible route /embeddings, such as \
             `http://127.0.0.1:11434/v1`; empty for search by words alone.";
        model: String = "", "The name of the embedding model, as that server knows it.";
        key_file: Option<PathBuf> = "", "The file with the key for that server.";
        dimensions: u32 = "0",
            "The number of values of a vector to request; 0 for the model's own.";
        query_prefix: String = "", "A text that the model expects before a query.";
        passage_prefix: String = "", "A text that the model expects before a passage of a package.";
        batch: usize = "16", "The most passages in one request to that server.";
        timeout: Duration = "60s", "The timeout of a request for the vectors of packages.";
        query_timeout: Duration = "2s",
            "How long a search waits for the vector of its query before it is by words alone.";
        memory: Bytes = "256MiB",
            "How much memory the vectors of searched projects may take, about one byte per value.";
    }

    /// The tasks of projects.
    tasks: Tasks = "tasks" {
        schedule: bool = "true",
            "Whether the server schedules tasks: below projects/ and in linked folders.";
        executor: ExecutorKind = "manual",
            "What starts a ready task: manual (agents claim tasks themselves) or command.";
        command: Option<CommandLine> = "",
            "The command of the executor `command`, one for all agents. It is split into words as \
             a shell does and started without one. {agent} is replaced by the name of the agent, \
             {prompt} by the briefing; without {prompt} the briefing is its standard input.";
        cwd: Option<PathBuf> = "",
            "The working folder of that command; empty for the folder of the task.";
        time_limit: Duration = "60m", "How long that command may run on one task.";
        max_agents: usize = "3", "The most commands that run at once, in all projects.";
    }

    /// Telling people what waits for them.
    notify: Notify = "notify" {
        url: Option<WebhookUrl> = "",
            "A URL that is told everything in the inbox, as a POST request with JSON.";
        secret_file: Option<PathBuf> = "",
            "The file with the secret that requests to that URL are signed with (HMAC-SHA256).";
        command: Option<CommandLine> = "",
            "A command that is told everything in the inbox: it gets each message on standard \
             input, as JSON. It is split into words as a shell does and started without one.";
        timeout: Duration = "10s", "How long that URL or command may take for one message.";
        receivers: Receivers = "",
            "More receivers: tables `[[notify.receivers]]`, each with a name, a url or a command, \
             a format, and what it is told.";
        group: Duration = "10s", "How long items are collected for one message.";
        per_hour: usize = "30",
            "The most messages in an hour to one receiver. What comes after them is collected.";
        personal: PersonalUrls = "public",
            "Where people may have their own messages sent: public (addresses of the public \
             Internet), any (also private addresses, of which this machine can reach more than \
             they) or off (only mail).";
        mail: Option<CommandLine> = "",
            "The program that sends mails to people at their stored addresses, such as sendmail \
             -t -i. It gets the mail with its headers on standard input, and no shell.";
    }

    /// The former way: telling people that a task is in review, blocked or done.
    tasks_notify: TasksNotify = "tasks.notify" {
        command: Option<CommandLine> = "",
            "A command that gets each notification on standard input, as JSON. It is split into \
             words as a shell does and started without one.";
        url: Option<WebhookUrl> = "",
            "A URL that each notification is sent to, as a POST request with JSON.";
        secret_file: Option<PathBuf> = "",
            "The file with the secret that requests to that URL are signed with (HMAC-SHA256).";
        timeout: Duration = "10s", "How long a receiver may take for one notification.";
    }

    /// What becomes packages of the memory by itself.
    flows: Flows = "flows" {
        tasks_off: Vec<String> = "",
            "The projects whose finished tasks leave no package; * for all projects.";
        live_off: Vec<String> = "",
            "The projects whose answers to questions leave no package; * for all projects.";
        runs_off: Vec<String> = "",
            "The projects whose governed runs leave no packages; * for all projects.";
        turn_tokens: u32 = "1000",
            "The most tokens of the memory's briefing in the context of a governed turn; 0 for \
             none.";
    }

    /// Live sessions between agents and people.
    live: LiveSettings = "live" {
        default_project: Option<String> = "",
            "The project of live sessions whose client names none, on a server without keys.";
        session_ttl: Duration = "60m", "How long a live session lasts after its last activity.";
        link_ttl: Duration = "60s",
            "How long a link of `accord live open` can be used. It signs in once.";
        unread_days: u32 = "7",
            "How many days an answer that no agent has read can be read with `accord live answers` \
             after its session has ended; 0 to delete it with the session.";
        version_policy: VersionPolicy = "reject",
            "What happens to a client that does not support the server's protocol version: reject \
             (it is answered and closed) or advisory (it is answered).";
        poll_tools: bool = "true",
            "Whether channels of live sessions may poll the server's tools that only read.";
        schema_check: SchemaPolicy = "reject",
            "What happens to a contract whose actions do not fit the server's tools: reject, warn \
             or off.";
    }

    /// Limits on requests and connections.
    limits: Limits = "limits" {
        body_bytes: Bytes = "5MiB", "The largest request body.";
        import_bytes: Bytes = "1024GiB",
            "The largest import. It is first written to the data folder; each line has its own \
             limit.";
        header_bytes: Bytes = "32KiB", "The largest path and headers of a request.";
        connections: usize = "1024", "The most connections at once.";
        event_streams: usize = "256", "The most event streams at once.";
        live_sockets: usize = "5000",
            "The most live sockets at once. They do not count as connections.";
        live_frame_bytes: Bytes = "1MiB", "The largest frame of a live socket; 0 for no limit.";
        live_pending_bytes: Bytes = "64KiB",
            "The largest frame of a live socket that is not subscribed yet; 0 for no limit.";
        live_pending_sockets: u32 = "1024",
            "The most live sockets that are not subscribed yet; 0 for no limit.";
        live_pending_timeout: Duration = "30s", "How long a live socket may take to subscribe.";
        live_queue: usize = "1024",
            "The most changes of a live session that wait for a slow subscriber.";
        live_renders: u32 = "600",
            "The most renders of live sessions in a minute, for each project; 0 for no limit.";
        live_asks: u32 = "25",
            "The most questions to people that one actor may have open in a project; 0 for no \
             limit.";
        header_timeout: Duration = "10s", "The timeout for the headers of a request.";
        body_timeout: Duration = "15s", "The longest pause while a client sends a body.";
        body_rate: Bytes = "8KiB",
            "The minimum average rate of a body per second, after the first body_timeout; 0 for \
             none.";
        write_timeout: Duration = "30s",
            "How long a client may read nothing while an answer is being sent.";
        idle_timeout: Duration = "75s", "How long a connection may be idle between requests.";
        shutdown_timeout: Duration = "10s",
            "How long running requests may take to finish when the server shuts down.";
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::build(default_text).expect("the defaults are valid")
    }
}

impl Settings {
    pub fn decision_rules(&self) -> DecisionRules {
        DecisionRules { terminal_required: self.decide.terminal == TerminalRule::Required }
    }

    pub fn sandbox_rules(&self) -> SandboxRules {
        let Workers { sandbox, git, visible, writable, gates, .. } = self.workers.clone();
        let open_gates = gates == GateSandbox::Open;
        SandboxRules { mode: sandbox, git, visible, writable, data: None, open_gates }
    }

    /// Whether the server terminates TLS itself.
    pub fn does_tls(&self) -> bool {
        self.tls.cert.is_some()
    }
}

fn default_text(name: &str) -> &'static str {
    let declared = DECLARATIONS.iter().find(|declared| declared.name == name);
    declared.map_or("", |declared| declared.default)
}

fn read<'t, T: Setting>(
    name: &'static str,
    text: &impl Fn(&str) -> &'t str,
) -> Result<T, (&'static str, String)> {
    T::parse(text(name)).map_err(|problem| (name, problem))
}
