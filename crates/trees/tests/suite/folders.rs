//! Folders that are kept open while many operations work in them.

use std::fs;
use std::os::unix::fs::symlink;

use accord_trees::{Disk, Root, TreeError};

fn root() -> (tempfile::TempDir, Root) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("a")).unwrap();
    let root = Root::open(folder.path()).unwrap();
    (folder, root)
}

#[test]
fn a_folder_that_moves_is_not_found_at_its_old_path() {
    let (folder, root) = root();
    let _kept = root.keep_folders();
    assert!(root.create("a/x", b"x").unwrap());
    assert!(root.make_folder("a/below").unwrap());
    assert!(root.create("a/below/x", b"x").unwrap());
    root.move_to("a", "b").unwrap();
    assert!(root.create("a/y", b"y").is_err());
    assert!(root.stat("a/x").unwrap().is_none() && root.stat("a/below/x").unwrap().is_none());
    assert!(root.create("b/y", b"y").unwrap());
    assert!(folder.path().join("b/y").exists());
    root.remove_tree("b").unwrap();
    assert!(root.create("b/z", b"z").is_err());
}

#[test]
fn a_folder_that_others_make_again_is_used() {
    let (folder, root) = root();
    let path = |name: &str| folder.path().join(name);
    for step in 0..3 {
        let _kept = root.keep_folders();
        assert!(root.create("a/x", b"x").unwrap());
        fs::remove_dir_all(path("a")).unwrap();
        fs::create_dir(path("a")).unwrap();
        match step {
            0 => assert!(root.create("a/y", b"y").unwrap()),
            1 => assert!(root.make_folder("a/y").unwrap()),
            _ => {
                assert!(root.create("next", b"y").unwrap());
                root.move_to("next", "a/y").unwrap();
            }
        }
        assert!(path("a/y").exists(), "step {step}");
        fs::remove_dir_all(path("a")).unwrap();
        fs::create_dir(path("a")).unwrap();
    }
}

#[test]
fn a_link_is_resolved_each_time_and_never_out_of_the_root() {
    let (folder, root) = root();
    let path = |name: &str| folder.path().join(name);
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir(path("b")).unwrap();
    symlink("a", path("link")).unwrap();
    let _kept = root.keep_folders();
    assert!(root.create("link/x", b"x").unwrap());
    assert!(path("a/x").exists());
    fs::remove_file(path("link")).unwrap();
    symlink("b", path("link")).unwrap();
    assert!(root.create("link/x", b"x").unwrap());
    assert!(path("b/x").exists());
    // A file that is a link, in a folder that is kept.
    symlink("../b/x", path("a/inside")).unwrap();
    symlink(outside.path().join("secret"), path("a/outside")).unwrap();
    root.append("a/inside", b"y").unwrap();
    assert_eq!(fs::read(path("b/x")).unwrap(), b"xy");
    assert!(matches!(root.append("a/outside", b"y"), Err(TreeError::Outside { .. })));
    assert!(matches!(root.open("a/outside"), Err(TreeError::Outside { .. })));
    assert!(!outside.path().join("secret").exists());
    for above in ["..", "a/../..", "../x"] {
        assert!(matches!(root.stat(above), Err(TreeError::Outside { .. })), "{above}");
    }
}
