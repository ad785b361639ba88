//! Keys, without their secrets.

use accord_api::operations::keys::Key;

use super::page::Page;
use super::table::table;
use super::text::clean;
use super::time::Times;

pub(crate) fn keys(page: &mut Page, keys: &[Key]) {
    let times = keys
        .iter()
        .flat_map(|key| [Some(&key.created_at), key.expires_at.as_ref(), key.revoked_at.as_ref()]);
    let times = Times::of_times(times);
    let rows: Vec<Vec<String>> = keys.iter().map(|key| row(key, times).into()).collect();
    let headings = ["KEY", "LABEL", "SCOPES", "PROJECTS", "ACTOR", "SINCE", "EXPIRES", "REVOKED"];
    table(page, &headings, &rows);
}

pub(crate) fn key(page: &mut Page, key: &Key) {
    let [id, label, may, projects, actor, _, expires, _] = row(key, Times::default());
    let with = |word: &str, text: String| match text.as_str() {
        "" => text,
        text => format!("{word} {text}"),
    };
    page.pieces(&[
        id,
        label,
        format!("may {may}"),
        format!("in {projects}"),
        with("as", actor),
        with("until", expires),
    ]);
}

fn row(key: &Key, times: Times) -> [String; 8] {
    let verbs: Vec<_> = key.verbs.iter().map(|verb| verb.as_str()).collect();
    let projects = key.projects.as_ref().map(|projects| {
        let ids: Vec<_> = projects.iter().map(|id| clean(id.as_str())).collect();
        ids.join(",")
    });
    let others = if key.act_as { " and others" } else { "" };
    let actor = key.actor.as_ref();
    [
        clean(&key.key_id),
        clean(&key.label),
        verbs.join(","),
        projects.unwrap_or_else(|| "all projects".to_owned()),
        actor.map(|it| clean(&format!("{}:{}{others}", it.kind, it.id))).unwrap_or_default(),
        times.at(Some(&key.created_at)),
        times.at(key.expires_at.as_ref()),
        times.at(key.revoked_at.as_ref()),
    ]
}
