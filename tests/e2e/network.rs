//! The way out by allow-list, through the command: what is listed is reached, what is not is refused in words that the model
//! reads, and each connection is an event. The test's own server is the whole internet.

use crate::checks::{Running, sound, waiting};
use crate::sandbox_gone::kill_the_sandbox_in;
use crate::scripts::{runs, says, script};
use crate::world::{Backend, World, payloads};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

/// Answers every request with `hello`; keeps what was asked.
fn server() -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&asked);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let (mut head, mut byte) = (Vec::new(), [0]);
            while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|count| count == 1) {
                head.extend(byte);
            }
            kept.lock().unwrap().push(String::from_utf8(head).unwrap());
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello").unwrap();
        }
    });
    (address, asked)
}

/// A client of proxies out of the shell's own parts.
const GET: &str = "get() { p=${HTTP_PROXY##*:}; exec 3<>/dev/tcp/127.0.0.1/${p%/}; \
    printf 'GET http://%s/ HTTP/1.1\\r\\nHost: %s\\r\\nConnection: close\\r\\n\\r\\n' $1 $1 >&3; cat <&3; echo; }; ";

#[test]
fn what_is_listed_is_reached_and_all_else_is_refused_and_both_are_written_down() {
    let steps = [
        runs(&format!("{GET}get $(cat listed)")),
        runs(&format!("{GET}get other.example; get $(cat listed | sed 's/:.*/:1/')")),
        runs(
            "(exec 3<>/dev/tcp/$(sed 's/:/\\//' listed)) 2>/dev/null && echo DIRECT || echo closed; env | grep -c sesame || true",
        ),
        says("done"),
    ];
    let world = World::new(Backend::Embedded, &script(&steps));
    let (address, asked) = server();
    world.file("listed", address.to_string());
    let mut command = world.command(&["run", "go"]);
    command.env("RETRACE_NETWORK", format!("{address}, other.example:8080"));
    command.env("RETRACE_NETWORK_CREDENTIALS", "other.example:8080 X-Key: $DOOR").env("DOOR", "open-sesame-12345");
    let ran = world.finish(command).expect(0);
    let events = sound(&world);
    let results: Vec<&str> =
        payloads(&events, "tool.finished").iter().map(|result| result["content"].as_str().unwrap()).collect();
    assert!(results[0].contains("200 OK") && results[0].contains("hello"), "{}", results[0]);
    assert!(results[1].contains("403") && results[1].contains("other.example"), "{}", results[1]);
    assert!(results[2].contains("closed\n0"), "{}", results[2]);
    let calls = payloads(&events, "tool.called");
    let connections = payloads(&events, "sandbox.connection");
    assert_eq!(connections.len(), 3, "{connections:?}");
    assert_eq!((&connections[0]["allowed"], &connections[0]["call"]), (&true.into(), &calls[0]["call"]));
    assert_eq!(connections[0]["port"], address.port());
    assert!(connections[0]["received_bytes"].as_u64().unwrap() >= 5);
    for refused in &connections[1..] {
        assert_eq!((&refused["allowed"], &refused["call"]), (&false.into(), &calls[1]["call"]));
        assert!(!refused["why"].as_str().unwrap().is_empty());
    }
    let asked = asked.lock().unwrap();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(!asked[0].contains("sesame"), "a credential went elsewhere");
    let begun = payloads(&events, "context.epoch_started");
    assert!(begun[0]["system"].as_str().unwrap().contains(&address.to_string()));
    let shown = world.run(&["show", &world.session()]).expect(0).stdout;
    for text in [&ran.stderr, &shown] {
        assert!(text.contains("network: other.example:80 refused"), "{text}");
    }
    assert!(!format!("{events:?}{shown}{}{}", ran.stdout, ran.stderr).contains("open-sesame"));
}

#[test]
fn connections_of_a_sandbox_that_dies_are_written_down_too() {
    let steps = [runs(&format!("{GET}get $(cat listed); get other.example; {}", waiting("one"))), says("done")];
    let world = World::new(Backend::Embedded, &script(&steps));
    let (address, _) = server();
    world.file("listed", address.to_string());
    let mut command = world.command(&["run", "go"]);
    command.env("RETRACE_NETWORK", address.to_string());
    let running = Running::start(&world, command);
    kill_the_sandbox_in(&world, &running, "one");
    running.end(&world).expect(0);
    let events = sound(&world);
    let kinds: Vec<&str> = events.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    let stopped = kinds.iter().position(|kind| *kind == "sandbox.stopped").unwrap();
    let told: Vec<usize> = (0..kinds.len()).filter(|at| kinds[*at] == "sandbox.connection").collect();
    assert_eq!(told.len(), 2, "{kinds:?}");
    assert!(told.iter().all(|at| *at < stopped), "{kinds:?}");
    let allowed: Vec<_> = payloads(&events, "sandbox.connection").iter().map(|one| one["allowed"].clone()).collect();
    assert_eq!(allowed, [true, false]);
}

#[test]
fn a_credential_that_is_not_set_stops_before_anything_is_done() {
    let world = World::new(Backend::Embedded, &script(&[says("never")]));
    let mut command = world.command(&["run", "go"]);
    command.env("RETRACE_NETWORK", "api.example.com");
    command.env("RETRACE_NETWORK_CREDENTIALS", "api.example.com Authorization: Bearer $NOT_SET_AT_ALL");
    let ran = world.finish(command).expect(7);
    assert!(ran.stderr.contains("NOT_SET_AT_ALL") && ran.stderr.contains("hint: "), "{}", ran.stderr);
    // A list that is none is a mistake of the configuration.
    let mut command = world.command(&["run", "go"]);
    command.env("RETRACE_NETWORK", "https://example.com/");
    let ran = world.finish(command).expect(2);
    assert!(ran.stderr.contains("RETRACE_NETWORK") && ran.stderr.contains("domains like"), "{}", ran.stderr);
}
