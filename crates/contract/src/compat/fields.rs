//! Messages and their members.

use std::collections::{BTreeMap, BTreeSet};

use super::changes::{Changes, UNKNOWN};
use super::place::Place;
use super::snapshot::{Direction, FieldEntry, Fields, JsonTypes, Snapshot};
use super::{Rule, attributes, contractual};

pub(super) fn compare(old: &Snapshot, new: &Snapshot, changes: &mut Changes<'_>) {
    let names: BTreeSet<_> = old.messages().keys().chain(new.messages().keys()).collect();
    for name in names {
        let path = format!("/messages/{name}");
        match (old.messages().get(name), new.messages().get(name)) {
            (Some(_), None) => changes.removed(&path, Rule::MessageRemoved, "the message is gone"),
            (None, Some(fields)) => {
                changes.added(&path, Rule::MessageAdded, "the message is new");
                aliases(&path, &Fields::new(), fields, changes);
            }
            (Some(before), Some(after)) => {
                let (was, is) = (old.direction(name), new.direction(name));
                if was != is {
                    let note = format!("the message was a {was} and is a {is}");
                    changes.changed(&path, Rule::DirectionChanged, note);
                }
                message(&path, is, before, after, changes);
            }
            (None, None) => {}
        }
    }
}

fn message(
    path: &str,
    direction: Direction,
    old: &Fields,
    new: &Fields,
    changes: &mut Changes<'_>,
) {
    let mut removed = only_canonical_in(old, new);
    let mut added = only_canonical_in(new, old);
    promotions(path, old, new, &mut removed, &mut added, changes);
    renames(path, old, new, &mut removed, &mut added, changes);
    for place in removed {
        let (name, entry) = &old[place];
        let rule = if entry.is_required() {
            Rule::FieldRemoved
        } else {
            Rule::OptionalFieldRemoved
        };
        changes.removed(&format!("{path}/{name}"), rule, "the member is gone");
    }
    for place in added {
        let (name, entry) = &new[place];
        let (rule, note) = match (entry.is_required(), direction) {
            (false, _) => (Rule::OptionalFieldAdded, "the optional member is new"),
            (true, Direction::Response) => (
                Rule::RequiredResponseFieldAdded,
                "the required member is new",
            ),
            (true, Direction::Request) => (
                Rule::RequiredRequestFieldAdded,
                "the required member is new",
            ),
        };
        changes.added(&format!("{path}/{name}"), rule, note);
    }
    for (place, (name, after)) in new {
        if let Some((_, before)) = old.get(place)
            && before.is_canonical()
            && after.is_canonical()
        {
            let path = format!("{path}/{name}");
            attributes::compare(&path, direction, before, after, changes);
        }
    }
    aliases(path, old, new, changes);
}

/// The canonical places of one side that are not canonical on the other, without
/// those below another such place: a member comes and goes with what is in it.
fn only_canonical_in<'a>(side: &'a Fields, other: &Fields) -> BTreeSet<&'a Place> {
    let canonical = |fields: &Fields, place: &Place| {
        (fields.get(place)).is_some_and(|(_, entry)| entry.is_canonical())
    };
    let mut places = BTreeSet::new();
    let mut topmost: Option<&Place> = None;
    for place in side.keys() {
        let gone = canonical(side, place) && !canonical(other, place);
        if gone && !topmost.is_some_and(|above| place.is_below(above)) {
            topmost = Some(place);
            places.insert(place);
        }
    }
    places
}

/// An alias that became the only place of what it used to repeat.
fn promotions(
    path: &str,
    old: &Fields,
    new: &Fields,
    removed: &mut BTreeSet<&Place>,
    added: &mut BTreeSet<&Place>,
    changes: &mut Changes<'_>,
) {
    added.retain(|place| {
        let mirrored = (old.get(place)).and_then(|(_, entry)| entry.mirrors.as_deref());
        let Some(canonical) = mirrored.and_then(|name| removed.take(&Place::parse(name))) else {
            return true;
        };
        let (old_name, _) = &old[canonical];
        let (name, _) = &new[*place];
        let note = format!("the alias took the place of {old_name}, which is gone");
        changes.changed(&format!("{path}/{name}"), Rule::AliasPromoted, note);
        false
    });
}

/// A removed and an added member of the same type and meaning are one that moved.
fn renames(
    path: &str,
    old: &Fields,
    new: &Fields,
    removed: &mut BTreeSet<&Place>,
    added: &mut BTreeSet<&Place>,
    changes: &mut Changes<'_>,
) {
    fn nature(entry: &FieldEntry) -> Option<(&JsonTypes, &str)> {
        let meaning = entry.semantics.as_deref()?;
        (meaning != UNKNOWN).then_some((entry.types.as_ref()?, meaning))
    }
    let mut candidates: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for place in added.iter().rev() {
        if let Some(nature) = nature(&new[*place].1) {
            candidates.entry(nature).or_default().push(*place);
        }
    }
    removed.retain(|place| {
        let (name, before) = &old[*place];
        let alike = nature(before).and_then(|nature| candidates.get_mut(&nature));
        let Some(moved) = alike.and_then(Vec::pop) else {
            return true;
        };
        added.remove(moved);
        let note = format!("the member is called {} now", new[moved].0);
        changes.renamed(&format!("{path}/{name}"), Rule::FieldRenamed, note);
        false
    });
}

fn aliases(path: &str, old: &Fields, new: &Fields, changes: &mut Changes<'_>) {
    for (place, (name, alias)) in new {
        if alias.is_canonical() {
            continue;
        }
        let path = format!("{path}/{name}");
        if let Some(problem) = mirror_problem(alias, new) {
            changes.wrong(&path, Rule::AliasMirrorWrong, problem);
            continue;
        }
        match old.get(place) {
            Some((_, before)) if before.is_canonical() => {}
            Some((_, before)) if same_alias(before, alias) => {}
            Some(_) => changes.changed(&path, Rule::AliasChanged, "the alias is different"),
            None => changes.added(&path, Rule::AliasAdded, "the alias is new"),
        }
    }
    for (place, (name, before)) in old {
        if !before.is_canonical() && !new.contains_key(place) {
            let path = format!("{path}/{name}");
            changes.removed(&path, Rule::AliasRemoved, "the alias is gone");
        }
    }
}

/// What is wrong with an alias, if anything.
fn mirror_problem(alias: &FieldEntry, fields: &Fields) -> Option<String> {
    let Some(mirrors) = &alias.mirrors else {
        return Some("the alias does not say what it repeats".into());
    };
    let canonical = fields.get(&Place::parse(mirrors)).map(|(_, entry)| entry);
    let Some(canonical) = canonical.filter(|entry| entry.is_canonical()) else {
        return Some(format!("there is no canonical member {mirrors}"));
    };
    if alias.types.is_some() && alias.types != canonical.types {
        return Some(format!("the alias has another type than {mirrors}"));
    }
    if alias.semantics.is_some() && alias.semantics != canonical.semantics {
        return Some(format!("the alias has another meaning than {mirrors}"));
    }
    None
}

fn same_alias(before: &FieldEntry, after: &FieldEntry) -> bool {
    let place = |entry: &FieldEntry| entry.mirrors.as_deref().map(Place::parse);
    let rest = |entry: &FieldEntry| {
        let extra: BTreeMap<_, _> = (contractual(&entry.extra))
            .map(|name| (name.clone(), entry.extra[name].clone()))
            .collect();
        let flags = (
            entry.nullable.unwrap_or(false),
            entry.open_enum,
            entry.presence,
        );
        (
            extra,
            flags,
            entry.types.clone(),
            entry.semantics.clone(),
            entry.values.clone(),
        )
    };
    place(before) == place(after) && rest(before) == rest(after)
}
