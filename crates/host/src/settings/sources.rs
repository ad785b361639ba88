//! Where settings come from, and which of them holds.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use accord_contract::closest::closest;
use accord_contract::codes::{Code, Failure};
use serde_json::Value;

use super::{KNOWN, Known, Settings, default_text};

/// The file of the settings in a data folder.
pub const CONFIG_FILE: &str = "accord.toml";

/// What all environment variables of Accord begin with.
const PREFIX: &str = "ACCORD_";

/// How near a variable's name must be to a setting's to be taken for a mistake. There are variables
/// of our prefix that are no settings, and others may set some for reasons of their own.
const SLIP: usize = 2;

/// Where to look for settings.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// The data folder, whose file may be absent.
    pub folder: PathBuf,
    /// A file to read instead of the folder's, which must be there.
    pub file: Option<PathBuf>,
    /// The environment variables.
    pub environment: Vec<(String, String)>,
    /// What flags say: the name of the setting and its text.
    pub flags: Vec<(String, String)>,
}

/// The settings that hold, and why.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// What holds.
    pub settings: Settings,
    /// Every setting with its origin.
    pub entries: Vec<Entry>,
}

/// One setting, as it is shown.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Which setting it is.
    pub known: &'static Known,
    /// What holds.
    pub value: Value,
    /// Who said so.
    pub origin: Origin,
}

/// Who said what holds.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Origin {
    /// Nobody.
    Default,
    /// A file.
    File(PathBuf),
    /// An environment variable.
    Environment(String),
    /// A flag of the command.
    Flag,
}

impl Origin {
    /// What kind of origin it is, in one word.
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
        // A variable that is no text is not ours: our names and values are.
        let variable = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        Self {
            folder: folder.to_owned(),
            file: file.map(Path::to_owned),
            environment: std::env::vars_os().filter_map(variable).collect(),
            flags,
        }
    }

    /// Finds out what holds.
    ///
    /// # Errors
    /// When a file cannot be read, a name is not known, or a value cannot be had.
    pub fn resolve(&self) -> Result<Resolved, Failure> {
        let mut said: BTreeMap<&'static str, (String, Origin)> = BTreeMap::new();
        for (name, text, origin) in (self.in_file()?.into_iter())
            .chain(self.in_environment()?)
            .chain(self.in_flags()?)
        {
            said.insert(name, (text, origin));
        }
        let text = |name: &str| match said.get(name) {
            Some((text, _)) => text.as_str(),
            None => default_text(name),
        };
        let settings = Settings::build(text).map_err(|(name, problem)| {
            let message = format!("{name}: {:?} {problem}", text(name));
            Failure::new(Code::SettingInvalid, message).with("setting", name)
        })?;
        check_together(&settings)?;
        let entry = |known: &'static Known| Entry {
            known,
            value: settings.shown(known.name).unwrap_or_default(),
            origin: (said.get(known.name)).map_or(Origin::Default, |(_, origin)| origin.clone()),
        };
        let entries = KNOWN.iter().map(entry).collect();
        Ok(Resolved { settings, entries })
    }

    fn in_file(&self) -> Result<Vec<(&'static str, String, Origin)>, Failure> {
        let path = (self.file.clone()).unwrap_or_else(|| self.folder.join(CONFIG_FILE));
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            // Where no folder can be either, whoever opens that says so.
            Err(error)
                if self.file.is_none()
                    && matches!(
                        error.kind(),
                        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                    ) =>
            {
                return Ok(Vec::new());
            }
            Err(error) => {
                let message = format!("{}: {error}", path.display());
                return Err(Failure::new(Code::InputUnreadable, message));
            }
        };
        let invalid = |problem: String| {
            let message = format!("{}: {problem}", path.display());
            Failure::new(Code::SettingInvalid, message)
        };
        let table: toml::Table = (text.parse())
            .map_err(|error: toml::de::Error| invalid(error.to_string().trim_end().to_owned()))?;
        let mut found = Vec::new();
        for (name, value) in flat(table) {
            let known = known(&name)
                .map_err(|near| unknown(&format!("{}: {name:?}", path.display()), near))?;
            let text = text_of(&value).ok_or_else(|| {
                invalid(format!("{name} must be a text, number, boolean or list"))
            })?;
            found.push((known.name, text, Origin::File(path.clone())));
        }
        Ok(found)
    }

    fn in_environment(&self) -> Result<Vec<(&'static str, String, Origin)>, Failure> {
        let mut found = Vec::new();
        for (variable, value) in &self.environment {
            if !variable.starts_with(PREFIX) {
                continue;
            }
            let known = KNOWN
                .iter()
                .find(|known| variable_of(known.name) == *variable);
            if let Some(known) = known {
                let origin = Origin::Environment(variable.clone());
                found.push((known.name, value.clone(), origin));
                continue;
            }
            let near = KNOWN.iter().map(|known| variable_of(known.name));
            let near = near.min_by_key(|near| strsim::levenshtein(variable, near));
            if let Some(near) = near.filter(|near| strsim::levenshtein(variable, near) <= SLIP) {
                return Err(unknown(&format!("the variable {variable}"), Some(&near)));
            }
        }
        Ok(found)
    }

    fn in_flags(&self) -> Result<Vec<(&'static str, String, Origin)>, Failure> {
        let flag = |(name, text): &(String, String)| {
            let known = known(name).map_err(|near| unknown(&format!("{name:?}"), near))?;
            Ok((known.name, text.clone(), Origin::Flag))
        };
        self.flags.iter().map(flag).collect()
    }
}

/// The environment variable of a setting.
pub fn variable_of(name: &str) -> String {
    format!("{PREFIX}{}", name.replace('.', "_").to_uppercase())
}

/// What must be said together.
fn check_together(settings: &Settings) -> Result<(), Failure> {
    if settings.tls.cert.is_some() == settings.tls.key.is_some() {
        return Ok(());
    }
    let message = "tls.cert and tls.key belong together; give both or none";
    Err(Failure::new(Code::SettingInvalid, message))
}

/// The setting of a name, or one of a name that is near.
fn known(name: &str) -> Result<&'static Known, Option<&'static str>> {
    let found = KNOWN.iter().find(|known| known.name == name);
    found.ok_or_else(|| closest(name, KNOWN.iter().map(|known| known.name)))
}

fn unknown(what: &str, near: Option<&str>) -> Failure {
    let failure = |message| Failure::new(Code::SettingUnknown, message);
    match near {
        Some(near) => failure(format!("{what} is no setting; the nearest is {near}"))
            .suggesting(format!("did you mean {near}?")),
        None => failure(format!("{what} is no setting"))
            .suggesting("`accord config show` lists the settings that there are"),
    }
}

/// The values of a table and of the tables in it, under dotted names.
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

/// A value of a file as the text that it would have elsewhere.
fn text_of(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Boolean(truth) => Some(truth.to_string()),
        toml::Value::Array(items) => {
            let items = items.iter().map(|item| item.as_str());
            Some(items.collect::<Option<Vec<_>>>()?.join(","))
        }
        toml::Value::Float(_) | toml::Value::Datetime(_) | toml::Value::Table(_) => None,
    }
}
