//! The files beside the versions of a task: which ones stay at their paths.

use std::collections::{BTreeMap, BTreeSet};

/// The folder of what the finished work is.
const OUTPUTS: &str = "outputs/";
/// Where the files of the version that lost go.
const OTHER: &str = "work/from-other";
/// How a run ended.
const RESULT: &str = "run_result.json";

/// Files by their paths in a folder.
pub type Files<T> = BTreeMap<String, T>;

/// The files beside a task of which two versions exist. The outputs of one version stay together:
/// they are those that a person looks at. `is_decided` says whether a person decided about those of
/// the version that counts. What the other version has goes below `work/`.
pub fn united<T: Clone + PartialEq>(
    base: &Files<T>,
    kept: &Files<T>,
    other: &Files<T>,
    is_decided: bool,
) -> Files<T> {
    let outputs = |files: &Files<T>| -> Files<T> {
        let found = files.iter().filter(|(path, _)| path.starts_with(OUTPUTS));
        found.map(|(path, file)| (path.clone(), file.clone())).collect()
    };
    let (before, mut ours, mut theirs) = (outputs(base), outputs(kept), outputs(other));
    if !is_decided && ours == before {
        std::mem::swap(&mut ours, &mut theirs);
    }
    let mut all = ours.clone();
    if theirs != ours && theirs != before {
        all.extend(theirs.into_iter().map(|(path, file)| (format!("{OTHER}/{path}"), file)));
    }
    let paths = kept.keys().chain(other.keys()).filter(|path| !path.starts_with(OUTPUTS));
    for path in paths.collect::<BTreeSet<_>>() {
        let (own, their, before) = (kept.get(path), other.get(path), base.get(path));
        let (counts, lost) = if own == before { (their, None) } else { (own, their) };
        all.extend(counts.map(|file| (path.clone(), file.clone())));
        if let Some(lost) = lost.filter(|lost| Some(*lost) != before && Some(*lost) != counts) {
            let name = path.strip_prefix("work/").unwrap_or(path);
            all.insert(format!("{OTHER}/{name}"), lost.clone());
        }
    }
    all
}

/// The files of the runs of a task of which two versions exist. `name` says under which name an
/// earlier result is kept.
pub fn united_run<T: Clone + PartialEq>(
    base: &Files<T>,
    kept: &Files<T>,
    other: &Files<T>,
    name: impl Fn(&T) -> String,
) -> Files<T> {
    let mut all = other.clone();
    all.extend(kept.iter().map(|(path, file)| (path.clone(), file.clone())));
    let (own, their, before) = (kept.get(RESULT), other.get(RESULT), base.get(RESULT));
    let (counts, lost) = if own == before { (their, own) } else { (own, their) };
    if let Some(counts) = counts {
        all.insert(RESULT.to_owned(), counts.clone());
    }
    if let Some(lost) = lost.filter(|lost| Some(*lost) != counts && Some(*lost) != before) {
        all.insert(format!("results/{}.json", name(lost)), lost.clone());
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(list: &[(&str, u8)]) -> Files<u8> {
        list.iter().map(|(path, file)| ((*path).to_owned(), *file)).collect()
    }

    #[test]
    fn the_outputs_of_one_version_stay_together() {
        let base = files(&[("outputs/a", 1), ("inputs/x", 1)]);
        let kept = files(&[("outputs/a", 2), ("inputs/x", 1), ("work/log", 2)]);
        let other = files(&[("outputs/b", 3), ("inputs/x", 3), ("work/log", 3)]);
        let all = files(&[
            ("inputs/x", 3),
            ("outputs/a", 2),
            ("work/from-other/log", 3),
            ("work/from-other/outputs/b", 3),
            ("work/log", 2),
        ]);
        assert_eq!(united(&base, &kept, &other, false), all);
        // Only the other one made some.
        let same = files(&[("outputs/a", 1)]);
        assert_eq!(united(&same, &same, &other, false)["outputs/b"], 3);
        let decided = united(&same, &same, &other, true);
        assert_eq!((decided["outputs/a"], decided["work/from-other/outputs/b"]), (1, 3));
    }

    #[test]
    fn both_results_of_runs_are_kept() {
        let (kept, other) = (files(&[(RESULT, 1)]), files(&[(RESULT, 2), ("results/a.json", 3)]));
        let all = united_run(&Files::new(), &kept, &other, |file| format!("other-{file}"));
        let expected = files(&[("results/a.json", 3), ("results/other-2.json", 2), (RESULT, 1)]);
        assert_eq!(all, expected);
    }
}
