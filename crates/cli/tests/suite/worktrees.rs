//! The memory of a repository with several work trees is one, and outlives each of them.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::json;
use tempfile::TempDir;

use crate::accord::{Ran, run};
use crate::mcp::Agent;
use crate::memory::bare;
use crate::snapshot::unwrapped;

/// A folder with repositories.
struct Place {
    folder: TempDir,
}

impl Place {
    /// A folder with a repository `main` that has the folder `src`.
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().expect("a folder") };
        place.git("", &["init", "--quiet", "main"]);
        place.commit("main");
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        let folder = self.folder.path().canonicalize().expect("a path");
        if name.is_empty() { folder } else { folder.join(name) }
    }

    fn commit(&self, repository: &str) {
        let src = self.at(repository).join("src");
        fs::create_dir_all(&src).expect("a folder");
        fs::write(src.join("a"), "a").expect("a file");
        self.git(repository, &["add", "."]);
        self.git(repository, &["commit", "--quiet", "-m", "one"]);
    }

    #[track_caller]
    fn git(&self, at: &str, args: &[&str]) -> String {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@localhost"]);
        git.args(["-c", "protocol.file.allow=always"]).args(args).current_dir(self.at(at));
        git.env("HOME", self.at("")).env("GIT_CONFIG_NOSYSTEM", "1");
        let ran = run(git, "");
        assert_eq!(ran.code, 0, "git {args:?}: {ran:?}");
        ran.stdout
    }

    /// Runs a command in a folder, without any program in reach: git is not needed.
    fn types(&self, at: &str, words: &str) -> Ran {
        let args = shell_words::split(words).expect("words");
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let mut command = bare(&args);
        command.current_dir(self.at(at)).env("ACCORD_ACTOR", "agent:planner").env("PATH", "");
        run(command, "")
    }

    /// Deposits a package, and returns what the command says to people.
    #[track_caller]
    fn deposits(&self, at: &str, title: &str) -> String {
        let ran = self.types(at, &format!("context deposit --project shop --title {title}"));
        assert_eq!(ran.code, 0, "{at}: {ran:?}");
        ran.stderr
    }

    #[track_caller]
    fn pulls(&self, at: &str) -> String {
        let ran = self.types(at, "context pull --project shop");
        assert_eq!(ran.code, 0, "{at}: {ran:?}");
        ran.stdout
    }

    fn has(&self, at: &str) -> bool {
        self.at(at).join(".accord").exists()
    }
}

/// The sentences of an error, on one line.
fn words(ran: &Ran) -> String {
    unwrapped(&ran.stderr).replace('\n', " ")
}

#[test]
fn what_was_deposited_in_a_work_tree_outlives_it() {
    let place = Place::new();
    place.git("main", &["worktree", "add", "--quiet", "../linked", "-b", "b"]);
    // The first write of all, below the top of a linked work tree.
    let said = place.deposits("linked/src", "One");
    let new = format!("new data folder {}", place.at("main/.accord").display());
    assert!(said.contains(&new), "{said}");
    let created = place.types("linked/src", "task create Two --project shop --ready");
    assert_eq!(created.code, 0, "{created:?}");
    assert!(!place.has("linked") && !place.has("linked/src") && place.has("main"));
    assert_eq!(place.types("linked", "project use shop").code, 0);
    // It is not even dirty, so git removes it without a question.
    assert_eq!(place.git("linked", &["status", "--porcelain"]), "");
    place.git("main", &["worktree", "remove", "../linked"]);
    assert!(place.pulls("main").contains("One"));
    let listed = place.types("main/src", "task list");
    assert!(listed.stdout.contains("Two"), "{listed:?}");
    // One inside of the main one.
    place.git("main", &["worktree", "add", "--quiet", ".trees/c", "-b", "c"]);
    assert!(place.pulls("main/.trees/c/src").contains("One"));
    // The current folder is reached through a link.
    let link = place.at("link");
    std::os::unix::fs::symlink(place.at("main/.trees/c"), link).expect("a link");
    assert!(place.pulls("link/src").contains("One"));
}

#[test]
fn an_agent_keeps_its_memory_when_its_work_tree_is_removed() {
    let place = Place::new();
    place.git("main", &["worktree", "add", "--quiet", "../linked", "-b", "b"]);
    let mut command = bare(&["mcp", "--project", "shop", "--actor", "agent:one"]);
    command.current_dir(place.at("linked/src")).env("PATH", "");
    let mut agent = Agent::begun(command);
    agent.read("memory_deposit", &json!({"title": "Before"}));
    place.git("main", &["worktree", "remove", "../linked"]);
    agent.read("memory_deposit", &json!({"title": "After"}));
    let kept = place.pulls("main");
    assert!(kept.contains("Before") && kept.contains("After"), "{kept}");
}

#[test]
fn the_nearest_data_folder_is_that_of_the_work_tree_then_of_the_main_one() {
    let place = Place::new();
    place.git("main", &["worktree", "add", "--quiet", "../linked", "-b", "b"]);
    // Above the main one, which is also above the linked one.
    assert_eq!(place.types("", "project create shop --data .accord").code, 0);
    place.deposits("linked/src", "Above");
    assert!(place.pulls("main").contains("Above") && !place.has("main"));
    let named = |at: &str, title: &str| {
        let words = format!("context deposit --project shop --title {title} --data .accord");
        assert_eq!(place.types(at, &words).code, 0);
    };
    named("main", "Main");
    assert!(place.pulls("linked").contains("Main"));
    // The same folder of the main one is nearer than its top.
    named("main/src", "Src");
    assert!(place.pulls("linked/src").contains("Src"));
    assert!(place.pulls("linked").contains("Main"));
    // What a commit can have is not enough to keep a memory in a linked one.
    fs::create_dir(place.at("linked/.accord")).expect("a folder");
    fs::write(place.at("linked/.accord/accord.toml"), "project = \"other\"\n").expect("a file");
    assert!(place.pulls("linked").contains("Main"));
    // One that is filled is used, with a warning and the command that saves it.
    named("linked", "Lost");
    let ran = place.types("linked/src", "context pull --project shop --data ../../linked/.accord");
    assert!(ran.stdout.contains("Lost") && !ran.stderr.contains("warning"), "{ran:?}");
    let ran = place.types("linked", "context pull --project shop");
    assert!(ran.stdout.contains("Lost"), "{ran:?}");
    let (from, to) = (place.at("linked/.accord"), place.at("main/.accord"));
    let line = format!(
        "accord context export --all --data {} | accord context import - --data {}",
        from.display(),
        to.display()
    );
    assert!(ran.stderr.contains("`git worktree remove` deletes it"), "{ran:?}");
    assert!(ran.stderr.contains(&line), "{ran:?}");
    let [export, import] = line.split(" | ").collect::<Vec<_>>()[..] else { panic!("{line}") };
    let lines = place.types("", export.strip_prefix("accord ").expect("a command")).stdout;
    let mut command = bare(&["context", "import", "-", "--data", to.to_str().expect("text")]);
    assert!(import.ends_with(&to.display().to_string()));
    command.env("ACCORD_ACTOR", "agent:planner");
    assert_eq!(run(command, lines).code, 0);
    assert!(place.pulls("main").contains("Lost"));
}

#[test]
fn a_bare_repository_is_refused_with_the_command_to_use() {
    let place = Place::new();
    fs::create_dir(place.at("proj")).expect("a folder");
    place.git("proj", &["clone", "--quiet", "--bare", "../main", ".bare"]);
    fs::write(place.at("proj/.git"), "gitdir: ./.bare\n").expect("a file");
    place.git("proj", &["worktree", "add", "--quiet", "main"]);
    let beside = place.at("proj/.accord");
    let line = format!("accord project create ID --data {}", beside.display());
    for at in ["proj/main/src", "proj/.bare", "proj/.bare/refs"] {
        for command in
            ["context deposit --project shop --title One", "mcp", "serve", "project use x"]
        {
            let ran = place.types(at, command);
            assert_eq!(ran.code, 2, "{at} {command}: {ran:?}");
            assert!(ran.stderr.starts_with("STORE_MISSING"), "{at} {command}: {ran:?}");
            assert!(words(&ran).contains(&line), "{at} {command}: {ran:?}");
        }
        // Settings need no data folder.
        assert_eq!(place.types(at, "config show").code, 0);
    }
    assert!(!place.has("proj/main") && !place.has("proj/.bare") && !place.has("proj"));
    // The command that it names. Every work tree finds it from then on.
    let created = place.types("proj/main", &line.replace("accord ", "").replace("ID", "shop"));
    assert_eq!(created.code, 0, "{created:?}");
    place.deposits("proj/main/src", "One");
    place.git("proj/main", &["worktree", "add", "--quiet", "../../far", "-b", "far"]);
    assert!(place.pulls("far").contains("One") && place.pulls("proj/.bare").contains("One"));
}

#[test]
fn a_submodule_has_its_own() {
    let place = Place::new();
    place.git("", &["init", "--quiet", "super"]);
    place.git("super", &["submodule", "--quiet", "add", "../main", "sub"]);
    place.git("super", &["commit", "--quiet", "-m", "sub"]);
    place.deposits("super/sub/src", "One");
    assert!(place.has("super/sub") && !place.has("super") && !place.has("main"));
    // Its linked work trees, and the same submodule in one of the outer repository.
    place.git("super/sub", &["worktree", "add", "--quiet", "../../linked", "-b", "b"]);
    assert!(place.pulls("linked").contains("One"));
    place.git("super", &["worktree", "add", "--quiet", "../outer", "-b", "b"]);
    place.git("outer", &["submodule", "--quiet", "update", "--init"]);
    assert!(place.pulls("outer/sub").contains("One"));
    fs::remove_dir_all(place.at("super/sub/.accord")).expect("removed");
    place.deposits("outer/sub/src", "Two");
    assert!(place.has("super/sub") && !place.has("outer/sub") && !place.has("outer"));
}

#[test]
fn a_work_tree_that_lost_its_repository_gets_no_memory_of_its_own() {
    let place = Place::new();
    place.git("main", &["worktree", "add", "--quiet", "../linked", "-b", "b"]);
    place.deposits("linked", "One");
    fs::rename(place.at("main"), place.at("moved")).expect("moved");
    let ran = place.types("linked/src", "context deposit --project shop --title Two");
    assert!(ran.code == 2 && ran.stderr.starts_with("STORE_MISSING"), "{ran:?}");
    let repair = format!("git worktree repair {}", place.at("linked").display());
    assert!(words(&ran).contains(&repair), "{ran:?}");
    assert!(!place.has("linked"));
    place.git("moved", &["worktree", "repair", place.at("linked").to_str().expect("text")]);
    assert!(place.pulls("linked").contains("One"));
    // The same when the linked one was moved.
    fs::rename(place.at("linked"), place.at("elsewhere")).expect("moved");
    let ran = place.types("elsewhere", "context pull --project shop");
    assert!(ran.code == 2 && words(&ran).contains("does not know it"), "{ran:?}");
}

#[test]
fn a_work_tree_is_linked_only_if_the_repository_says_so() {
    let place = Place::new();
    place.deposits("main", "Secret");
    place.git("main", &["worktree", "add", "--quiet", "../linked", "-b", "b"]);
    // A worker plants a file that names the record of another work tree.
    let other = place.at("other/below");
    fs::create_dir_all(&other).expect("a folder");
    let record = place.at("main/.git/worktrees/linked");
    fs::write(place.at("other/.git"), format!("gitdir: {}\n", record.display())).expect("a file");
    let ran = place.types("other/below", "context pull --project shop");
    assert!(ran.code == 2 && !ran.stdout.contains("Secret"), "{ran:?}");
    // A record of its own, in its own tree.
    let own = place.at("other/git/worktrees/x");
    fs::create_dir_all(&own).expect("a folder");
    fs::write(own.join("HEAD"), "ref: refs/heads/x\n").expect("a file");
    let common = format!("{}\n", place.at("main/.git").display());
    fs::write(own.join("commondir"), common).expect("a file");
    fs::write(own.join("gitdir"), format!("{}\n", place.at("other/.git").display()))
        .expect("a file");
    fs::write(place.at("other/.git"), format!("gitdir: {}\n", own.display())).expect("a file");
    let ran = place.types("other/below", "context pull --project shop");
    assert!(ran.code == 2 && !ran.stdout.contains("Secret"), "{ran:?}");
}

#[test]
fn settings_that_need_trust_need_it_in_a_linked_work_tree_too() {
    let place = Place::new();
    place.deposits("main", "One");
    place.git("main", &["worktree", "add", "--quiet", "../linked", "-b", "b"]);
    let settings = place.at("main/.accord/accord.toml");
    fs::write(settings, "url = \"http://127.0.0.1:9\"\n").expect("a file");
    for at in ["main", "linked"] {
        place.types(at, "context pull --project shop").refused("STORE_FOLDER_UNTRUSTED");
    }
}

#[test]
fn a_separate_git_folder_has_its_work_tree() {
    let place = Place::new();
    place.git("", &["init", "--quiet", "--separate-git-dir=store.git", "work"]);
    place.commit("work");
    place.deposits("work/src", "One");
    assert!(place.has("work") && !place.has("work/src"));
    // It does not say where its main work tree is.
    place.git("work", &["worktree", "add", "--quiet", "../linked", "-b", "b"]);
    let ran = place.types("linked", "context deposit --project shop --title Two");
    assert!(ran.code == 2 && words(&ran).contains("does not say where"), "{ran:?}");
    let data = place.at("work/.accord");
    let named = place.types(
        "linked",
        &format!("context deposit --project shop --title Two --data {}", data.display()),
    );
    assert_eq!(named.code, 0, "{named:?}");
}

#[test]
fn outside_of_git_nothing_changes() {
    let place = Place::new();
    fs::create_dir_all(place.at("plain/below")).expect("folders");
    place.deposits("plain/below", "One");
    assert!(place.has("plain/below") && !place.has("plain"));
    assert_eq!(place.types("plain", "context pull --project shop").code, 2);
}

#[test]
fn a_folder_with_only_tasks_is_a_data_folder() {
    let place = Place::new();
    let created = place.types("main", "task create First --project shop --ready");
    assert_eq!(created.code, 0, "{created:?}");
    let listed = place.types("main", "project list");
    assert!(listed.code == 0 && listed.stdout.contains("shop"), "{listed:?}");
    for command in ["context pull", "fact list", "session list", "context export", "live list"] {
        let ran = place.types("main", command);
        assert_eq!(ran.code, 0, "{command}: {ran:?}");
        assert!(ran.stderr.contains("using the project shop"), "{command}: {ran:?}");
    }
    let shown = place.types("main", "project show shop");
    assert!(shown.code == 0 && shown.stdout.contains("shop"), "{shown:?}");
    // Readers made no store. A write makes one, in the folder that was there.
    assert!(!place.at("main/.accord/accord.db").exists());
    let said = place.deposits("main", "One");
    assert!(said.contains("new store in") && !said.contains("new data folder"), "{said}");
    assert!(!said.contains("new project"), "{said}");
    assert!(place.pulls("main").contains("One"));
    // Where there is nothing at all, that is said.
    let ran = place.types("", "context pull --project shop");
    assert!(ran.code == 2 && words(&ran).contains("the folders above it have no .accord"));
}

#[test]
fn a_project_that_a_typo_created_is_announced_with_the_near_one() {
    let place = Place::new();
    let said = |words: &str| {
        let ran = place.types("main", words);
        assert_eq!(ran.code, 0, "{words}: {ran:?}");
        ran.stderr
    };
    said("task create First --project shop");
    let typo = said("task create First --project shpo");
    assert!(typo.contains("new project shpo in") && typo.contains("did you mean shop?"), "{typo}");
    // No more than once.
    assert_eq!(said("task create Second --project shpo"), "");
    let far = said("task create First --project warehouse");
    assert!(far.contains("new project warehouse") && !far.contains("did you mean"), "{far}");
    let typo = said("context deposit --title One --project sohp");
    assert!(typo.contains("new project sohp in") && typo.contains("did you mean shop?"), "{typo}");
    // The store, which tasks do not open, may have the project.
    let first = said("task create First --project sohp");
    assert!(first.contains("first tasks of the project sohp"), "{first}");
    // With a host that serves the folder.
    let _host = crate::server::Server::start(&place.at("main/.accord"), &[]);
    let typo = said("task create First --project shopp");
    assert!(typo.contains("new project shopp in") && typo.contains("did you mean shop?"), "{typo}");
    assert_eq!(said("task create Second --project shopp"), "");
    // A name that is unknown is compared, too.
    let ran = place.types("main", "task list --project shoq");
    assert!(ran.code == 2 && words(&ran).contains("did you mean shop?"), "{ran:?}");
    let ran = place.types("main", "context pull --project shoq");
    assert!(ran.code == 2 && words(&ran).contains("did you mean shop?"), "{ran:?}");
}
