//! Every route of the host, by group.
//!
//! The router, the OpenAPI document, `/docs` and the manual are made from this list. A file of
//! routes that no group names is not served.

use accord_api::Declaration;

use super::Route;
use super::{live, live_tools, own, pages, routes, tasks};

/// Routes that belong together: a heading on the page, a tag of the OpenAPI document.
pub(super) struct Group {
    /// Its name.
    pub(super) name: &'static str,
    /// What its routes are for.
    pub(super) about: &'static str,
    /// The lists of its routes.
    routes: &'static [fn() -> Vec<Route>],
}

/// The groups, in the order of the page.
///
/// Clauses: AGENTIC-R-110.
pub(super) const GROUPS: &[Group] = &[
    Group {
        name: "Packages",
        about: "Records of work and decisions: deposit, read, search, review.",
        routes: &[routes::packages::routes, routes::lifecycle::routes],
    },
    Group {
        name: "Orientation",
        about: "Summaries of a project, or of all projects.",
        routes: &[routes::bundles::routes],
    },
    Group {
        name: "Facts",
        about: "Statements that hold for a while.",
        routes: &[routes::facts::routes],
    },
    Group {
        name: "Sessions",
        about: "Periods of work of an actor.",
        routes: &[routes::sessions::routes],
    },
    Group {
        name: "Projects",
        about: "What packages, facts and sessions belong to.",
        routes: &[routes::projects::routes, routes::questions::routes],
    },
    Group {
        name: "Events, export and import",
        about: "Everything of a project, as it happens or as a whole.",
        routes: &[routes::events::routes, routes::export::routes, routes::import::routes],
    },
    Group {
        name: "Tasks",
        about: "Work for agents and people, over AOF/1: create, claim, report, review.",
        routes: &[tasks::routes],
    },
    Group {
        name: "Live",
        about: "Live sessions between agents and people, over ggui.",
        routes: &[live::routes],
    },
    Group {
        name: "Live sessions",
        about: "What agents ask people, over ggui: list, show, answer, follow.",
        routes: &[own::live::routes],
    },
    Group {
        name: "Tools of live sessions",
        about: "What agents and pages call over MCP, over ggui: render, update, consume.",
        routes: &[live_tools::routes],
    },
    Group {
        name: "Pages of live sessions",
        about: "What a person is shown in a browser: the page, its login, its assets.",
        routes: &[pages::routes],
    },
    Group { name: "Blobs", about: "Files by their digest.", routes: &[routes::blobs::routes] },
    Group {
        name: "Keys",
        about: "Who may use the server, and for what.",
        routes: &[own::keys::routes],
    },
    Group {
        name: "Operating",
        about: "Status and maintenance.",
        routes: &[
            own::upkeep::routes,
            own::ids::routes,
            own::projects::routes,
            own::task_trees::routes,
            routes::verify::routes,
        ],
    },
    Group {
        name: "The server",
        about: "What the server is, and whether it runs.",
        routes: &[own::about::routes, routes::bundles::descriptor],
    },
];

/// Every route, with its group.
pub(super) fn every_route() -> Vec<Route> {
    let of = |group: &'static Group| {
        let routes = group.routes.iter().flat_map(|routes| routes());
        routes.map(|route| route.in_group(group.name))
    };
    GROUPS.iter().flat_map(of).collect()
}

/// Every route as documents describe it, with its group.
pub fn every_declaration() -> Vec<Declaration> {
    every_route().into_iter().map(|route| route.declared).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_says_what_it_needs() {
        let silent = every_declaration().into_iter().filter(|declared| declared.need.is_none());
        let silent: Vec<&str> = silent.map(|declared| declared.name).collect();
        assert!(silent.is_empty(), "routes without a need: {silent:?}");
    }
}
