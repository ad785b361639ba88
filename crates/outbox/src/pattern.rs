//! Patterns of paths whose content never leaves the machine.

/// Patterns: `*` is any part of a name, `**` any part of a path, `?` one character. A pattern
/// without a slash is about the name of a file or of a folder above it.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Patterns(Vec<String>);

impl Patterns {
    pub fn new(patterns: Vec<String>) -> Self {
        Self(patterns)
    }

    pub fn as_slice(&self) -> &[String] {
        &self.0
    }

    /// Whether a pattern is about a path, or about a folder above it.
    pub fn matches(&self, path: &str) -> bool {
        let parts: Vec<&str> = path.split('/').collect();
        self.0.iter().any(|pattern| {
            let pattern = pattern.trim_matches('/');
            if !pattern.contains('/') {
                return parts.iter().any(|part| fits(pattern.as_bytes(), part.as_bytes()));
            }
            (1..=parts.len()).any(|end| fits(pattern.as_bytes(), parts[..end].join("/").as_bytes()))
        })
    }
}

fn fits(pattern: &[u8], path: &[u8]) -> bool {
    // The places in the path up to which the pattern fits so far: linear for each of its parts.
    let mut places: Vec<bool> = (0..=path.len()).map(|at| at == 0).collect();
    let mut rest = pattern;
    while let Some((first, after)) = rest.split_first() {
        let is_double = *first == b'*' && after.first() == Some(&b'*');
        let mut next = vec![false; path.len() + 1];
        if *first == b'*' {
            let mut is_inside = false;
            for at in 0..=path.len() {
                is_inside |= places[at];
                next[at] = is_inside;
                is_inside &= is_double || path.get(at) != Some(&b'/');
            }
        } else {
            for at in 0..path.len() {
                let is_one = *first == path[at] || (*first == b'?' && path[at] != b'/');
                next[at + 1] = places[at] && is_one;
            }
        }
        places = next;
        rest = if is_double { &after[1..] } else { after };
        // `**/` is about the top folder, too.
        if is_double && rest.first() == Some(&b'/') && fits(&rest[1..], path) {
            return true;
        }
    }
    places[path.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_about_names_and_paths() {
        for (pattern, path, expected) in [
            (".env", ".env", true),
            (".env", "a/.env", true),
            (".env", "a/.env.local", false),
            (".env*", "a/.env.local", true),
            ("*.pem", "keys/a.pem", true),
            ("secrets", "a/secrets/b.txt", true),
            ("secrets/", "secrets/b.txt", true),
            ("a/*.txt", "a/b.txt", true),
            ("a/*.txt", "a/b/c.txt", false),
            ("a/**", "a/b/c.txt", true),
            ("**/c.txt", "a/b/c.txt", true),
            ("**/c.txt", "c.txt", true),
            ("a/?.txt", "a/b.txt", true),
            ("a?b", "a/b", false),
            ("a/b", "a/b/c", true),
            ("a/b", "a/bc", false),
        ] {
            let patterns = Patterns::new(vec![pattern.to_owned()]);
            assert_eq!(patterns.matches(path), expected, "{pattern} {path}");
        }
    }
}
