//! The scores in docs/wire/boundaries.md: every linked test exists, a score is the number of its
//! links, and every gap is explained.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::walk::page;

/// The rows of the tables below a heading, cell by cell.
fn rows<'p>(page: &'p str, heading: &str) -> Vec<Vec<&'p str>> {
    let section = page.split(&format!("\n## {heading}\n")).nth(1).expect("the section");
    let section = section.split("\n## ").next().unwrap_or(section);
    let lines = section.lines().filter(|line| line.starts_with("| "));
    let cells = |line: &'p str| line.trim_matches('|').split('|').map(str::trim).collect();
    // The first row has the headings.
    lines.skip(1).map(cells).collect()
}

/// The tests that cells link to.
fn links<'p>(cells: &[&'p str]) -> Vec<&'p str> {
    let targets = cells.iter().filter_map(|cell| cell.strip_prefix("[yes](")?.strip_suffix(')'));
    targets.collect()
}

fn gaps(cells: &[&str]) -> Vec<String> {
    cells.iter().filter_map(|cell| cell.strip_prefix("gap ").map(str::to_owned)).collect()
}

#[test]
fn every_linked_test_exists() {
    let text = page("wire/boundaries.md");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/wire");
    let mut missing = Vec::new();
    let mut count = 0;
    for heading in ["Contract: four criteria", "Protocol: six criteria"] {
        for row in rows(&text, heading) {
            for link in links(&row) {
                count += 1;
                let (file, name) = link.split_once('#').expect("a file and a test");
                let source = std::fs::read_to_string(folder.join(file)).unwrap_or_default();
                // The attribute is above the function, perhaps with others in between.
                let place = source.find(&format!("fn {name}("));
                let above = place.map(|place| source[..place].rsplit("\n\n").next().unwrap_or(""));
                if !above.is_some_and(|above| above.contains("test")) {
                    missing.push(format!("{}: {link}", row[0]));
                }
            }
        }
    }
    assert!(count > 100, "the tables link to tests");
    assert!(missing.is_empty(), "no such test: {missing:#?}");
}

#[test]
fn scores_are_counted_and_gaps_explained() {
    let text = page("wire/boundaries.md");
    let mut open = BTreeMap::new();
    let mut boundaries = Vec::new();
    for (heading, most) in [("Contract: four criteria", 4), ("Protocol: six criteria", 6)] {
        let mut names = BTreeSet::new();
        for row in rows(&text, heading) {
            let (yes, gaps) = (links(&row).len(), gaps(&row));
            assert_eq!(yes + gaps.len(), most, "{row:?}");
            assert_eq!(*row.last().expect("a score"), format!("{yes}/{most}"), "{}", row[0]);
            open.extend(gaps.into_iter().map(|gap| (gap, row[0].to_owned())));
            assert!(names.insert(row[0].to_owned()), "{} is there twice", row[0]);
        }
        boundaries.push(names);
    }
    let named = rows(&text, "Who is on each side").into_iter().map(|row| row[0].to_owned());
    boundaries.push(named.collect());
    assert!(boundaries.windows(2).all(|pair| pair[0] == pair[1]), "{boundaries:?}");
    let explained: BTreeMap<String, String> = rows(&text, "Gaps")
        .into_iter()
        .map(|row| {
            assert!(row[3].len() >= 10, "{row:?}");
            (row[0].to_owned(), row[1].to_owned())
        })
        .collect();
    assert_eq!(open, explained);
}
