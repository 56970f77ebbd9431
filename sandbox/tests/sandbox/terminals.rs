//! Commands at a terminal, and input while they run.

use retrace_sandbox::{Chunk, ExecRequest, FailureKind, Running, TerminalSize};

use crate::support::{Place, kind, run, text};

const SIZE: TerminalSize = TerminalSize { rows: 40, columns: 120 };

fn at_terminal(script: &str) -> ExecRequest {
    ExecRequest { terminal: Some(SIZE), ..ExecRequest::shell(script) }
}

/// Output until it ends with this.
async fn until(running: &mut Running, end: &str) -> String {
    let mut said = String::new();
    while !said.ends_with(end) {
        match running.next().await {
            Some(Chunk::Stdout(bytes)) => said.push_str(&text(&bytes)),
            other => panic!("{other:?} after {said:?}"),
        }
    }
    said
}

#[tokio::test]
async fn a_command_has_a_terminal_of_its_own() {
    let place = Place::new();
    let sandbox = place.start().await;
    let script = "test -t 0 && test -t 1 && test -t 2 && stty size; echo $TERM; echo mine > /dev/tty; echo error >&2";
    let output = run(&sandbox, at_terminal(script)).await;
    assert_eq!(text(&output.stdout), "40 120\r\nxterm-256color\r\nmine\r\nerror\r\n", "{output:?}");
    assert!(output.stderr.is_empty());
    // Without input its end is there at once.
    assert_eq!(run(&sandbox, at_terminal("cat")).await.result.code, Some(0));
    sandbox.shutdown().await;
}

#[tokio::test]
async fn a_conversation_at_a_terminal() {
    let place = Place::new();
    let sandbox = place.start().await;
    let script =
        "stty -echo; printf 'name? '; read name; printf \"hi $name? \"; trap 'stty size; printf sized' WINCH; cat";
    let mut running = sandbox.exec(ExecRequest { open_stdin: true, ..at_terminal(script) }).await.unwrap();
    let input = running.input();
    assert_eq!(until(&mut running, "? ").await, "name? ");
    input.send("ada\n").await.unwrap();
    assert_eq!(until(&mut running, "? ").await, "hi ada? ");
    input.send("echoed by cat\n").await.unwrap();
    assert_eq!(until(&mut running, "\n").await, "echoed by cat\r\n");
    running.resize(TerminalSize { rows: 5, columns: 50 });
    input.close().await.unwrap();
    input.close().await.unwrap();
    // The shell is told of the new size when `cat` has ended.
    assert_eq!(until(&mut running, "sized").await, "5 50\r\nsized");
    assert_eq!(running.wait().await.unwrap().code, Some(0));
    assert_eq!(kind(input.send("too late").await), FailureKind::BadRequest);
    sandbox.shutdown().await;
}

#[tokio::test]
async fn a_key_that_interrupts_does_and_a_dropped_terminal_hangs_up() {
    let place = Place::new();
    let sandbox = place.start().await;
    // A program in the foreground might not be there yet when the key comes, and the shell would wait for its end.
    let script = "trap 'echo interrupted; exit 4' INT; echo ready; sleep 1000 & wait";
    let request = || ExecRequest { open_stdin: true, ..at_terminal(script) };
    let mut running = sandbox.exec(request()).await.unwrap();
    until(&mut running, "ready\r\n").await;
    running.input().send("\u{3}").await.unwrap();
    assert!(until(&mut running, "interrupted\r\n").await.contains("^C"));
    assert_eq!(running.wait().await.unwrap().code, Some(4));
    let mut running = sandbox.exec(request()).await.unwrap();
    until(&mut running, "ready\r\n").await;
    running.kill();
    assert!(running.wait().await.unwrap().killed);
    sandbox.shutdown().await;
}

#[tokio::test]
async fn nothing_can_be_typed_into_a_terminal_by_what_runs_there() {
    let place = Place::new();
    let sandbox = place.start().await;
    let script = "import fcntl, termios\n\
        for name, call in [('TIOCSTI', 0x5412), ('TIOCLINUX', 0x541c)]:\n\
        \x20   try: fcntl.ioctl(0, call, b'x'); print(name, 'worked')\n\
        \x20   except OSError as error: print(name, error.errno)";
    let request = ExecRequest { terminal: Some(SIZE), ..ExecRequest::argv(["python3", "-c", script]) };
    assert_eq!(text(&run(&sandbox, request).await.stdout), "TIOCSTI 1\r\nTIOCLINUX 1\r\n");
    sandbox.shutdown().await;
}

#[tokio::test]
async fn more_stdin_can_follow_without_a_terminal_too() {
    let place = Place::new();
    let sandbox = place.start().await;
    let request =
        ExecRequest { stdin: Some("first\n".into()), open_stdin: true, ..ExecRequest::shell("cat; echo end") };
    let mut running = sandbox.exec(request).await.unwrap();
    assert_eq!(until(&mut running, "\n").await, "first\n");
    let input = running.input();
    input.send("second\n").await.unwrap();
    assert_eq!(until(&mut running, "\n").await, "second\n");
    assert_eq!(kind(input.send(vec![0; 16 << 20]).await), FailureKind::TooLarge);
    input.close().await.unwrap();
    assert_eq!(until(&mut running, "\n").await, "end\n");
    assert_eq!(running.wait().await.unwrap().code, Some(0));
    sandbox.shutdown().await;
}
