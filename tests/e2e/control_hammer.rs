//! Two processes hammer one session through its control stream with 500 prompts, approvals and cancels, other commands have a
//! word in between, and the one that runs the session is killed and comes back. Each event is handled once, in the order
//! of the control stream; nothing is lost and nothing happens twice.

use crate::checks::{Running, sound, text, wait_for};
use crate::scripts::{runs, says, script};
use crate::talk::Talk;
use crate::terminal::Terminal;
use crate::world::{Backend, World, payloads};
use retrace_events::log::{LogLocation, StreamFilter, open_log};
use retrace_events::verify::verify_stream;
use retrace_events::{Class, Envelope, EventLog, StreamId, control_stream};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

/// How much each of the two says.
const EACH: usize = 250;

/// Every prompt leads to a call that needs approval; then the turn is over. Without end.
fn steps() -> String {
    let named = |name: &str, next: &str, step: &str| {
        step.replacen("[[step]]", &format!("[[step]]\nname = \"{name}\"\nnext = \"{next}\""), 1)
    };
    let call = runs("echo $RETRACE_CALL_ID >> effects.log");
    script(&[named("act", "end", &call), named("end", "act", &says("done"))])
}

/// The log of `world`, opened beside those who use it.
fn log_of(world: &World) -> (String, Arc<dyn EventLog>) {
    let location = match &world.nats {
        Some(nats) => nats.url(),
        None => world.path("state").join("retrace").display().to_string(),
    };
    let parsed: LogLocation = location.parse().unwrap();
    (location, world.runtime.block_on(open_log(&parsed)).unwrap())
}

/// Its only session.
fn session_of(world: &World, log: &dyn EventLog) -> StreamId {
    let filter = StreamFilter { class: Some(Class::Session), ..StreamFilter::default() };
    world.runtime.block_on(log.streams(&filter)).unwrap()[0].stream.clone()
}

fn hammer(location: &str, name: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_retrace-hammer"));
    command.args([location, name, &EACH.to_string()]).stdin(Stdio::null()).stdout(Stdio::piped());
    command.spawn().unwrap()
}

/// A stream, read as far as it goes by now.
struct Reader<'a> {
    world: &'a World,
    log: &'a dyn EventLog,
    stream: StreamId,
    events: Vec<Envelope>,
}

impl<'a> Reader<'a> {
    fn new(world: &'a World, log: &'a dyn EventLog, stream: StreamId) -> Self {
        Self { world, log, stream, events: Vec::new() }
    }

    /// All its events by now.
    fn read(&mut self) -> &[Envelope] {
        loop {
            let next = self.events.len() as u64;
            let page = self.world.runtime.block_on(self.log.read(&self.stream, next, 512)).unwrap();
            if page.is_empty() {
                return &self.events;
            }
            self.events.extend(page);
        }
    }

    /// How many control events were handled by now.
    fn handled(&mut self) -> usize {
        self.read().iter().filter(|event| event.kind == "session.control_handled").count()
    }
}

fn hammered(backend: Backend) {
    let world = World::new(backend, &steps());
    let chat = ["chat", "--sandbox", "process", "--approvals", "ask"];
    let talk = Talk::with(&world, &world.command(&chat));
    talk.terminal.enter("prompt from the terminal");
    talk.terminal.wait_text("[y] once");
    let (location, log) = log_of(&world);
    let session = session_of(&world, log.as_ref());
    let id = session.id.as_str();

    let hammers = [hammer(&location, "one"), hammer(&location, "two")];
    for n in 0..2 {
        world.run(&["send", id, &format!("prompt of a command {n}")]).expect(0);
        // Whether a call waits just now is chance.
        world.run(&["approve", id]);
        world.run(&["cancel", id]).expect(0);
    }
    let mut said = Reader::new(&world, log.as_ref(), control_stream(&session));
    let mut heard = Reader::new(&world, log.as_ref(), session.clone());
    wait_for("some of it", || heard.handled() > 60);
    talk.terminal.kill(libc::SIGKILL);
    drop(talk);
    let chat = ["chat", "--sandbox", "process", "--approvals", "ask", "--last"];
    let talk = Talk { terminal: Terminal::run(&world, &chat) };
    let mut acknowledged: Vec<String> = Vec::new();
    for hammer in hammers {
        let output = hammer.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        acknowledged.extend(String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned));
    }
    assert_eq!(acknowledged.len(), 2 * EACH);
    wait_for("all of it", || heard.handled() == said.read().len());
    talk.quit();

    let control = said.events;
    let known: HashSet<String> = control.iter().map(|event| event.id.to_string()).collect();
    assert!(control.len() > 2 * EACH + 4 && known.len() == control.len(), "{} events", control.len());
    assert!(acknowledged.iter().all(|id| known.contains(id)), "an acknowledged event is not in the log");
    let verified = world.runtime.block_on(verify_stream(log.as_ref(), &control_stream(&session))).unwrap();
    assert_eq!(verified.events, control.len() as u64);
    let events: Vec<Value> = sound(&world);
    let events: Vec<Value> = events.into_iter().filter(|event| !text(&event["kind"]).starts_with("control.")).collect();
    check_handled(&events, &control);
    check_prompts(&events);
    check_calls(&world, &events);
}

/// Each control event is handled once, in the order in which they stand in their stream.
fn check_handled(events: &[Value], control: &[Envelope]) {
    let handled = payloads(events, "session.control_handled");
    let order: Vec<(u64, &str)> =
        handled.iter().map(|handled| (handled["seq"].as_u64().unwrap(), text(&handled["event"]))).collect();
    let ids: Vec<String> = control.iter().map(|event| event.id.to_string()).collect();
    let expected: Vec<(u64, &str)> = (0..).zip(ids.iter().map(String::as_str)).collect();
    assert!(order == expected, "not each once and in order: {order:?}");
    assert!(handled.iter().all(|handled| handled["accepted"] == true || !text(&handled["note"]).is_empty()));
}

/// Each prompt that was accepted is in the queue once, and each that left it became one turn, in order.
fn check_prompts(events: &[Value]) {
    let ids = |kind: &str, field: &str| -> Vec<String> {
        let of_kind = events.iter().filter(|event| event["kind"] == kind);
        of_kind.map(|event| text(&event[field]).to_owned()).collect()
    };
    let (queued, begun) = (ids("turn.queued", "id"), ids("turn.prompted", "cause"));
    assert!(begun == queued[..begun.len()], "not each once and in order");
    let accepted = payloads(events, "session.control_handled");
    let accepted: HashSet<&str> =
        accepted.iter().filter(|handled| handled["accepted"] == true).map(|handled| text(&handled["event"])).collect();
    let causes = ids("turn.queued", "cause");
    assert!(causes.iter().all(|cause| accepted.contains(cause.as_str())), "queued without being accepted");
    let texts: Vec<&str> = payloads(events, "turn.queued").iter().map(|queued| text(&queued["text"])).collect();
    let different: HashSet<&&str> = texts.iter().collect();
    assert_eq!((different.len(), causes.len()), (texts.len(), texts.len()), "a prompt was queued twice: {texts:?}");
    // What one process said stands in the order in which it said it.
    for name in ["one", "two"] {
        let prefix = format!("prompt {name} ");
        let own: Vec<u32> = texts.iter().filter_map(|text| text.strip_prefix(&prefix)?.parse().ok()).collect();
        assert!(own.len() > EACH / 4 && own.is_sorted(), "{own:?}");
    }
}

/// Each call was decided on once at most, and what was allowed happened once.
fn check_calls(world: &World, events: &[Value]) {
    let mut decisions: HashMap<&str, u32> = HashMap::new();
    for kind in ["tool.approved", "tool.denied"] {
        payloads(events, kind).iter().for_each(|decided| *decisions.entry(text(&decided["call"])).or_default() += 1);
    }
    assert!(decisions.len() > 5, "{decisions:?}");
    let approved: Vec<&str> =
        payloads(events, "tool.approved").iter().map(|approved| text(&approved["call"])).collect();
    let different: HashSet<&&str> = approved.iter().collect();
    assert_eq!(different.len(), approved.len(), "a call was approved twice");
    let called: Vec<&str> = payloads(events, "tool.called").iter().map(|called| text(&called["call"])).collect();
    assert!(called.iter().all(|call| approved.contains(call)), "a call began without approval");
    let effects = world.read("effects.log");
    let unique: HashSet<&str> = effects.lines().collect();
    assert_eq!(unique.len(), effects.lines().count(), "an effect happened twice");
    assert!(unique.iter().all(|call| called.contains(call)), "an effect without a call: {unique:?}");
    let finished = payloads(events, "tool.finished");
    let whole = finished.iter().filter(|finished| finished["exit"]["code"] == 0);
    assert!(
        whole.clone().all(|finished| unique.contains(text(&finished["call"]))),
        "a call finished without its effect"
    );
    println!("{} calls decided on, {} carried out, {} whole", decisions.len(), called.len(), whole.count());
}

#[test]
fn two_processes_hammer_a_session_on_the_embedded_log() {
    hammered(Backend::Embedded);
}

#[test]
fn two_processes_hammer_a_session_on_jetstream() {
    hammered(Backend::JetStream);
}

/// Runs the session until all that was said is done, or until a kill point; true when it was killed there.
fn goes_on(world: &World, heard: &mut Reader<'_>, failpoints: &str) -> bool {
    let mut command = world.command(&["chat", "--last"]);
    command.env("FAILPOINTS", failpoints).stdin(Stdio::piped());
    let mut running = Running::start(world, command);
    let ended = |events: &[Envelope]| events.iter().filter(|event| event.kind == "turn.ended").count();
    wait_for("the end", || running.has_ended() || (heard.handled() == 3 && ended(&heard.events) == 3));
    // The end of its input is the end of the chat.
    let ran = running.end(world);
    let killed = ran.signal == Some(libc::SIGKILL);
    assert!(killed || ran.code == Some(0), "{ran:?}");
    killed
}

/// What was said while nobody ran the session is handled once, wherever whoever takes it in is killed, and however often.
#[test]
fn killed_at_any_step_what_was_said_is_handled_once() {
    let call = runs("echo $RETRACE_CALL_ID >> effects.log");
    let script = script(&[says("hello"), call, says("one"), says("two")]);
    let mut kills = 0;
    for n in (0..).step_by(4) {
        let world = World::new(Backend::Embedded, &script);
        world.run(&["run", "prompt zero"]).expect(0);
        let id = world.session();
        for said in [&["send", &id, "prompt one"][..], &["cancel", &id, "toolu_none"], &["send", &id, "prompt two"]] {
            world.run(said).expect(0);
        }
        let (_, log) = log_of(&world);
        let mut heard = Reader::new(&world, log.as_ref(), session_of(&world, log.as_ref()));
        let killed = goes_on(&world, &mut heard, &format!("step={n}*off->return"));
        if killed {
            kills += 1;
            // Again soon after, and then to the end.
            if goes_on(&world, &mut heard, "step=5*off->return") {
                assert!(!goes_on(&world, &mut heard, ""));
            }
        }
        let events = sound(&world);
        let prompts: Vec<&str> = payloads(&events, "turn.prompted").iter().map(|said| text(&said["text"])).collect();
        assert_eq!(prompts, ["prompt zero", "prompt one", "prompt two"], "killed at step {n}");
        let handled = payloads(&events, "session.control_handled");
        let order: Vec<u64> = handled.iter().map(|handled| handled["seq"].as_u64().unwrap()).collect();
        assert_eq!(order, [0, 1, 2], "killed at step {n}");
        assert!(world.read("effects.log").lines().count() <= 1, "killed at step {n}");
        if !killed {
            break;
        }
    }
    println!("killed at {kills} steps");
    assert!(kills > 5, "only {kills}: the kill points are not compiled in");
}
