//! How content identity is computed. A hash outlives every release, so a change of the hashing
//! needs another domain tag, vectors for both tags (`KB_V1/plain`), and a major version.

use std::collections::{BTreeMap, BTreeSet};

use super::changes::Changes;
use super::snapshot::{IdentityEntry, Snapshot};
use super::{Rule, differing};

/// Clauses: ALX-KB-STABLE.
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

/// The full id of a vector, with its tag.
pub(super) fn full_id(identity: &IdentityEntry, id: &str) -> String {
    if id.contains('/') { id.into() } else { format!("{}/{id}", identity.domain_tag) }
}

/// Clauses: ALX-KB-NEW-TAG, ALX-KB-NEW-MAJOR, ALX-KB-BOTH-VECTORS, ALX-COMPAT-16, ALX-COMPAT-17.
fn identity(old: &IdentityEntry, new: &IdentityEntry, changes: &mut Changes<'_>) {
    let (before, after) = (Vectors::new(old), Vectors::new(new));
    let (old_tag, new_tag) = (old.domain_tag.as_str(), new.domain_tag.as_str());
    if old_tag != new_tag {
        let path = "/identity/domainTag";
        let note = format!("the tag was {old_tag} and is {new_tag}");
        // Always major, even if everything is right: every hash changes with the tag.
        changes.changed(path, Rule::DomainTagChanged, note);
        if before.changed_in(&after, new_tag) {
            let note = format!("the tag {new_tag} was used before, for other hashes");
            changes.wrong(path, Rule::IdentityTagKept, note);
        }
    }
    // A tag that was used before keeps its vectors, the new one included.
    let has_vectors = |tag: &&str| after.has(tag) && before.all_kept_in(&after, tag);
    let tags_have_vectors = [old_tag, new_tag].iter().all(has_vectors);
    let rule_changes = rule_changes(old, new);
    // A new tag alone changes the hashes too, so it needs vectors as well.
    if old_tag != new_tag && rule_changes.is_empty() && !tags_have_vectors {
        let note = format!("vectors for both {old_tag} and {new_tag} are needed");
        changes.wrong("/identity/domainTag", Rule::IdentityVectorsMissing, note);
    }
    for (path, note) in rule_changes {
        changes.changed(path, Rule::IdentityRuleChanged, note);
        if old_tag == new_tag {
            let note = format!("hashes differ from before under the same tag {new_tag}");
            changes.wrong(path, Rule::IdentityTagKept, note);
        } else if !tags_have_vectors {
            let note = format!("vectors for both {old_tag} and {new_tag} are needed");
            changes.wrong(path, Rule::IdentityVectorsMissing, note);
        }
    }

    for (full_id, (id, was)) in &before.0 {
        let path = format!("/identity/vectors/{id}");
        match after.hash(full_id) {
            None => changes.removed(&path, Rule::VectorRemoved, "the vector is gone"),
            Some(is) if *was != is => {
                let note = format!("the hash was {was} and is {is}");
                changes.changed(&path, Rule::VectorChanged, note);
            }
            Some(_) => {}
        }
    }
    for name in differing(&old.extra, &new.extra) {
        let note = "the checker does not know what this means";
        changes.changed(&format!("/identity/{name}"), Rule::AttributeChanged, note);
    }
}

fn rule_changes(old: &IdentityEntry, new: &IdentityEntry) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    if old.hash != new.hash {
        let note = format!("the hash function was {} and is {}", old.hash, new.hash);
        found.push(("/identity/hash", note));
    }
    if old.scope.iter().collect::<BTreeSet<_>>() != new.scope.iter().collect() {
        found.push(("/identity/scope", "other members are hashed".into()));
    }
    found
}

/// Vectors by full id, each with its id in the snapshot and its hash.
struct Vectors<'a>(BTreeMap<String, (&'a str, &'a str)>);

impl<'a> Vectors<'a> {
    fn new(identity: &'a IdentityEntry) -> Self {
        let entry = |(id, hash): (&'a String, &'a String)| {
            (full_id(identity, id), (id.as_str(), hash.as_str()))
        };
        Self(identity.vectors.iter().flatten().map(entry).collect())
    }

    fn hash(&self, full_id: &str) -> Option<&'a str> {
        self.0.get(full_id).map(|(_, hash)| *hash)
    }

    fn has(&self, tag: &str) -> bool {
        self.of(tag).next().is_some()
    }

    /// Whether every vector of a tag still exists with the same hash.
    fn all_kept_in(&self, later: &Self, tag: &str) -> bool {
        self.of(tag).all(|(full_id, hash)| later.hash(full_id) == Some(hash))
    }

    /// Whether a vector of a tag has another hash now.
    fn changed_in(&self, later: &Self, tag: &str) -> bool {
        self.of(tag).any(|(full_id, hash)| later.hash(full_id).is_some_and(|is| is != hash))
    }

    fn of(&self, tag: &str) -> impl Iterator<Item = (&str, &'a str)> {
        let belongs = move |full_id: &str| {
            let name = full_id.strip_prefix(tag);
            // With the slash, because `KB_V1` is also the beginning of `KB_V10`.
            name.is_some_and(|name| name.starts_with('/'))
        };
        (self.0.iter())
            .filter(move |(full_id, _)| belongs(full_id))
            .map(|(full_id, (_, hash))| (full_id.as_str(), *hash))
    }
}
