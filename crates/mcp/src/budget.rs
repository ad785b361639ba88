//! Answers within a budget of tokens.
//!
//! The host keeps the budget of lists with pages and of orientations: only it knows the cursor
//! behind the last item, and what remains. Documents without pages are shortened here. The text
//! that a tool serves is counted here again, so that the budget is kept for every host.
//!
//! Invariants:
//! - The text that is served has at most as many tokens as the budget, or it is not served.
//! - An item is complete or left out. If one does not fit, later ones are still tried.
//! - `x-left_out` lists what was left out.

use accord_base::tokens;
use accord_contract::{Code, Failure, Object, Value};
use serde_json::json;

use super::{argument::Argument, call::Call, raw};

/// The most tokens of the answer. What does not fit is left out whole and counted; a page ends
/// before the first item that does not fit.
pub const BUDGET: Argument = Argument::integer("max_tokens", 100, 1_000_000, "");

pub const DEFAULT_TOKENS: i64 = 8_000;

#[derive(Clone, Copy, Debug)]
pub struct Shortening {
    /// Lists that may lose items, the most important first.
    pub lists: &'static [&'static str],
    /// Members that are dropped first.
    pub extras: &'static [&'static str],
    /// An object, and its one member that stays when the budget is small.
    pub bare: Option<(&'static str, &'static str)>,
    /// The member that identifies items that were left out.
    pub named_by: Option<&'static str>,
}

pub fn budget(call: &Call<'_>) -> usize {
    let asked = call.number("max_tokens").unwrap_or(DEFAULT_TOKENS);
    usize::try_from(asked).unwrap_or(usize::MAX)
}

/// A document that cannot be shortened, if it fits into the budget.
pub fn whole(text: &str, budget: usize) -> Result<String, Failure> {
    if tokens(text) > budget {
        return Err(too_small(tokens(text), budget));
    }
    Ok(text.to_owned())
}

/// A document, shortened to fit into the budget.
pub fn shortened(text: &str, budget: usize, how: &Shortening) -> Result<String, Failure> {
    if tokens(text) <= budget {
        return Ok(text.to_owned());
    }
    let Some(document) = Document::read(text, how) else {
        return whole(text, budget);
    };
    let empty = document.emptied();
    let bared = how.bare.and_then(|(name, kept)| empty.bared(name, kept));
    let least = bared.as_ref().unwrap_or(&empty).frame_tokens();
    let fits = |document: &Document<'_>| document.frame_tokens() <= budget;
    let frame = [Some(empty), bared].into_iter().flatten().find(fits);
    let frame = frame.ok_or_else(|| too_small(least, budget))?;
    Ok(frame.filled(&document, budget, how.named_by))
}

/// The members of a document, of which some are lists that may be shortened.
#[derive(Clone, Debug)]
struct Document<'a> {
    members: Vec<(&'a str, Content<'a>)>,
    /// What the host left out already.
    said: Vec<&'a str>,
    bared: Option<&'static str>,
}

#[derive(Clone, Debug)]
enum Content<'a> {
    Fixed(String),
    List {
        /// Which list is filled first.
        rank: usize,
        items: Vec<&'a str>,
    },
}

const LEFT_OUT: &str = "x-left_out";

impl<'a> Document<'a> {
    fn read(text: &'a str, how: &Shortening) -> Option<Self> {
        let mut members = Vec::new();
        let mut said = Vec::new();
        for (name, value) in raw::members(text)? {
            if name == LEFT_OUT {
                said = raw::items(value)?;
                continue;
            }
            if how.extras.contains(&name) {
                continue;
            }
            let rank = how.lists.iter().position(|list| *list == name);
            let value = match rank {
                Some(rank) => Content::List { rank, items: raw::items(value)? },
                None => Content::Fixed(value.to_owned()),
            };
            members.push((name, value));
        }
        Some(Self { members, said, bared: None })
    }

    fn emptied(&self) -> Self {
        let mut emptied = self.clone();
        for (_, value) in &mut emptied.members {
            if let Content::List { items, .. } = value {
                items.clear();
            }
        }
        emptied
    }

    /// The same document, with one member of the object `name` left.
    fn bared(&self, name: &'static str, kept: &str) -> Option<Self> {
        let mut bared = self.clone();
        let (_, value) = bared.members.iter_mut().find(|(member, _)| *member == name)?;
        let Content::Fixed(text) = value else { return None };
        let inner = raw::members(text)?;
        let (_, value) = inner.into_iter().find(|(inner, _)| *inner == kept)?;
        *text = format!("{{\"{kept}\":{value}}}");
        bared.bared = Some(name);
        Some(bared)
    }

    /// The tokens of the document if every list is reported as shortened.
    fn frame_tokens(&self) -> usize {
        let lists = self.members.iter().filter(|(_, it)| matches!(it, Content::List { .. }));
        // The longest possible count, so that the real one fits.
        let counts = lists.map(|(name, _)| (*name, usize::MAX, Vec::new()));
        tokens(&self.written(&counts.collect::<Vec<_>>()))
    }

    /// Fills this emptied document with the items of `whole` that fit into `most` tokens.
    fn filled(mut self, whole: &Self, most: usize, named_by: Option<&str>) -> String {
        let mut room = most.saturating_sub(self.frame_tokens());
        let ranked =
            whole.members.iter().enumerate().filter_map(|(place, (_, value))| match value {
                Content::List { rank, .. } => Some((*rank, place)),
                Content::Fixed(_) => None,
            });
        let mut lists: Vec<_> = ranked.collect();
        lists.sort_unstable();
        let mut missing = Vec::new();
        for (_, place) in lists {
            let (name, value) = &whole.members[place];
            let (Content::List { items: all, .. }, Content::List { items: taken, .. }) =
                (value, &mut self.members[place].1)
            else {
                continue;
            };
            let mut left = Vec::new();
            for item in all {
                // One more for the comma.
                match room.checked_sub(tokens(item) + 1) {
                    Some(rest) => {
                        room = rest;
                        taken.push(item);
                    }
                    None => left.push(*item),
                }
            }
            if !left.is_empty() {
                missing.push((*name, left));
            }
        }
        let missing = missing.into_iter().map(|(name, left)| {
            let names = named_by.map(|member| names_of(&left, member, &mut room));
            (name, left.len(), names.unwrap_or_default())
        });
        let missing: Vec<_> = missing.collect();
        self.written(&missing)
    }

    fn written(&self, missing: &[(&str, usize, Vec<String>)]) -> String {
        let mut text = String::from("{");
        let mut put = |name: &str, value: &str| {
            if text.len() > 1 {
                text.push(',');
            }
            text.push('"');
            text.push_str(name);
            text.push_str("\":");
            text.push_str(value);
        };
        for (name, value) in &self.members {
            match value {
                Content::Fixed(value) => put(name, value),
                Content::List { items, .. } => put(name, &format!("[{}]", items.join(","))),
            }
        }
        let mut said: Vec<String> = self.said.iter().map(|entry| (*entry).to_owned()).collect();
        if let Some(member) = self.bared {
            said.push(json!({"member": member, "reason": "budget"}).to_string());
        }
        for (member, count, names) in missing {
            let mut entry = json!({"member": member, "reason": "budget", "count": count});
            if !names.is_empty() {
                entry["ids"] = json!(names);
            }
            said.push(entry.to_string());
        }
        put(LEFT_OUT, &format!("[{}]", said.join(",")));
        text.push('}');
        text
    }
}

fn names_of(items: &[&str], member: &str, room: &mut usize) -> Vec<String> {
    let mut names = Vec::new();
    let Some(mut rest) = room.checked_sub(tokens(",\"ids\":[]")) else {
        return names;
    };
    for item in items {
        let item = serde_json::from_str::<Object>(item).unwrap_or_default();
        let Some(name) = item.get(member).and_then(Value::as_str) else { continue };
        let Some(left) = rest.checked_sub(tokens(&json!(name).to_string()) + 1) else {
            break;
        };
        rest = left;
        names.push(name.to_owned());
    }
    if !names.is_empty() {
        *room = rest;
    }
    names
}

fn too_small(needed: usize, budget: usize) -> Failure {
    let message = format!("the answer has about {needed} tokens, and max_tokens is {budget}");
    Failure::new(Code::McpBudgetTooSmall, message)
        .at("/max_tokens")
        .suggesting(format!("Call again with max_tokens {needed} or more."))
        .with("tokens", needed)
}
