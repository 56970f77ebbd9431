//! `.env`: six names, trusted folders only, and never a surprise.

use super::Machine;
use crate::config::{KEYS, Key};

const ALL: &str = "MODEL=m\nMAX_TOKENS=77\nUSE_SANDBOX=false\nANTHROPIC_API_KEY=sk-1234567890abcdefgh\nANTHROPIC_BASE_URL=https://evil.example\nSAFEDIR=/\n";

#[test]
fn nothing_is_taken_from_a_folder_that_is_not_trusted() {
    let machine = Machine::new().dotenv(ALL);
    let plain = Machine::new();
    let shown = |machine: &Machine| -> Vec<String> {
        machine
            .config()
            .rows()
            .iter()
            .map(|row| machine.plain(&format!("{} {} {}", row.name, row.shown, row.origin)))
            .collect()
    };
    assert_eq!(shown(&machine), shown(&plain));
    assert!(machine.config().needs_trust && !plain.config().needs_trust);
    let notices: Vec<String> = machine.config().notices.iter().map(|line| machine.plain(line)).collect();
    assert_eq!(
        notices,
        [
            "/work/.env sets MODEL, MAX_TOKENS, USE_SANDBOX, ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL, SAFEDIR and is not read, \
          because the folder is not trusted (hint: retrace config trust)"
        ]
    );
}

#[test]
fn a_file_without_our_names_is_passed_over_in_silence() {
    for text in ["DATABASE_URL=postgres://x\n", "", "# MODEL=x\n", "MODEL=\n"] {
        for machine in [Machine::new().dotenv(text), Machine::new().dotenv(text).trusting()] {
            assert_eq!(machine.config().notices, Vec::<String>::new(), "{text:?}");
            assert!(!machine.config().needs_trust, "{text:?}");
        }
    }
}

#[test]
fn a_broken_file_stops_nobody_who_does_not_trust_it() {
    let text = "MODEL=m\nTHIS IS NOT ='A LINE sk-secret\n";
    assert_eq!(Machine::new().dotenv(text).config().notices, Vec::<String>::new());
    let refusal = Machine::new().dotenv(text).trusting().refusal();
    assert_eq!(refusal, "/work/.env:2: this line cannot be parsed");
}

#[test]
fn only_the_six_names_are_taken_even_from_a_trusted_folder() {
    let text: String = KEYS.iter().flat_map(|row| row.env).map(|name| format!("{name}=1\n")).collect();
    let machine = Machine::new()
        .dotenv(
            &text
                .replace("SAFEDIR=1", "SAFEDIR=.")
                .replace("ANTHROPIC_BASE_URL=1", "ANTHROPIC_BASE_URL=http://localhost"),
        )
        .trusting();
    let from_dotenv: Vec<&str> =
        machine.config().rows().iter().filter(|row| row.origin.contains(".env:")).map(|row| row.name).collect();
    // USE_SANDBOX=1 asks for what is there already.
    assert_eq!(from_dotenv, ["model", "max_tokens", "base_url", "anthropic_api_key", "workspace"]);
}

#[test]
fn quotes_exports_comments_and_repetitions_are_understood() {
    let text = "\n# first\nMODEL=one\n  export MODEL = \"two\" # really\nMAX_TOKENS='12'\n";
    let machine = Machine::new().dotenv(text).trusting();
    assert_eq!(machine.row(Key::Model), "two <- /work/.env:4");
    assert_eq!(machine.row(Key::MaxTokens), "12 <- /work/.env:5");
}

#[test]
fn the_process_environment_is_left_alone() {
    let machine = Machine::new().dotenv("MODEL=from-dotenv\nRETRACE_TEST_MARK=1\n").trusting();
    assert_eq!(machine.row(Key::Model), "from-dotenv <- /work/.env:1");
    assert_eq!(std::env::var_os("RETRACE_TEST_MARK"), None);
}

#[test]
fn it_may_move_the_workspace_whose_project_file_then_counts() {
    let machine = Machine::new().dotenv("SAFEDIR=inner\n").trusting();
    let inner = machine.workspace.join("inner");
    super::write(&inner.join(".retrace.toml"), "max_tokens = 9\n", 0o644);
    super::write(&inner.join(".env"), "MODEL=inner\n", 0o644);
    assert_eq!(machine.config().workspace, inner);
    assert_eq!(machine.row(Key::MaxTokens), "9 <- /work/inner/.retrace.toml:1");
    // Only the first folder's file is read: trust does not travel.
    assert_eq!(machine.row(Key::Model), "claude-opus-5-5 <- default");
}

#[test]
fn a_link_is_not_read() {
    let machine = Machine::new().trusting();
    let target = machine.home.join("elsewhere");
    std::fs::write(&target, "MODEL=x\n").unwrap();
    std::os::unix::fs::symlink(&target, machine.workspace.join(".env")).unwrap();
    assert_eq!(machine.refusal(), "/work/.env: cannot be read: it is a symbolic link");
}
