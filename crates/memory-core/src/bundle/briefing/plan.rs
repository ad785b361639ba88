//! Which items a briefing shows, and how much of each.

use std::cell::RefCell;
use std::collections::BTreeMap;

use accord_base::tokens;

use super::item::{Item, LENGTHS, Shown};
use super::rows::Frame;
use super::section::{Kind, SENTENCES, Section};
use super::{json, markdown};
use crate::query::{BriefingForm, Terms};

/// The most ids that are named of what a section left out.
const NAMED: usize = 5;
/// From this budget on, room is kept for the first id of what was left out.
const WITH_IDS: u32 = 2_000;
/// Items that weigh so much are shown before texts are lengthened, and these before those that
/// weigh less: on the scale of a note of the usual significance, at most 100, and of what it says.
const HOLDS: usize = 125;
/// Items that weigh so much are shown before those that hold are shown at length.
const COUNTS: usize = 105;
/// The size of a text that is shown at length.
const PARAGRAPH: usize = 360;
/// The part of the budget that may be reserved to say what was left out: one in this many.
const RESERVED: usize = 4;

pub(super) struct Plan<'a> {
    pub(super) frame: &'a Frame<'a>,
    pub(super) parts: Vec<Part<'a>>,
    room: usize,
    /// The tokens of items, by section, place and length.
    costs: RefCell<BTreeMap<(Kind, usize, usize), usize>>,
}

#[derive(Clone)]
pub(super) struct Part<'a> {
    pub(super) section: &'a Section<'a>,
    pub(super) shown: usize,
    /// The indexes of the lengths of their texts.
    levels: Vec<usize>,
    cost: usize,
    /// The tokens kept to say what was left out. None are needed if all items are shown.
    reserve: usize,
    /// How many ids are named of what was left out.
    pub(super) named: usize,
}

impl<'a> Plan<'a> {
    pub(super) fn new(sections: &'a [Section<'a>], frame: &'a Frame<'a>, budget: usize) -> Self {
        let mut plan = Self { frame, parts: Vec::new(), room: 0, costs: RefCell::default() };
        plan.room = budget.saturating_sub(tokens(&plan.written()) + tokens(markdown::NOT_SHOWN));
        let part =
            |section| Part { section, shown: 0, levels: Vec::new(), cost: 0, reserve: 0, named: 0 };
        plan.parts.extend(sections.iter().map(part));
        plan.reserve(budget / RESERVED);
        plan.choose(HOLDS);
        plan.lengthen(Kind::second_length, 0);
        plan.choose(COUNTS);
        plan.lengthen(|_, _| PARAGRAPH, HOLDS);
        plan.choose(0);
        plan.lengthen(|_, _| SENTENCES, 0);
        plan.lengthen(|_, _| usize::MAX, 0);
        plan.name();
        plan
    }

    pub(super) fn written(&self) -> String {
        match self.frame.query.form {
            BriefingForm::Markdown => markdown::write(self),
            BriefingForm::Json => json::write(self),
        }
    }

    /// Reserves the tokens to say what was left out: the number for each section, then the first
    /// id, the most important sections first.
    fn reserve(&mut self, most: usize) {
        let costs: Vec<_> = (self.parts.iter())
            .map(|part| (self.cost_left_out(part, 0), self.cost_left_out(part, 1)))
            .collect();
        let mut reserved: usize = costs.iter().map(|(number, _)| number).sum();
        for (part, (number, with_id)) in self.parts.iter_mut().zip(costs) {
            part.reserve = number;
            if self.frame.query.max_tokens >= WITH_IDS && reserved + with_id - number <= most {
                reserved += with_id - number;
                part.reserve = with_id;
                part.named = 1;
            }
        }
        self.room = self.room.saturating_sub(reserved);
    }

    /// Shows the items that matter most, of all sections, with their first length. Stops at those
    /// that weigh less than `least`.
    fn choose(&mut self, least: usize) {
        let mut open: Vec<usize> = (0..self.parts.len()).collect();
        loop {
            let weight = |place: &usize| {
                let part = &self.parts[*place];
                let is_left = part.shown < part.section.items.len();
                is_left.then(|| part.section.weight(part.shown)).filter(|weight| *weight >= least)
            };
            open.retain(|place| weight(place).is_some());
            // Of equal ones, the section that comes first.
            let Some(place) = open.iter().rev().copied().max_by_key(weight) else { break };
            match self.next_item(&self.parts[place], self.room) {
                Some((level, cost)) => {
                    let part = &mut self.parts[place];
                    self.room = self.room + part.freed_by_next() - cost;
                    part.add(level, cost);
                }
                None => open.retain(|other| *other != place),
            }
        }
    }

    /// The length and the cost of the next item of a section, if it fits into `room`.
    fn next_item(&self, part: &Part<'a>, room: usize) -> Option<(usize, usize)> {
        let section = part.section;
        if part.shown == section.items.len() {
            return None;
        }
        let heading = if part.shown == 0 { self.heading_cost(section.kind) } else { 0 };
        let room = room + part.freed_by_next();
        let most = section.first_length(part.shown, self.frame.query.max_tokens);
        let first = LENGTHS.iter().rposition(|length| *length <= most);
        // An item that shows nothing but its title does not cost much less.
        let least = usize::from(most > 0).min(first.unwrap_or(0));
        (least..=first.unwrap_or(0)).rev().find_map(|level| {
            let cost = heading + self.item_cost(section, part.shown, level);
            (cost <= room).then_some((level, cost))
        })
    }

    /// Lengthens the texts up to a length, one step at a time for each item in turn.
    fn lengthen(&mut self, most: fn(Kind, u32) -> usize, least: usize) {
        let budget = self.frame.query.max_tokens;
        let mut changed = true;
        while changed {
            changed = false;
            for place in 0..self.parts.len() {
                for item in 0..self.parts[place].shown {
                    let part = &self.parts[place];
                    let level = part.levels[item];
                    let next = LENGTHS.get(level + 1);
                    if part.section.weight(item) < least {
                        continue;
                    }
                    if next.is_none_or(|next| *next > most(part.section.kind, budget)) {
                        continue;
                    }
                    let now = self.item_cost(part.section, item, level);
                    let next = self.item_cost(part.section, item, level + 1);
                    let more = next.saturating_sub(now);
                    if more > self.room {
                        continue;
                    }
                    self.room -= more;
                    let part = &mut self.parts[place];
                    part.levels[item] += 1;
                    part.cost += more;
                    changed = true;
                }
            }
        }
    }

    /// Names more of what was left out.
    fn name(&mut self) {
        for named in 1..=NAMED {
            for place in 0..self.parts.len() {
                let part = &self.parts[place];
                let missing = part.section.items.len() - part.shown;
                if part.left_out() == 0 || part.named >= named || missing < named {
                    continue;
                }
                let cost = self.cost_left_out(part, named).saturating_sub(part.reserve);
                if cost <= self.room {
                    self.room -= cost;
                    let part = &mut self.parts[place];
                    part.reserve += cost;
                    part.named = named;
                }
            }
        }
    }

    fn heading_cost(&self, kind: Kind) -> usize {
        match self.frame.query.form {
            BriefingForm::Markdown => tokens(&markdown::heading(kind)),
            // Every section has its member, empty or not.
            BriefingForm::Json => 0,
        }
    }

    fn item_cost(&self, section: &Section<'_>, place: usize, level: usize) -> usize {
        let key = (section.kind, place, level);
        if let Some(cost) = self.costs.borrow().get(&key) {
            return *cost;
        }
        let shown = section.items[place].shown(section.kind, LENGTHS[level], self.frame.terms());
        let cost = match self.frame.query.form {
            BriefingForm::Markdown => tokens(&markdown::item(section.kind, &shown, self.frame)),
            // One more for the comma.
            BriefingForm::Json => tokens(&json::item(&shown)) + 1,
        };
        self.costs.borrow_mut().insert(key, cost);
        cost
    }

    /// What it costs at most to say that a section is incomplete, with some of its ids.
    fn cost_left_out(&self, part: &Part<'_>, named: usize) -> usize {
        let section = part.section;
        let ids = section.items[part.shown..].iter().map(|item| self.frame.id_of(item));
        let mut ids: Vec<String> = ids.collect();
        if part.shown == 0 {
            // Which one will be the first is not known yet.
            ids.sort_by_key(|id| std::cmp::Reverse(tokens(id)));
        }
        ids.truncate(named);
        match self.frame.query.form {
            BriefingForm::Markdown => {
                tokens(&markdown::left_out(section.kind, section.total, &ids))
            }
            BriefingForm::Json => tokens(&json::left_out(section.kind, section.total, &ids)) + 1,
        }
    }
}

impl Frame<'_> {
    fn terms(&self) -> Option<&Terms> {
        self.query.focus.as_ref().map(|focus| &focus.terms)
    }

    /// The id of an item in a list of what was left out.
    fn id_of(&self, item: &Item<'_>) -> String {
        match self.query.form {
            BriefingForm::Markdown => item.short_id(self.short_ids),
            BriefingForm::Json => item.id().to_owned(),
        }
    }
}

impl<'a> Part<'a> {
    pub(super) fn left_out(&self) -> u64 {
        let shown = self.section.items[..self.shown].iter();
        self.section.total - shown.map(Item::rows).sum::<u64>()
    }

    /// The first ids of what was left out.
    pub(super) fn named(&self, frame: &Frame<'_>) -> Vec<String> {
        let items = self.section.items[self.shown..].iter().take(self.named);
        items.map(|item| frame.id_of(item)).collect()
    }

    pub(super) fn items<'f>(
        &'f self,
        frame: &'f Frame<'_>,
    ) -> impl Iterator<Item = Shown<'a>> + 'f {
        let kind = self.section.kind;
        let items = self.section.items.iter().zip(&self.levels);
        items.map(move |(item, level)| item.shown(kind, LENGTHS[*level], frame.terms()))
    }

    fn add(&mut self, level: usize, cost: usize) {
        self.shown += 1;
        self.levels.push(level);
        self.cost += cost;
    }

    /// What is freed if one more item is shown.
    fn freed_by_next(&self) -> usize {
        let next = self.section.items.get(self.shown).map_or(0, Item::rows);
        if self.left_out() == next { self.reserve } else { 0 }
    }
}
