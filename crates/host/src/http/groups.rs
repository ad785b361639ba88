//! Every route of the host, by group.
//!
//! The router, the OpenAPI document, `/docs` and the manual are made from this list. A file of
//! routes that no group names is not served.

use accord_api::Declaration;

use accord_live_door as live;
use accord_memory_door as memory;
use accord_serving::Door;
use accord_serving::table::Route;
use accord_tasks_door as tasks;

use super::{Host, accord};

/// Routes that belong together: a heading on the page, a tag of the OpenAPI document.
pub(super) struct Group {
    /// Its name.
    pub(super) name: &'static str,
    /// What its routes are for.
    pub(super) about: &'static str,
    /// The lists of its routes.
    routes: &'static [List],
}

/// A list of routes of a door, without the type of the door's state.
struct List {
    declared: fn() -> Vec<Declaration>,
    behind: fn(&Host) -> Vec<Route>,
}

/// A list of routes, and the state of their door.
macro_rules! list {
    ($routes:path, $state:expr) => {
        List {
            declared: || $routes().into_iter().map(|route| route.declared).collect(),
            behind: |host| behind($routes(), &$state(host)),
        }
    };
    ($routes:path) => {
        list!($routes, Host::clone)
    };
}

fn behind<D: Door>(routes: Vec<Route<D>>, door: &D) -> Vec<Route> {
    routes.into_iter().map(|route| route.behind(door.clone())).collect()
}

/// The groups, in the order of the page.
/// Clauses: AGENTIC-R-110.
pub(super) const GROUPS: &[Group] = &[
    Group {
        name: "Packages",
        about: "Records of work and decisions: deposit, read, search, review.",
        routes: &[
            list!(memory::packages::routes, Host::memory_door),
            list!(memory::lifecycle::routes, Host::memory_door),
        ],
    },
    Group {
        name: "Orientation",
        about: "Summaries of a project, or of all projects.",
        routes: &[list!(memory::bundles::routes, Host::memory_door)],
    },
    Group {
        name: "Facts",
        about: "Statements that hold for a while.",
        routes: &[list!(memory::facts::routes, Host::memory_door)],
    },
    Group {
        name: "Sessions",
        about: "Periods of work of an actor.",
        routes: &[list!(memory::sessions::routes, Host::memory_door)],
    },
    Group {
        name: "Projects",
        about: "What packages, facts and sessions belong to.",
        routes: &[
            list!(memory::projects::routes, Host::memory_door),
            list!(memory::questions::routes, Host::memory_door),
        ],
    },
    Group {
        name: "Events, export and import",
        about: "Everything of a project, as it happens or as a whole.",
        routes: &[
            list!(memory::events::routes, Host::memory_door),
            list!(memory::export::routes, Host::memory_door),
            list!(memory::import::routes, Host::memory_door),
        ],
    },
    Group {
        name: "Tasks",
        about: "Work for agents and people, over AOF/1: create, claim, report, review.",
        routes: &[list!(tasks::routes, Host::tasks_door)],
    },
    Group {
        name: "ggui channel",
        about: "Live sessions between agents and people, over ggui.",
        routes: &[list!(live::channel_routes, Host::live_door)],
    },
    Group {
        name: "Questions to people",
        about: "What agents ask people, over ggui: list, show, answer, follow.",
        routes: &[list!(live::question_routes, Host::live_door)],
    },
    Group {
        name: "Tools of live sessions",
        about: "What agents and pages call over MCP, over ggui: render, update, consume.",
        routes: &[list!(live::tool_routes, Host::live_door)],
    },
    Group {
        name: "Pages of live sessions",
        about: "What a person is shown in a browser: the page, its login, its assets.",
        routes: &[list!(live::page_routes, Host::live_door)],
    },
    Group {
        name: "Blobs",
        about: "Files by their digest.",
        routes: &[list!(memory::blobs::routes, Host::memory_door)],
    },
    Group {
        name: "Keys",
        about: "Who may use the server, and for what.",
        routes: &[list!(accord::keys::routes)],
    },
    Group {
        name: "Operating",
        about: "Status and maintenance.",
        routes: &[
            list!(accord::upkeep::routes),
            list!(accord::ids::routes),
            list!(accord::projects::routes),
            list!(accord::task_trees::routes),
            list!(memory::verify::routes, Host::memory_door),
        ],
    },
    Group {
        name: "The server",
        about: "What the server is, and whether it runs.",
        routes: &[
            list!(accord::about::routes),
            list!(memory::bundles::descriptor, Host::memory_door),
        ],
    },
];

/// Every route of a host.
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
