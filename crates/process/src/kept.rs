//! Programs that may live on after their worker, such as servers for development.
//!
//! Their launcher stays with them: it gets what they leave behind, and by its name they and all
//! that they start are recognised as workers.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use crate::descendants::descendants;
use crate::procfs;
use crate::table::ProcessTable;

static PROGRAMS: OnceLock<Vec<String>> = OnceLock::new();

/// Sets the programs that workers of this process may leave behind: names, or the beginnings of
/// command lines. A process that starts workers calls it once.
pub fn keep_after_workers(programs: Vec<String>) {
    // A second call would name the same programs.
    let _ = PROGRAMS.set(programs);
}

pub(crate) fn kept_programs() -> &'static [String] {
    PROGRAMS.get().map_or(&[], Vec::as_slice)
}

/// The numbers of this process' descendants that are such programs, and of all that they started.
pub(crate) fn kept_processes(programs: &[String]) -> BTreeSet<u64> {
    let Some(table) = ProcessTable::read().filter(|_| !programs.is_empty()) else {
        return BTreeSet::new();
    };
    let all = descendants(&table, std::process::id().into()).into_iter();
    let is_kept = |pid: &u64| {
        let line = procfs::read(&format!("{pid}/cmdline")).unwrap_or_default();
        programs.iter().any(|program| matches(program, &line))
    };
    let roots = all.map(|process| process.pid).filter(is_kept);
    let with_own = |root: u64| {
        let own = descendants(&table, root).into_iter().map(|process| process.pid);
        own.chain([root]).collect::<Vec<u64>>()
    };
    roots.flat_map(with_own).collect()
}

/// Whether a command line, with a zero after each word, begins with the words of a program. The
/// first word is a name without its folder. An interpreter may stand before it.
fn matches(program: &str, line: &[u8]) -> bool {
    let line = line.strip_suffix(&[0]).unwrap_or(line);
    let line: Vec<_> = line.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    let mut words = program.split_whitespace();
    let Some(name) = words.next() else { return false };
    let words: Vec<&str> = words.collect();
    let begins = |from: usize| {
        let is_named = |word: &str| word.rsplit('/').next() == Some(name);
        line.get(from).is_some_and(|word| is_named(word))
            && words
                .iter()
                .enumerate()
                .all(|(at, word)| line.get(from + 1 + at).is_some_and(|found| found == word))
    };
    begins(0) || begins(1)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_program_is_a_name_and_the_words_after_it() {
        let vite = b"node\0/w/node_modules/.bin/vite\0--port\0any\0";
        assert!(matches("vite", vite) && matches("vite --port", vite) && matches("node", vite));
        for other in ["vit", "vite dev", "vite --port other", "", "--port", "/w/vite"] {
            assert!(!matches(other, vite), "{other}");
        }
        assert!(matches("npm run", b"/bin/npm\0run\0") && !matches("npm run", b"/bin/npm\0"));
    }
}
