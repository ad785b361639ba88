//! What decides which changes git shows, and which programs it starts: settings, hooks and other
//! files outside the tree. A turn is measured by what git showed when it was assigned, so these
//! must not change while its worker runs. Refs are compared, too: a branch or a tag that moved is
//! named.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::{ffi::OsStrExt as _, fs::PermissionsExt as _};
use std::path::{Path, PathBuf};

use accord_contract::{Code, Failure};

use super::hidden::Index;
use super::state::NAMED;
use super::{Git, marker, work_tree_of};
use accord_runs_core::Result;

/// Settings that hide changes, or show files that did not change.
const SETTINGS: [&str; 14] = [
    "core.attributesfile",
    "core.autocrlf",
    "core.bare",
    "core.checkstat",
    "core.eol",
    "core.excludesfile",
    "core.filemode",
    "core.ignorecase",
    "core.ignorestat",
    "core.sparsecheckout",
    "core.symlinks",
    "core.trustctime",
    "core.untrackedcache",
    "core.worktree",
];

/// Settings that name a program which git starts, or another place that it takes them from.
const PROGRAMS: [&str; 17] = [
    "core.alternaterefscommand",
    "core.askpass",
    "core.editor",
    "core.fsmonitor",
    "core.gitproxy",
    HOOKS_PATH,
    "core.pager",
    "core.sshcommand",
    "diff.external",
    "extensions.worktreeconfig",
    "gpg.program",
    "imap.tunnel",
    "init.templatedir",
    "interactive.difffilter",
    "sequence.editor",
    "uploadpack.packobjectshook",
    "web.browser",
];

/// Sections whose settings name programs, or files with more settings.
const SECTIONS: [&str; 14] = [
    "alias.",
    "browser.",
    "credential.",
    "difftool.",
    "filter.",
    "guitool.",
    "hook.",
    "include.",
    "includeif.",
    "man.",
    "mergetool.",
    "pager.",
    "trailer.",
    "url.",
];

/// Settings of named drivers, remotes and submodules with the same effect.
const OF_NAMED: [(&str, &str); 10] = [
    ("diff.", ".command"),
    ("diff.", ".textconv"),
    ("gpg.", ".program"),
    ("merge.", ".driver"),
    ("remote.", ".proxy"),
    ("remote.", ".receivepack"),
    ("remote.", ".uploadpack"),
    ("remote.", ".vcs"),
    ("remote.", "url"),
    ("submodule.", ".update"),
];

/// Files of git that decide what it shows, each of which may be missing. The first ones have
/// rules for the names of files.
pub(super) const FILES: [&str; 5] = [
    "info/attributes",
    "info/exclude",
    "info/sparse-checkout",
    "info/grafts",
    "objects/info/alternates",
];
const SHOWN_FILES: usize = 2;
const FILES_OF_RULES: usize = 3;

/// Says that all settings of the repository are compared, as earlier versions did not.
const ALL_SETTINGS: &str = "all settings";
/// Settings of branches that git and editors write when a branch is made.
const HARMLESS: [&str; 4] = [".merge", ".description", ".rebase", ".vscode-merge-base"];

/// Files of the user that git reads without a setting.
const IMPLIED: [&str; 2] = [".config/git/ignore", ".config/git/attributes"];

const HOOKS: &str = "hooks";
const HOOKS_PATH: &str = "core.hookspath";
/// The branch that is checked out.
const BRANCH: &str = "HEAD";
/// The files that the index hides from `git status`.
const INDEX_FLAGS: &str = "flags of the index";
const REPLACED: &str = "refs/replace";

impl Git {
    /// Markers of what decides which changes are shown and which programs run, by name. Only
    /// settings of the repository count: a run may continue on another machine, under another user.
    pub(crate) fn view(&self) -> Result<BTreeMap<String, String>> {
        let mut view = self.view_with(&self.index()?)?;
        if let Some(head) = self.head()? {
            view.extend(self.objects(&head)?);
        }
        Ok(view)
    }

    pub(super) fn view_with(&self, index: &Index) -> Result<BTreeMap<String, String>> {
        // All of them: git and its extensions start programs for more names than a list could have.
        let mut view = self.settings(&["local", "worktree"], |name| !is_harmless(name))?;
        view.insert(ALL_SETTINGS.to_owned(), String::new());
        for (at, (name, place)) in FILES.iter().zip(&self.own_files).enumerate() {
            let mark = match at < FILES_OF_RULES {
                true => marker::of_rules(&self.root, place)?,
                false => Some(marker::of(&self.root, place)?).filter(|it| it != marker::GONE),
            };
            view.extend(mark.map(|mark| ((*name).to_owned(), mark)));
        }
        view.extend(self.state()?);
        view.extend(self.hooks()?.map(|mark| (HOOKS.to_owned(), mark)));
        let branch = self.start(&["symbolic-ref", "--quiet", "HEAD"], Vec::new())?;
        view.insert(BRANCH.to_owned(), marker::of_text(&String::from_utf8_lossy(&branch.stdout)));
        view.extend(self.refs()?);
        view.extend(index.flags.iter().map(|mark| (INDEX_FLAGS.to_owned(), mark.clone())));
        view.extend(self.submodules(&index.submodules)?);
        view.extend(self.git_folders()?);
        Ok(view)
    }

    /// Markers of the settings of the user and the machine that name programs.
    pub(crate) fn user_view(&self) -> Result<BTreeMap<String, String>> {
        self.settings(&["global", "system"], starts_program)
    }

    fn settings(
        &self,
        scopes: &[&str],
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<BTreeMap<String, String>> {
        let mut settings: BTreeMap<String, String> = BTreeMap::new();
        for (scope, name, value) in self.configured()? {
            if scopes.contains(&scope.as_str()) && is_wanted(&name) {
                *settings.entry(name).or_default() += &format!("{value}\n");
            }
        }
        // The state may be published; settings of this machine are not, so only a marker is kept.
        Ok(settings.into_iter().map(|(name, value)| (name, marker::of_text(&value))).collect())
    }

    /// The names of the filters in the repository's own settings, which need not be text.
    pub(super) fn own_filters(&self) -> Result<Vec<OsString>> {
        let output = self.ask(&["config", "--list", "--show-scope", "-z"], Vec::new())?;
        let mut fields = output.split(|byte| *byte == 0);
        let mut filters = BTreeSet::new();
        while let (Some(scope), Some(entry)) = (fields.next(), fields.next()) {
            // A name of a filter has no line break, unlike a value.
            let name = entry.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let filter = name.strip_prefix(b"filter.".as_slice());
            let end = filter.and_then(|it| it.iter().rposition(|byte| *byte == b'.'));
            if let Some((filter, end)) = filter.zip(end)
                && [b"local".as_slice(), b"worktree"].contains(&scope)
            {
                filters.insert(OsStr::from_bytes(&filter[..end]).to_owned());
            }
        }
        Ok(filters.into_iter().collect())
    }

    /// The files that git takes its settings from, and those that the settings name.
    pub(super) fn settings_files(&self) -> Result<BTreeSet<PathBuf>> {
        let output = self.ask(&["config", "--list", "--show-origin", "-z"], Vec::new())?;
        let mut fields = output.split(|byte| *byte == 0);
        let home = std::env::home_dir().unwrap_or_default();
        let mut files = BTreeSet::from(IMPLIED.map(|name| home.join(name)));
        while let (Some(origin), Some(entry)) = (fields.next(), fields.next()) {
            if let Some(path) = origin.strip_prefix(b"file:".as_slice()) {
                files.insert(PathBuf::from(OsStr::from_bytes(path)));
            }
            let entry = String::from_utf8_lossy(entry);
            if let Some((name, value)) = entry.split_once('\n')
                && ["core.excludesfile", "core.attributesfile"].contains(&name)
            {
                let below = value.strip_prefix("~/");
                files.insert(below.map_or_else(|| value.into(), |below| home.join(below)));
            }
        }
        files.retain(|path| path.is_absolute() && path.is_file());
        Ok(files)
    }

    /// The settings of all files: scope, name and value.
    fn configured(&self) -> Result<Vec<(String, String, String)>> {
        let output = self.ask(&["config", "--list", "--show-scope", "-z"], Vec::new())?;
        let output = String::from_utf8_lossy(&output);
        let mut fields = output.split('\0');
        let mut settings = Vec::new();
        while let (Some(scope), Some(entry)) = (fields.next(), fields.next()) {
            // A setting without a value means true.
            let (name, value) = entry.split_once('\n').unwrap_or((entry, "true"));
            settings.push((scope.to_owned(), name.to_owned(), value.to_owned()));
        }
        Ok(settings)
    }

    /// The marker of the hooks; `None` without any. Hooks that are files of the tree are compared
    /// like other files, unless git ignores them.
    fn hooks(&self) -> Result<Option<String>> {
        // Git names it relative to the folder that it runs in.
        let place = self.common().join("hooks");
        let is_set =
            |(scope, name, _): &(String, String, String)| name == HOOKS_PATH && scope != "command";
        let named = self.configured()?.into_iter().rfind(is_set).map(|(_, _, path)| path);
        let mut marks = BTreeSet::new();
        // Git starts these without a setting, also if the folder is a link into the tree.
        let target = fs::read_link(&place).ok();
        marks.extend(target.map(|target| format!("link {}\n", target.display())));
        marks.extend(self.hooks_in(&place.to_string_lossy(), true)?);
        if let Some(place) = named {
            marks.extend(self.hooks_in(&place, false)?);
        }
        Ok((!marks.is_empty()).then(|| marker::of_text(&Vec::from_iter(marks).concat())))
    }

    /// A line for each hook in a folder: all of them, or those that are no files of the tree.
    fn hooks_in(&self, place: &str, all: bool) -> Result<Vec<String>> {
        let home = place.strip_prefix("~/").zip(std::env::home_dir());
        let folder = match home {
            Some((below, home)) => home.join(below),
            None => self.top().join(place),
        };
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if marker::is_gone(&error) => return Ok(Vec::new()),
            Err(error) => return Err(changed(format!("{}: {error}", folder.display()))),
        };
        let inside = folder.canonicalize().ok();
        let inside = inside.as_deref().and_then(|folder| folder.strip_prefix(self.top()).ok());
        let inside = inside.and_then(|below| below.to_str()).filter(|it| !it.starts_with(".git/"));
        let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.filter(|name| !name.ends_with(".sample")).collect();
        names.sort();
        if let Some(below) = inside.filter(|_| !all) {
            let path = |name: &String| format!("{}/{below}/{name}", self.top().display());
            let ignored = self.ignored(&names.iter().map(path).collect::<Vec<_>>())?;
            names.retain(|name| ignored.contains(&path(name)));
        }
        let mark = |name: String| {
            let found = fs::metadata(folder.join(&name));
            let mode = found.map_or(0, |found| found.permissions().mode());
            let mark = marker::of(&folder, &name)?;
            Ok(format!("{name} {:o} {mark}\n", mode & 0o111))
        };
        names.into_iter().map(mark).collect()
    }

    /// The root of the work tree.
    pub(super) fn top(&self) -> &Path {
        work_tree_of(&self.root).unwrap_or(&self.root)
    }

    /// The markers of the refs, by their first two names. A branch that is checked out, here or in
    /// another work tree, moves with the work there.
    fn refs(&self) -> Result<BTreeMap<String, String>> {
        let format = "--format=%(objectname) %(refname) %(worktreepath)";
        let output = self.ask(&["for-each-ref", format], Vec::new())?;
        let mut refs: BTreeMap<String, String> = BTreeMap::new();
        for line in String::from_utf8_lossy(&output).lines() {
            let mut words = line.splitn(3, ' ');
            let (object, name) = (words.next(), words.next().unwrap_or_default());
            if words.next().is_none_or(str::is_empty) {
                let group = name.splitn(3, '/').take(2).collect::<Vec<_>>().join("/");
                let lines = refs.entry(group).or_default();
                *lines += &format!("{} {name}\n", object.unwrap_or_default());
            }
        }
        Ok(refs.into_iter().map(|(group, lines)| (group, marker::of_text(&lines))).collect())
    }
}

/// Whether earlier versions compared it.
fn was_compared(name: &str) -> bool {
    let is_setting = name.contains('.') && !name.contains('/') && !name.contains(' ');
    name != ALL_SETTINGS && (!is_setting || SETTINGS.contains(&name) || starts_program(name))
}

fn is_harmless(name: &str) -> bool {
    name.starts_with("branch.") && HARMLESS.iter().any(|last| name.ends_with(last))
}

/// Whether a setting names a program that git starts.
fn starts_program(name: &str) -> bool {
    let of_named = |(section, last): &(&str, &str)| {
        name.strip_prefix(section).is_some_and(|name| name.ends_with(last))
    };
    PROGRAMS.contains(&name)
        || SECTIONS.iter().any(|section| name.starts_with(section))
        || OF_NAMED.iter().any(of_named)
}

/// Compares what was recorded when a turn was assigned with what is now. Returns the refs and the
/// work in progress that changed. Fails if git shows something else, or starts other programs; in a
/// turn by hand, a person may change the programs, the branch and the refs. A turn that another
/// runner assigned has nothing to compare with.
pub(super) fn check(
    before: &BTreeMap<String, String>,
    now: &BTreeMap<String, String>,
    by_hand: bool,
) -> Result<Vec<String>> {
    if before.is_empty() {
        return Ok(Vec::new());
    }
    let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
    let differing = names.into_iter().filter(|name| before.get(*name) != now.get(*name));
    let is_known = |name: &str| name != ALL_SETTINGS && before.contains_key(ALL_SETTINGS);
    let differing = differing.filter(|name| is_known(name) || was_compared(name));
    let differing = differing.map(String::as_str).filter(|name| !by_hand || decides_view(name));
    let is_named =
        |name: &&str| name.starts_with(NAMED) || name.starts_with("refs/") && *name != REPLACED;
    let (named, others): (Vec<&str>, Vec<&str>) = differing.partition(is_named);
    if others.is_empty() {
        return Ok(named.into_iter().map(|name| name.trim_start_matches(NAMED).into()).collect());
    }
    let (names, what) = (others.join(", "), "which decides what git shows, or what it starts");
    let message = format!("{names} of git changed since the turn was assigned, {what}");
    Err(changed(message))
}

fn decides_view(name: &str) -> bool {
    SETTINGS.contains(&name) || name.starts_with("filter.") || FILES[..SHOWN_FILES].contains(&name)
}

pub(crate) fn changed(message: String) -> Failure {
    Failure::new(Code::XchainVersionControlChanged, message)
}
