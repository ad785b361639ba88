//! Folders that are kept open while many operations work in them.

use std::fs;
use std::os::unix::fs::symlink;

use accord_trees::testing::SimDisk;
use accord_trees::{Disk, Moved, Root, TreeError, read_file};

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

#[test]
fn a_move_to_a_free_path_replaces_nothing() {
    let (folder, root) = root();
    let sim = SimDisk::new();
    sim.make_folder("a").unwrap();
    let kept = root.keep_folders();
    let disks: [&dyn Disk; 2] = [&root, &sim];
    for disk in disks {
        assert!(disk.create("a/x", b"x").unwrap());
        assert!(disk.create("a/y", b"y").unwrap());
        assert_eq!(disk.move_if_free("a/x", "a/y").unwrap(), Moved::Taken);
        assert_eq!(disk.move_if_free("a/none", "a/new").unwrap(), Moved::Missing);
        assert_eq!(disk.move_if_free("none/x", "a/new").unwrap(), Moved::Missing);
        assert!(disk.move_if_free("a/x", "none/x").is_err());
        assert_eq!(disk.move_if_free("a/x", "x").unwrap(), Moved::Done);
        // Folders move with their contents.
        assert!(disk.make_folder("b").unwrap());
        assert_eq!(disk.move_if_free("a", "b").unwrap(), Moved::Taken);
        assert_eq!(disk.move_if_free("a", "b/a").unwrap(), Moved::Done);
        assert_eq!(read_file(disk, "b/a/y", 10).unwrap().unwrap(), b"y");
        assert!(disk.stat("a/y").unwrap().is_none());
    }
    drop(kept);
    // A link that leads nowhere is something.
    symlink("nowhere", folder.path().join("link")).unwrap();
    assert_eq!(root.move_if_free("x", "link").unwrap(), Moved::Taken);
}
