//! The tool `recall` in whole sessions: what the model is told of earlier work, and of whose.

use crate::checks::text;
use crate::scripts::{calls, says, script};
use crate::world::{Backend, KEY, World, payloads};
use retrace_runtime::scripted::{Script, ScriptedServer, ServerOptions};
use std::fs;

/// From now on `steps` play the model.
fn play(world: &mut World, steps: &[String]) {
    let options = ServerOptions { api_key: KEY.to_owned(), ..ServerOptions::default() };
    let script = Script::parse(&script(steps)).unwrap();
    world.server = world.runtime.block_on(ScriptedServer::start(script, options)).unwrap();
}

/// What the model was told by its calls of `recall`.
fn recalled(world: &World) -> Vec<String> {
    let events = world.events();
    let calls: Vec<&str> = payloads(&events, "tool.called")
        .into_iter()
        .filter(|called| called["tool"] == "recall")
        .map(|called| text(&called["call"]))
        .collect();
    let finished = payloads(&events, "tool.finished").into_iter().filter(|done| calls.contains(&text(&done["call"])));
    finished.map(|done| text(&done["content"]).to_owned()).collect()
}

#[test]
fn the_model_recalls_earlier_sessions_of_its_workspace_and_no_others() {
    let mut world = World::new(Backend::Embedded, &script(&[says("The launch word is umbrella.")]));
    world.file("src/hatch.rs", "/// Opens the hatch.\npub fn open_the_hatch() {}\n");
    let there = world.path("elsewhere");
    fs::create_dir(&there).unwrap();
    world.run(&["run", "what is the launch word?"]).expect(0);
    play(&mut world, &[says("Elsewhere the launch word is parasol.")]);
    world.run(&["run", "what is the launch word?", "-w", there.to_str().unwrap()]).expect(0);
    world.run(&["index", "update"]).expect(0);
    let asks = [
        calls("recall", "{ query = \"launch word\" }"),
        calls("recall", "{ query = \"launch word\", session = \"this\", kind = \"answer\" }"),
        calls("recall", "{ query = \"open the hatch\", in = \"code\" }"),
        calls("recall", "{ query = \"session:* workspace:elsewhere parasol\" }"),
        calls("recall", "{ query = \"launch\", since = \"soon\" }"),
        says("done"),
    ];
    play(&mut world, &asks);
    world.run(&["run", "do you remember the launch word?"]).expect(0);
    let told = recalled(&world);
    assert_eq!(told.len(), 5, "{told:?}");
    assert!(told[0].contains("umbrella") && told[0].contains("answer in session "), "{}", told[0]);
    assert!(!told[1].contains("umbrella"), "{}", told[1]);
    assert!(told[2].contains("src/hatch.rs:") && told[2].contains("open_the_hatch"), "{}", told[2]);
    assert!(told.iter().all(|text| !text.contains("the launch word is parasol")), "{told:?}");
    assert!(told[4].starts_with("invalid filter: `since:soon`"), "{}", told[4]);
}

#[test]
fn without_an_index_the_model_is_told_and_goes_on() {
    let world = World::new(Backend::Embedded, &script(&[calls("recall", "{ query = \"zebra\" }"), says("done")]));
    let mut command = world.command(&["run", "go"]);
    command.env("RETRACE_INDEX", "false");
    world.finish(command).expect(0);
    let told = recalled(&world);
    assert!(told.len() == 1 && told[0].contains("no index"), "{told:?}");
}

#[test]
fn what_earlier_work_says_of_a_prompt_stands_before_the_first_request_once() {
    let mut world = World::new(Backend::Embedded, &script(&[says("The deployment password rotates on tuesdays.")]));
    world.run(&["run", "find out when the deployment password rotates"]).expect(0);
    world.run(&["index", "update"]).expect(0);
    // Both answers need the passage in what the user's side has said.
    let known =
        "[[step]]\nwhen = 'rotates on tuesdays'\n[[step.block]]\ntype = 'text'\ntext = 'On Tuesdays.'\n".to_owned();
    play(&mut world, &[known, says("As I said.")]);
    let asked = "on which day does the deployment password rotate?";
    world.run(&["run", asked]).expect(0);
    world.run(&["resume", "--last", asked]).expect(0);
    let session = world.session();
    let events = world.run(&["export", &session]).expect(0).stdout;
    let events: Vec<serde_json::Value> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let retrieved = payloads(&events, "context.retrieved");
    let texts: Vec<&str> = retrieved
        .iter()
        .flat_map(|found| found["passages"].as_array().unwrap())
        .map(|passage| text(&passage["text"]))
        .filter(|text| text.contains("tuesdays"))
        .collect();
    assert_eq!(texts.len(), 1, "once in an epoch, however often it is asked: {texts:?}");
    // What has nothing to do with it is not put in.
    play(&mut world, &[says("ok")]);
    world.run(&["run", "make the parser of dates reject month thirteen"]).expect(0);
    let session = world.session();
    let events = world.run(&["export", &session]).expect(0).stdout;
    assert!(!events.contains("context.retrieved"), "{events}");
    let verified = world.run(&["replay", "--verify", &session]).expect(0);
    assert!(verified.stdout.contains("render to the bytes that were sent"), "{}", verified.stdout);
}
