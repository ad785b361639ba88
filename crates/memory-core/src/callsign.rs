//! Callsigns: two words by which people remember a session.

/// The callsign for a number. Callsigns repeat after 4096 numbers.
pub fn callsign(number: u16) -> String {
    let number = usize::from(number);
    let (adjective, noun) = (ADJECTIVES[number % 64], NOUNS[number / 64 % 64]);
    format!("{adjective}-{noun}")
}

const ADJECTIVES: [&str; 64] = [
    "able", "agile", "amber", "ample", "azure", "balmy", "bold", "brave", "breezy", "bright",
    "brisk", "calm", "candid", "cedar", "clear", "clever", "cobalt", "copper", "cosy", "crisp",
    "daring", "deft", "eager", "early", "fair", "fleet", "fresh", "gentle", "glad", "golden",
    "grand", "hardy", "honest", "humble", "ivory", "jolly", "keen", "kind", "lively", "lucid",
    "lunar", "mellow", "merry", "mild", "misty", "nimble", "noble", "olive", "patient", "placid",
    "polar", "proud", "quick", "quiet", "rapid", "ruby", "sage", "silver", "solar", "steady",
    "sunny", "swift", "tidy", "vivid",
];

const NOUNS: [&str; 64] = [
    "acorn", "anchor", "arbor", "badger", "beacon", "birch", "bison", "brook", "canyon", "comet",
    "condor", "cove", "crane", "delta", "dune", "eagle", "elm", "ember", "falcon", "fern", "finch",
    "fjord", "fox", "garnet", "glacier", "grove", "gull", "harbor", "hazel", "heath", "ibis",
    "island", "jay", "juniper", "kestrel", "lagoon", "lantern", "lark", "lynx", "maple", "marten",
    "meadow", "mesa", "moose", "orchid", "osprey", "otter", "pebble", "pine", "plover", "quartz",
    "raven", "reef", "ridge", "robin", "sparrow", "spruce", "summit", "swan", "thrush", "tundra",
    "valley", "willow", "wren",
];
