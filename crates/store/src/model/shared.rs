//! Values that share their unchanged parts with their copies, so that the copy of the state that a
//! job works on costs little.

use std::borrow::Borrow;
use std::ops::Bound::{Excluded, Unbounded};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use rpds::RedBlackTreeMapSync;

/// A value that is copied when it is changed, and not before.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept<T>(Arc<T>);

impl<T> Kept<T> {
    pub(super) fn new(value: T) -> Self {
        Self(Arc::new(value))
    }
}

impl<T> Deref for Kept<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Kept<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

/// A sorted map. A copy costs nothing, and a change copies the path to what changes.
#[derive(Debug)]
pub(super) struct Shared<K: Ord, V>(RedBlackTreeMapSync<K, V>);

impl<K: Ord, V> Clone for Shared<K, V> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K: Ord, V> Default for Shared<K, V> {
    fn default() -> Self {
        Self(RedBlackTreeMapSync::new_sync())
    }
}

impl<K: Ord + Clone, V: Clone> Shared<K, V> {
    pub(super) fn len(&self) -> usize {
        self.0.size()
    }

    pub(super) fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.0.get(key)
    }

    pub(super) fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        self.0.get_mut(key)
    }

    pub(super) fn insert(&mut self, key: K, value: V) {
        self.0.insert_mut(key, value);
    }

    /// Removes an entry. Returns whether there was one.
    pub(super) fn remove(&mut self, key: &K) -> bool {
        self.0.remove_mut(key)
    }

    pub(super) fn retain(&mut self, mut keep: impl FnMut(&K, &V) -> bool) {
        let gone = self.0.iter().filter(|(key, value)| !keep(key, value));
        let gone: Vec<K> = gone.map(|(key, _)| key.clone()).collect();
        for key in &gone {
            self.0.remove_mut(key);
        }
    }

    pub(super) fn first(&self) -> Option<(&K, &V)> {
        self.0.first()
    }

    pub(super) fn last(&self) -> Option<(&K, &V)> {
        self.0.last()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.0.iter()
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &V> {
        self.0.values()
    }

    pub(super) fn entries_after<'a>(&'a self, key: &K) -> impl Iterator<Item = (&'a K, &'a V)> {
        self.0.range::<K, _>((Excluded(key.clone()), Unbounded))
    }

    pub(super) fn after<'a>(&'a self, key: &K) -> impl Iterator<Item = &'a V> {
        self.entries_after(key).map(|(_, value)| value)
    }
}
