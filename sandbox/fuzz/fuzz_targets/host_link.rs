//! The host's reader, with calls that wait for answers.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| retrace_sandbox::fuzzing::host_link(input));
