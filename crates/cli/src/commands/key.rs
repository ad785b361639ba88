//! `accord key`: the keys of callers from the network.

use accord_base::Verb;
use accord_contract::codes::Code;
use accord_contract::time::Time;
use accord_contract::wire::Value;
use clap::builder::PossibleValuesParser;

use super::{document, texts};
use crate::error::CliError;
use crate::exit::Exit;
use crate::host::{Actor, Candidate, HostArgs, HostRequest, choose};
use crate::output::{Output, print_note};
use crate::render::{self, Page};

/// Create, list and revoke the keys of callers from the network
#[derive(Debug, clap::Args)]
pub(crate) struct KeyArgs {
    #[command(subcommand)]
    command: KeyCommand,
}

subcommands! {
    KeyArgs, KeyCommand {
        Create(CreateArgs),
        /// List keys (without their secrets)
        List(ListArgs),
        Revoke(RevokeArgs),
    }
}

/// Create a key, and print it once on standard output
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
struct CreateArgs {
    /// A name for people
    #[arg(long, value_name = "TEXT")]
    label: String,

    /// A scope of the key; can be repeated [default: read and write]
    #[arg(long = "verb", value_name = "VERB",
          value_parser = PossibleValuesParser::new(Verb::ALL.iter().map(|verb| verb.as_str())))]
    verbs: Vec<String>,

    /// A project that the key gives access to; can be repeated [default: all projects]
    #[arg(long = "project", value_name = "ID")]
    projects: Vec<String>,

    /// Allow the key to write as other actors than its own
    #[arg(long, requires = "actor")]
    act_as: bool,

    /// When the key expires: 12h, 90d, a date or a time [default: never]
    #[arg(long, value_name = "WHEN", value_parser = expiry)]
    expires: Option<String>,

    /// Create the data folder if it does not exist
    #[arg(long)]
    new: bool,

    /// The actor of the key, for example agent:planner or human:lead [default: any actor]
    #[arg(long, value_name = "TYPE:ID", value_parser = Actor::parse)]
    actor: Option<Actor>,

    #[command(flatten)]
    host: HostArgs,
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    #[command(flatten)]
    host: HostArgs,
}

/// Revoke a key immediately and permanently
#[derive(Debug, clap::Args)]
struct RevokeArgs {
    /// The id of the key, from `accord key list`, or its beginning
    id: String,

    #[command(flatten)]
    host: HostArgs,
}

impl CreateArgs {
    fn run(self) -> Result<Exit, CliError> {
        let mut verbs = self.verbs;
        if verbs.is_empty() {
            verbs.extend([Verb::Read, Verb::Write].map(|verb| verb.as_str().to_owned()));
        }
        let actor = self.actor.as_ref();
        let body = document([
            ("label", self.label.into()),
            ("verbs", verbs.into()),
            ("projects", texts(&self.projects)),
            ("actor", actor.map(|actor| actor.document(None)).into()),
            ("act_as", actor.map(|_| self.act_as).into()),
            ("expires_at", self.expires.into()),
        ]);
        let host = if self.new {
            self.host.connect_or_create()?
        } else {
            // A key for a memory that no one has is a mistake in the path.
            self.host.connect().map_err(|error| match error.code() {
                Some(Code::StoreMissing) => error.help(
                    "name the data folder of the server with --data or ACCORD_DATA; --new creates \
                     a folder",
                ),
                _ => error,
            })?
        };
        let answer = host.send(HostRequest::post(&["accord", "v1", "keys"], &body))?;
        if self.host.json {
            answer.print(true, |_, _| {})?;
            return Ok(Exit::Yes);
        }
        let document = answer.value()?;
        let Some(secret) = document["secret"].as_str() else {
            let message = "the host created a key and did not return its secret";
            return Err(CliError::new(Code::HostProtocol, message));
        };
        let mut output = Output::stdout();
        // Only the secret is on standard output, so that it can be redirected to a file.
        output.line(secret)?;
        output.finish()?;
        let mut page = Page::plain();
        render::key(&mut page, &document["key"]);
        print_note(page.as_str().trim_end());
        print_note(
            "Store it in ACCORD_KEY; it is not shown again. Once a key exists, requests over the \
             network need one.",
        );
        Ok(Exit::Yes)
    }
}

impl ListArgs {
    fn run(self) -> Result<Exit, CliError> {
        let answer = self.host.connect()?.send(HostRequest::get(&["accord", "v1", "keys"]))?;
        answer.print_list(
            self.host.json,
            |page, list| render::keys(page, &list["keys"]),
            || {
                "no keys; `accord key create` creates one, and the network then requires one"
                    .to_owned()
            },
        )?;
        Ok(Exit::Yes)
    }
}

impl RevokeArgs {
    fn run(self) -> Result<Exit, CliError> {
        let host = self.host.connect()?;
        let listed = host.send(HostRequest::get(&["accord", "v1", "keys"]))?.value()?;
        let candidates = listed["keys"].as_array().into_iter().flatten().map(|key| Candidate {
            id: key["key_id"].as_str().unwrap_or_default().to_owned(),
            place: key["label"].as_str().unwrap_or_default().to_owned(),
        });
        let candidates = candidates.filter(|key| key.id.starts_with(&self.id)).collect();
        let id = choose("key", &self.id, candidates, false)?;
        let request = HostRequest::new(hyper::Method::DELETE, &["accord", "v1", "keys", &id]);
        let answer = host.send(request)?;
        answer.print(self.host.json, |page, document| {
            let text = |value: &Value| render::clean(value.as_str().unwrap_or_default());
            let key = &document["key"];
            page.line(format!("revoked {} ({})", text(&key["key_id"]), text(&key["label"])));
        })?;
        Ok(Exit::Yes)
    }
}

/// Parses a time span from now, a date, or a time.
fn expiry(text: &str) -> Result<String, String> {
    let wrong =
        || "expected a value such as 12h, 90d, 2026-12-31 or 2026-12-31T12:00:00Z".to_owned();
    // First: a date begins with digits, too.
    if let Ok(instant) = Time::parse_or_date(text) {
        return Ok(instant.to_string());
    }
    let split = text.find(|character: char| !character.is_ascii_digit());
    let (digits, unit) = text.split_at(split.ok_or_else(wrong)?);
    let seconds = match unit {
        "h" => 3_600,
        "d" => 86_400,
        _ => return Err(wrong()),
    };
    let number: u64 = digits.parse().map_err(|_| wrong())?;
    let seconds = number.checked_mul(seconds).filter(|seconds| *seconds > 0);
    let now = accord_system::now().unix_seconds();
    let until = seconds.and_then(|seconds| now.checked_add_unsigned(seconds));
    let instant = until.and_then(|seconds| Time::from_unix(seconds, 0));
    instant.map(|instant| instant.to_string()).ok_or_else(wrong)
}

const EXAMPLES: &str = "\
Examples:
  accord key create --label planner --actor agent:planner --project shop --verb read --verb write
  accord key create --label ops --expires 90d > ops.key

Scopes: `read` reads; `write` deposits, flags and asserts; `review` completes reviews; `admin`
allows everything.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_ends_after_a_while_or_at_a_time() {
        assert_eq!(expiry("2026-12-31").as_deref(), Ok("2026-12-31T00:00:00.000Z"));
        for right in ["1h", "90d", "2026-12-31T12:00:00Z"] {
            expiry(right).expect(right);
        }
        for wrong in
            ["", "d", "0d", "90", "90w", "-1d", "99999999999999999999d", "9999999999d", "soon"]
        {
            assert!(expiry(wrong).is_err(), "{wrong}");
        }
    }
}
