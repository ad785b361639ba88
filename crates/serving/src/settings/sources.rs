//! Where settings come from, and which source overrides which.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use accord_contract::closest::closest;
use accord_contract::{Code, Failure};
use rustix::fs::OFlags;
use serde_json::Value;

use super::trust::checked_text;
use super::value::is_weaker;
use super::{DECLARATIONS, Declaration, ExecutorKind, Settings, default_text};

/// The name of the settings file in a data folder.
pub const CONFIG_FILE: &str = "accord.toml";
/// The largest settings file that is read.
const LARGEST: u64 = 1024 * 1024;
/// The prefix of all environment variables of Accord.
const PREFIX: &str = "ACCORD_";
/// The edit distance up to which an unknown variable is taken for a misspelt setting. Other
/// variables with our prefix are legitimate, so unknown names in general are not an error.
const SLIP: usize = 2;

/// A setting in a source: its name, its text, and the source.
type Given = (&'static str, String, Origin);

#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The settings file of the user, which may be absent.
    pub user: Option<PathBuf>,
    /// The data folder; its settings file may be absent.
    pub folder: PathBuf,
    /// A file to read instead of the data folder's. It must exist.
    pub file: Option<PathBuf>,
    pub environment: Vec<(String, String)>,
    /// Flags: the name of the setting and its text.
    pub flags: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
pub struct Resolved {
    pub settings: Settings,
    pub entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
pub struct Entry {
    pub declaration: &'static Declaration,
    pub value: Value,
    pub origin: Origin,
    /// A weaker value that does not hold, because it is in the file of a data folder.
    pub ignored: Option<(String, PathBuf)>,
}

impl Entry {
    /// The value as a flag or a variable would give it; empty if there is none.
    pub fn shown(&self) -> String {
        match &self.value {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            // A list of objects is shown as JSON.
            Value::Array(items) if items.iter().all(Value::is_string) => {
                let items: Vec<_> = items.iter().filter_map(Value::as_str).collect();
                items.join(",")
            }
            other => other.to_string(),
        }
    }
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Origin {
    Default,
    File(PathBuf),
    Environment(String),
    Flag,
}

impl Origin {
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::File(_) => "file",
            Self::Environment(_) => "environment",
            Self::Flag => "flag",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default | Self::Flag => f.write_str(self.kind()),
            Self::File(path) => write!(f, "{}", path.display()),
            Self::Environment(name) => write!(f, "${name}"),
        }
    }
}

impl Sources {
    /// The sources of a process: the folder, its environment, and `flags`.
    pub fn of_process(folder: &Path, file: Option<&Path>, flags: Vec<(String, String)>) -> Self {
        // Variables that are not UTF-8 cannot be ours.
        let variable = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self {
            user: user_file(),
            folder: folder.to_owned(),
            file: file.map(Path::to_owned),
            environment: std::env::vars_os().filter_map(variable).collect(),
            flags,
        }
    }

    pub fn resolve(&self) -> Result<Resolved, Failure> {
        let mut given: BTreeMap<&'static str, (String, Origin)> = BTreeMap::new();
        let mut ignored: BTreeMap<&'static str, (String, PathBuf)> = BTreeMap::new();
        let user = self.user.as_deref().map(|path| in_file(path, true)).transpose()?;
        for (name, text, origin) in user.into_iter().flatten() {
            given.insert(name, (text, origin));
        }
        for (name, text, origin) in self.in_file()? {
            let held = given.get(name).map_or_else(|| default_text(name), |(held, _)| held);
            match origin {
                Origin::File(path) if self.file.is_none() && is_weaker(name, &text, held) => {
                    ignored.insert(name, (text, path));
                }
                origin => {
                    given.insert(name, (text, origin));
                }
            }
        }
        for (name, text, origin) in self.in_environment()?.into_iter().chain(self.in_flags()?) {
            // A later source replaces the value of an earlier one.
            given.insert(name, (text, origin));
        }
        let text = |name: &str| match given.get(name) {
            Some((text, _)) => text.as_str(),
            None => default_text(name),
        };
        let settings = Settings::build(text).map_err(|(name, problem)| {
            let message = format!("{name}: {:?} {problem}", text(name));
            Failure::new(Code::SettingInvalid, message).with("setting", name)
        })?;
        check_together(&settings)?;
        let entry = |declaration: &'static Declaration| Entry {
            declaration,
            value: settings.shown(declaration.name).unwrap_or_default(),
            origin: (given.get(declaration.name))
                .map_or(Origin::Default, |(_, origin)| origin.clone()),
            ignored: ignored.get(declaration.name).cloned(),
        };
        let entries = DECLARATIONS.iter().map(entry).collect();
        Ok(Resolved { settings, entries })
    }

    fn in_file(&self) -> Result<Vec<Given>, Failure> {
        match &self.file {
            Some(path) => in_file(path, false),
            // If the data folder cannot exist either, opening it reports that.
            None => in_file(&self.folder.join(CONFIG_FILE), true),
        }
    }

    fn in_environment(&self) -> Result<Vec<Given>, Failure> {
        let mut found = Vec::new();
        let ours = self.environment.iter().filter(|(name, _)| name.starts_with(PREFIX));
        for (variable, value) in ours {
            let declaration =
                DECLARATIONS.iter().find(|declaration| variable_of(declaration.name) == *variable);
            if let Some(declaration) = declaration {
                let origin = Origin::Environment(variable.clone());
                found.push((declaration.name, value.clone(), origin));
                continue;
            }
            let near = DECLARATIONS.iter().map(|declaration| variable_of(declaration.name));
            let near = near.min_by_key(|near| strsim::levenshtein(variable, near));
            if let Some(near) = near.filter(|near| strsim::levenshtein(variable, near) <= SLIP) {
                return Err(unknown(&format!("the variable {variable}"), Some(&near)));
            }
        }
        Ok(found)
    }

    fn in_flags(&self) -> Result<Vec<Given>, Failure> {
        let flag = |(name, text): &(String, String)| {
            let declaration = find(name).map_err(|near| unknown(&format!("{name:?}"), near))?;
            Ok((declaration.name, text.clone(), Origin::Flag))
        };
        self.flags.iter().map(flag).collect()
    }
}

/// The settings in a file, which may be absent if `is_optional`.
fn in_file(path: &Path, is_optional: bool) -> Result<Vec<Given>, Failure> {
    let is_absent = |error: &io::Error| {
        matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
    };
    let text = match checked_text(path).unwrap_or_else(|| read_text(path)) {
        Ok(text) => text,
        Err(error) if is_optional && is_absent(&error) => return Ok(Vec::new()),
        Err(error) => {
            let message = format!("{}: {error}", path.display());
            return Err(Failure::new(Code::InputUnreadable, message));
        }
    };
    in_text(path, &text)
}

/// Reads a settings file. Something else in its place, such as a pipe, is not waited for.
pub(super) fn read_text(path: &Path) -> io::Result<String> {
    let no_wait = i32::try_from(OFlags::NONBLOCK.bits()).map_err(io::Error::other)?;
    let file = fs::OpenOptions::new().read(true).custom_flags(no_wait).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut text = String::new();
    file.take(LARGEST).read_to_string(&mut text)?;
    Ok(text)
}

/// The settings in the text of a file.
pub(super) fn in_text(path: &Path, text: &str) -> Result<Vec<Given>, Failure> {
    let invalid = |problem: String| {
        let message = format!("{}: {problem}", path.display());
        Failure::new(Code::SettingInvalid, message)
    };
    let table: toml::Table = (text.parse())
        .map_err(|error: toml::de::Error| invalid(error.to_string().trim_end().to_owned()))?;
    let mut found = Vec::new();
    for (name, value) in flat(table) {
        let declaration =
            find(&name).map_err(|near| unknown(&format!("{}: {name:?}", path.display()), near))?;
        let text = text_of(&value)
            .ok_or_else(|| invalid(format!("{name} must be a string, number, boolean or list")))?;
        found.push((declaration.name, text, Origin::File(path.to_owned())));
    }
    Ok(found)
}

/// `$XDG_CONFIG_HOME/accord/accord.toml`, else `~/.config/accord/accord.toml`.
fn user_file() -> Option<PathBuf> {
    let folder = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    // The standard says that a relative path is ignored.
    let folder = folder.filter(|path| path.is_absolute());
    let folder = folder.or_else(|| Some(std::env::home_dir()?.join(".config")));
    folder.filter(|path| path.is_absolute()).map(|path| path.join("accord").join(CONFIG_FILE))
}

pub fn variable_of(name: &str) -> String {
    format!("{PREFIX}{}", name.replace('.', "_").to_uppercase())
}

fn check_together(settings: &Settings) -> Result<(), Failure> {
    let message = if settings.tls.cert.is_some() != settings.tls.key.is_some() {
        "tls.cert and tls.key belong together; give both or none"
    } else if settings.embeddings.url.is_some() == settings.embeddings.model.is_empty() {
        "embeddings.url and embeddings.model belong together; give both or none"
    } else if settings.tasks.executor == ExecutorKind::Command && settings.tasks.command.is_none() {
        "tasks.executor is command, and tasks.command is empty; give the command of an agent"
    } else if settings.notify.secret_file.is_some() && settings.notify.url.is_none() {
        "notify.secret_file signs requests to notify.url, which is empty"
    } else if settings.tasks_notify.secret_file.is_some() && settings.tasks_notify.url.is_none() {
        "tasks.notify.secret_file signs requests to tasks.notify.url, which is empty"
    } else {
        return Ok(());
    };
    Err(Failure::new(Code::SettingInvalid, message))
}

/// The setting with a name, or else a setting with a similar name.
fn find(name: &str) -> Result<&'static Declaration, Option<&'static str>> {
    let found = DECLARATIONS.iter().find(|declaration| declaration.name == name);
    found.ok_or_else(|| closest(name, DECLARATIONS.iter().map(|declaration| declaration.name)))
}

fn unknown(what: &str, near: Option<&str>) -> Failure {
    let failure = |message| Failure::new(Code::SettingUnknown, message);
    match near {
        Some(near) => failure(format!("{what} is not a setting; the closest is {near}"))
            .suggesting(format!("did you mean {near}?")),
        None => failure(format!("{what} is not a setting"))
            .suggesting("`accord config show` lists all settings"),
    }
}

/// The values of a table and its subtables, with dotted names.
fn flat(table: toml::Table) -> Vec<(String, toml::Value)> {
    let mut found = Vec::new();
    for (name, value) in table {
        match value {
            toml::Value::Table(inner) => {
                let inner = flat(inner).into_iter();
                found.extend(inner.map(|(below, value)| (format!("{name}.{below}"), value)));
            }
            value => found.push((name, value)),
        }
    }
    found
}

/// A TOML value as the text that a flag would have.
fn text_of(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Boolean(truth) => Some(truth.to_string()),
        toml::Value::Array(items) => {
            if !items.is_empty() && items.iter().all(toml::Value::is_table) {
                // Tables are given as JSON, as a flag gives them.
                return serde_json::to_string(items).ok();
            }
            let items = items.iter().map(|item| item.as_str());
            Some(items.collect::<Option<Vec<_>>>()?.join(","))
        }
        toml::Value::Float(_) | toml::Value::Datetime(_) | toml::Value::Table(_) => None,
    }
}
