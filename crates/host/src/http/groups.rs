//! Every route of the host, by group.
//!
//! The router, the OpenAPI document, `/docs` and the manual are made from this list. A file of
//! routes that no group names is not served.

use accord_api::Declaration;

use accord_live_door as live;
use accord_memory_door as memory;
use accord_runs_door as runs;
use accord_serving::Door;
use accord_serving::table::Route;
use accord_tasks_door as tasks;

use super::{Host, accord};

/// Routes that belong together: a heading on the page, a tag of the OpenAPI document.
pub(super) struct Group {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    routes: &'static [List],
}

/// A list of routes of a door, without the type of the door's state.
struct List {
    declared: fn() -> Vec<Declaration>,
    behind: fn(&Host) -> Vec<Route>,
}

/// The groups: name, purpose, and lists of routes, each after what gives the state of its door.
macro_rules! groups {
    ($($name:literal: $about:literal [$($state:ident $routes:path),+];)+) => {
        &[$(Group {
            name: $name,
            about: $about,
            routes: &[$(List {
                declared: || $routes().into_iter().map(|route| route.declared).collect(),
                behind: |host| behind($routes(), &Host::$state(host)),
            }),+],
        }),+]
    };
}

fn behind<D: Door>(routes: Vec<Route<D>>, door: &D) -> Vec<Route> {
    routes.into_iter().map(|route| route.behind(door.clone())).collect()
}

/// The groups, in the order of the page.
/// Clauses: AGENTIC-R-110.
pub(super) const GROUPS: &[Group] = groups! {
    "Packages": "Records of work and decisions: deposit, read, search, review."
        [memory_door memory::packages::routes, memory_door memory::lifecycle::routes];
    "Orientation": "Summaries of a project, or of all projects."
        [memory_door memory::bundles::routes];
    "Facts": "Statements that hold for a while."
        [memory_door memory::facts::routes];
    "Sessions": "Periods of work of an actor."
        [memory_door memory::sessions::routes];
    "Projects": "What packages, facts and sessions belong to."
        [memory_door memory::projects::routes, memory_door memory::questions::routes];
    "Events, export and import": "Everything of a project, as it happens or as a whole."
        [memory_door memory::events::routes, memory_door memory::export::routes,
         memory_door memory::import::routes];
    "Tasks": "Work for agents and people, over AOF/1: create, claim, report, review."
        [tasks_door tasks::routes];
    "Governed runs": "Runs of the repositories that are joined to a project: status, history, wait."
        [runs_door runs::routes];
    "ggui channel": "Live sessions between agents and people, over ggui."
        [live_door live::channel_routes];
    "Questions to people": "What agents ask people, over ggui: list, show, answer, follow."
        [live_door live::question_routes];
    "Tools of live sessions":
        "What agents and pages call over MCP, over ggui: render, update, consume."
        [live_door live::tool_routes];
    "Pages of live sessions":
        "What a person is shown in a browser: the page, its login, its assets."
        [live_door live::page_routes];
    "Decisions": "Who decided what, in every protocol."
        [clone accord::decisions::routes];
    "Inbox": "What waits for people, in every project and protocol."
        [clone accord::inbox::routes];
    "Notifications": "What a person is told about the inbox, and how."
        [clone accord::notifications::routes];
    "Edges": "Work trees on other machines that are joined to a project of this host."
        [clone accord::edges::routes];
    "Blobs": "Files by their digest."
        [memory_door memory::blobs::routes];
    "Keys": "Who may use the server, and for what."
        [clone accord::keys::routes];
    "People": "Whom the operator knows, by name and address."
        [clone accord::people::routes];
    "Operating": "Status and maintenance."
        [clone accord::upkeep::routes, clone accord::ids::routes, clone accord::projects::routes,
         clone accord::task_trees::routes, memory_door memory::verify::routes];
    "The server": "What the server is, and whether it runs."
        [clone accord::about::routes, memory_door memory::bundles::descriptor];
};

pub(super) fn every_route(host: &Host) -> Vec<Route> {
    let lists = GROUPS.iter().flat_map(|group| group.routes);
    lists.flat_map(|list| (list.behind)(host)).collect()
}

/// Every route as documents describe it, with its group.
pub fn every_declaration() -> Vec<Declaration> {
    let of = |group: &'static Group| {
        let declared = group.routes.iter().flat_map(|list| (list.declared)());
        declared.map(|declared| Declaration { group: group.name, ..declared })
    };
    GROUPS.iter().flat_map(of).collect()
}
