//! Which items a briefing shows, and how much of each.

use accord_base::tokens;

use super::item::LENGTHS;
use super::rows::Frame;
use super::section::{Kind, Section};
use super::{json, markdown};
use crate::query::BriefingForm;

/// The most ids that are named of what a section left out.
const NAMED: usize = 5;
/// The part of the budget that may be reserved to say what was left out: one in this many.
const RESERVED: usize = 4;

pub(super) struct Plan<'a> {
    pub(super) frame: &'a Frame<'a>,
    pub(super) parts: Vec<Part<'a>>,
    room: usize,
}

pub(super) struct Part<'a> {
    pub(super) section: &'a Section<'a>,
    pub(super) shown: usize,
    /// The index of the length of their texts.
    level: usize,
    cost: usize,
    /// The tokens kept to say what was left out. None are needed if all items are shown.
    reserve: usize,
    /// How many ids are named of what was left out.
    pub(super) named: usize,
}

impl<'a> Plan<'a> {
    pub(super) fn new(sections: &'a [Section<'a>], frame: &'a Frame<'a>, budget: usize) -> Self {
        let mut plan = Self { frame, parts: Vec::new(), room: 0 };
        plan.room = budget.saturating_sub(tokens(&plan.written()) + tokens(markdown::NOT_SHOWN));
        let part = |section| Part { section, shown: 0, level: 0, cost: 0, reserve: 0, named: 0 };
        plan.parts.extend(sections.iter().map(part));
        plan.reserve(budget / RESERVED);
        plan.share();
        plan.add_items();
        plan.lengthen();
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
            if reserved + with_id - number <= most {
                reserved += with_id - number;
                part.reserve = with_id;
                part.named = 1;
            }
        }
        self.room = self.room.saturating_sub(reserved);
    }

    /// The tokens of the first item of each section, as far as there is room for it.
    fn first_items(&self) -> Vec<usize> {
        let mut room = self.room;
        let mut least = vec![0; self.parts.len()];
        let mut order: Vec<usize> = (0..self.parts.len()).collect();
        order.sort_by_key(|place| self.parts[*place].section.kind.first());
        for place in order {
            let section = self.parts[place].section;
            if section.items.is_empty() {
                continue;
            }
            let cost = self.section_cost(section, 1, 0);
            if cost <= room {
                room -= cost;
                least[place] = cost;
            }
        }
        least
    }

    /// Gives each section its first item, its share of the rest, and what the sections before it
    /// did not need.
    fn share(&mut self) {
        let total: usize = self.parts.iter().map(|part| part.section.kind.share()).sum();
        let least = self.first_items();
        let rest = self.room - least.iter().sum::<usize>();
        let mut lent = 0;
        for (place, least) in least.into_iter().enumerate() {
            let share = rest * self.parts[place].section.kind.share() / total;
            let part = self.fitted(&self.parts[place], least + share + lent);
            lent = (least + share + lent + part.freed()).saturating_sub(part.cost);
            self.parts[place] = part;
        }
        let used: usize = self.parts.iter().map(|part| part.cost).sum();
        let freed: usize = self.parts.iter().map(Part::freed).sum();
        self.room = (self.room + freed).saturating_sub(used);
    }

    /// The section with as many items as fit into `room`, and then the longest texts.
    fn fitted(&self, part: &Part<'a>, room: usize) -> Part<'a> {
        let section = part.section;
        let heading = self.heading_cost(section.kind);
        let costs: Vec<usize> =
            (0..section.items.len()).map(|place| self.item_cost(section, place, 0)).collect();
        let whole = heading + costs.iter().sum::<usize>();
        let mut fitted = Part { ..*part };
        let complete = section.items.len() as u64 == section.total;
        let allowed = if complete && whole <= room + part.reserve {
            fitted.shown = section.items.len();
            room + part.reserve
        } else {
            let mut cost = heading;
            fitted.shown = costs
                .iter()
                .take_while(|item| {
                    cost += **item;
                    cost <= room
                })
                .count();
            room
        };
        if fitted.shown == 0 {
            return fitted;
        }
        fitted.cost = heading + costs[..fitted.shown].iter().sum::<usize>();
        while fitted.level + 1 < LENGTHS.len()
            && LENGTHS[fitted.level + 1] <= section.kind.first_length()
        {
            let cost = self.section_cost(section, fitted.shown, fitted.level + 1);
            if cost > allowed {
                break;
            }
            fitted.level += 1;
            fitted.cost = cost;
        }
        fitted
    }

    /// Shows more items, the most important sections first.
    fn add_items(&mut self) {
        for place in 0..self.parts.len() {
            loop {
                let part = &self.parts[place];
                let section = part.section;
                if part.shown == section.items.len() {
                    break;
                }
                let heading = if part.shown == 0 { self.heading_cost(section.kind) } else { 0 };
                let cost = heading + self.item_cost(section, part.shown, part.level);
                let is_last = part.shown as u64 + 1 == section.total;
                let freed = if is_last { part.reserve } else { 0 };
                if cost > self.room + freed {
                    break;
                }
                self.room = self.room + freed - cost;
                let part = &mut self.parts[place];
                part.shown += 1;
                part.cost += cost;
            }
        }
    }

    /// Lengthens the texts, one step at a time for each section in turn.
    fn lengthen(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            for place in 0..self.parts.len() {
                let part = &self.parts[place];
                if part.shown == 0 || part.level + 1 == LENGTHS.len() {
                    continue;
                }
                let cost = self.section_cost(part.section, part.shown, part.level + 1);
                if cost > self.room + part.cost {
                    continue;
                }
                self.room = self.room + part.cost - cost;
                let part = &mut self.parts[place];
                part.level += 1;
                part.cost = cost;
                changed = true;
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

    fn section_cost(&self, section: &Section<'_>, shown: usize, level: usize) -> usize {
        let items = (0..shown).map(|place| self.item_cost(section, place, level));
        self.heading_cost(section.kind) + items.sum::<usize>()
    }

    fn heading_cost(&self, kind: Kind) -> usize {
        match self.frame.query.form {
            BriefingForm::Markdown => tokens(&markdown::heading(kind)),
            // Every section has its member, empty or not.
            BriefingForm::Json => 0,
        }
    }

    fn item_cost(&self, section: &Section<'_>, place: usize, level: usize) -> usize {
        let shown = section.items[place].shown(section.kind, LENGTHS[level]);
        match self.frame.query.form {
            BriefingForm::Markdown => tokens(&markdown::item(section.kind, &shown)),
            // One more for the comma.
            BriefingForm::Json => tokens(&json::item(&shown)) + 1,
        }
    }

    /// What it costs at most to say that a section is incomplete, with some of its ids.
    fn cost_left_out(&self, part: &Part<'_>, named: usize) -> usize {
        let section = part.section;
        let ids = section.items[part.shown..].iter().map(super::item::Item::id);
        let mut ids: Vec<&str> = ids.collect();
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

impl<'a> Part<'a> {
    pub(super) fn left_out(&self) -> u64 {
        self.section.total - self.shown as u64
    }

    /// The first ids of what was left out.
    pub(super) fn named(&self) -> Vec<&'a str> {
        let ids = self.section.items[self.shown..].iter().map(super::item::Item::id);
        ids.take(self.named).collect()
    }

    pub(super) fn items(&self) -> impl Iterator<Item = super::item::Shown<'a>> {
        let (kind, length) = (self.section.kind, LENGTHS[self.level]);
        self.section.items[..self.shown].iter().map(move |item| item.shown(kind, length))
    }

    /// The part of the reserve that is not needed.
    fn freed(&self) -> usize {
        if self.left_out() == 0 { self.reserve } else { 0 }
    }
}
