//! `accord project use`: the default project and server of a data folder.

use std::path::PathBuf;

use accord_contract::{Code, Wire as _};
use accord_host::settings::{Untrusted, write_settings};
use accord_host::upkeep::create_folder;

use crate::commands::answers::UseAnswer;
use crate::host::{DataFolder, IfMissing, TargetArgs, check_person, full_path};
use crate::render::clean;
use crate::{CliError, Exit, Result, print_line, print_note};

/// Set the default project of a data folder, and its server
///
/// The defaults are `project` and `url` in accord.toml in the data folder. They apply to commands
/// in the folder that contains it, and below. Flags and environment variables override them.
#[derive(Debug, clap::Args)]
pub(super) struct UseArgs {
    /// The project id
    id: String,

    /// The URL of the server that commands without --url and --data ask
    #[arg(long)]
    url: Option<String>,

    /// The data folder [default: ACCORD_DATA, or the nearest `.accord` upwards, or a new one]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Print JSON, also for errors
    #[arg(long)]
    json: bool,
}

impl UseArgs {
    pub(super) fn run(self) -> Result<Exit> {
        let folder = DataFolder::of(self.data.as_deref())?.usable()?;
        // Before anything is written: a wrong URL or a missing key is noticed here.
        let is_new = self.is_new_project()?;
        if !folder.is_dir() {
            create_folder(&folder).map_err(|error| {
                let message = format!("cannot create {}: {error}", full_path(&folder));
                CliError::new(Code::StoreFolderUnusable, message)
            })?;
        }
        let mut values = vec![("project", self.id.as_str())];
        values.extend(self.url.as_deref().map(|url| ("url", url)));
        if self.url.is_some() {
            check_person()?;
        }
        write_settings(&folder, &values)?;
        if self.url.is_some() {
            Untrusted::read(&folder)?.trust()?;
        }
        let (project, url) = (self.id.clone(), self.url);
        let answer = UseAnswer { project, url, folder: full_path(&folder) };
        let printed = print_line(if self.json {
            answer.encode().to_string()
        } else {
            let server = answer.url.map_or_else(String::new, |url| format!(" on {url}"));
            let file = format!("{}/accord.toml", answer.folder);
            clean(&format!("{} is the default project{server}, set in {file}", answer.project))
        })?;
        if is_new {
            let note = format!("{} does not exist yet; the first write creates it", self.id);
            print_note(clean(&note));
        }
        Ok(printed)
    }

    /// Whether the host has no such project yet.
    fn is_new_project(&self) -> Result<bool> {
        let host = TargetArgs { url: self.url.clone(), key: None, data: self.data.clone() };
        match host.connect(IfMissing::Fail) {
            Ok(host) => host.lacks(&self.id),
            Err(error) if error.code() == Some(Code::StoreMissing) => Ok(true),
            Err(error) => Err(error),
        }
    }
}
