//! The corpus that is embedded in the binary: one compressed archive per protocol, which the build
//! script writes. An archive is unpacked when its protocol is asked for.

use super::files::Files;

/// The names of the protocols, sorted.
pub(super) fn protocols() -> impl Iterator<Item = &'static str> {
    ARCHIVES.iter().map(|(name, _)| *name)
}

pub(super) fn protocol(name: &str) -> Option<Files> {
    let (_, archive) = ARCHIVES.iter().find(|(protocol, _)| *protocol == name)?;
    Some(unpack(archive))
}

pub(super) fn all() -> Files {
    ARCHIVES.iter().flat_map(|(_, archive)| unpack(archive)).collect()
}

fn unpack(archive: &[u8]) -> Files {
    let bytes = miniz_oxide::inflate::decompress_to_vec(archive).expect(WRITTEN_BY_BUILD);
    let mut rest = bytes.as_slice();
    let mut files = Files::new();
    while !rest.is_empty() {
        let name = take_text(&mut rest).expect(WRITTEN_BY_BUILD);
        let text = take_text(&mut rest).expect(WRITTEN_BY_BUILD);
        files.insert(name, text);
    }
    files
}

/// The next text of an unpacked archive: its length in four bytes, the lowest first, and its bytes.
fn take_text(rest: &mut &[u8]) -> Option<String> {
    let (length, after) = rest.split_first_chunk()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let (text, after) = after.split_at_checked(length)?;
    *rest = after;
    String::from_utf8(text.to_vec()).ok()
}

const WRITTEN_BY_BUILD: &str = "the build script wrote the archive";

static ARCHIVES: &[(&str, &[u8])] = &include!(concat!(env!("OUT_DIR"), "/corpus.rs"));
