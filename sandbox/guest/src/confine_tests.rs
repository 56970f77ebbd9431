//! Options are read strictly; what is given up is really gone (in a child process, by the real binary: see
//! `tests/guest/confine.rs`).

use super::*;

fn parse(words: &[&str]) -> Option<(Confinement, Vec<String>)> {
    let words: Vec<OsString> = words.iter().map(OsString::from).collect();
    let (confinement, program) = Confinement::parse(&words).ok()?;
    Some((confinement, program.iter().map(|word| word.to_string_lossy().into_owned()).collect()))
}

#[test]
fn options_are_read_in_any_order_and_the_program_follows() {
    let (confinement, program) =
        parse(&["--filter", "/f", "--user", "1000:1001", "--env-only", "A,B", "--", "prog", "--user", "x"]).unwrap();
    assert_eq!(confinement.user, Some((1000, 1001)));
    assert_eq!(confinement.filter.as_deref(), Some(Path::new("/f")));
    assert_eq!(confinement.env_only, Some(BTreeSet::from(["A".into(), "B".into()])));
    assert_eq!(program, ["prog", "--user", "x"]);
    let (confinement, _) = parse(&["--machine", "9:8:7", "--writable", "/a", "--writable", "/b", "--", "p"]).unwrap();
    assert_eq!(confinement.machine, Some(MachineLimits { memory_bytes: 9, pids: 8, shm_bytes: 7 }));
    assert_eq!(confinement.writable, [Path::new("/a"), Path::new("/b")]);
    assert_eq!(parse(&["--user", "1:1", "then", "p", "--", "x"]).unwrap().1, ["p", "--", "x"]);
    assert_eq!(parse(&["--", "p"]).unwrap().0, Confinement::default());
}

#[test]
fn what_is_not_ours_is_refused() {
    for wrong in [
        &[][..],
        &["--"],
        &["then"],
        &["prog"],
        &["--user", "--", "p"],
        &["--user", "0:1", "--", "p"],
        &["--user", "1:0", "--", "p"],
        &["--user", "1", "--", "p"],
        &["--user", "-1:1", "--", "p"],
        &["--user", "1:1:1", "--", "p"],
        &["--root", "/", "--", "p"],
        &["--machine", "1:2", "--", "p"],
        &["--filter"],
    ] {
        assert!(parse(wrong).is_none(), "{wrong:?}");
    }
}

#[test]
fn a_filter_that_is_none_is_refused() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for bytes in [&b""[..], b"1234567", &[0; 4096 * 8 + 8]] {
        fs::write(file.path(), bytes).unwrap();
        assert_eq!(install_filter(file.path()).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
    assert!(install_filter(Path::new("/nonexistent")).is_err());
}
