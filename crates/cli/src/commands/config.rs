//! `accord config`: the settings, and where they come from.

use std::path::PathBuf;

use accord_base::evidence::ExpectedDigest;
use accord_contract::Code;
use accord_host::settings::{Entry, Origin, Resolved, Sources, Untrusted, variable_of};
use serde_json::json;

use crate::host::{DataFolder, check_person, full_path, setting};
use crate::render::{clean, table};
use crate::terminal::{ask, can_ask, is_yes};
use crate::{CliError, Exit, Result, print_line, print_note, print_page};

subcommands! {
    /// Show the settings, and trust those of a data folder
    pub(crate) ConfigArgs, ConfigCommand {
        Show(ShowArgs),
        Trust(TrustArgs),
    }
}

/// Trust the settings in a data folder that name servers and programs
///
/// A folder `.accord` that is found, and not named by --data or ACCORD_DATA, may have come with a
/// clone, or from an agent. Its file `accord.toml` can name servers, programs, files and web
/// origins only if you have trusted it. Trust ends when the file changes.
#[derive(Debug, clap::Args)]
struct TrustArgs {
    /// Print JSON, also for errors
    #[arg(long)]
    json: bool,

    /// The data folder [default: ACCORD_DATA, or the nearest `.accord` upwards]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Do not ask; trust the file if its SHA-256 is this one, or begins with these 32 digits or
    /// more
    #[arg(long, value_name = "DIGEST", value_parser = ExpectedDigest::parse)]
    expect: Option<ExpectedDigest>,
}

impl TrustArgs {
    fn run(self) -> Result<Exit> {
        check_person()?;
        let folder = DataFolder::untrusted(self.data.as_deref())?.usable()?;
        let found = Untrusted::read(&folder)?;
        let names: Vec<&str> = found.settings.iter().map(|(name, _)| *name).collect();
        if !names.is_empty() {
            self.ask(&found)?;
            found.trust()?;
        }
        if self.json {
            return print_line(json!({"folder": full_path(&folder), "trusted": names}).to_string());
        }
        let file = clean(&format!("{}/accord.toml", full_path(&folder)));
        print_line(match names.is_empty() {
            true => format!("{file} sets nothing that needs trust"),
            false => format!("{file} is trusted as it was shown: {}", names.join(", ")),
        })
    }

    /// Asks about the settings that were read, so that the answer is about no other text.
    fn ask(&self, found: &Untrusted) -> Result<()> {
        let digest = found.digest();
        if let Some(expect) = &self.expect {
            return match expect.is(digest.as_str()) {
                true => Ok(()),
                false => {
                    let message = format!("the SHA-256 of the file is {digest} now");
                    let changed = CliError::new(Code::XchainEvidenceChanged, message);
                    Err(changed.help("look at the file again, then decide again"))
                }
            };
        }
        let lines = found.settings.iter().map(|(name, value)| clean(&format!("{name} = {value}")));
        let lines = Vec::from_iter(lines).join("\n");
        if !can_ask() {
            let message = format!("no terminal to ask on: trust these settings?\n{lines}");
            return Err(CliError::new(Code::XchainConfirmationNeeded, message)
                .help(format!("if they are yours: accord config trust --expect {digest}")));
        }
        print_note(&lines);
        match is_yes(&ask("trust these settings? [y/N] ")?.unwrap_or_default()) {
            true => Ok(()),
            false => Err(CliError::new(Code::XchainGivenUp, "no; nothing was changed")),
        }
    }
}

/// Print every setting with its value and origin
#[derive(Debug, clap::Args)]
struct ShowArgs {
    /// Print JSON, also for errors
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    settings: SettingArgs,
}

/// Where settings come from.
#[derive(Debug, clap::Args)]
pub(crate) struct SettingArgs {
    /// The data folder [default: ACCORD_DATA, or the nearest `.accord` upwards]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// The settings file, instead of accord.toml in the data folder
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// The address and port to listen on; port 0 chooses a free port
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,

    /// The TLS certificate and its chain, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<String>,

    /// The private key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<String>,

    /// A proxy in front of the server terminates TLS
    #[arg(long)]
    behind_proxy: bool,

    /// Refuse writes to projects that were not created first
    #[arg(long)]
    strict_projects: bool,

    /// The log level: error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL")]
    log_level: Option<String>,

    /// The log format: text or json
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<String>,

    /// Any setting by its name, for example limits.body_bytes=1MiB; can be repeated
    #[arg(long = "set", value_name = "NAME=VALUE")]
    set: Vec<String>,
}

impl ShowArgs {
    fn run(self) -> Result<Exit> {
        let entries = self.settings.resolve()?.entries;
        if !self.json {
            let rows: Vec<Vec<String>> = entries.iter().map(row).collect();
            return print_page(|page| table(page, &["SETTING", "VALUE", "FROM"], &rows));
        }
        let entries = entries.iter().map(|entry| {
            let place = match &entry.origin {
                Origin::Default | Origin::Flag => None,
                Origin::File(path) => Some(path.to_string_lossy().into_owned()),
                Origin::Environment(name) => Some(name.clone()),
            };
            let ignored = entry.ignored.as_ref();
            let ignored = ignored.map(|(value, path)| json!({"value": value, "place": path}));
            json!({
                "name": entry.declaration.name,
                "value": entry.value,
                "origin": entry.origin.kind(),
                "place": place,
                "ignored": ignored,
                "variable": variable_of(entry.declaration.name),
                "about": entry.declaration.about,
            })
        });
        print_line(json!({"settings": entries.collect::<Vec<_>>()}).to_string())
    }
}

impl SettingArgs {
    pub(crate) fn folder(&self) -> Result<PathBuf> {
        DataFolder::of(self.data.as_deref())?.usable()
    }

    pub(crate) fn resolve(&self) -> Result<Resolved> {
        let file = self.config.clone().or_else(|| setting("ACCORD_CONFIG").map(PathBuf::from));
        let folder = DataFolder::of(self.data.as_deref())?;
        let folder = match folder.is_named {
            true => folder.path,
            // Shown as the origin of settings.
            false => full_path(&folder.path).into(),
        };
        Ok(Sources::of_process(&folder, file.as_deref(), self.flags()?).resolve()?)
    }

    /// The settings that flags give, by name.
    fn flags(&self) -> Result<Vec<(String, String)>> {
        let mut flags = Vec::new();
        for text in &self.set {
            let (name, value) = text.split_once('=').ok_or_else(|| {
                CliError::usage(format!("--set {text}: the value is missing"))
                    .help("write --set NAME=VALUE")
            })?;
            flags.push((name.to_owned(), value.to_owned()));
        }
        let texts = [
            ("listen", &self.listen),
            ("tls.cert", &self.tls_cert),
            ("tls.key", &self.tls_key),
            ("log.level", &self.log_level),
            ("log.format", &self.log_format),
        ];
        for (name, text) in texts {
            flags.extend(text.iter().map(|text| (name.to_owned(), text.clone())));
        }
        let switches =
            [("behind_proxy", self.behind_proxy), ("strict_projects", self.strict_projects)];
        for (name, _) in switches.iter().filter(|(_, on)| *on) {
            flags.push(((*name).to_owned(), "true".to_owned()));
        }
        Ok(flags)
    }
}

fn row(entry: &Entry) -> Vec<String> {
    let value = entry.shown();
    let value = if value.is_empty() { "-" } else { &value };
    let mut origin = entry.origin.to_string();
    if let Some((ignored, path)) = &entry.ignored {
        let path = path.display();
        origin.push_str(&format!(
            " (not {ignored:?} of {path}: only your own settings can let workers do more)"
        ));
    }
    vec![entry.declaration.name.to_owned(), clean(value), clean(&origin)]
}
