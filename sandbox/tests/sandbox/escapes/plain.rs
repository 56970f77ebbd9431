//! For comparison: the same scripts in a plain container, as `podman run` makes it. It judges nothing; it tells.
//!
//! Only when `RETRACE_TEST_PLAIN_PODMAN` names an image; `sandbox/tests/escapes-under-plain-podman` does that.

use std::process::{Command, Stdio};

use super::bait::Bait;
use super::{Expect, all, tell};
use crate::support::Place;

/// So long may one of them take.
const SECONDS: &str = "25";

#[test]
fn under_plain_podman() {
    let Ok(image) = std::env::var("RETRACE_TEST_PLAIN_PODMAN") else { return };
    let arguments = std::env::var("RETRACE_TEST_PLAIN_ARGUMENTS").unwrap_or_default();
    let place = Place::new();
    let (mut out, mut attempts) = (Vec::new(), 0);
    for attempt in all().filter(|attempt| attempt.expect == Expect::Refused) {
        attempts += 1;
        let bait = Bait::lay(&place);
        let mut podman = Command::new("podman");
        // By the engine: what runs inside may stop a timer that runs there too.
        podman.args(["run", "--rm", "-i", "--timeout", SECONDS]).args(arguments.split_whitespace());
        podman.arg("-v").arg(format!("{}:/workspace", place.workspace().display())).args(["-w", "/workspace"]);
        for (name, value) in bait.told(&place) {
            podman.arg("-e").arg(format!("{name}={value}"));
        }
        podman.arg(&image).args(attempt.script.argv());
        let output = podman.stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let steps: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("ESCAPED ")).collect();
        let outcome = match (bait.check(&[&said]), steps.is_empty()) {
            (Err(how), _) => Err(format!("{how}; {}", steps.join(", "))),
            (Ok(()), false) => Err(steps.join(", ")),
            (Ok(()), true) => Ok(format!(
                "refused {}",
                String::from_utf8_lossy(&output.stderr).lines().next_back().unwrap_or_default()
            )),
        };
        tell(attempt.name, &outcome);
        out.extend(outcome.err().map(|_| attempt.name));
    }
    tell(&format!("{} of {attempts} succeed under plain podman", out.len()), &Ok(out.join("; ")));
}
