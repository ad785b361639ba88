//! The marks that git leaves in a file that it could not merge.

/// The two versions of a file in which git left marks.
pub(super) fn sides(text: &str) -> [String; 2] {
    #[derive(Clone, Copy, Eq, PartialEq)]
    enum Part {
        Both,
        Ours,
        Base,
        Theirs,
    }
    let (mut ours, mut theirs, mut part) = (String::new(), String::new(), Part::Both);
    for line in text.split_inclusive('\n') {
        part = match part {
            Part::Both if line.starts_with("<<<<<<< ") => Part::Ours,
            Part::Ours if line.starts_with("|||||||") => Part::Base,
            Part::Ours | Part::Base if line.trim_end() == "=======" => Part::Theirs,
            Part::Theirs if line.starts_with(">>>>>>> ") => Part::Both,
            _ => {
                if matches!(part, Part::Both | Part::Ours) {
                    ours.push_str(line);
                }
                if matches!(part, Part::Both | Part::Theirs) {
                    theirs.push_str(line);
                }
                continue;
            }
        };
    }
    [ours, theirs]
}

#[cfg(test)]
mod tests {
    use super::sides;

    #[test]
    fn the_versions_of_a_marked_file() {
        let text = "a\n<<<<<<< HEAD\nb\n||||||| base\nx\n=======\nc\n>>>>>>> other\nd\n";
        assert_eq!(sides(text), ["a\nb\nd\n", "a\nc\nd\n"]);
    }
}
