//! The framing of event streams.

use crate::models::sse::{Decoder, MAX_LINE};

/// The events as `name|data`, the same however the bytes are cut.
fn check(text: &[u8], expected: &[&str]) {
    for size in (1..=text.len().min(9)).chain([text.len()]) {
        let mut decoder = Decoder::default();
        let mut events = vec![];
        for piece in text.chunks(size.max(1)) {
            events.extend(decoder.push(piece).unwrap());
        }
        let shown: Vec<_> = events.iter().map(|e| format!("{}|{}", e.name, e.data)).collect();
        assert_eq!(shown, expected, "in pieces of {size}");
    }
}

fn refused(text: &[u8]) -> String {
    let mut decoder = Decoder::default();
    text.chunks(7).find_map(|piece| decoder.push(piece).err()).unwrap().message
}

#[test]
fn events_in_any_pieces() {
    check("event: a\ndata: Köln 🙂\n\ndata:x\n\n".as_bytes(), &["a|Köln 🙂", "|x"]);
    check(b"data: 1\r\n\r\ndata: 2\r\rdata: 3\n\r\n", &["|1", "|2", "|3"]);
    check(b"data: one\ndata:\ndata:  two\n\n", &["|one\n\n two"]);
    check(b": ping\n\n:\nid: 7\nretry: 5\nx-later: y\ndata\n\n", &["|"]);
    check("\u{feff}data: bom\n\n".as_bytes(), &["|bom"]);
    check(b"error: {\"code\": 500}\n\n", &["error|{\"code\": 500}"]);
    check(b"event: only a name\n\ndata: unfinished\n", &[]);
}

#[test]
fn lines_that_are_no_events_are_named() {
    assert_eq!(
        refused(b"<html><body>Sign in</body></html>\n"),
        "the stream holds a line that is no event: <html><body>Sign in</body></html>",
    );
    assert!(refused(b"Bad gateway\n").ends_with("Bad gateway"));
    assert!(refused(b"<a href=\"http://x\">\n").contains("no event"));
    assert!(refused(b"data: \xff\xfe\n").starts_with("the stream is not UTF-8"));
}

#[test]
fn a_line_without_end_and_an_event_without_end_are_bounded() {
    assert!(refused(&vec![b'x'; MAX_LINE + 1]).contains("longer than"));
    let many = format!("data: {}\n", "x".repeat(MAX_LINE / 4)).repeat(5);
    assert!(refused(many.as_bytes()).contains("longer than"));
}
