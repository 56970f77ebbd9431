//! How a fuzzer writes down a stream of frames; the harnesses of both ends share it. Compiled for nothing else.

/// The first byte of input that is a list of headers and bodies, so that a fuzzer need not find fitting lengths.
const LISTED: u8 = b'L';
const NEXT_FRAME: u8 = b'\n';
const BODY: u8 = 0x1f;

/// The stream that the input stands for.
pub(crate) fn stream(input: &[u8]) -> Vec<u8> {
    let Some((&LISTED, list)) = input.split_first() else { return input.to_vec() };
    let mut stream = Vec::new();
    for frame in list.split(|&byte| byte == NEXT_FRAME) {
        let at = frame.iter().position(|&byte| byte == BODY);
        let (header, body) = at.map_or((frame, &[][..]), |at| (&frame[..at], &frame[at + 1..]));
        for part in [header, body] {
            stream.extend(u32::try_from(part.len()).unwrap_or(u32::MAX).to_be_bytes());
        }
        stream.extend(header.iter().chain(body));
    }
    stream
}
