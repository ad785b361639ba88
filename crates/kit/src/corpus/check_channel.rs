//! Checks a case that is judged over a channel, and the document of the channel.

use std::collections::{BTreeMap, BTreeSet};

use accord_contract::Value;
use accord_contract::fixture::Vocabulary;
use accord_contract::wire::Pointer;

use super::ChannelList;
use super::check::Check as Faults;
use super::check_exchange::{
    Reporter, declared, generator_members, is_header, is_pointer, step as http_step,
};
use super::check_expect::{check_members, statuses};
use super::check_names::DefinedNames;
use crate::case::{Browse, Channel, Check, FrameCheck, GeneratorKind, Move, Opening};

pub(super) fn list(faults: &mut Faults, file: &str, list: &ChannelList) {
    let mut place = Reporter { faults, file };
    for (member, path) in [("path", &list.path), ("mcp", &list.mcp)] {
        if !path.starts_with('/') {
            place.fault(format!("/{member}"), "must begin with `/`");
        }
    }
    declared(&mut place, list.requests());
    let known = DefinedNames::of(["barrier"]);
    known.value(&mut place, &list.barrier.send, "/barrier/send");
    pattern(&mut place, &known, &list.barrier.until, "/barrier/until");
}

pub(super) fn check(
    faults: &mut Faults,
    file: &str,
    channel: &Channel,
    declared: Option<&ChannelList>,
) {
    let Some(declared) = declared else {
        let why = "a case over a channel needs a file channel.json beside the areas";
        return faults.fault(file, "/moves", why);
    };
    let mut place = Reporter { faults, file };
    let root = Pointer::Root;
    let mut known = DefinedNames::of(["run"]);
    for (name, generator) in &channel.variables {
        let made = root.member("let");
        generator_members(&mut place, generator, &made.member(name));
        if generator.make == GeneratorKind::Scope {
            place.fault(made.member(name), "a channel has no scopes");
        }
        known.add(&mut place, name, "/let");
    }
    if !channel.moves.iter().any(Move::judges) {
        place.fault("/moves", "judges nothing");
    }
    let mut case = Walk { place, known, declared, open: BTreeSet::new(), tabs: BTreeSet::new() };
    let moves = root.member("moves");
    for (index, one) in channel.moves.iter().enumerate() {
        case.one_move(one, &moves.index(index));
    }
}

/// Checks the moves of a case in their order.
struct Walk<'a, 'b> {
    place: Reporter<'a>,
    known: DefinedNames,
    declared: &'b ChannelList,
    open: BTreeSet<String>,
    tabs: BTreeSet<String>,
}

impl Walk<'_, '_> {
    fn one_move(&mut self, one: &Move, at: &Pointer<'_>) {
        let actions = one.actions();
        let [action] = actions.as_slice() else {
            let why = format!("does {} things instead of one: {actions:?}", actions.len());
            return self.place.fault(at, why);
        };
        let uses = ["send", "send_text", "send_binary", "expect", "closed", "close"];
        if uses.contains(action) && !self.open.contains(one.socket()) {
            self.place.fault(at, format!("the socket `{}` is not open", one.socket()));
        }
        let is_named = ["open", "browse"].contains(action) || uses.contains(action);
        if one.socket.is_some() && !is_named {
            self.place.fault(at.member("on"), "the move is about no socket and no tab");
        }
        if one.capture.is_some() && one.setup.is_none() {
            self.place.fault(at.member("capture"), "only a setup step has its captures here");
        }
        let outside = self.known.clone();
        if let Some(times) = one.repeat {
            if !(1..=MOST_TIMES).contains(&times) {
                self.place.fault(at.member("repeat"), format!("must be from 1 to {MOST_TIMES}"));
            }
            self.known.add(&mut self.place, "n", &at.to_string());
        }
        self.content(one, at);
        if one.repeat.is_some() {
            // What is captured stays known, `n` does not.
            self.known.forget("n", &outside);
        }
    }

    fn content(&mut self, one: &Move, at: &Pointer<'_>) {
        let place = &mut self.place;
        let steps = [("setup", &one.setup), ("refused_setup", &one.refused_setup)];
        for (member, setup) in steps {
            if let Some(setup) = setup {
                let value = Value::Object(setup.clone());
                self.known.value(place, &value, &at.member(member).to_string());
            }
        }
        captures(place, &mut self.known, one.capture.as_ref(), &at.member("capture"));
        if let Some(field) = &one.field {
            let at = at.member("field").to_string();
            self.known.text(place, &field.session, &at);
            self.known.text(place, &field.name, &at);
            pattern(place, &self.known, &field.value, &format!("{at}/value"));
        }
        if let Some(open) = &one.open {
            opening(place, &self.known, open, &at.member("open"));
            if open.refused.is_none() && !self.open.insert(one.socket().to_owned()) {
                self.place.fault(at, format!("the socket `{}` is already open", one.socket()));
            }
        }
        let place = &mut self.place;
        for (index, frame) in one.send.iter().flatten().enumerate() {
            self.known.value(place, frame, &at.member("send").index(index).to_string());
        }
        if one.send.as_ref().is_some_and(Vec::is_empty) {
            place.fault(at.member("send"), "sends nothing");
        }
        for (member, text) in [("send_text", &one.send_text), ("send_binary", &one.send_binary)] {
            if let Some(text) = text {
                self.known.text(place, text, &at.member(member).to_string());
            }
        }
        if let Some(expect) = &one.expect {
            frame_check(place, &mut self.known, expect, &at.member("expect"));
            if one.closed.is_some() && expect.until.is_some() {
                place.fault(at.member("expect"), "the close is what is waited for");
            }
        }
        if let Some(closed) = &one.closed {
            let is_code = |code: &u64| (1000..5000).contains(code);
            if closed.code.is_empty() || !closed.code.iter().all(is_code) {
                place.fault(at.member("closed"), "`code` must list codes from 1000 to 4999");
            }
        }
        if one.closed.is_some() || one.close.is_some() {
            self.open.remove(one.socket());
        }
        if one.close == Some(false) {
            place.fault(at.member("close"), "must be true");
        }
        if let Some(step) = &one.http {
            let at = at.member("http");
            http_step(place, step, self.declared.requests(), &at);
            self.known.step(place, step, self.declared.requests(), &at.to_string());
        }
        if let Some(browse) = &one.browse {
            self.browse(browse, one.socket(), &at.member("browse"));
        }
        let place = &mut self.place;
        if let Some(tool) = &one.tool {
            let at = at.member("tool");
            if tool.name.is_some() == tool.resource.is_some()
                || (tool.resource.is_some() && tool.args.is_some())
            {
                place.fault(at, "needs `name`, with or without `args`, or `resource`");
            }
            let args = Value::Object(tool.args.clone().unwrap_or_default());
            self.known.value(place, &args, &at.to_string());
            let resource = tool.resource.as_deref().unwrap_or_default();
            self.known.text(place, resource, &at.to_string());
            if tool.expect.is_empty() {
                place.fault(at.member("expect"), "expects nothing");
            }
            let all = at.member("expect");
            for (index, expected) in tool.expect.iter().enumerate() {
                let at = all.index(index);
                let outcome = Value::Object(expected.outcome.clone());
                pattern(place, &self.known, &outcome, &at.member("outcome").to_string());
                checks(place, &self.known, expected.checks.as_deref(), &at.member("checks"));
                captures(place, &mut self.known, expected.capture.as_ref(), &at.member("capture"));
            }
        }
    }

    fn browse(&mut self, browse: &Browse, tab: &str, at: &Pointer<'_>) {
        let place = &mut self.place;
        let opens = browse.open.is_some();
        if opens != self.tabs.insert(tab.to_owned()) {
            let state = if opens { "is already open" } else { "is not open" };
            place.fault(at, format!("the tab `{tab}` {state}"));
        }
        if browse.fault.is_some() && !opens {
            place.fault(at.member("fault"), "a fault begins with a new tab");
        }
        if !opens && browse.sockets.is_none() && !browse.judges() {
            place.fault(at, "does nothing");
        }
        if (browse.hides.is_some() || browse.same_document.is_some()) && !browse.judges() {
            let why = "`hides` and `same_document` are judged together with what becomes visible";
            place.fault(at, why);
        }
        let lists = [&browse.shows, &browse.shows_one_of, &browse.hides, &browse.order];
        let is_nothing = |list: &Vec<String>| list.is_empty() || list.iter().any(String::is_empty);
        if lists.into_iter().flatten().any(is_nothing) {
            place.fault(at, "a list of texts has at least one, and none is empty");
        }
        for (member, text) in browse.texts() {
            self.known.text(place, text, &at.member(member).to_string());
        }
    }
}

fn opening(place: &mut Reporter<'_>, known: &DefinedNames, open: &Opening, at: &Pointer<'_>) {
    for (member, texts) in [("query", &open.query), ("headers", &open.headers)] {
        for (name, text) in texts.iter().flatten() {
            known.text(place, text, &at.member(member).member(name).to_string());
        }
    }
    for name in open.headers.iter().flatten().map(|(name, _)| name) {
        if !is_header(name) {
            place.fault(at.member("headers").member(name), "names of headers are in lower case");
        }
    }
    if let Some(refused) = &open.refused {
        statuses(place, refused, &at.member("refused"));
    }
}

fn frame_check(
    place: &mut Reporter<'_>,
    known: &mut DefinedNames,
    check: &FrameCheck,
    at: &Pointer<'_>,
) {
    let lists = [("order", &check.order), ("some", &check.some), ("none", &check.none)];
    let is_empty = lists.iter().all(|(_, list)| list.is_none());
    if is_empty && check.until.is_none() && check.times.is_none() && check.checks.is_none() {
        place.fault(at, "expects nothing");
    }
    if let Some(until) = &check.until {
        pattern(place, known, until, &at.member("until").to_string());
    }
    for (name, list) in lists {
        for (index, frame) in list.iter().flatten().enumerate() {
            pattern(place, known, frame, &at.member(name).index(index).to_string());
        }
    }
    for (index, count) in check.times.iter().flatten().enumerate() {
        pattern(place, known, &count.line, &at.member("times").index(index).to_string());
    }
    checks(place, known, check.checks.as_deref(), &at.member("checks"));
    let captures = at.member("capture");
    for (name, capture) in check.capture.iter().flatten() {
        let at = captures.member(name);
        pattern(place, known, &capture.frame, &at.member("frame").to_string());
        if !is_pointer(&capture.at) {
            place.fault(at.member("at"), "must be a JSON pointer");
        }
        known.add(place, name, &at.to_string());
    }
}

fn checks(place: &mut Reporter<'_>, known: &DefinedNames, all: Option<&[Check]>, at: &Pointer<'_>) {
    for (index, check) in all.unwrap_or_default().iter().enumerate() {
        let at = at.index(index);
        check_members(place, check, &at);
        if let Some(name) = &check.name {
            known.used(place, name, &at.to_string());
        }
        for value in check.value.iter().chain(check.values.iter().flatten()) {
            known.value(place, value, &at.to_string());
        }
    }
}

fn pattern(place: &mut Reporter<'_>, known: &DefinedNames, expected: &Value, at: &str) {
    known.value(place, expected, at);
    if let Err(error) = Vocabulary::Kit.check(expected) {
        place.fault(format!("{at}{}", error.pointer), error.why);
    }
}

fn captures(
    place: &mut Reporter<'_>,
    known: &mut DefinedNames,
    captures: Option<&BTreeMap<String, String>>,
    at: &Pointer<'_>,
) {
    for (name, pointer) in captures.into_iter().flatten() {
        if !is_pointer(pointer) {
            place.fault(at.member(name), "must be a JSON pointer");
        }
        known.add(place, name, &at.to_string());
    }
}

/// How often a move can be repeated.
const MOST_TIMES: u64 = 1000;
