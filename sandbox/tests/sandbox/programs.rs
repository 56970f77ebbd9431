//! What agents need works inside: compilers, package managers, version control, interpreters.

use retrace_sandbox::ExecRequest;

use crate::support::{Place, fails, on_process, prints, run, text};

#[tokio::test]
async fn git_works() {
    let place = Place::new();
    let sandbox = place.start().await;
    let script = "git init -q . && git config user.email a@b && git config user.name n && echo hi > f && git add f && \
        git commit -qm first && git log --oneline | wc -l && git status --short | wc -l";
    assert_eq!(prints(&sandbox, script).await, "1\n0");
    sandbox.shutdown().await;
}

#[tokio::test]
async fn python_works_with_processes_and_threads() {
    let place = Place::new();
    let sandbox = place.start().await;
    let script = "import subprocess, threading, multiprocessing, sqlite3, ssl, tempfile\n\
        t = threading.Thread(target=lambda: print(subprocess.run(['echo', 'child'], capture_output=True).stdout))\n\
        t.start(); t.join()\n\
        q = multiprocessing.Queue(); p = multiprocessing.Process(target=q.put, args=('from process',)); p.start()\n\
        print(q.get()); p.join(); tempfile.NamedTemporaryFile()";
    let output = run(&sandbox, ExecRequest::argv(["python3", "-c", script])).await;
    assert_eq!(text(&output.stdout), "b'child\\n'\nfrom process\n", "{}", text(&output.stderr));
    sandbox.shutdown().await;
}

#[tokio::test]
async fn node_and_the_c_compiler_work_where_they_are_installed() {
    let place = Place::new();
    place.file("hello.c", "#include <stdio.h>\nint main(void) { puts(\"from c\"); }\n");
    let sandbox = place.start().await;
    if !fails(&sandbox, "command -v gcc").await {
        assert_eq!(prints(&sandbox, "gcc hello.c -o hello && ./hello").await, "from c");
    }
    if !fails(&sandbox, "command -v node").await {
        let script = "node -e \"require('child_process').exec('echo from node', (e, out) => console.log(out.trim()))\"";
        assert_eq!(prints(&sandbox, script).await, "from node");
    }
    sandbox.shutdown().await;
}

/// A project with a dependency from the registry cache (a crate that this workspace itself uses), built and tested
/// twice: the second time everything must be fresh, although the package cache is read-only.
#[tokio::test]
async fn cargo_tests_a_project_with_dependencies_offline() {
    let place = Place::new();
    place.file(
        "src/lib.rs",
        "pub fn id() -> i32 { 42 }\n#[test]\nfn works() { assert_eq!(id() as u8 as char, '*'); }\n",
    );
    let manifest = "[package]\nname = \"probe\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[dependencies]\ncfg-if = \"1\"\n\n[workspace]\n";
    place.file("Cargo.toml", manifest);
    let sandbox = place.start().await;
    if !on_process() && fails(&sandbox, "command -v cargo").await {
        // Not in the default image.
        return;
    }
    let output = run(&sandbox, ExecRequest::shell("cargo test --offline 2>&1")).await;
    let said = text(&output.stdout);
    assert!(output.result.succeeded() && said.contains("test works ... ok"), "{said}");
    // Cargo's own state can be written, its caches cannot.
    assert!(!fails(&sandbox, "touch $CARGO_HOME/scratch").await);
    assert!(fails(&sandbox, "touch $CARGO_HOME/registry/scratch").await);
    let again = prints(&sandbox, "cargo test 2>&1").await;
    assert!(!again.contains("Compiling") && again.contains("test works ... ok"), "{again}");
    assert!(place.workspace().join("target/debug").is_dir());
    sandbox.shutdown().await;
}

#[tokio::test]
async fn terminals_can_be_made() {
    let place = Place::new();
    let sandbox = place.start().await;
    let script = "import pty, os; print(pty.spawn(['sh', '-c', 'test -t 0 && echo a terminal']))";
    let output = run(&sandbox, ExecRequest::argv(["python3", "-c", script])).await;
    assert!(text(&output.stdout).contains("a terminal"), "{}", text(&output.stderr));
    sandbox.shutdown().await;
}

#[tokio::test]
async fn long_output_keeps_its_order_and_bytes() {
    let place = Place::new();
    let sandbox = place.start().await;
    let output = run(&sandbox, ExecRequest::shell("seq 300000; printf '\\377\\000\\n' >&2")).await;
    let expected: String = (1..=300_000).map(|n| format!("{n}\n")).collect();
    assert!(text(&output.stdout) == expected);
    assert_eq!(output.stderr, [0xff, 0, b'\n']);
    sandbox.shutdown().await;
}
