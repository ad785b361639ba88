//! What a worker without the files of the tree uploads: which paths, how much, and where it goes
//! on.

use accord_contract::{Code, Failure};

/// The most bytes of one file, and of all files of a run.
pub const MOST_BYTES: u32 = 1024 * 1024 * 1024;
/// The most files of a run.
pub const MOST_FILES: usize = 2_000;
/// The most bytes of one request.
pub const PIECE: u32 = 1024 * 1024;
/// The longest path, in characters.
pub const PATH: usize = 1_000;

/// How many folders may be inside each other.
const DEPTH: usize = 32;
/// The folders of a task whose files are read.
const READ: [&str; 2] = ["outputs", "inputs"];

/// The path of a file in `outputs` or `inputs`, within the folder of its task. One that begins with
/// neither is in `outputs`.
pub fn readable_path(path: &str) -> Result<String, Failure> {
    let is_named = READ.iter().any(|folder| below(path, folder));
    let path = if is_named { path.to_owned() } else { format!("outputs/{path}") };
    check(&path).map(|()| path)
}

/// The path of an output, within the folder of its task.
pub fn output_path(path: &str) -> Result<(), Failure> {
    if !below(path, "outputs") {
        return Err(outside(path, "an output is a file below outputs/"));
    }
    check(path)
}

fn below(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

fn check(path: &str) -> Result<(), Failure> {
    if path.chars().any(char::is_control) {
        return Err(outside(path, "a path of a file has no control characters"));
    }
    if path.split('/').any(|name| matches!(name, "" | "." | "..")) {
        return Err(outside(path, "each part of the path is the name of a folder or a file"));
    }
    if path.split('/').count() > DEPTH {
        return Err(outside(path, &format!("at most {DEPTH} folders are inside each other")));
    }
    Ok(())
}

fn outside(path: &str, why: &str) -> Failure {
    Failure::new(Code::AofPathOutsideTask, why).at("/path").with("path", path)
}

/// Checks that a run may upload one more file of a size, beside those that it announced before.
pub fn check_room(size: u64, announced: impl Iterator<Item = u64>) -> Result<(), Failure> {
    let (mut files, mut bytes) = (1, size);
    for size in announced {
        files += 1;
        bytes = bytes.saturating_add(size);
    }
    let most = u64::from(MOST_BYTES);
    if files > MOST_FILES {
        let message = format!("a run uploads at most {MOST_FILES} files");
        return Err(Failure::new(Code::AofOutputTooLarge, message).with("most_files", MOST_FILES));
    }
    if bytes > most {
        let message = format!("a run uploads at most {most} bytes, and these would be {bytes}");
        return Err(Failure::new(Code::AofOutputTooLarge, message).with("most_bytes", most));
    }
    Ok(())
}

/// Checks that bytes follow those that are there, and do not go beyond the end of the file.
pub fn check_piece(received: u64, offset: u64, length: u64, size: u64) -> Result<(), Failure> {
    let refused = |message: String| {
        Err(Failure::new(Code::AofOutputOffset, message).with("received", received))
    };
    if offset != received {
        return refused(format!("{received} bytes are there, and these are from byte {offset} on"));
    }
    if offset + length > size {
        return refused(format!("these bytes go beyond the {size} bytes of the file"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_below_its_folder() {
        for path in ["outputs/a", "outputs/a b/c.txt", "outputs/…"] {
            assert_eq!(output_path(path), Ok(()), "{path}");
            assert_eq!(readable_path(path).as_deref(), Ok(path));
        }
        for path in ["", "a", "outputs", "outputs/", "/outputs/a", "outputs/../a", "outputs//a"] {
            assert_eq!(output_path(path).unwrap_err().code, Code::AofPathOutsideTask, "{path}");
        }
        for path in ["outputs/./a", "outputs/a\n", "inputs/a", "work/a"] {
            assert!(output_path(path).is_err(), "{path}");
        }
        assert_eq!(readable_path("inputs/a").as_deref(), Ok("inputs/a"));
        assert_eq!(readable_path("a/b").as_deref(), Ok("outputs/a/b"));
        assert!(readable_path("../a").is_err() && readable_path("inputs/../a").is_err());
        assert!(output_path(&format!("outputs/{}b", "a/".repeat(DEPTH))).is_err());
    }

    #[test]
    fn a_run_has_room_for_so_much() {
        let most = u64::from(MOST_BYTES);
        assert_eq!(check_room(most, std::iter::empty()), Ok(()));
        assert!(check_room(most, std::iter::once(1)).is_err());
        assert!(check_room(0, std::iter::repeat_n(0, MOST_FILES)).is_err());
        assert_eq!(check_room(0, std::iter::repeat_n(0, MOST_FILES - 1)), Ok(()));
    }

    #[test]
    fn a_piece_follows_what_is_there() {
        assert_eq!(check_piece(3, 3, 2, 5), Ok(()));
        for (received, offset, length) in [(3, 0, 2), (3, 5, 0), (3, 3, 3)] {
            let refused = check_piece(received, offset, length, 5).unwrap_err();
            assert_eq!(refused.code, Code::AofOutputOffset);
        }
    }
}
