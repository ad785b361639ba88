//! What is said about a program that cannot be started.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use accord_process::{Invocation, Spec, StartError, run};

fn bare(program: impl AsRef<Path>) -> Invocation {
    Invocation::new(program.as_ref(), [""; 0])
}

fn refused(invocation: Invocation) -> String {
    run(&Spec::new(invocation)).unwrap_err().to_string()
}

fn script(folder: &Path, text: &str, mode: u32) -> std::path::PathBuf {
    let path = folder.join("script");
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    path
}

#[test]
fn a_missing_program_is_named() {
    for name in ["no-such-program-anywhere", "./no/such/program", ""] {
        let error = bare(name).locate().unwrap_err();
        assert!(matches!(error, StartError::NotFound { .. }), "{error}");
        assert!(error.to_string().contains(name));
        assert_eq!(refused(bare(name)), error.to_string());
    }
}

#[test]
fn a_file_without_permission_and_a_folder_are_distinguished() {
    let folder = tempfile::tempdir().unwrap();
    let plain = script(folder.path(), "#!/bin/sh\n", 0o644);
    assert!(refused(bare(plain)).ends_with("it has no execute permission"));
    assert!(refused(bare(folder.path())).ends_with("it is a folder"));
}

#[test]
fn a_missing_interpreter_and_an_unknown_format_are_distinguished() {
    let folder = tempfile::tempdir().unwrap();
    let path = script(folder.path(), "#!/no/such/interpreter\n", 0o755);
    assert!(path.is_file());
    assert!(refused(bare(path)).contains("the interpreter that its first line names"));
    let path = script(folder.path(), "neither\n", 0o755);
    assert!(refused(bare(path)).contains("nor a script with a #! line"));
}

#[test]
fn a_missing_working_folder_is_not_a_missing_program() {
    let error = run(&Spec::new(bare("true").cwd("/no/such/folder"))).unwrap_err();
    assert!(matches!(error, StartError::WorkingFolder { .. }), "{error}");
}

#[test]
fn a_bare_name_is_found_in_the_path() {
    assert!(bare("sh").locate().unwrap().ends_with("sh"));
    let elsewhere = bare("sh").env("PATH", "/no/such/folder");
    assert!(elsewhere.locate().is_err());
}
