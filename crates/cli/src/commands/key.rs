//! `accord key`: the keys of callers from the network.

use accord_api::operations::keys::{
    CreateKey, Key, KeyEnvelope, KeyListEnvelope, KeyRequest, ListKeys, OfKey, RevokeKey,
};
use accord_api::{Call, Json, NoParams};
use accord_base::{ActorKey, KeyActor, ProjectId, Verb};
use accord_contract::{Code, Time, Timestamp};

use super::task::names::name_parser;
use crate::host::{Actor, Candidate, HostArgs, choose, print_answer, print_items};
use crate::render::{self, Page, clean};
use crate::{CliError, Exit, Result, print_line, print_note};

subcommands! {
    /// Create, list and revoke the keys of callers from the network
    pub(crate) KeyArgs, KeyCommand {
        Create(CreateArgs),
        /// List keys (without their secrets)
        List(HostArgs) => list,
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
    #[arg(long = "verb", value_name = "VERB", value_parser = name_parser::<Verb>())]
    verbs: Vec<Verb>,

    /// A project that the key gives access to; can be repeated [default: all projects]
    #[arg(long = "project", value_name = "ID")]
    projects: Vec<ProjectId>,

    /// Allow the key to write as other actors than its own
    #[arg(long, requires = "actor")]
    act_as: bool,

    /// When the key expires: 12h, 90d, a date or a time [default: never]
    #[arg(long, value_name = "WHEN", value_parser = expiry)]
    expires: Option<Timestamp>,

    /// Create the data folder if it does not exist
    #[arg(long)]
    new: bool,

    /// The actor of the key, for example agent:planner or human:lead [default: any actor]
    #[arg(long, value_name = "TYPE:ID", value_parser = Actor::parse)]
    actor: Option<Actor>,

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
    fn run(self) -> Result<Exit> {
        let verbs = match self.verbs.as_slice() {
            [] => vec![Verb::Read, Verb::Write],
            _ => self.verbs,
        };
        let actor = self.actor.map(|actor| {
            let ActorKey { id, kind } = actor.key().clone();
            KeyActor { id, kind }
        });
        let body = KeyRequest {
            label: self.label,
            verbs,
            projects: Some(self.projects).filter(|projects| !projects.is_empty()).into(),
            act_as: actor.is_some().then_some(self.act_as),
            actor: actor.into(),
            expires_at: self.expires.into(),
        };
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
        let created = host.call(&Call::<CreateKey>::new(NoParams, NoParams, Json(body)))?;
        if self.host.json {
            return print_answer(true, &created, |_, _| {});
        }
        let KeyEnvelope { key, secret, .. } = created.answer.0;
        let Some(secret) = secret else {
            let message = "the host created a key and did not return its secret";
            return Err(CliError::new(Code::HostProtocol, message));
        };
        // Only the secret is on standard output, so that it can be redirected to a file.
        let printed = print_line(secret)?;
        let mut page = Page::plain();
        render::key(&mut page, &key);
        print_note(page.as_str().trim_end());
        print_note(
            "Store it in ACCORD_KEY; it is not shown again. Once a key exists, requests over the \
             network need one.",
        );
        Ok(printed)
    }
}

fn list(host: HostArgs) -> Result<Exit> {
    let listed = host.connect()?.ask::<ListKeys>(NoParams, NoParams)?;
    let render = |page: &mut Page, list: &KeyListEnvelope| render::keys(page, &list.keys);
    let none = "no keys; `accord key create` creates one, and the network then requires one";
    print_items(host.json, &listed, render, || none.to_owned())
}

impl RevokeArgs {
    fn run(self) -> Result<Exit> {
        let host = self.host.connect()?;
        let listed = host.ask::<ListKeys>(NoParams, NoParams)?.answer.0.keys.into_iter();
        let candidates = listed.map(|key| Candidate { id: key.key_id, place: key.label });
        let candidates = candidates.filter(|key| key.id.starts_with(&self.id)).collect();
        let key = choose("key", &self.id, candidates, false)?;
        let revoked = host.ask::<RevokeKey>(OfKey { key }, NoParams)?;
        print_answer(self.host.json, &revoked, |page, answer| {
            let Key { key_id, label, .. } = &answer.0.key;
            page.line(clean(&format!("revoked {key_id} ({label})")));
        })
    }
}

/// Parses a time span from now, a date, or a time.
fn expiry(text: &str) -> Result<Timestamp, String> {
    let wrong =
        || "expected a value such as 12h, 90d, 2026-12-31 or 2026-12-31T12:00:00Z".to_owned();
    // First: a date begins with digits, too.
    if let Ok(instant) = Time::parse_or_date(text) {
        return Ok(Timestamp::emit(instant));
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
    instant.map(Timestamp::emit).ok_or_else(wrong)
}

const EXAMPLES: &str = "\
Examples:
  accord key create --label planner --actor agent:planner --project shop --verb read --verb write
  accord key create --label ops --expires 90d > ops.key

Scopes: `read` reads; `write` deposits, flags and asserts; `review` completes reviews; `approve`
passes gates and decides about edges; `admin` allows everything. A lead needs the first four.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_ends_after_a_while_or_at_a_time() {
        let until = expiry("2026-12-31").expect("a date");
        assert_eq!(until.as_str(), "2026-12-31T00:00:00.000Z");
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
