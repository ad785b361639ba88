//! `accord notify`: what a person is told about the inbox, and how.

use accord_api::operations::notifications::{
    NotificationFormat, NotificationRule, NotificationRules, NotificationRulesEnvelope,
    SetNotifications, ShowNotifications,
};
use accord_api::parameter::Acting as Who;
use accord_api::{Answered, Call, Json, NoBody, NoParams};
use accord_base::{Door, ProjectId};
use accord_contract::{Code, Failure};

use crate::host::{Acting, ActorArg, Connection, HostArgs, print_answer};
use crate::render::{Page, clean};
use crate::{Exit, Result};

subcommands! {
    /// Choose what you are notified about, and how
    pub(crate) NotifyArgs, NotifyCommand {
        List(ListArgs),
        Add(Box<AddArgs>),
        Remove(RemoveArgs),
    }
}

/// List your rules
#[derive(Debug, clap::Args)]
struct ListArgs {
    #[command(flatten)]
    actor: ActorArg,
    #[command(flatten)]
    host: HostArgs,
}

/// Add a rule: notify me of what waits, by ntfy, in a chat, by a webhook or by mail
#[derive(Debug, clap::Args)]
struct AddArgs {
    /// A name of your own, such as phone; a rule of this name is replaced
    name: String,

    /// The format of the message
    #[arg(long, value_enum)]
    format: FormatArg,

    /// Where to: a public address, unless the operator permits others
    #[arg(long, value_name = "URL")]
    to_url: Option<String>,

    /// Only items of this project
    #[arg(long, value_name = "ID")]
    only_project: Option<ProjectId>,

    /// Only items of this kind, such as task.review or task.*; can be repeated
    #[arg(long, value_name = "KIND")]
    kind: Vec<String>,

    /// The lowest urgency to report; 1 is the most urgent, 4 the least
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..=4))]
    urgency: Option<u64>,

    /// When nothing is sent, such as 22:00-07:00+01:00
    #[arg(long, value_name = "HOURS")]
    quiet: Option<String>,

    #[command(flatten)]
    actor: ActorArg,
    #[command(flatten)]
    host: HostArgs,
}

/// Remove a rule
#[derive(Debug, clap::Args)]
struct RemoveArgs {
    /// The name of the rule
    name: String,

    #[command(flatten)]
    actor: ActorArg,
    #[command(flatten)]
    host: HostArgs,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum FormatArg {
    Json,
    Ntfy,
    Slack,
    Mail,
}

/// How often rules are read again that another command has changed meanwhile.
const TRIES: usize = 20;

type Rules = Answered<Json<NotificationRulesEnvelope>>;

impl ListArgs {
    fn run(self) -> Result<Exit> {
        let host = self.host.connect_or_create()?;
        let rules = shown(&host, &self.actor.acting()?)?;
        print(self.host.json, &rules)
    }
}

impl AddArgs {
    fn run(self) -> Result<Exit> {
        let host = self.host.connect_or_create()?;
        let by = self.actor.acting()?;
        let rule = NotificationRule {
            name: self.name,
            project: self.only_project,
            kinds: (!self.kind.is_empty()).then_some(self.kind),
            urgency: self.urgency,
            quiet: self.quiet,
            format: match self.format {
                FormatArg::Json => NotificationFormat::Json,
                FormatArg::Ntfy => NotificationFormat::Ntfy,
                FormatArg::Slack => NotificationFormat::Slack,
                FormatArg::Mail => NotificationFormat::Mail,
            },
            url: self.to_url,
        };
        let answer = change(&host, &by, |rules| {
            rules.retain(|other| other.name != rule.name);
            rules.push(rule.clone());
            Ok(())
        })?;
        print(self.host.json, &answer)
    }
}

impl RemoveArgs {
    fn run(self) -> Result<Exit> {
        let host = self.host.connect_or_create()?;
        let by = self.actor.acting()?;
        let answer = change(&host, &by, |rules| {
            let before = rules.len();
            rules.retain(|rule| rule.name != self.name);
            if rules.len() < before {
                return Ok(());
            }
            let message = format!("you have no rule {:?}", self.name);
            let advice = "`accord notify list` lists your rules";
            Err(Failure::new(Code::WireFieldValue, message).suggesting(advice).into())
        })?;
        print(self.host.json, &answer)
    }
}

fn who() -> Who {
    Who { actor: None, door: Some(Door::Cli) }
}

fn shown(host: &Connection, by: &Acting) -> Result<Rules> {
    let call = Call::<ShowNotifications>::new(NoParams, who(), NoBody);
    host.call_as_person(by, &call)
}

/// Changes the rules as they are now. Another command may change them at the same time: then they
/// are read again.
fn change(
    host: &Connection,
    by: &Acting,
    change: impl Fn(&mut Vec<NotificationRule>) -> Result<()>,
) -> Result<Rules> {
    let mut tries = TRIES;
    loop {
        let NotificationRulesEnvelope { mut rules, version, .. } = shown(host, by)?.answer.0;
        change(&mut rules)?;
        let body = Json(NotificationRules { rules, expect: version });
        let call = Call::<SetNotifications>::new(NoParams, who(), body);
        match host.call_as_person(by, &call) {
            Err(refused) if refused.code() == Some(Code::DecisionStale) && tries > 0 => tries -= 1,
            answer => return answer,
        }
    }
}

fn print(json: bool, answer: &Rules) -> Result<Exit> {
    print_answer(json, answer, |page, answer| {
        let NotificationRulesEnvelope { actor, rules, .. } = &answer.0;
        if rules.is_empty() {
            page.line(clean(&format!("{actor} has no rules; `accord notify add` adds one")));
        }
        for rule in rules {
            line(page, rule);
        }
    })
}

fn line(page: &mut Page, rule: &NotificationRule) {
    let mut line = format!("{}: {}", rule.name, rule.format.as_str());
    if let Some(url) = &rule.url {
        line = format!("{line} to {url}");
    }
    if let Some(project) = &rule.project {
        line = format!("{line}, only {project}");
    }
    if let Some(kinds) = &rule.kinds {
        line = format!("{line}, {}", kinds.join(" "));
    }
    if let Some(urgency) = rule.urgency {
        line = match urgency {
            1 => format!("{line}, urgency 1"),
            _ => format!("{line}, urgency 1 to {urgency}"),
        };
    }
    if let Some(quiet) = &rule.quiet {
        line = format!("{line}, quiet {quiet}");
    }
    page.line(clean(&line));
}
