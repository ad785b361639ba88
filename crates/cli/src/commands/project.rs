//! `accord project`: what packages, facts and sessions belong to.

use accord_contract::codes::Code;
use accord_contract::wire::{Object, Value};

use crate::error::CliError;
use crate::exit::Exit;
use crate::host::{Ask, HostArgs, setting};
use crate::show;

/// Create, list, rename, archive and restore projects
#[derive(Debug, clap::Args)]
pub(crate) struct ProjectArgs {
    #[command(subcommand)]
    command: ProjectCommand,
}

#[derive(Debug, clap::Subcommand)]
enum ProjectCommand {
    Create(CreateArgs),
    List(ListArgs),
    Show(ShowArgs),
    Rename(RenameArgs),
    /// Archive a project: it can be read, and takes no writes
    Archive(OneArgs),
    /// Restore an archived project
    Restore(OneArgs),
}

/// Create a project; the first deposit to one does so, too
#[derive(Debug, clap::Args)]
struct CreateArgs {
    /// Its id
    id: String,

    /// What people call it; its id when absent
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,

    /// What it is about
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,

    #[command(flatten)]
    host: HostArgs,
}

/// List projects
#[derive(Debug, clap::Args)]
struct ListArgs {
    /// Archived ones, too
    #[arg(long)]
    include_archived: bool,

    /// At most so many; 50 when absent
    #[arg(long, value_name = "N")]
    limit: Option<u32>,

    /// Go on where an earlier answer ended
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,

    #[command(flatten)]
    host: HostArgs,
}

/// Show one project
#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// Its id; ACCORD_PROJECT when absent
    id: Option<String>,

    #[command(flatten)]
    host: HostArgs,
}

/// Give a project another name; its id stays
#[derive(Debug, clap::Args)]
struct RenameArgs {
    /// Its id
    id: String,

    /// What people are to call it
    name: String,

    /// What it is about; stays as it is when absent
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,

    #[command(flatten)]
    host: HostArgs,
}

#[derive(Debug, clap::Args)]
struct OneArgs {
    /// Its id
    id: String,

    #[command(flatten)]
    host: HostArgs,
}

impl ProjectArgs {
    pub(crate) fn run(self) -> Result<Exit, CliError> {
        match self.command {
            ProjectCommand::Create(args) => args.run(),
            ProjectCommand::List(args) => args.run(),
            ProjectCommand::Show(args) => args.run(),
            ProjectCommand::Rename(args) => args.run(),
            ProjectCommand::Archive(args) => args.go("archive"),
            ProjectCommand::Restore(args) => args.go("unarchive"),
        }
    }
}

impl CreateArgs {
    fn run(self) -> Result<Exit, CliError> {
        let mut body = words(self.name, self.description);
        body.insert("project_id".to_owned(), self.id.into());
        let ask = Ask::post(&["v1", "projects"], &Value::Object(body));
        let answer = self.host.connect_or_create()?.ask(ask)?;
        answer.print(self.host.json, show::project)?;
        Ok(Exit::Yes)
    }
}

impl ListArgs {
    fn run(self) -> Result<Exit, CliError> {
        let ask = Ask::get(&["v1", "projects"])
            .with_flag("include_archived", self.include_archived)
            .with_number("limit", self.limit)
            .with("cursor", self.cursor.as_ref());
        let answer = self.host.connect()?.ask(ask)?;
        answer.print_list(
            self.host.json,
            |page, list| show::projects(page, &list["projects"]),
            || {
                "there are no projects yet; `accord project create` or the first deposit makes one"
                    .to_owned()
            },
        )?;
        Ok(Exit::Yes)
    }
}

impl ShowArgs {
    fn run(self) -> Result<Exit, CliError> {
        let id = self.id.or_else(|| setting("ACCORD_PROJECT")).ok_or_else(|| {
            CliError::new(Code::Usage, "no project is named")
                .help("name its id, or set ACCORD_PROJECT; `accord project list` shows which there are")
        })?;
        let answer = self
            .host
            .connect()?
            .ask(Ask::get(&["v1", "projects", &id]))?;
        answer.print(self.host.json, show::project)?;
        Ok(Exit::Yes)
    }
}

impl RenameArgs {
    fn run(self) -> Result<Exit, CliError> {
        let body = Value::Object(words(Some(self.name), self.description));
        let ask = Ask::new(hyper::Method::PATCH, &["v1", "projects", &self.id]);
        let answer = self.host.connect()?.ask(ask.document(body.to_string()))?;
        answer.print(self.host.json, show::project)?;
        Ok(Exit::Yes)
    }
}

impl OneArgs {
    fn go(self, verb: &str) -> Result<Exit, CliError> {
        let ask = Ask::new(hyper::Method::POST, &["v1", "projects", &self.id, verb]);
        let answer = self.host.connect()?.ask(ask)?;
        answer.print(self.host.json, show::project)?;
        Ok(Exit::Yes)
    }
}

fn words(name: Option<String>, description: Option<String>) -> Object {
    let members = [("name", name), ("description", description)];
    let members = members.into_iter();
    members
        .filter_map(|(name, value)| Some((name.to_owned(), Value::from(value?))))
        .collect()
}
