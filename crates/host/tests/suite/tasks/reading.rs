//! Lists, boards, briefings and events, within their budgets.

use accord_base::tokens;
use serde_json::{Value, json};

use super::{MESSAGES, TASKS, claim, create, message, report, verb};
use crate::support::{World, each};

#[tokio::test]
async fn a_list_is_filtered_and_paged() {
    let world = World::new();
    let owner = world.owner();
    let mut made = Vec::new();
    for number in 0..5 {
        let priority = if number == 3 { "critical" } else { "normal" };
        let members = json!({"title": format!("Part {number}"), "priority": priority});
        made.push(create(&owner, members).await);
    }
    create(&owner, json!({"ready": false, "tags": ["later"], "agent": "builder"})).await;
    let ready =
        owner.get(&format!("{TASKS}?status=ready&limit=2")).await.expect(200)["result"].clone();
    assert_eq!(each(&ready["tasks"], "id"), [made[3].as_str(), made[0].as_str()]);
    assert_eq!((&ready["total"], &ready["remaining"]), (&json!(5), &json!(3)));
    let mut seen: Vec<String> =
        each(&ready["tasks"], "id").into_iter().map(str::to_owned).collect();
    let mut cursor = ready["next_cursor"].as_str().map(str::to_owned);
    while let Some(next) = cursor {
        let page = owner.get(&format!("{TASKS}?status=ready&limit=2&cursor={next}")).await;
        let page = page.expect(200)["result"].clone();
        seen.extend(each(&page["tasks"], "id").into_iter().map(str::to_owned));
        cursor = page["next_cursor"].as_str().map(str::to_owned);
    }
    seen.sort();
    made.sort();
    assert_eq!(seen, made, "each task is on one page");
    for (filter, count) in
        [("text=part", 5), ("tag=later", 1), ("agent=builder", 1), ("priority=critical", 1)]
    {
        let page = owner.get(&format!("{TASKS}?{filter}")).await.expect(200);
        assert_eq!(page["result"]["total"], count, "{filter}");
    }
}

#[tokio::test]
async fn a_page_keeps_its_budget_and_hides_nothing_without_a_count() {
    let world = World::new();
    let owner = world.owner();
    for number in 0..40 {
        let title = format!("Part {number}: {}", "a rather long title, ".repeat(6));
        create(&owner, json!({"title": title, "agent": "builder"})).await;
    }
    for budget in [300, 700, 2_000, 100_000] {
        let mut seen = 0;
        let mut cursor = String::new();
        loop {
            let path = format!("{TASKS}?format=markdown&limit=500&max_tokens={budget}{cursor}");
            let page = owner.get(&path).await;
            assert_eq!(page.header("content-type"), "text/markdown; charset=utf-8");
            assert!(tokens(&page.text) <= budget, "{budget}: {}", page.text);
            seen += page.text.matches("- TASK-").count();
            let Some((hidden, next)) = page.text.split_once(" more follow; pass cursor ") else {
                break;
            };
            let hidden: usize = hidden.rsplit('\n').next().unwrap().parse().unwrap();
            assert_eq!(hidden, 40 - seen, "{}", page.text);
            cursor = format!("&cursor={}", next.trim());
        }
        assert_eq!(seen, 40, "{budget}");
        let board = owner.get(&format!("{TASKS}/board?format=markdown&max_tokens={budget}")).await;
        assert!(tokens(&board.text) <= budget, "{budget}: {}", board.text);
        let shown = board.text.matches("- TASK-").count();
        let hidden = format!("{} more", 40 - shown);
        assert!(shown == 40 || board.text.contains(&hidden), "{}", board.text);
    }
    let path = format!("{TASKS}?limit=500&max_tokens=2000");
    let page = owner.get(&path).await.expect(200)["result"].clone();
    assert!(tokens(&page.to_string()) <= 2_000);
    let shown = page["tasks"].as_array().unwrap().len();
    assert!(shown > 0, "{page}");
    assert_eq!(page["remaining"], 40 - shown);
    let board = owner.get(&format!("{TASKS}/board?limit=40&max_tokens=2000")).await.expect(200);
    let ready = board["result"]["columns"].as_array().unwrap().iter();
    let ready = ready.clone().find(|column| column["status"] == "ready").unwrap();
    let shown = ready["tasks"].as_array().unwrap().len();
    assert_eq!(ready["hidden"], 40 - shown);
    assert!(tokens(&board["result"].to_string()) <= 2_000);
}

#[tokio::test]
async fn a_briefing_has_what_an_agent_needs() {
    let world = World::new();
    let owner = world.owner();
    let first = create(&owner, json!({"title": "Choose the zoom"})).await;
    claim(&owner, &first, "builder").await;
    let directory = owner.get(&format!("{TASKS}/{first}/briefing")).await.expect(200);
    let directory = directory["result"]["directory"].as_str().unwrap().to_owned();
    std::fs::write(format!("{directory}/outputs/summary.md"), "Zoom 12 is enough.").unwrap();
    owner.post(MESSAGES, &message("completion.report", &first, "builder", report("done"))).await;
    verb(&owner, &first, "approve", "human:lead", json!({})).await.expect(200);
    let members = json!({
        "title": "Cut ## the tiles", "instructions": "At the zoom that was chosen.",
        "depends_on": [first], "ready": false,
    });
    let task = create(&owner, members).await;
    verb(&owner, &task, "promote", "human:lead", json!({})).await.expect(200);
    claim(&owner, &task, "builder").await;
    let payload = json!({"taskId": task, "agentId": "builder", "progress": "Half"});
    owner.post(MESSAGES, &message("status.update", &task, "builder", payload)).await.expect(200);
    owner.post(MESSAGES, &message("completion.report", &task, "builder", report("done"))).await;
    let why = json!({"reason": "# Zoom 13 is missing"});
    verb(&owner, &task, "send-back", "human:lead", why).await.expect(200);
    let path = format!("{TASKS}/{task}/claim?door=mcp&briefing_tokens=2000");
    let claimed = owner.post(&path, &json!({"agent": "builder"})).await.expect(200);
    let text = claimed["briefing"].as_str().unwrap();
    let run = claimed["result"]["run_id"].as_str().unwrap();
    for part in [
        &format!("# {task}: Cut ## the tiles"),
        "At the zoom that was chosen.",
        "## Sent back by human:lead\n\n> # Zoom 13 is missing",
        &first,
        "Summary: Zoom 12 is enough.",
        "Progress: Half",
        "outputs/summary.md",
        "aof_task_complete",
        run,
    ] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    assert!(!text.contains("\n# Zoom"), "a reason adds no heading: {text}");
    for budget in [300, 400, 800] {
        let path = format!("{TASKS}/{task}/briefing?format=markdown&max_tokens={budget}");
        let short = owner.get(&path).await.text;
        assert!(tokens(&short) <= budget, "{budget}: {} {short}", tokens(&short));
        assert!(short.contains(&task) && short.contains("How to report"), "{short}");
    }
}

#[tokio::test]
async fn a_long_body_is_cut_with_a_count() {
    let world = World::new();
    let owner = world.owner();
    let task = create(&owner, json!({"instructions": "Cut one more tile. ".repeat(2_000)})).await;
    let path = format!("{TASKS}/{task}/briefing?format=markdown&max_tokens=600");
    let text = owner.get(&path).await.text;
    assert!(tokens(&text) <= 600, "{text}");
    assert!(text.contains("more characters, in /"), "{text}");
}

#[tokio::test]
async fn events_are_read_after_a_number_and_waited_for() {
    let world = World::new();
    let owner = world.owner();
    let task = create(&owner, json!({})).await;
    let all = owner.get(&format!("{TASKS}/events")).await.expect(200)["result"].clone();
    let numbers: Vec<u64> = all["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["eventId"].as_u64().unwrap())
        .collect();
    let last = all["last_event"].as_u64().unwrap();
    assert_eq!(numbers, (1..=last).collect::<Vec<_>>());
    // A request waits for the next event.
    let waiting = {
        let owner = owner.clone();
        let path = format!("{TASKS}/events?after={last}&wait_seconds=30");
        tokio::spawn(async move { owner.get(&path).await.expect(200) })
    };
    claim(&owner, &task, "builder").await;
    let got: Value = crate::support::soon("an event", waiting).await.unwrap();
    assert_eq!(got["result"]["events"][0]["eventId"], last + 1);
    // Many events, page by page.
    for _ in 0..60 {
        create(&owner, json!({})).await;
    }
    let (mut after, mut seen) = (0, Vec::new());
    loop {
        let page = owner.get(&format!("{TASKS}/events?after={after}&limit=7")).await.expect(200);
        let page = page["result"].clone();
        let events = page["events"].as_array().unwrap().clone();
        seen.extend(events.iter().map(|event| event["eventId"].as_u64().unwrap()));
        if page["more"] == false {
            break;
        }
        after = *seen.last().unwrap();
    }
    assert_eq!(seen, (1..=seen.len() as u64).collect::<Vec<_>>());
    assert!(seen.len() > 60);
    let one = owner.get(&format!("{TASKS}/events?task_id={task}")).await.expect(200);
    let one = one["result"]["events"].as_array().unwrap().clone();
    assert!(one.iter().all(|event| event["taskId"] == task.as_str()) && !one.is_empty());
}
