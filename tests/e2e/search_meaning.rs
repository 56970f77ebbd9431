//! Search by meaning, with the real model: what was said in other words is found, and without the model words still answer.

use crate::checks::objects;
use crate::world::{Backend, Ran, World};
use std::path::{Path, PathBuf};

/// One answer, whatever is said.
const SCRIPT: &str = "[[step]]\nname = \"any\"\n[[step.block]]\ntype = \"text\"\ntext = \"Noted.\"\n";

/// What is looked for, and what was said: they have no word in common.
const ASKED: &str = "doctor gave medicine to a sick baby";
const SAID: &str = "the physician prescribed antibiotics for our infant's earache";

/// The model that `.ci/setup model` brought.
fn model() -> PathBuf {
    let cached = std::env::var_os("RETRACE_CACHE").map(PathBuf::from);
    let cache = cached.unwrap_or_else(|| std::env::home_dir().unwrap().join(".cache/retrace"));
    let folder = cache.join("model");
    assert!(folder.join("model.onnx").is_file(), "no model in {}; hint: run .ci/setup model", folder.display());
    folder
}

fn with_model(world: &World, model: &Path, args: &[&str]) -> Ran {
    let mut command = world.command(args);
    command.env("RETRACE_EMBED_MODEL", model);
    world.finish(command)
}

fn told() -> World {
    let world = World::new(Backend::Embedded, SCRIPT);
    let noise = ["rewrite the parser in two passes", "rounding is off by a cent", "deploy staging in Frankfurt"];
    let more = ["more tulips in the flower bed", "compress old logs at night", "the train to Lyon leaves at nine"];
    for prompt in noise.into_iter().chain([SAID]).chain(more) {
        world.run(&["run", prompt]).expect(0);
    }
    world
}

#[test]
fn what_was_said_in_other_words_is_found_by_its_meaning() {
    let (world, model) = (told(), model());
    let by_words = world.run(&["search", "--json", "--kind", "prompt", ASKED]);
    assert!(!by_words.stdout.contains("physician"), "{by_words:?}");
    let updated = with_model(&world, &model, &["index", "update"]).expect(0);
    assert!(updated.stdout.contains("by meaning"), "{updated:?}");
    let found = with_model(&world, &model, &["search", "--json", "--kind", "prompt", ASKED]).expect(0);
    let hits = objects(&found);
    assert!(hits[0]["snippet"].as_str().unwrap().contains("physician"), "{found:?}");
    assert!(hits[0]["score"].as_f64().unwrap() > 0.0);
    // A second time there is nothing left to do, and nothing changes.
    with_model(&world, &model, &["index", "update"]).expect(0);
    let again = with_model(&world, &model, &["search", "--json", "--kind", "prompt", ASKED]).expect(0);
    assert_eq!(objects(&again).len(), hits.len());
}

#[test]
fn a_model_that_is_not_there_leaves_search_by_words_and_says_so_once() {
    let world = told();
    let missing = world.path("no-such-model");
    let found = with_model(&world, &missing, &["search", "physician"]).expect(0);
    assert!(found.stdout.contains("antibiotics"), "{found:?}");
    assert_eq!(found.stderr.matches("no-such-model").count(), 1, "{found:?}");
    let refused = with_model(&world, &missing, &["index", "update"]).expect(1);
    assert!(refused.stderr.contains("no vectors were made"), "{refused:?}");
}
