//! A socket's line, and what counts as a call's id.

use super::*;

const LIST: &str = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:0C38 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 4711 1 0 100 0 0 10 0
   1: 0100007F:D431 0100007F:0C38 01 00000000:00000000 00:00000000 00000000  1000        0 4712 1 0 20 4 30 10 -1
   2: 0100007F:0C38 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1000        0 4713 1 0 20 4 30 10 -1
   3: 0100007F:D432 0100007F:0C38 06 00000000:00000000 03:00000000 00000000     0        0 0 3 0
   cut off";

#[test]
fn the_commands_end_of_a_connection_is_found() {
    assert_eq!(inode_of(LIST, 0xd431, 0x0c38), Some(4712));
    assert_eq!(inode_of(LIST, 0x0c38, 0xd431), Some(4713));
    assert_eq!(inode_of(LIST, 0xd432, 0x0c38), None, "a socket that is closed already");
    assert_eq!(inode_of(LIST, 1, 2), None);
    assert_eq!(inode_of("", 1, 2), None);
}

#[test]
fn only_plain_ids_count() {
    assert_eq!(id_in(b"A=1\0RETRACE_CALL_ID=toolu_1\0B=2"), Some("toolu_1".to_owned()));
    assert_eq!(id_in(b"A=1\0XRETRACE_CALL_ID=toolu_1\0"), None);
    for id in ["", "two words", "\u{7f}", "\u{e4}", &"x".repeat(MAX_ID_BYTES + 1)] {
        assert_eq!(id_in(format!("RETRACE_CALL_ID={id}\0").as_bytes()), None, "{id:?}");
    }
}

#[test]
fn a_parents_id_is_found_where_a_process_has_none() {
    let mut child = std::process::Command::new("sh")
        .args(["-c", "exec 3<&0; env -i cat <&3 & echo $!; wait"])
        .env(CALL_ID_VARIABLE, "mother")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line).unwrap();
    let pid: i32 = line.trim().parse().unwrap();
    assert_eq!(call_of(pid), Some("mother".to_owned()));
    drop(child.stdin.take());
    child.kill().unwrap();
    child.wait().unwrap();
}
