//! The rules of a configuration.
//!
//! [`problems`] checks every rule, for a project that people run. [`narrow_problems`] checks only
//! what the protocol's cases require: versions and references, in a fixed order.

mod limits;
mod runtimes;
pub(crate) use runtimes::is_http_url;
mod sections;

use accord_contract::wire::{Names, count_of};
use accord_contract::{Code, Object, Value};

use super::{ConfigProblem, DEFAULT_PHASES, MAX_CONCURRENT_TURNS, RuntimeType, WriteAuthority};
use crate::members::{self, entries, filled, given, list, text};
use crate::patterns::{is_name, is_phase};
use crate::{HookPhase, hooks, rule};

pub fn problems(document: &Value) -> Vec<ConfigProblem> {
    let Some(document) = document.as_object() else {
        return vec![invalid("", "the configuration must be a JSON object")];
    };
    let mut found = Vec::new();
    let version = document.get("schema_version");
    // The reference runner also accepts 4, the number of its configuration format.
    if version != Some(&"1.0".into()) && version.and_then(count_of) != Some(4) {
        found.push(version_problem(version));
    }
    project(document, &mut found);
    roles(document, &mut found);
    runtimes::check(document, &mut found);
    // This is not among the narrow rules: the protocol's cases have reviewers with local programs.
    authority_fits_runtime(document, &mut found);
    routing(document, &mut found);
    sections::gates(document, &mut found);
    sections::workflow(document, &mut found);
    let hook_problems = hooks::phase_problems(document, HookPhase::ALL).into_iter();
    found.extend(hook_problems.map(|(field, message)| invalid(field, message)));
    limits::check(document, &mut found);
    found
}

/// Checks only the rules that the protocol's cases require.
///
/// Clauses: AX-CS-VALID, AX-CS-VERSION.
pub fn narrow_problems(document: &Value) -> Vec<ConfigProblem> {
    let Some(document) = document.as_object() else {
        return vec![invalid("", "the configuration must be a JSON object")];
    };
    let mut found = Vec::new();
    let version = document.get("schema_version");
    // The protocol's cases accept only the text. The number 4 is for real projects.
    let sound = rule!(
        version == Some(&"1.0".into());
        VersionAsNumber => version == Some(&"1.0".into()) || version == Some(&1.into());
        AnyVersion => true
    );
    if !sound {
        found.push(version_problem(version));
    }
    // The protocol defines this order, because the first problem gives the code.
    for (id, role) in entries(document, "roles") {
        runtime_reference(document, id, role, &mut found);
    }
    routing(document, &mut found);
    found
}

type Problems = Vec<ConfigProblem>;

/// An object of the document, and the place that its problems name.
struct Section<'a> {
    at: &'a str,
    members: &'a Object,
    found: &'a mut Problems,
}

impl Section<'_> {
    fn report(&mut self, name: &str, what: &str) {
        let field = format!("{}.{name}", self.at);
        self.found.push(invalid(&field, format!("{field} {what}")));
    }

    /// Reports a member that is given and not sound.
    fn check(&mut self, name: &str, is_sound: impl Fn(&Value) -> bool, what: &str) {
        if given(self.members, name).is_some_and(|value| !is_sound(value)) {
            self.report(name, what);
        }
    }

    fn flag(&mut self, name: &str) {
        self.check(name, Value::is_boolean, "must be true or false");
    }

    fn texts(&mut self, name: &str) {
        self.check(name, is_texts, "must be a list of texts");
    }

    fn positive(&mut self, name: &str) {
        let is_sound = |value: &Value| count_of(value).is_some_and(|number| number > 0);
        self.check(name, is_sound, "must be a whole number above zero");
    }

    fn name<N: Names>(&mut self, name: &str, what: &str) {
        self.check(name, |value| value.as_str().and_then(N::find).is_some(), what);
    }
}

pub(super) fn invalid(field: impl Into<String>, message: impl Into<String>) -> ConfigProblem {
    ConfigProblem::new(Code::XchainInvalidConfig, field, message)
}

/// Clauses: AX-CS-VERSION.
fn version_problem(version: Option<&Value>) -> ConfigProblem {
    let message = "schema_version must be \"1.0\"";
    ConfigProblem::new(Code::XchainSchemaVersionInvalid, "schema_version", message)
        .with("expected_version", "1.0")
        .with("actual_version", version.cloned().unwrap_or(Value::Null))
}

fn project(document: &Object, found: &mut Problems) {
    let Some(project) = members::object(document, "project") else {
        found.push(invalid("project", "project must be an object with id and name"));
        return;
    };
    let mut section = Section { at: "project", members: project, found };
    for name in ["id", "name"] {
        if filled(project, name).is_none() {
            section.report(name, "must be a non-blank text");
        }
    }
    let is_goal = |goal: &Value| goal.as_str().is_some_and(|goal| goal.chars().count() <= 500);
    section.check("goal", is_goal, "must be a text of at most 500 characters");
}

fn roles(document: &Object, found: &mut Problems) {
    let Some(roles) = members::object(document, "roles").filter(|roles| !roles.is_empty()) else {
        found.push(invalid("roles", "roles must be an object with at least one role"));
        return;
    };
    for (id, value) in roles {
        let at = format!("roles.{id}");
        if !is_name(id) {
            let message = format!("role {id:?} may contain only a-z, 0-9, _ and -");
            found.push(invalid(&at, message));
        }
        let Some(role) = value.as_object() else {
            found.push(invalid(at, format!("role {id} must be an object")));
            continue;
        };
        let mut section = Section { at: &at, members: role, found };
        for name in ["title", "mandate", "runtime"] {
            // A runtime of another type is reported as one that is not declared.
            let is_reported = name == "runtime" && role.get(name).is_some_and(|it| !it.is_string());
            if filled(role, name).is_none() && !is_reported {
                section.report(name, "must be a non-blank text");
            }
        }
        if text(role, "write_authority").and_then(WriteAuthority::parse).is_none() {
            section.report("write_authority", "must be authoritative, proposed or review_only");
        }
        // 100 is left for `human`, which outranks every role.
        let is_weight = |weight: &Value| count_of(weight).is_some_and(|weight| weight <= 99);
        section.check("decision_authority", is_weight, "must be a whole number, 0 to 99");
        section.texts("declared_file_scope");
        runtime_reference(document, id, value, found);
    }
}

/// Checks that the runtime of a role is declared. A value of another type names none that is.
///
/// Clauses: AX-CS-RUNTIME.
fn runtime_reference(document: &Object, id: &str, role: &Value, found: &mut Problems) {
    let Some(runtime) = role.get("runtime") else { return };
    let runtimes = members::object(document, "runtimes");
    let is_runtime = |name: &str| runtimes.is_some_and(|all| all.contains_key(name));
    let declared = rule!(
        runtime.as_str().is_some_and(is_runtime);
        RuntimeAsNumber => runtime.as_str().is_none_or(is_runtime);
        RuntimeUndeclared => true
    );
    if !declared {
        let field = format!("roles.{id}.runtime");
        let name = runtime.as_str().map_or_else(|| runtime.to_string(), str::to_owned);
        let message = format!("role {id} names the runtime {name}, which is not declared");
        let problem = ConfigProblem::new(Code::XchainUndeclaredRuntimeReference, field, message);
        found.push(problem.with("referenced_runtime", runtime.clone()));
    }
}

/// A role that only reviews cannot have a local program. A role that writes files cannot have a
/// remote runtime.
fn authority_fits_runtime(document: &Object, found: &mut Problems) {
    let runtimes = members::object(document, "runtimes");
    for (id, role) in entries(document, "roles") {
        let text = |name: &str| role.get(name).and_then(Value::as_str);
        let kind = |runtime: &str| runtimes?.get(runtime)?.get("type")?.as_str();
        let kind = text("runtime").and_then(kind).and_then(RuntimeType::parse);
        let authority = text("write_authority").and_then(WriteAuthority::parse);
        let (Some(authority), Some(kind)) = (authority, kind) else { continue };
        let fits = match authority {
            WriteAuthority::ReviewOnly => kind != RuntimeType::LocalCli,
            WriteAuthority::Authoritative => !kind.only_proposes(),
            WriteAuthority::Proposed => true,
        };
        if !fits {
            let message = format!("role {id} is {authority} and cannot use a {kind} runtime");
            found.push(invalid(format!("roles.{id}.runtime"), message));
        }
    }
}

/// Clauses: AX-PT-RANGE.
fn routing(document: &Object, found: &mut Problems) {
    let Some(value) = given(document, "routing") else { return };
    let Some(routing) = value.as_object() else {
        found.push(invalid("routing", "routing must be an object, one member a phase"));
        return;
    };
    for (phase, value) in routing {
        let at = format!("routing.{phase}");
        let field = |name: &str| format!("{at}.{name}");
        if !is_phase(phase) {
            let what = "must begin with a-z and go on with a-z, 0-9, _ and -";
            found.push(invalid(&at, format!("phase {phase:?} {what}")));
        }
        let Some(route) = value.as_object() else {
            found.push(invalid(&at, format!("{at} must be an object")));
            continue;
        };
        if let Some(role) = given(route, "entry_role") {
            role_reference(document, field("entry_role"), role, RoleUse::Entry, found);
        }
        for role in list(route, "allowed_next_roles") {
            role_reference(document, field("allowed_next_roles"), role, RoleUse::Next, found);
        }
        let mut section = Section { at: &at, members: route, found };
        section.check("allowed_next_roles", Value::is_array, "must be a list");
        if let Some(gate) = given(route, "exit_gate") {
            gate_reference(document, field("exit_gate"), gate, section.found);
        }
        // Null is invalid. The default applies only when the member is absent.
        if let Some(turns) = rule!(
            route.get("max_concurrent_turns");
            TurnsMayBeNull => given(route, "max_concurrent_turns")
        ) {
            let most = rule!(MAX_CONCURRENT_TURNS as u64; FiveTurnsAtOnce => 5);
            if count_of(turns).is_none_or(|turns| !(1..=most).contains(&turns)) {
                let what = format!("must be a whole number, 1 to {most}");
                section.report("max_concurrent_turns", &what);
            }
        }
        limits::phase_timeout(&mut section);
    }
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum RoleUse {
    Entry,
    Next,
}

/// Clauses: AX-CS-ENTRY-ROLE, AX-CS-NEXT-ROLES.
fn role_reference(
    document: &Object,
    field: String,
    role: &Value,
    usage: RoleUse,
    found: &mut Problems,
) {
    let name = role.as_str().unwrap_or_default();
    let declared = members::object(document, "roles").is_some_and(|roles| roles.contains_key(name));
    // `human` may be a next role but not an entry role, which gets the first turn.
    if declared || (name == "human" && rule!(usage == RoleUse::Next; HumanEnters => true)) {
        return;
    }
    let message = format!("{field} names the role {role}, which is not declared");
    let problem = ConfigProblem::new(Code::XchainUndeclaredRoleReference, field, message);
    found.push(problem.with("referenced_role", role.clone()));
}

/// Clauses: AX-CS-GATE.
fn gate_reference(document: &Object, field: String, gate: &Value, found: &mut Problems) {
    let name = gate.as_str().unwrap_or_default();
    let gates = members::object(document, "gates");
    // A gate that is null would be one without conditions.
    let declared = gates.is_some_and(|gates| gates.get(name).is_some_and(Value::is_object));
    if rule!(
        declared;
        GateUndeclared => true;
        NoGatesNoCheck => declared || gates.is_none_or(Object::is_empty)
    ) {
        return;
    }
    let message = format!("{field} names the undeclared gate {gate}");
    let problem = ConfigProblem::new(Code::XchainUndeclaredGateReference, field, message);
    found.push(problem.with("referenced_gate", gate.clone()));
}

/// The phases that other parts of the document may name.
pub(super) fn phase_names(document: &Object) -> Vec<String> {
    match members::object(document, "routing").filter(|routing| !routing.is_empty()) {
        Some(routing) => routing.keys().cloned().collect(),
        None => DEFAULT_PHASES.map(str::to_owned).into(),
    }
}

pub(super) fn is_texts(value: &Value) -> bool {
    value.as_array().is_some_and(|items| items.iter().all(Value::is_string))
}

pub(super) fn list_items<'a>(config: &'a Object, name: &str, found: &mut Problems) -> &'a [Value] {
    if given(config, name).is_some_and(|value| !value.is_array()) {
        found.push(invalid(name, format!("{name} must be a list")));
    }
    list(config, name)
}
