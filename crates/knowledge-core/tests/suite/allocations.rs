//! Memory: what a hasher allocates does not depend on the number of keys.

use accord_knowledge_core::{HashOptions, KbHasher};
use serde_json::{Map, Value, json};

fn envelope(keys: usize) -> Vec<u8> {
    let members: Map<String, Value> = (0..keys)
        .rev()
        .map(|index| (format!("key{index:05}"), json!({"b": index, "a": [index]})))
        .collect();
    json!({"type": "feature", "sources": ["0xb", "0xa"], "payload": members})
        .to_string()
        .into_bytes()
}

fn counted(work: impl FnOnce()) -> u64 {
    allocation_counter::measure(work).count_total
}

#[test]
fn neither_a_new_hasher_nor_a_used_one_allocates_by_key() {
    let fresh = |keys: usize| {
        let envelope = envelope(keys);
        counted(|| {
            let mut hasher = KbHasher::new(HashOptions::default());
            hasher.identify(&envelope).expect("a valid envelope");
        })
    };
    assert_eq!(fresh(10), fresh(5_000));

    let envelope = envelope(5_000);
    let mut hasher = KbHasher::new(HashOptions::default());
    hasher.identify(&envelope).expect("a valid envelope");
    let again = counted(|| {
        hasher.identify(&envelope).expect("a valid envelope");
    });
    assert_eq!(again, 0);
}
