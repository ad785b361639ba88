//! Work of one group that several threads share. The threads are started once and wait for work.
//! The thread that has the work never waits for one that has not begun: it goes on by itself, so
//! that a busy machine costs nothing.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread;

/// The most threads. More would wait for each other in the same folders.
const MOST: usize = 4;

/// The most jobs that wait for a thread. It has too much to do already.
const WAITING: usize = 8;

/// A shorter list is not worth the way to another thread.
const SHORTEST: usize = 12;

/// The least length of a part.
const SHORTEST_PART: usize = 4;

/// How many parts there are for each thread, so that one that begins late has its share.
const PER_LANE: usize = 4;

type Job = Box<dyn FnOnce() + Send>;

pub(crate) fn count() -> usize {
    helpers().len() + 1
}

fn helpers() -> &'static [SyncSender<Job>] {
    static HELPERS: OnceLock<Vec<SyncSender<Job>>> = OnceLock::new();
    HELPERS.get_or_init(|| {
        let cores = thread::available_parallelism().map_or(1, usize::from).min(MOST);
        (1..cores).map_while(|_| helper()).collect()
    })
}

fn helper() -> Option<SyncSender<Job>> {
    let (sender, receiver): (_, Receiver<Job>) = sync_channel(WAITING);
    let run = move || receiver.iter().for_each(|job| job());
    thread::Builder::new().name("accord-files".to_owned()).spawn(run).ok()?;
    Some(sender)
}

/// Cuts a list into parts for this many threads. A part begins only where `may_begin` allows it.
pub(super) fn cut<T>(list: &[T], lanes: usize, may_begin: impl Fn(&T) -> bool) -> Vec<&[T]> {
    let each = list.len().div_ceil(lanes * PER_LANE).max(SHORTEST_PART);
    let mut parts = Vec::new();
    let mut rest = list;
    while lanes > 1 && list.len() >= SHORTEST && rest.len() > each {
        let Some(at) = (each..rest.len()).find(|at| may_begin(&rest[*at])) else { break };
        let (part, after) = rest.split_at(at);
        parts.push(part);
        rest = after;
    }
    parts.push(rest);
    parts
}

/// Does the work of some parts. `own` does a part in this thread. `others` does parts in another
/// one: it gets its number, the parts as it takes them, and whom to give their results.
pub(super) fn share<R: Send + 'static>(
    parts: usize,
    mut own: impl FnMut(usize) -> R,
    others: impl Fn(usize, &mut dyn Iterator<Item = usize>, &mut dyn FnMut(usize, R))
    + Send
    + Sync
    + 'static,
) -> Vec<R> {
    if parts < 2 {
        return (0..parts).map(own).collect();
    }
    let taken = Arc::new(AtomicUsize::new(0));
    let take = move |taken: &AtomicUsize| {
        let part = taken.fetch_add(1, Ordering::Relaxed);
        (part < parts).then_some(part)
    };
    let (results, received) = channel();
    let others = Arc::new(others);
    for (lane, helper) in helpers().iter().enumerate().take(parts - 1) {
        let (taken, others, results) = (taken.clone(), others.clone(), results.clone());
        // A thread that has enough to do is left alone.
        drop(helper.try_send(Box::new(move || {
            let mut mine = std::iter::from_fn(|| take(&taken)).peekable();
            if mine.peek().is_some() {
                // If the thread that waits has gone away, no one misses the results.
                others(lane + 1, &mut mine, &mut |part, result| {
                    drop(results.send((part, result)));
                });
            }
        })));
    }
    drop(results);
    let mut done: Vec<Option<R>> = (0..parts).map(|_| None).collect();
    let mut missing = parts;
    while let Some(part) = take(&taken) {
        done[part] = Some(own(part));
        missing -= 1;
    }
    while missing > 0 {
        // A thread that ended early answers no more. What is done again duplicates nothing.
        let Ok((part, result)) = received.recv() else { break };
        done[part] = Some(result);
        missing -= 1;
    }
    done.into_iter().enumerate().map(|(part, result)| result.unwrap_or_else(|| own(part))).collect()
}

#[cfg(test)]
mod tests {
    use super::{cut, share};

    #[test]
    fn parts_begin_only_where_they_may() {
        let list: Vec<usize> = (0..100).collect();
        let parts = cut(&list, 2, |number| number % 40 == 1);
        assert_eq!(parts, [&list[..41], &list[41..81], &list[81..]]);
        assert_eq!(cut(&list, 3, |_| false), [&list[..]]);
        assert_eq!(cut(&list, 1, |_| true), [&list[..]]);
        assert_eq!(cut(&list[..11], 3, |_| true), [&list[..11]]);
        assert_eq!(cut(&list, 4, |_| true).concat(), list);
    }

    #[test]
    fn results_come_in_the_order_of_the_parts() {
        for parts in [0, 1, 2, 7, 64] {
            let results = share(
                parts,
                |part| part * 10,
                |_, parts, done| parts.for_each(|part| done(part, part * 10)),
            );
            assert_eq!(results, (0..parts).map(|part| part * 10).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_part_that_another_thread_dropped_is_done_by_the_first_one() {
        for _ in 0..20 {
            let dropping = |_, parts: &mut dyn Iterator<Item = usize>, _: &mut dyn FnMut(_, _)| {
                parts.next();
            };
            assert_eq!(share(8, |part| part, dropping), (0..8).collect::<Vec<_>>());
        }
    }
}
