//! Tools and sets of tools as data, and the tools that a server offers.
//!
//! Invariant: a [`Toolbox`] has no two tools with the same name.

use std::{collections::BTreeMap, sync::Arc};

use accord_contract::{Code, Failure, Protocol, Value, closest::closest};
use rmcp::model::{MetaObject, Tool as Described, ToolAnnotations};

use super::{Answer, Argument, Call, HostRequest, Output, Prompt, ResourceSet, ToolResult};
use super::{argument, output};

#[derive(Debug)]
pub struct Toolset {
    /// The set's name, for `--tools` and the path `/mcp/{name}`.
    pub name: &'static str,
    /// The protocol whose codes failures of its tools have.
    pub protocol: Protocol,
    /// Instructions for models, in a few sentences.
    pub instructions: &'static str,
    /// The tools, in the order in which clients list them.
    pub tools: &'static [Tool],
    /// The prompts that come with the whole set.
    pub prompts: &'static [Prompt],
    /// The resources that come with the whole set.
    pub resources: Option<&'static ResourceSet>,
    /// Advice for models about failures, in addition to their messages.
    pub advice: &'static [Advice],
    /// For which side a tool is, by its name.
    pub visibility: fn(&str) -> Visibility,
    /// Whether a call that its client cancels is dropped at once. Only for a set whose calls lose
    /// nothing then.
    pub is_cancellable: bool,
}

/// For which side a tool is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Visibility {
    /// For models. It does not say so, because that is the default.
    Model,
    /// For models, and a host shows its result in a frame with this resource.
    Shown(&'static str),
    /// For pages alone, as MCP Apps has it: a host hides it from its model.
    App,
}

#[derive(Clone, Copy, Debug)]
pub struct Advice {
    pub code: Code,
    /// Applies only if the failure is about this argument.
    pub field: Option<&'static str>,
    /// What to do, naming tools.
    pub what_to_do: &'static str,
}

impl Advice {
    pub const fn on(code: Code, what_to_do: &'static str) -> Self {
        Self { code, field: None, what_to_do }
    }

    pub const fn about(code: Code, field: &'static str, what_to_do: &'static str) -> Self {
        Self { code, field: Some(field), what_to_do }
    }
}

/// One tool: a request to a host, with a description for models.
#[derive(Debug)]
pub struct Tool {
    /// Its name. It begins with the set's name, to differ from tools of other servers.
    pub name: &'static str,
    pub title: &'static str,
    /// What it does and when to call it.
    pub description: &'static str,
    pub arguments: &'static [Argument],
    pub effect: Effect,
    /// The members of its receipt, if every successful answer is one.
    pub output: Option<&'static [Output]>,
    /// How the arguments become a request.
    pub ask: fn(&Call<'_>) -> Result<HostRequest, Failure>,
    /// How the answer becomes the result.
    pub answer: fn(&Call<'_>, &Answer) -> Result<ToolResult, Failure>,
    /// The failure for which the result is `null` rather than an error.
    pub null_on: Option<Code>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Effect {
    Reads,
    /// Every call adds something.
    Adds,
    /// Adds or changes something; repeating the call changes nothing more.
    AddsOnce,
    /// Ends something; repeating the call changes nothing more.
    Ends,
}

/// The tools that a server offers.
#[derive(Clone, Debug)]
pub struct Toolbox {
    instructions: Vec<&'static str>,
    tools: Vec<ToolEntry>,
    /// The sets that are offered as a whole.
    sets: Vec<&'static Toolset>,
}

#[derive(Clone, Copy, Debug)]
pub struct ToolEntry {
    pub set: &'static Toolset,
    pub tool: &'static Tool,
}

/// The resources, and the sets that they come with.
pub(crate) type Resources = Vec<(&'static Toolset, &'static ResourceSet)>;

impl Toolbox {
    /// All tools of several sets. Fails if two have the same name.
    pub fn join(sets: &[&'static Toolset]) -> Result<Self, Failure> {
        let mut found: BTreeMap<&str, &str> = BTreeMap::new();
        let mut tools = Vec::new();
        for set in sets {
            for tool in set.tools {
                if let Some(other) = found.insert(tool.name, set.name) {
                    return Err(twice(tool.name, other, set.name));
                }
                tools.push(ToolEntry { set, tool });
            }
        }
        let instructions = sets.iter().map(|set| set.instructions).collect();
        Ok(Self { instructions, tools, sets: sets.to_vec() })
    }

    /// Only the tools in a list of names of tools and sets. Prompts and resources come with a set
    /// that is named.
    pub fn only<'a>(mut self, names: impl IntoIterator<Item = &'a str>) -> Result<Self, Failure> {
        let mut wanted = vec![false; self.tools.len()];
        let mut whole: Vec<&str> = Vec::new();
        for name in names {
            whole.push(name);
            let mut known = false;
            for (entry, wanted) in self.tools.iter().zip(&mut wanted) {
                if entry.tool.name == name || entry.set.name == name {
                    (known, *wanted) = (true, true);
                }
            }
            if !known {
                let mut sets: Vec<&str> = self.tools.iter().map(|entry| entry.set.name).collect();
                sets.dedup();
                return Err(self.unknown(name, sets));
            }
        }
        let mut wanted = wanted.into_iter();
        self.tools.retain(|_| wanted.next().unwrap_or(false));
        let kept = |words: &&str| self.tools.iter().any(|tool| tool.set.instructions == *words);
        self.instructions.retain(kept);
        self.sets.retain(|set| whole.contains(&set.name));
        Ok(self)
    }

    pub fn prompts(&self) -> Vec<&'static Prompt> {
        self.sets.iter().flat_map(|set| set.prompts).collect()
    }

    pub(crate) fn resources(&self) -> Resources {
        self.sets.iter().filter_map(|set| Some((*set, set.resources?))).collect()
    }

    pub fn set_of(&self, prompt: &Prompt) -> Option<&'static Toolset> {
        let has = |set: &&&'static Toolset| set.prompts.iter().any(|own| own.name == prompt.name);
        self.sets.iter().find(has).copied()
    }

    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.tools.iter().map(|entry| entry.tool.name)
    }

    pub fn instructions(&self) -> String {
        self.instructions.join("\n\n")
    }

    pub fn find(&self, name: &str) -> Result<ToolEntry, Failure> {
        let found = self.tools.iter().find(|entry| entry.tool.name == name);
        found.copied().ok_or_else(|| self.unknown(name, Vec::new()))
    }

    pub fn described(&self, default_project: Option<&str>) -> Vec<Described> {
        self.tools.iter().map(|entry| entry.described(default_project)).collect()
    }

    fn unknown(&self, name: &str, mut known: Vec<&'static str>) -> Failure {
        let name: String = name.chars().take(100).collect();
        known.extend(self.names());
        let hint = match closest(&name, known.iter().copied()) {
            Some(meant) => format!("Did you mean {meant}?"),
            None => format!("The tools are {}.", known.join(", ")),
        };
        let message = format!("there is no tool {name:?}");
        Failure::new(Code::McpToolUnknown, message).suggesting(hint)
    }
}

impl ToolEntry {
    pub fn visibility(&self) -> Visibility {
        (self.set.visibility)(self.tool.name)
    }

    pub fn described(&self, default_project: Option<&str>) -> Described {
        let mut described = self.tool.described(default_project);
        let meta = match self.visibility() {
            Visibility::Model => return described,
            Visibility::App => serde_json::json!({"ui": {"visibility": ["app"]}}),
            // Older hosts look for the flat name.
            Visibility::Shown(uri) => serde_json::json!({
                "ui": {"resourceUri": uri, "visibility": ["model"]}, "ui/resourceUri": uri,
            }),
        };
        if let Value::Object(meta) = meta {
            described.meta = Some(MetaObject(meta));
        }
        described
    }
}

impl Tool {
    /// Whether a call writes as an actor in a session, both of which the arguments can name.
    pub fn belongs_to_session(&self) -> bool {
        let takes = |name: &str| self.arguments.iter().any(|argument| argument.name() == name);
        takes("actor") && takes("session_id")
    }

    fn described(&self, default_project: Option<&str>) -> Described {
        let schema = argument::schema(self.arguments, default_project);
        let described = Described::new(self.name, self.description, schema)
            .with_title(self.title)
            .with_annotations(self.effect.annotations());
        match self.output {
            Some(members) => described.with_raw_output_schema(Arc::new(output::schema(members))),
            None => described,
        }
    }
}

impl Effect {
    fn annotations(self) -> ToolAnnotations {
        let hints = ToolAnnotations::new().open_world(false);
        match self {
            Self::Reads => hints.read_only(true),
            Self::Adds => hints.read_only(false).destructive(false).idempotent(false),
            Self::AddsOnce => hints.read_only(false).destructive(false).idempotent(true),
            Self::Ends => hints.read_only(false).destructive(true).idempotent(true),
        }
    }
}

fn twice(name: &str, one: &str, other: &str) -> Failure {
    let message = if one == other {
        format!("the set of tools {one} has two tools {name}")
    } else {
        format!("the sets of tools {one} and {other} both have a tool {name}")
    };
    Failure::new(Code::McpToolTwice, message)
}
