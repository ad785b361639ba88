//! Messages and their members.

use std::collections::{BTreeMap, BTreeSet};

use super::changes::{Changes, stated};
use super::json_types::JsonTypes;
use super::place::ChangePath;
use super::snapshot::{Direction, FieldEntry, Fields, Snapshot};
use super::{Rule, attributes, differing};

pub(super) fn compare(old: &Snapshot, new: &Snapshot, changes: &mut Changes<'_>) {
    let names: BTreeSet<_> = old.messages().keys().chain(new.messages().keys()).collect();
    for name in names {
        let path = format!("/messages/{name}");
        match (old.messages().get(name), new.messages().get(name)) {
            (Some(_), None) => changes.removed(&path, Rule::MessageRemoved, "the message is gone"),
            (None, Some(fields)) => {
                changes.added(&path, Rule::MessageAdded, "the message is new");
                // A new message has no old users, but a wrong alias in it is still a violation.
                aliases(&path, &Fields::new(), fields, changes);
            }
            (Some(before), Some(after)) => {
                let (was, is) = (old.direction(name), new.direction(name));
                if was != is {
                    let note = format!("the message was a {was} and is a {is}");
                    changes.changed(&path, Rule::DirectionChanged, note);
                }
                message(&path, is, [before, after], changes);
            }
            (None, None) => {}
        }
    }
    absent_messages(old, new, changes);
}

/// Directions of messages that the other snapshot lacks.
fn absent_messages(old: &Snapshot, new: &Snapshot, changes: &mut Changes<'_>) {
    let (before, after) = (old.directions(), new.directions());
    let names: BTreeSet<_> = before.keys().chain(after.keys()).copied().collect();
    for name in names {
        let (was, is) = (before.get(name), after.get(name));
        let sides = [old, new].map(|side| side.messages().contains_key(name));
        let differs = match sides {
            [true, true] => false,
            [false, false] => was != is,
            _ => was.is_some() && is.is_some() && was != is,
        };
        if differs {
            let note = "the direction differs for a message that is absent";
            changes.changed(&format!("/directions/{name}"), Rule::DirectionChanged, note);
        }
    }
}

/// Clauses: ALX-SERVER-1, ALX-SERVER-3, ALX-MINOR-1, ALX-MAJOR-1, ALX-V1, ALX-V3, ALX-COMPAT-01,
/// ALX-COMPAT-07, ALX-COMPAT-18, ALX-COMPAT-19, ALX-COMPAT-27.
fn message(path: &str, kind: Direction, [old, new]: [&Fields; 2], changes: &mut Changes<'_>) {
    let mut removed = only_canonical_in(old, new);
    let mut added = only_canonical_in(new, old);
    // First promotions: a promoted alias looks like a renamed member. Both take from the sets.
    promotions(path, old, new, &mut removed, &mut added, changes);
    renames(path, old, new, &mut removed, &mut added, changes);
    for place in removed {
        let (name, entry) = &old[place];
        let is_required = entry.is_required();
        let rule = if is_required { Rule::FieldRemoved } else { Rule::OptionalFieldRemoved };
        changes.removed(&format!("{path}/{name}"), rule, "the member is gone");
    }
    for place in added {
        let (name, entry) = &new[place];
        let (rule, presence) = match (entry.is_required(), kind) {
            (false, _) => (Rule::OptionalFieldAdded, "optional"),
            (true, Direction::Response) => (Rule::RequiredResponseFieldAdded, "required"),
            (true, Direction::Request) => (Rule::RequiredRequestFieldAdded, "required"),
        };
        changes.added(&format!("{path}/{name}"), rule, format!("the {presence} member is new"));
    }
    for (place, (name, after)) in new {
        if let Some((_, before)) = old.get(place)
            && before.is_canonical()
            && after.is_canonical()
        {
            let path = format!("{path}/{name}");
            attributes::compare(&path, kind, [before, after], changes);
        }
    }
    aliases(path, old, new, changes);
}

/// The canonical places of one side that are not canonical on the other, without those below
/// another such place: a member comes and goes with its contents.
fn only_canonical_in<'a>(side: &'a Fields, other: &Fields) -> BTreeSet<&'a ChangePath> {
    let canonical = |fields: &Fields, place: &ChangePath| {
        (fields.get(place)).is_some_and(|(_, entry)| entry.is_canonical())
    };
    let mut places = BTreeSet::new();
    let mut topmost: Option<&ChangePath> = None;
    for place in side.keys() {
        let gone = canonical(side, place) && !canonical(other, place);
        if gone && !topmost.is_some_and(|above| place.is_below(above)) {
            // The places below `place` follow it directly, so one variable is enough to skip them.
            topmost = (!has_at_or_below(other, place)).then_some(place);
            places.insert(place);
        }
    }
    places
}

fn has_at_or_below(fields: &Fields, place: &ChangePath) -> bool {
    // In this order, the places below a place directly follow it.
    let next = fields.range(place..).next();
    next.is_some_and(|(next, _)| next == place || next.is_below(place))
}

/// An alias that replaced the member that it repeated. Clauses: ALX-COMPAT-15.
fn promotions(
    path: &str,
    old: &Fields,
    new: &Fields,
    removed: &mut BTreeSet<&ChangePath>,
    added: &mut BTreeSet<&ChangePath>,
    changes: &mut Changes<'_>,
) {
    added.retain(|place| {
        let mirrored = (old.get(place)).and_then(|(_, entry)| entry.mirrored());
        let Some(canonical) = mirrored.and_then(|place| removed.take(&place)) else { return true };
        let (old_name, _) = &old[canonical];
        let (name, _) = &new[*place];
        let note = format!("the alias took the place of {old_name}, which is gone");
        changes.changed(&format!("{path}/{name}"), Rule::AliasPromoted, note);
        false
    });
}

/// A removed and an added member of the same type and meaning are one renamed member.
/// Clauses: ALX-SERVER-4, ALX-MAJOR-2, ALX-V4, ALX-COMPAT-08.
fn renames(
    path: &str,
    old: &Fields,
    new: &Fields,
    removed: &mut BTreeSet<&ChangePath>,
    added: &mut BTreeSet<&ChangePath>,
    changes: &mut Changes<'_>,
) {
    fn nature(entry: &FieldEntry) -> Option<(&JsonTypes, &str)> {
        Some((entry.types.as_ref()?, stated(entry.semantics.as_deref())?))
    }
    let mut candidates: BTreeMap<_, Vec<_>> = BTreeMap::new();
    // Reversed, because `pop` takes from the end: members are paired in the order of their places.
    for place in added.iter().rev() {
        if let Some(nature) = nature(&new[*place].1) {
            candidates.entry(nature).or_default().push(*place);
        }
    }
    removed.retain(|place| {
        let (name, before) = &old[*place];
        let alike = nature(before).and_then(|nature| candidates.get_mut(&nature));
        let Some(moved) = alike.and_then(Vec::pop) else { return true };
        added.remove(moved);
        let note = format!("the member is called {} now", new[moved].0);
        changes.renamed(&format!("{path}/{name}"), Rule::FieldRenamed, note);
        false
    });
}

/// Clauses: ALX-ALIAS-FREE, ALX-COMPAT-05, ALX-COMPAT-13, ALX-MINOR-4.
fn aliases(path: &str, old: &Fields, new: &Fields, changes: &mut Changes<'_>) {
    for (place, (name, alias)) in new {
        if alias.is_canonical() {
            continue;
        }
        let path = format!("{path}/{name}");
        let before = old.get(place).map(|(_, before)| before);
        let kept = before.is_some_and(|before| !before.is_canonical() && same_alias(before, alias));
        match mirror(alias, new) {
            Mirror::Wrong(problem) => {
                changes.wrong(&path, Rule::AliasMirrorWrong, problem);
                continue;
            }
            Mirror::Unknown(problem) if !(kept && changes.within_a_version()) => {
                changes.meaning_unknown(&path, problem);
            }
            Mirror::Unknown(_) | Mirror::True => {}
        }
        match before {
            Some(before) if kept || before.is_canonical() => {}
            Some(_) => changes.changed(&path, Rule::AliasChanged, "the alias is different"),
            None => changes.added(&path, Rule::AliasAdded, "the alias is new"),
        }
    }
    for (place, (name, before)) in old {
        if !before.is_canonical() && !new.contains_key(place) {
            changes.removed(&format!("{path}/{name}"), Rule::AliasRemoved, "the alias is gone");
        }
    }
}

/// The result of comparing an alias with its canonical member.
enum Mirror {
    True,
    Unknown(String),
    Wrong(String),
}

/// Compares an alias with its canonical member. Attributes that the alias lacks are those of the
/// canonical member. Clauses: ALX-ALIAS-MIRROR, ALX-COMPAT-14.
fn mirror(alias: &FieldEntry, fields: &Fields) -> Mirror {
    let (Some(mirrors), Some(place)) = (&alias.mirrors, alias.mirrored()) else {
        return Mirror::Wrong("the alias does not say what it repeats".into());
    };
    let canonical = fields.get(&place).map(|(_, entry)| entry);
    let Some(canonical) = canonical.filter(|entry| entry.is_canonical()) else {
        return Mirror::Wrong(format!("there is no canonical member {mirrors}"));
    };
    let another = |what: &str| Mirror::Wrong(format!("the alias has {what} than {mirrors}"));
    if alias.types.is_some() && alias.types != canonical.types {
        return another("another type");
    }
    if alias.nullable.is_some() && alias.is_nullable() != canonical.is_nullable() {
        return another("another nullability");
    }
    if let Some(listed) = alias.listed()
        && !(canonical.listed()).is_some_and(|values| values.keys().eq(listed.keys()))
    {
        return another("other values");
    }
    if alias.open_enum.is_some() && alias.says_open() != canonical.says_open() {
        return another("another kind of list");
    }
    let meanings = [alias, canonical].map(|entry| entry.semantics.as_deref());
    match meanings.map(stated) {
        _ if alias.semantics.is_none() || meanings[0] == meanings[1] => Mirror::True,
        [Some(_), Some(_)] => another("another meaning"),
        _ => Mirror::Unknown(format!(
            "the snapshot does not say whether the alias means the same as {mirrors}"
        )),
    }
}

fn same_alias(before: &FieldEntry, after: &FieldEntry) -> bool {
    let rest = |entry: &FieldEntry| {
        let values = entry.listed().map(|values| values.into_keys().collect::<Vec<_>>());
        let flags = (entry.is_nullable(), entry.says_open(), entry.presence);
        (entry.mirrored(), flags, entry.types.clone(), entry.semantics.clone(), values)
    };
    rest(before) == rest(after) && differing(&before.extra, &after.extra).is_empty()
}
