//! The id of a project in AOF, which is also the name of its folder.

use accord_canon::sha256;

/// The project that is always there, by its name in AOF.
const INBOX: &str = "_inbox";

const MAX_CHARS: usize = 64;

/// How many digits of a hash follow a slug.
const HASH_DIGITS: usize = 8;

/// Whether AOF allows an id of a project.
pub fn is_project_id(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    id == INBOX
        || (2..=MAX_CHARS).contains(&id.len())
            && id.bytes().all(|byte| is_plain(byte) || byte == b'-')
            && !id.starts_with('-')
}

/// The id of a project in AOF: the id itself if AOF allows it, else a slug of it with a hash, so
/// that two projects never share a folder.
///
/// ```
/// use accord_tasks_core::aof_project_id;
///
/// assert_eq!(aof_project_id("map-service"), "map-service");
/// assert_eq!(aof_project_id("Map Service"), "map-service-4cfcfdfc");
/// ```
pub fn aof_project_id(project: &str) -> String {
    if is_project_id(project) {
        return project.to_owned();
    }
    let hash = sha256(project.as_bytes()).hex();
    let mut slug = String::new();
    for character in project.chars().map(|character| character.to_ascii_lowercase()) {
        match character {
            'a'..='z' | '0'..='9' => slug.push(character),
            _ if slug.is_empty() || slug.ends_with('-') => {}
            _ => slug.push('-'),
        }
    }
    slug.truncate(MAX_CHARS - HASH_DIGITS - 1);
    let slug = slug.trim_end_matches('-');
    let slug = if slug.is_empty() { "project" } else { slug };
    format!("{slug}-{}", &hash[..HASH_DIGITS])
}
