//! Pages.

use accord_base::fill_page;

/// A page of the numbers below 100 that `take` keeps.
fn page(
    limit: usize,
    after: Option<u32>,
    take: impl Fn(u32) -> Option<usize>,
) -> (Vec<u32>, Option<u32>) {
    let mut taken = Vec::new();
    let read = |after: Option<&u32>, wanted: usize| {
        let from = after.map_or(0, |after| after + 1);
        Ok::<_, ()>((from..100).take(wanted).collect())
    };
    let next = fill_page(
        limit,
        after,
        read,
        |row| *row,
        |row| {
            let size = take(row);
            taken.extend(size.map(|_| row));
            Ok(size)
        },
    );
    (taken, next.unwrap())
}

#[test]
fn pages_follow_each_other_without_gaps() {
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let (rows, next) = page(33, after, |_| Some(1));
        assert!(rows.len() <= 33);
        seen.extend(rows);
        after = next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(seen, (0..100).collect::<Vec<_>>());
}

#[test]
fn a_row_that_is_left_out_does_not_count() {
    let (rows, next) = page(10, None, |row| (row % 2 == 0).then_some(1));
    assert_eq!(rows, (0..20).step_by(2).collect::<Vec<_>>());
    assert_eq!(next, Some(18));
}

#[test]
fn a_page_ends_when_it_is_large() {
    let (rows, next) = page(10, None, |_| Some(20 * 1024 * 1024));
    assert_eq!((rows, next), (vec![0, 1], Some(1)));
}
