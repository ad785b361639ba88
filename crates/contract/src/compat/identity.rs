//! How content identity is computed.
//!
//! A hash outlives every release, so another way to hash is never a quiet change:
//! it needs another domain tag, vectors for both tags, and a major version.

use std::collections::{BTreeMap, BTreeSet};

use super::changes::Changes;
use super::snapshot::{IdentityEntry, Snapshot};
use super::{Rule, contractual};

pub(super) fn compare(old: &Snapshot, new: &Snapshot, changes: &mut Changes<'_>) {
    match (old.identity(), new.identity()) {
        (None, None) => {}
        (None, Some(_)) => {
            changes.added("/identity", Rule::IdentityAdded, "identity is defined now");
        }
        (Some(_), None) => {
            let note = "identity is not defined any more";
            changes.removed("/identity", Rule::IdentityRemoved, note);
        }
        (Some(old), Some(new)) => identity(old, new, changes),
    }
}

fn identity(old: &IdentityEntry, new: &IdentityEntry, changes: &mut Changes<'_>) {
    let tags = [old.domain_tag.as_str(), new.domain_tag.as_str()];
    let [old_tag, new_tag] = tags;
    if old_tag != new_tag {
        let note = format!("the tag was {old_tag} and is {new_tag}");
        changes.changed("/identity/domainTag", Rule::DomainTagChanged, note);
    }

    let before = Vectors::new(old, tags);
    let after = Vectors::new(new, tags);
    let mut paths = Vec::new();
    if old.hash != new.hash {
        let note = format!("the hash function was {} and is {}", old.hash, new.hash);
        changes.changed("/identity/hash", Rule::IdentityRuleChanged, note);
        paths.push("/identity/hash");
    }
    if scope(old) != scope(new) {
        let note = "other members are hashed";
        changes.changed("/identity/scope", Rule::IdentityRuleChanged, note);
        paths.push("/identity/scope");
    }
    for path in paths {
        if old_tag == new_tag {
            let note = format!("hashes differ from before under the same tag {new_tag}");
            changes.wrong(path, Rule::IdentityTagKept, note);
        } else if !vectors_of_both(&before, &after, tags) {
            let note = format!("vectors for both {old_tag} and {new_tag} are needed");
            changes.wrong(path, Rule::IdentityVectorsMissing, note);
        }
    }

    for (key, (id, was)) in &before.0 {
        let path = format!("/identity/vectors/{id}");
        match after.0.get(key) {
            None => changes.removed(&path, Rule::VectorRemoved, "the vector is gone"),
            Some((_, is)) if was != is => {
                let note = format!("the hash was {was} and is {is}");
                changes.changed(&path, Rule::VectorChanged, note);
            }
            Some(_) => {}
        }
    }
    let names: BTreeSet<_> = contractual(&old.extra)
        .chain(contractual(&new.extra))
        .collect();
    for name in names {
        if old.extra.get(name) != new.extra.get(name) {
            let note = "the checker does not know what this means";
            changes.changed(&format!("/identity/{name}"), Rule::AttributeChanged, note);
        }
    }
}

fn scope(identity: &IdentityEntry) -> BTreeSet<&String> {
    identity.scope.iter().collect()
}

/// Vectors by tag and name, each with its id in the snapshot and its hash.
struct Vectors(BTreeMap<(String, String), (String, String)>);

impl Vectors {
    /// A vector belongs to the tag that its id begins with, else to its snapshot's.
    fn new(identity: &IdentityEntry, tags: [&str; 2]) -> Self {
        let vectors = identity.vectors.iter().flatten();
        let entries = vectors.map(|(id, hash)| {
            let tagged = id.split_once('/').filter(|(tag, _)| tags.contains(tag));
            let (tag, name) = tagged.unwrap_or((&identity.domain_tag, id));
            (
                (tag.to_owned(), name.to_owned()),
                (id.clone(), hash.clone()),
            )
        });
        Self(entries.collect())
    }

    fn of(&self, tag: &str) -> impl Iterator<Item = (&str, &str)> {
        (self.0.iter())
            .filter(move |((of, _), _)| of == tag)
            .map(|((_, name), (_, hash))| (name.as_str(), hash.as_str()))
    }
}

/// Whether the new snapshot has vectors of both tags, the old ones unchanged.
fn vectors_of_both(before: &Vectors, after: &Vectors, [old_tag, new_tag]: [&str; 2]) -> bool {
    let later: BTreeMap<_, _> = after.of(old_tag).collect();
    let unchanged = before
        .of(old_tag)
        .all(|(name, hash)| later.get(name) == Some(&hash));
    unchanged && !later.is_empty() && after.of(new_tag).next().is_some()
}
