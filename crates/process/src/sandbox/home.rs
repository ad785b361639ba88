//! The private home of a worker, and the programs that it still sees.
//!
//! A hook that a worker writes into its client's settings would run in the person's next session.
//! So the worker gets copies of these files, which are removed with its home.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Files of a program in a folder of the home, or in the folder that a variable names.
struct Copied {
    /// The name of the client; `None` if every worker gets the files.
    client: Option<&'static str>,
    variable: Option<&'static str>,
    folder: &'static str,
    files: &'static [&'static str],
}

const COPIED: [Copied; 8] = [
    Copied { client: None, variable: None, folder: "", files: &[".gitconfig"] },
    Copied {
        client: None,
        variable: Some("XDG_CONFIG_HOME"),
        folder: ".config",
        files: &["git/config", "git/ignore"],
    },
    Copied { client: Some("claude"), variable: None, folder: "", files: &[".claude.json"] },
    Copied {
        client: Some("claude"),
        variable: Some("CLAUDE_CONFIG_DIR"),
        folder: ".claude",
        files: &["settings.json", ".credentials.json", "CLAUDE.md", ".claude.json"],
    },
    Copied {
        client: Some("codex"),
        variable: Some("CODEX_HOME"),
        folder: ".codex",
        files: &["config.toml", "auth.json", "AGENTS.md"],
    },
    Copied {
        client: Some("gemini"),
        variable: Some("GEMINI_CLI_HOME"),
        folder: "",
        files: &[
            ".gemini/settings.json",
            ".gemini/oauth_creds.json",
            ".gemini/google_accounts.json",
            ".gemini/GEMINI.md",
            ".gemini/.env",
        ],
    },
    Copied {
        client: Some("opencode"),
        variable: Some("XDG_CONFIG_HOME"),
        folder: ".config",
        files: &["opencode/opencode.json", "opencode/opencode.jsonc"],
    },
    Copied {
        client: Some("opencode"),
        variable: Some("XDG_DATA_HOME"),
        folder: ".local/share",
        files: &["opencode/auth.json"],
    },
];

/// How many links may lead to a file.
const LINKS: usize = 16;

/// Folders of the home that only hold what a worker writes.
const OTHER_FOLDERS: [(&str, &str); 2] =
    [("XDG_CACHE_HOME", ".cache"), ("XDG_STATE_HOME", ".local/state")];

/// What toolchains and installers keep below the home, without credentials.
const TOOLCHAINS: [&str; 22] = [
    ".asdf",
    ".bun/bin",
    ".cargo/bin",
    ".cargo/config.toml",
    ".cargo/env",
    ".cargo/git",
    ".cargo/registry",
    ".deno/bin",
    ".local/bin",
    ".local/lib",
    ".local/share/claude",
    ".local/share/fnm",
    ".local/share/mise",
    ".local/share/pnpm",
    ".local/share/uv",
    ".nvm",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".sdkman",
    ".volta",
    "go",
];

/// Copies the files that a worker needs into its home. Returns the variables that must name the
/// private folders; `inside` is the path of that home for the worker.
pub(crate) fn fill(
    (home, private, inside): (Option<&Path>, &Path, &Path),
    tree: &Path,
    words: &[&OsStr],
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> io::Result<Vec<(&'static str, PathBuf)>> {
    let clients = COPIED.iter().filter_map(|copied| copied.client);
    let named: Vec<&str> = clients.filter(|client| names(words, client)).collect();
    let mut variables = Vec::new();
    for Copied { client, variable: name, folder, files } in COPIED {
        let value = name.and_then(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        if let (Some(name), Some(_)) = (name, &value) {
            variables.push((name, inside.join(folder)));
        }
        // A script may start any of them.
        let is_wanted = client.is_none_or(|client| named.is_empty() || named.contains(&client));
        let from = value.or_else(|| home.map(|home| home.join(folder)));
        let Some(from) = from.filter(|_| is_wanted) else { continue };
        for file in files {
            // It does not exist, or the person cannot read it either.
            let Some(bytes) = read_outside(&from.join(file), tree) else { continue };
            write(&private.join(folder).join(file), &bytes)?;
        }
    }
    for (name, folder) in OTHER_FOLDERS {
        if variable(name).is_some() {
            variables.push((name, inside.join(folder)));
        }
    }
    Ok(variables)
}

/// The content of a file that no link in the tree leads to: a worker could let it lead anywhere.
fn read_outside(path: &Path, tree: &Path) -> Option<Vec<u8>> {
    // Each link on the way is resolved, so that one in the tree is seen.
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        let folder = path.parent()?.canonicalize().ok()?;
        path = folder.join(path.file_name()?);
        let is_in_tree = path.starts_with(tree);
        match fs::read_link(&path) {
            Ok(_) if is_in_tree => return None,
            Ok(target) => path = folder.join(target),
            Err(_) => return fs::metadata(&path).ok()?.is_file().then(|| fs::read(&path).ok())?,
        }
    }
    None
}

/// The paths that a worker sees although a folder above them is hidden: toolchains, the folders of
/// `PATH`, and its program.
pub(crate) fn programs(
    (home, search_path, program): (Option<&Path>, Option<&OsStr>, Option<&Path>),
    tree: &Path,
    hidden: &[PathBuf],
) -> Vec<PathBuf> {
    let toolchains = home.into_iter().flat_map(|home| TOOLCHAINS.map(|name| home.join(name)));
    let mut seen: Vec<PathBuf> = toolchains.filter(|path| path.exists()).collect();
    // A folder with a hidden one in it, also by a link.
    let is_root = |path: &Path| {
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let mut hidden = hidden.iter().map(PathBuf::as_path).chain(home);
        hidden.any(|hidden| hidden == path || hidden.starts_with(&real))
    };
    let is_own = |path: &Path| path.starts_with(tree);
    let is_hidden = |path: &Path| hidden.iter().any(|hidden| path.starts_with(hidden));
    let folders = search_path.into_iter().flat_map(std::env::split_paths);
    for folder in folders.filter(|folder| folder.is_absolute() && folder.is_dir()) {
        let is_seen = seen.iter().any(|path| folder.starts_with(path));
        if is_seen || is_own(&folder) || is_root(&folder) {
            continue;
        }
        // Beside it is what its programs need: `lib`, or the packages of `node_modules`.
        let is_bin = folder.ends_with("bin") || folder.ends_with(".bin");
        let above = folder.parent().filter(|above| is_bin && !is_root(above));
        seen.push(above.unwrap_or(&folder).to_owned());
    }
    // A link in the tree comes from a worker, and is not followed.
    let outside = program.filter(|program| !is_own(program));
    let real = outside.and_then(|program| program.canonicalize().ok());
    for file in real.iter().map(PathBuf::as_path).chain(program) {
        let packages = file.ancestors().filter(|path| path.ends_with("node_modules")).last();
        // Folders of the home for settings and data of many programs.
        let is_common = |folder: &Path| {
            let below = home.and_then(|home| folder.strip_prefix(home).ok());
            below.is_some_and(|below| {
                let is_hidden = below.as_os_str().as_encoded_bytes().starts_with(b".");
                is_hidden && below.components().count() == 1
                    || [".local/share", ".local/state"].iter().any(|it| below == Path::new(it))
            })
        };
        let folder = file.parent().filter(|folder| !is_root(folder) && !is_common(folder));
        let folder = packages.or(folder);
        seen.push(folder.unwrap_or(file).to_owned());
    }
    seen.retain(|path| path.is_absolute() && is_hidden(path));
    seen.sort();
    seen.dedup();
    seen
}

/// The file of a private home with what git ignores in every tree.
const IGNORED: &str = ".config/git/ignore";

/// Lets git ignore placeholders in the work tree, as if they were not there. Returns the variables
/// for that.
pub(crate) fn ignore(
    (home, private, inside): (Option<&Path>, &Path, &Path),
    tree: &Path,
    placeholders: &[&Path],
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> io::Result<[(String, OsString); 3]> {
    let mut text = fs::read(private.join(IGNORED)).unwrap_or_default();
    let settings = fs::read_to_string(private.join(".gitconfig")).unwrap_or_default();
    let values = settings.lines().filter_map(|line| line.split_once('='));
    // The person's own list, which the one of the sandbox replaces.
    for (_, path) in values.filter(|(key, _)| key.trim().eq_ignore_ascii_case("excludesfile")) {
        let path = path.trim().trim_matches('"');
        let below = path.strip_prefix("~/").zip(home).map(|(below, home)| home.join(below));
        // A relative path is one in the work tree, where git would follow a link of a worker.
        let path = below.unwrap_or_else(|| path.into());
        let found = Some(path).filter(|path| path.is_absolute());
        text.extend(found.and_then(|path| read_outside(&path, tree)).unwrap_or_default());
    }
    for path in placeholders {
        text.extend([b"\n/", path.as_os_str().as_encoded_bytes(), b"\n"].concat());
    }
    write(&private.join(IGNORED), &text)?;
    let count = variable("GIT_CONFIG_COUNT").and_then(|count| count.to_str()?.parse().ok());
    let count: u64 = count.unwrap_or(0);
    Ok([
        ("GIT_CONFIG_COUNT".to_owned(), (count + 1).to_string().into()),
        (format!("GIT_CONFIG_KEY_{count}"), "core.excludesFile".into()),
        (format!("GIT_CONFIG_VALUE_{count}"), inside.join(IGNORED).into()),
    ])
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    fs::write(path, bytes)
}

/// Switches the sandbox of Codex off, which cannot start inside of Landlock, and which protects all
/// of `.git`.
pub(crate) fn without_own_sandbox(program: &OsStr, args: &mut [OsString]) {
    let words: Vec<&OsStr> = args.iter().map(OsString::as_os_str).chain([program]).collect();
    if !names(&words, "codex") {
        return;
    }
    let value = args.iter().position(|word| word == "--sandbox").map(|at| at + 1);
    if let Some(value) = value.and_then(|at| args.get_mut(at))
        && value == "workspace-write"
    {
        *value = "danger-full-access".into();
    }
}

/// Whether a word is the program of a client, also by a path.
fn names(words: &[&OsStr], client: &str) -> bool {
    words.iter().any(|word| Path::new(word).file_name() == Some(OsStr::new(client)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_gets_its_own_files_in_a_private_home() {
        let folder = tempfile::tempdir().unwrap();
        let (home, private) = (folder.path().join("home"), folder.path().join("private"));
        let moved = folder.path().join("moved");
        let tree = folder.path().canonicalize().unwrap().join("tree");
        for path in [home.join(".claude"), home.join(".ssh"), moved.clone(), private.clone()] {
            fs::create_dir_all(path).unwrap();
        }
        fs::write(home.join(".claude/.credentials.json"), "claude").unwrap();
        fs::write(home.join(".ssh/id"), "ssh").unwrap();
        fs::write(home.join(".gitconfig"), "git").unwrap();
        fs::write(moved.join("auth.json"), "codex").unwrap();
        let variable = |name: &str| (name == "CODEX_HOME").then(|| moved.clone().into_os_string());
        let places = (Some(home.as_path()), private.as_path(), Path::new("/inside"));

        let named = fill(places, &tree, &[OsStr::new("/usr/bin/claude")], &variable).unwrap();
        assert_eq!(named, [("CODEX_HOME", PathBuf::from("/inside/.codex"))]);
        assert!(private.join(".claude/.credentials.json").exists());
        assert!(private.join(".gitconfig").exists());
        assert!(!private.join(".codex/auth.json").exists());
        assert!(!private.join(".ssh").exists());

        fill(places, &tree, &[OsStr::new("agent.sh")], &variable).unwrap();
        assert!(private.join(".codex/auth.json").exists());

        // A link that a worker made in its tree is not followed.
        fs::create_dir_all(&tree).unwrap();
        std::os::unix::fs::symlink(home.join(".ssh/id"), tree.join("auth.json")).unwrap();
        let variable = |name: &str| (name == "CODEX_HOME").then(|| tree.clone().into_os_string());
        fs::remove_file(private.join(".codex/auth.json")).unwrap();
        fill(places, &tree, &[OsStr::new("agent.sh")], &variable).unwrap();
        assert!(!private.join(".codex/auth.json").exists());
    }

    #[test]
    fn the_persons_list_of_ignored_files_is_read_outside_of_the_tree() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let [home, private, tree] = ["home", "private", "tree"].map(|name| root.join(name));
        for path in [&home, &private, &tree] {
            fs::create_dir_all(path).unwrap();
        }
        fs::write(home.join("key"), "secret").unwrap();
        fs::write(home.join("list"), "*.tmp").unwrap();
        std::os::unix::fs::symlink(home.join("key"), tree.join("list")).unwrap();
        let places = (Some(home.as_path()), private.as_path(), Path::new("/inside"));
        let ignored = |named: &str| {
            let settings = format!("[core]\n\texcludesFile = {named}\n");
            fs::write(private.join(".gitconfig"), settings).unwrap();
            let _ = fs::remove_file(private.join(IGNORED));
            ignore(places, &tree, &[], &|_| None).unwrap();
            fs::read_to_string(private.join(IGNORED)).unwrap()
        };
        assert_eq!(ignored("~/list"), "*.tmp");
        assert_eq!(ignored(&tree.join("list").display().to_string()), "");
        // Relative to the working folder of Accord.
        assert_eq!(ignored("Cargo.toml"), "");
    }

    #[test]
    fn only_the_sandbox_of_codex_is_switched_off() {
        let args = || ["exec", "--sandbox", "workspace-write"].map(OsString::from);
        for (program, expected) in
            [("/usr/bin/codex", "danger-full-access"), ("other", "workspace-write")]
        {
            let mut args = args();
            without_own_sandbox(OsStr::new(program), &mut args);
            assert_eq!(args[2], expected);
        }
    }

    #[test]
    fn programs_stay_visible_and_other_files_do_not() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        for name in ["bin", "node/bin", "node/lib", ".local/bin", ".local/state", ".rustup"] {
            fs::create_dir_all(home.join(name)).unwrap();
        }
        fs::write(home.join("agent"), "").unwrap();
        let path = std::env::join_paths(["bin", "node/bin", ".local/bin"].map(|at| home.join(at)));
        let path = path.unwrap();
        let hidden = std::slice::from_ref(&home);
        let tree = home.join("tree");
        let found = programs((Some(&home), Some(&path), Some(&home.join("agent"))), &tree, hidden);
        let expected = [".local/bin", ".rustup", "agent", "bin", "node"].map(|at| home.join(at));
        assert_eq!(found, expected);
        // Beside settings of others, only the program itself.
        fs::create_dir_all(home.join(".config/accord")).unwrap();
        fs::write(home.join(".config/agent"), "").unwrap();
        let agent = home.join(".config/agent");
        let found = programs((Some(&home), None, Some(&agent)), &tree, hidden);
        assert_eq!(found, [agent, home.join(".local/bin"), home.join(".rustup")]);
        // A link that a worker made in its tree, and one that leads to the home.
        fs::create_dir_all(&tree).unwrap();
        std::os::unix::fs::symlink(&home, tree.join("venv")).unwrap();
        std::os::unix::fs::symlink(&home, home.join("link")).unwrap();
        std::os::unix::fs::symlink(home.join("agent"), tree.join("agent")).unwrap();
        let path = std::env::join_paths([tree.join("venv/bin"), home.join("link")]).unwrap();
        let found = programs((Some(&home), Some(&path), Some(&tree.join("agent"))), &tree, hidden);
        assert_eq!(found, [".local/bin", ".rustup", "tree"].map(|at| home.join(at)));
    }
}
