//! Settings: what there is to set, what holds, and where it comes from.
//!
//! A setting is one line below. Its type, its default, its place in `accord.toml`, the name of its
//! environment variable and its line in `accord config show` come from there.
//!
//! Invariants:
//! - a flag is stronger than the environment, that is stronger than the file, that than the default;
//! - a name that is not known is an error, wherever it stands;
//! - no setting is a secret: they may all be shown.

mod sources;
mod value;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

pub use self::sources::{CONFIG_FILE, Entry, Origin, Resolved, Sources, variable_of};
pub use self::value::{Bytes, LogFormat, Setting, listen_address};

/// A setting that there is.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Its name, with the table that it stands in.
    pub name: &'static str,
    /// What holds when nobody says anything.
    pub default: &'static str,
    /// What it sets, in one sentence.
    pub about: &'static str,
}

macro_rules! settings {
    (
        $($field:ident: $type:ty = $default:literal, $about:literal;)+
        $($(#[doc = $group_about:literal])+ $group:ident: $struct:ident {
            $($member:ident: $member_type:ty = $member_default:literal, $member_about:literal;)+
        })+
    ) => {
        /// What holds.
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
        pub const KNOWN: &[Known] = &[
            $(Known { name: stringify!($field), default: $default, about: $about },)+
            $($(Known {
                name: concat!(stringify!($group), ".", stringify!($member)),
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
                            concat!(stringify!($group), ".", stringify!($member)), &text,
                        )?,)+
                    },)+
                })
            }

            /// The value of a setting, as it is shown.
            fn shown(&self, name: &str) -> Option<serde_json::Value> {
                $(if name == stringify!($field) {
                    return Some(self.$field.show());
                })+
                $($(if name == concat!(stringify!($group), ".", stringify!($member)) {
                    return Some(self.$group.$member.show());
                })+)+
                None
            }
        }
    };
}

settings! {
    listen: SocketAddr = "127.0.0.1:7171", "The address and port that the server listens on; port 0 takes a free one.";
    behind_proxy: bool = "false", "Whether a proxy in front of the server does TLS.";
    allowed_hosts: Vec<String> = "", "Further names that requests may give as their host, such as accord.example.org.";
    allowed_origins: Vec<String> = "", "Sites whose pages may send requests, such as `https://board.example.org`.";
    strict_projects: bool = "false", "Whether a project must be created before something is written to it.";
    metrics_open: bool = "false", "Whether /metrics needs no key on a server that has keys.";

    /// TLS of the server itself.
    tls: Tls {
        cert: Option<PathBuf> = "", "The file with the certificate and its chain, in PEM.";
        key: Option<PathBuf> = "", "The file with the private key, in PEM.";
    }

    /// What is thrown away by itself.
    retention: Retention {
        events_days: u32 = "0", "After how many days an event is forgotten; 0 keeps all of them.";
        blobs_days: u32 = "0", "After how many days a blob is removed that nothing names; 0 keeps all of them.";
    }

    /// What is written to standard error.
    log: Log {
        format: LogFormat = "text", "How the log looks: text or json.";
        level: String = "info", "What is logged: error, warn, info, debug or trace, or a filter such as accord_host=debug.";
    }

    /// Contents beside the packages.
    blobs: Blobs {
        enabled: bool = "true", "Whether the server keeps blobs.";
        max_bytes: Bytes = "64MiB", "How large a blob may be.";
    }

    /// What one client may ask of the server.
    limits: Limits {
        body_bytes: Bytes = "5MiB", "How large the body of a request may be.";
        import_bytes: Bytes = "1024GiB", "How large an import may be; each of its lines has a limit of its own, and the whole waits on the disk of the data folder.";
        header_bytes: Bytes = "32KiB", "How large the path and headers of a request may be.";
        connections: usize = "1024", "How many connections there may be at once.";
        event_streams: usize = "256", "How many event streams there may be at once.";
        header_timeout: Duration = "10s", "How long a client may take to send its headers.";
        body_timeout: Duration = "15s", "How long a client may pause while it sends a body.";
        body_rate: Bytes = "8KiB", "How much of a body must come a second, on the whole and pauses of body_timeout aside; 0 asks for nothing.";
        write_timeout: Duration = "30s", "How long a client may take nothing of an answer that waits for it.";
        idle_timeout: Duration = "75s", "How long a connection may be idle.";
        shutdown_timeout: Duration = "10s", "How long requests may take to end when the server closes.";
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::build(default_text).expect("the defaults can be read")
    }
}

impl Settings {
    /// Whether the server does TLS itself.
    pub fn does_tls(&self) -> bool {
        self.tls.cert.is_some()
    }
}

fn default_text(name: &str) -> &'static str {
    let known = KNOWN.iter().find(|known| known.name == name);
    known.map_or("", |known| known.default)
}

fn read<'t, T: Setting>(
    name: &'static str,
    text: &impl Fn(&str) -> &'t str,
) -> Result<T, (&'static str, String)> {
    T::parse(text(name)).map_err(|problem| (name, problem))
}
