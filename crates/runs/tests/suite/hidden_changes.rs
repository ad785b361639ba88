//! A worker that uses git to hide what it did, or to have a program run later: each is refused or
//! named.

use std::process::Command;

use accord_contract::Code;
use accord_runs::operations::{Step, StepResult};
use accord_runs::{Environment, Runs, TurnOutcome};
use accord_runs_core::Subject;
use serde_json::json;

use crate::attack::Attack;
use crate::guarding::waits_at_the_gate;

/// Lines that commit a file without touching the work tree, then the commits of `after`.
fn committed(path: &str, after: &str) -> String {
    format!(
        "export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org\n\
         export GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.org\n\
         object=$(echo evil | git hash-object -w --stdin)\n\
         git update-index --add --cacheinfo 100644,$object,{path}\n\
         git commit --quiet --message hidden\n{after}\n"
    )
}

const BACK: &str = "git read-tree HEAD~1; git commit --quiet --message back";
const LEFT: &str = "git reset --quiet --mixed";

#[track_caller]
fn refused(lines: &str, code: Code, named: &str) {
    let attack = Attack::new(lines);
    attack.repo.write("folder/file", "good\n");
    std::os::unix::fs::symlink("file", attack.repo.root().join("folder/link")).unwrap();
    attack.repo.git(&["add", "folder"]);
    attack.repo.git(&["commit", "--quiet", "--message", "folder"]);
    attack.repo.configure(|config| config["rules"]["max_turn_retries"] = json!(1));
    let stepped = attack.step().unwrap();
    let StepResult::Turn(TurnOutcome::Blocked(failure)) = stepped else {
        panic!("{lines}: {stepped:?}");
    };
    assert_eq!(failure.code, code, "{lines}: {failure:?}");
    assert!(failure.message.contains(named), "{lines}: {failure}");
    attack.assert_gates_hold();
}

#[test]
fn what_a_commit_on_the_way_changed_must_be_declared() {
    let (mismatch, dirty) = (Code::XchainArtifactMismatch, Code::XchainArtifactDirtyTreeMismatch);
    refused(&committed("evil.sh", BACK), mismatch, "evil.sh");
    refused(&committed("agentxchain.json", BACK), mismatch, "agentxchain.json");
    // The work tree is as it was; the commit stays.
    refused(&committed("evil.sh", LEFT), dirty, "evil.sh");
    refused(&committed("agentxchain.json", LEFT), dirty, "agentxchain.json");
    // On a branch that is merged, so that neither of the last two trees has it.
    let merge = "git checkout --quiet main\n\
                 git merge --quiet --no-ff --strategy=ours --message merged side";
    let side = format!("git checkout --quiet -b side\n{}", committed("evil.sh", merge));
    refused(&side, mismatch, "evil.sh");
    // A file of the graph, or a shallow history, hides no commit.
    let shallow = format!("{BACK}\ngit rev-parse HEAD > .git/shallow");
    refused(&committed("evil.sh", &shallow), Code::XchainVersionControlChanged, "shallow");
}

#[test]
fn a_change_that_is_only_staged_must_be_declared() {
    let stage = "git update-index --add --cacheinfo \
                 100644,$(echo evil | git hash-object -w --stdin),evil.sh";
    refused(stage, Code::XchainArtifactDirtyTreeMismatch, "evil.sh");
    // Beside a commit.
    let lines = committed(".planning/ROADMAP.md", &format!("{LEFT}\n{stage}"));
    refused(&lines, Code::XchainArtifactDirtyTreeMismatch, "evil.sh");
}

/// Lines that write the object of another tree over that of a folder. Git does not compare an
/// object with its name when it reads a folder.
const OBJECT: &str = "old=$(git rev-parse HEAD:folder); echo evil > folder/evil.sh\n\
    git add folder; new=$(git write-tree --prefix=folder/)\n\
    at() { echo .git/objects/$(echo $1 | cut -c1-2)/$(echo $1 | cut -c3-); }\n\
    cp -f $(at $new) $(at $old)";

/// Lines that change a file and write the index: it has the size and the times of the changed file
/// beside the object of before.
fn forged_index(file: &str, change: &str) -> String {
    format!(
        "{change}; touch -h -d 2001-01-01 {file}\n\
         old=$(git rev-parse :{file}); git update-index {file}; new=$(git rev-parse :{file})\n\
         hex=$(od -An -v -tx1 .git/index | tr -d ' \\n' | sed \"s/$new/$old/; s/.\\{{40\\}}$//\")\n\
         binary() {{ env printf \"$(echo $1 | sed 's/../\\\\x&/g')\"; }}\n\
         sum=$(binary $hex | sha1sum | cut -c1-40); binary $hex$sum > .git/index\n\
         test -z \"$(git status --porcelain folder)\" || exit 3\n"
    )
}

#[test]
fn a_change_that_the_index_hides_must_be_declared() {
    let dirty = Code::XchainArtifactDirtyTreeMismatch;
    refused(&forged_index("folder/file", "echo evil > folder/file"), dirty, "folder/file");
    let link = "ln -sfn /tmp folder/link";
    refused(&forged_index("folder/link", link), dirty, "folder/link");
}

#[test]
fn what_git_starts_or_hides_later_is_refused() {
    let hook = |name: &str| {
        format!("printf '#!/bin/sh\\n' > .git/hooks/{name}; chmod +x .git/hooks/{name}")
    };
    let graft = "git replace HEAD $(git commit-tree -m x HEAD^{tree})";
    let identity = "export GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@example.org \
                    GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a@example.org";
    let bare = "git init --quiet --bare ../other.git; echo ../../other.git > .git/commondir";
    for (lines, named) in [
        (hook("pre-commit"), "hooks"),
        (hook("post-checkout"), "hooks"),
        ("git config core.hooksPath /tmp".to_owned(), "core.hookspath"),
        ("git config core.fsmonitor 'sh x'".to_owned(), "core.fsmonitor"),
        ("git config alias.st '!sh x'".to_owned(), "alias.st"),
        ("git config diff.external 'sh x'".to_owned(), "diff.external"),
        ("git config include.path ../planted".to_owned(), "include.path"),
        ("git config remote.origin.url ext::sh".to_owned(), "remote.origin.url"),
        ("git config credential.helper '!sh x'".to_owned(), "credential.helper"),
        ("git config gpg.ssh.defaultKeyCommand 'sh x'".to_owned(), "gpg.ssh.defaultkeycommand"),
        ("git config branch.main.remote ext::sh".to_owned(), "branch.main.remote"),
        ("git config user.name Lead".to_owned(), "user.name"),
        ("git rev-parse HEAD > .git/MERGE_HEAD".to_owned(), "MERGE_HEAD"),
        ("mkdir -p .git/modules/a; cp .git/HEAD .git/modules/a".to_owned(), "in modules"),
        (
            "mkdir -p .git/logs; rm -f .git/logs/HEAD; ln -s /tmp/planted .git/logs/HEAD"
                .to_owned(),
            "logs/HEAD",
        ),
        (
            "rm -f .git/logs/refs/heads/main; ln -s /tmp/planted .git/logs/refs/heads/main"
                .to_owned(),
            "logs/refs/heads/main",
        ),
        ("rm -f .git/logs/HEAD; mkfifo .git/logs/HEAD".to_owned(), "logs/HEAD"),
        ("ln -s /tmp/planted .git/refs/heads/other".to_owned(), "refs/heads/other"),
        (OBJECT.to_owned(), "objects of"),
        ("git checkout --quiet -b side".to_owned(), "HEAD"),
        ("git checkout --quiet --detach".to_owned(), "HEAD"),
        (format!("{identity}; {graft}"), "refs/replace"),
        ("git update-index --assume-unchanged agentxchain.json".to_owned(), "flags of the index"),
        ("git update-index --skip-worktree agentxchain.json".to_owned(), "flags of the index"),
        ("echo /tmp > .git/objects/info/alternates".to_owned(), "objects/info/alternates"),
        (bare.to_owned(), "of git"),
        (
            "mkdir .git/rebase-merge; echo 'exec sh x' > .git/rebase-merge/git-rebase-todo"
                .to_owned(),
            "rebase-merge",
        ),
        (format!("{identity}; {STASH}"), "MERGE_AUTOSTASH"),
        ("echo 'Approved-by: lead' > .git/SQUASH_MSG".to_owned(), "SQUASH_MSG"),
        ("mkdir .git/rr-cache".to_owned(), "rr-cache"),
        ("mkdir .git/rebase-apply; echo x > .git/rebase-apply/head-name".into(), "rebase-apply"),
        ("mkdir -p .git/sequencer; echo x > .git/sequencer/head".to_owned(), "sequencer"),
        ("echo x > .git/BISECT_LOG".to_owned(), "BISECT_LOG"),
        ("mkdir .git/remotes; echo 'URL: ext::sh' > .git/remotes/r".to_owned(), "remotes"),
        // A comment in other files, and a pattern for git.
        (format!("{COPY}; mv $evil '.git/#evil'; echo '#evil' > .git/commondir"), "commondir"),
        ("printf '\\302\\240\\n' >> .git/info/exclude".to_owned(), "info/exclude"),
        ("printf ' #x\\n' >> .git/info/exclude".to_owned(), "info/exclude"),
        ("rm .git/config; mkfifo .git/config".to_owned(), "config"),
        ("rm .git/HEAD; mkfifo .git/HEAD".to_owned(), "HEAD"),
    ] {
        refused(&lines, Code::XchainVersionControlChanged, named);
    }
}

/// Lines that copy the folder of git.
const COPY: &str = "evil=$XDG_TEST_MARKS/evil; rm -rf $evil; cp -r .git $evil";

/// Lines that plant a stash, which the next commit would apply.
const STASH: &str = "git commit-tree -p HEAD -m s HEAD^{tree} > .git/MERGE_AUTOSTASH";

/// Adds another work tree.
fn add_side(attack: &Attack) {
    let side = attack.repo.state_folder().join("side").display().to_string();
    attack.repo.git(&["worktree", "add", "--quiet", "-b", "side", &side]);
}

#[test]
fn other_work_trees_and_submodules_name_their_folders() {
    for (lines, named) in [
        ("echo $evil > .git/worktrees/side/commondir", "worktrees"),
        ("echo /tmp/.git > .git/worktrees/side/gitdir", "worktrees"),
        ("echo $evil > .git/modules/sub/commondir", "modules"),
        ("echo x > .git/modules/sub/MERGE_AUTOSTASH", "modules"),
        ("echo /tmp > .git/modules/sub/objects/info/alternates", "modules"),
    ] {
        let attack = Attack::new(&format!("{COPY}; {lines}"));
        attack.repo.configure(|config| config["rules"]["max_turn_retries"] = json!(1));
        add_side(&attack);
        attack.repo.git(&["init", "--quiet", "--bare", ".git/modules/sub"]);
        let stepped = attack.step().unwrap();
        let StepResult::Turn(TurnOutcome::Blocked(failure)) = stepped else {
            panic!("{lines}: {stepped:?}");
        };
        assert_eq!(failure.code, Code::XchainVersionControlChanged, "{lines}: {failure:?}");
        assert!(failure.message.contains(named), "{lines}: {failure}");
    }
}

/// Lines that make a repository within, whose filter leaves a mark when git looks for changes.
fn within(marks: &str) -> String {
    format!(
        "git init --quiet within; (cd within; echo x > f; echo '* filter=evil' > .gitattributes\n\
         git add .; git -c user.name=A -c user.email=a@example.org commit --quiet -m x\n\
         git config filter.evil.clean 'touch {marks}/filtered; cat'; touch -d 2001-01-01 f)\n"
    )
}

#[test]
fn git_does_not_look_into_repositories_within() {
    let marks = tempfile::tempdir().unwrap();
    let lines = format!(
        "{}git update-index --add --cacheinfo \
         160000,$(git -C within rev-parse HEAD),within; DECLARED=', \"within\"'",
        within(&marks.path().display().to_string()),
    );
    refused(&lines, Code::XchainVersionControlChanged, "settings of the submodule within");
    assert_eq!(std::fs::read_dir(&marks).unwrap().count(), 0, "the filter ran");
}

/// Lines that give a file another text with the same object.
fn converted(attribute: &str, text: &str) -> String {
    format!(
        "echo 'folder/file {attribute}' > .gitattributes; printf '{text}\\n' > folder/file\n\
         git add folder/file; test -z \"$(git diff --cached folder)\" || exit 3\n\
         DECLARED=', \".gitattributes\"'"
    )
}

#[test]
fn an_attribute_hides_no_other_text_of_a_file() {
    let lines = converted("working-tree-encoding=UTF-7", "g+AG8-od");
    refused(&lines, Code::XchainVersionControlChanged, "working-tree-encoding");
    // Of a new file it is named.
    let lines = "echo 'new working-tree-encoding=UTF-7' > .gitattributes; echo +AG8- > new\n\
                 DECLARED=', \".gitattributes\", \"new\"'";
    let attack = Attack::once(lines);
    waits_at_the_gate(&attack, attack.step().unwrap());
    let history = attack.repo.lines(".agentxchain/history.jsonl");
    let warnings = history[0]["warnings"].to_string();
    assert!(warnings.contains("another text: new (working-tree-encoding: UTF-7)"), "{warnings}");
}

#[test]
fn hooks_that_git_ignores_are_compared() {
    let attack = Attack::new("echo evil > .husky/_/pre-commit");
    attack.repo.configure(|config| config["rules"]["max_turn_retries"] = json!(1));
    attack.repo.write(".husky/_/.gitignore", "*\n");
    attack.repo.write(".husky/_/pre-commit", "#!/bin/sh\n");
    attack.repo.git(&["config", "core.hooksPath", ".husky/_"]);
    let stepped = attack.step().unwrap();
    let StepResult::Turn(TurnOutcome::Blocked(failure)) = stepped else { panic!("{stepped:?}") };
    assert_eq!(failure.code, Code::XchainVersionControlChanged, "{failure:?}");
    assert!(failure.message.starts_with("hooks of git"), "{failure}");
}

#[test]
fn a_folder_of_hooks_that_is_a_link_is_compared() {
    let lines = "mkdir -p tools/hooks; echo evil > tools/hooks/pre-commit\n\
                 chmod +x tools/hooks/pre-commit; rm -rf .git/hooks\n\
                 ln -s ../tools/hooks .git/hooks; DECLARED=', \"tools/hooks/pre-commit\"'";
    refused(lines, Code::XchainVersionControlChanged, "hooks");
}

#[test]
fn git_fetches_no_missing_object() {
    let marks = tempfile::tempdir().unwrap();
    let lines = format!(
        "echo 'touch {}/fetched' > .git/fetch.sh; mkdir hk; echo x > hk/pre-push\n\
         git config core.repositoryformatversion 1; git config extensions.partialClone origin\n\
         git config remote.origin.promisor true; git config remote.origin.url \"$PWD\"\n\
         git config remote.origin.uploadpack \"sh $PWD/.git/fetch.sh\"\n\
         git config core.hooksPath hk; missing=1111111111111111111111111111111111111111\n\
         git update-index --add --cacheinfo 100644,$missing,hk/.gitignore\n\
         git update-index --skip-worktree hk/.gitignore",
        marks.path().display(),
    );
    refused(&lines, Code::XchainVersionControlChanged, "git");
    assert_eq!(std::fs::read_dir(&marks).unwrap().count(), 0, "the program ran");
}

#[test]
fn git_does_not_look_into_repositories_when_the_records_are_ignored() {
    let marks = tempfile::tempdir().unwrap();
    let lines = format!(
        "{}git update-index --add --cacheinfo \
         160000,$(git -C within rev-parse HEAD),within; DECLARED=', \"within\"'",
        within(&marks.path().display().to_string()),
    );
    let attack = Attack::new(&lines);
    attack.repo.write(".gitignore", ".agentxchain\nTALK.md\n");
    attack.repo.git(&["rm", "--quiet", "-r", "--cached", "--ignore-unmatch", ".agentxchain"]);
    attack.repo.commit_all("records are ignored");
    attack.repo.configure(|config| config["rules"]["max_turn_retries"] = json!(1));
    let stepped = attack.step().unwrap();
    assert!(matches!(stepped, StepResult::Turn(TurnOutcome::Blocked(_))), "{stepped:?}");
    assert_eq!(std::fs::read_dir(&marks).unwrap().count(), 0, "the filter ran");
}

#[test]
fn a_filter_of_a_refused_turn_never_runs() {
    filter_never_runs("x=y", "filter.x=y.clean");
    // Not text.
    filter_never_runs("$(printf 'e\\377')", "filter.e\u{fffd}.clean");
}

fn filter_never_runs(filter: &str, named: &str) {
    let marks = tempfile::tempdir().unwrap();
    let lines = format!(
        "echo \"* filter={filter}\" > .gitattributes; DECLARED=', \".gitattributes\"'\n\
         git config \"filter.{filter}.clean\" 'touch {}/filtered; cat'",
        marks.path().display(),
    );
    let attack = Attack::new(&lines);
    attack.repo.configure(|config| config["rules"]["max_turn_retries"] = json!(1));
    let StepResult::Turn(TurnOutcome::Blocked(failure)) = attack.step().unwrap() else {
        panic!("it was accepted");
    };
    assert!(failure.message.contains(named), "{failure}");
    // A person looks at it.
    attack.runs.status().unwrap();
    attack.runs.facts(&Subject::Block).unwrap();
    let found = attack.runs.doctor();
    assert!(found.iter().any(|it| it.message.contains(named)), "{found:?}");
    assert_eq!(std::fs::read_dir(&marks).unwrap().count(), 0, "the filter ran");
}

#[test]
fn changes_in_a_submodule_are_seen() {
    let changes = |lines: &str| {
        let attack = Attack::once(lines);
        attack.repo.git(&["init", "--quiet", "within"]);
        attack.repo.write("within/f", "x");
        attack.repo.git(&["-C", "within", "add", "."]);
        attack.repo.git(&["-C", "within", "commit", "--quiet", "-m", "x"]);
        attack.repo.commit_all("within");
        attack.repo.configure(|config| config["rules"]["max_turn_retries"] = json!(1));
        attack
    };
    for (lines, code, named) in [
        ("echo y > within/f", Code::XchainArtifactMismatch, "within"),
        (
            "git -C within config core.fsmonitor 'sh x'",
            Code::XchainVersionControlChanged,
            "settings of the submodule within",
        ),
    ] {
        let attack = changes(lines);
        let stepped = attack.step().unwrap();
        let StepResult::Turn(TurnOutcome::Blocked(failure)) = stepped else {
            panic!("{lines}: {stepped:?}");
        };
        assert_eq!(failure.code, code, "{lines}: {failure:?}");
        assert!(failure.message.contains(named), "{lines}: {failure}");
    }
    // Declared, the change counts.
    let attack = changes("echo y > within/f; DECLARED=', \"within\"'");
    waits_at_the_gate(&attack, attack.step().unwrap());
}

#[test]
fn refs_that_moved_and_repositories_within_are_named() {
    for (lines, named) in [
        ("git tag planted", "refs/tags"),
        ("git branch planted", "refs/heads"),
        ("git update-ref refs/stash HEAD", "refs/stash"),
        ("git update-ref refs/remotes/origin/main HEAD", "refs/remotes"),
        (
            "git init --quiet within; DECLARED=', \"within\"'\n\
             git -C within -c user.name=A -c user.email=a@example.org commit --quiet \
             --allow-empty -m x",
            "\"within\"",
        ),
        (
            "git init --quiet --bare within; rm -r within/hooks within/info\n\
             DECLARED=', \"within/HEAD\", \"within/config\", \"within/description\"'",
            "\"within\"",
        ),
        ("echo x > .git/ORIG_HEAD", "ORIG_HEAD"),
        ("echo APPROVED > .agentxchain/reviews/qa.md", "reviews/qa.md"),
        ("git rev-parse HEAD > .git/release", "release"),
        ("sed -i 's/commit/other/' .git/logs/HEAD", "logs/HEAD"),
        (
            "hash=$(git rev-parse HEAD)\n\
             printf \"$hash $hash A <a> 1 +0000\\tcheckout: moving from $hash to main\\n\" \
             >> .git/logs/HEAD",
            "logs/HEAD",
        ),
        (
            "export GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a\n\
             export GIT_AUTHOR_NAME=A GIT_AUTHOR_EMAIL=a\n\
             hash=$(git rev-parse HEAD); evil=$(git commit-tree -m x HEAD^{tree})\n\
             printf \"$hash $evil A <a> 1 +0000\\tx\\n\" >> .git/logs/HEAD",
            "logs/HEAD",
        ),
        ("echo x > .git/worktrees/side/MERGE_AUTOSTASH", "worktrees/side/MERGE_AUTOSTASH"),
    ] {
        let attack = Attack::once(lines);
        add_side(&attack);
        attack.repo.write(".agentxchain/reviews/qa.md", "rejected\n");
        attack.repo.git(&["add", "--force", ".agentxchain/reviews/qa.md"]);
        attack.repo.git(&["commit", "--quiet", "--message", "a review"]);
        waits_at_the_gate(&attack, attack.step().unwrap());
        let history = attack.repo.lines(".agentxchain/history.jsonl");
        let warnings = history[0]["warnings"].to_string();
        assert!(warnings.replace('\\', "").contains(named), "{lines}: {warnings}");
    }
}

/// The process that runs a step with a git configuration of its own.
const STEPS: &str = "ACCORD_TEST_USER_GIT";

#[test]
fn a_program_in_the_users_own_configuration_is_refused() {
    if let Some(root) = std::env::var_os(STEPS) {
        let runs = Runs::open(root.as_ref(), Environment::system()).unwrap();
        let stepped = runs.step(&Step::default()).unwrap();
        let StepResult::Turn(TurnOutcome::Blocked(failure)) = stepped else {
            panic!("{stepped:?}");
        };
        assert_eq!(failure.code, Code::XchainVersionControlChanged, "{failure:?}");
        assert!(failure.message.contains("core.hookspath of your own git"), "{failure}");
        return;
    }
    let attack = Attack::once("git config --global core.hooksPath /tmp/planted");
    let own = attack.repo.state_folder().join("gitconfig");
    std::fs::write(&own, "[user]\n\tname = T\n").unwrap();
    let stepped = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "hidden_changes::a_program_in_the_users_own_configuration_is_refused"])
        .env(STEPS, attack.repo.root())
        .env("XDG_STATE_HOME", attack.repo.state_folder())
        .env("GIT_CONFIG_GLOBAL", &own)
        .output()
        .unwrap();
    assert!(stepped.status.success(), "{}", String::from_utf8_lossy(&stepped.stdout));
    assert!(std::fs::read_to_string(&own).unwrap().contains("planted"), "it was planted");
    attack.assert_gates_hold();
}
