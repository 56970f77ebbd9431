//! Commands at a terminal.

use retrace_guest::message::{ExecSpec, INITIAL_CREDIT_BYTES, Request, Response, TerminalSize};

use crate::client::{Client, eventually, lives, shell, text};

fn at_terminal(script: &str) -> ExecSpec {
    ExecSpec { terminal: Some(TerminalSize { rows: 30, columns: 100 }), has_stdin: true, ..shell(script) }
}

/// Output until it ends with this.
fn until(client: &mut Client, id: u64, end: &str) -> String {
    let mut said = String::new();
    while !said.ends_with(end) {
        match client.next(id) {
            (Response::Stdout, body) => said.push_str(&text(&body)),
            other => panic!("{other:?} after {said:?}"),
        }
    }
    said
}

#[test]
fn it_is_the_controlling_terminal_and_has_the_size() {
    let mut client = Client::new();
    let script =
        "test -t 0 && test -t 1 && test -t 2 && stty size && echo $TERM && echo owned > /dev/tty; tty; ps -o tty= $$";
    let ran = client.run(at_terminal(script)).unwrap();
    let said = text(&ran.stdout);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[..3], ["30 100", "xterm-256color", "owned"], "{said}");
    assert_eq!(lines[3].strip_prefix("/dev/"), Some(lines[4]), "{said}");
    assert_eq!((ran.end.code, ran.stderr), (Some(0), Vec::new()));
}

#[test]
fn input_goes_back_and_forth_while_it_runs() {
    let mut client = Client::new();
    let id =
        client.start(&Request::Exec(at_terminal("stty -echo; printf 'name? '; read name; printf \"hi $name? \"; cat")));
    assert_eq!(until(&mut client, id, "? "), "name? ");
    client.send(id, &Request::Data { last: false }, b"ada\n");
    assert_eq!(until(&mut client, id, "? "), "hi ada? ");
    client.send(id, &Request::Data { last: false }, b"no end of line");
    client.send(id, &Request::Data { last: true }, b"");
    let ran = client.ran(id).unwrap();
    assert_eq!((text(&ran.stdout).as_str(), ran.end.code), ("no end of line", Some(0)));
}

#[test]
fn a_new_size_is_told_to_the_command() {
    let mut client = Client::new();
    let script = "trap 'stty size; exit 0' WINCH; echo ready; while :; do sleep 0.01; done";
    let id = client.start(&Request::Exec(at_terminal(script)));
    until(&mut client, id, "ready\r\n");
    client.send(id, &Request::Resize(TerminalSize { rows: 7, columns: 33 }), &[]);
    assert_eq!(text(&client.ran(id).unwrap().stdout), "7 33\r\n");
    // To what has no terminal, and to what is over, it means nothing.
    client.send(id, &Request::Resize(TerminalSize { rows: 1, columns: 1 }), &[]);
    assert_eq!(text(&client.shell("echo fine").stdout), "fine\n");
}

#[test]
fn control_characters_are_signals() {
    let mut client = Client::new();
    let script = "trap 'echo interrupted; exit 3' INT; echo ready; while :; do sleep 0.01; done";
    let id = client.start(&Request::Exec(at_terminal(script)));
    until(&mut client, id, "ready\r\n");
    client.send(id, &Request::Data { last: false }, b"\x03");
    let ran = client.ran(id).unwrap();
    assert!(text(&ran.stdout).contains("interrupted"), "{:?}", text(&ran.stdout));
    assert_eq!(ran.end.code, Some(3));
}

#[test]
fn killing_it_leaves_nothing_and_asking_a_shell_to_end_works() {
    let mut client = Client::new();
    let script = "nohup setsid sleep 1000 >/dev/null 2>&1 & echo $! > pid; echo ready; bash --norc -i";
    for request in [Request::Kill, Request::Terminate] {
        let id = client.start(&Request::Exec(at_terminal(script)));
        until(&mut client, id, "ready\r\n");
        let pid = std::fs::read_to_string(client.path().join("pid")).unwrap().trim().parse().unwrap();
        client.send(id, &request, &[]);
        assert!(client.ran(id).unwrap().end.killed);
        eventually("the child is dead", || !lives(pid));
    }
}

#[test]
fn all_output_comes_although_the_terminal_hangs_up_at_the_end() {
    let mut client = Client::new();
    let ran = client.run(at_terminal("stty -onlcr; seq 100000")).unwrap();
    let expected: String = (1..=100_000).map(|n| format!("{n}\n")).collect();
    assert!(expected.len() as u64 > INITIAL_CREDIT_BYTES / 4);
    assert!(text(&ran.stdout) == expected, "{} of {} bytes", ran.stdout.len(), expected.len());
}

#[test]
fn a_program_that_lets_go_of_it_for_a_while_can_come_back() {
    let mut client = Client::new();
    let ran = client.run(at_terminal("exec < /dev/null > /dev/null 2>&1; sleep 0.2; echo back > /dev/tty")).unwrap();
    assert_eq!(text(&ran.stdout), "back\r\n");
}
