//! Readable text of HTML and of Confluence's storage format.
//!
//! It reads the tokens of html5ever and builds no tree: the tree builder takes quadratic time on deeply nested pages
//! (40 s for 100,000 `<div>`), tokens take linear time and hold nothing. Knows nothing of where pages come from.

use html5ever::{
    tendril::StrTendril,
    tokenizer::{
        BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts, states::RawKind,
    },
};
use std::cell::RefCell;

/// Bytes after which the reader asks whether to stop.
const CHUNK: usize = 64 * 1024;

/// What a page says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Page {
    pub(super) title: Option<String>,
    pub(super) text: String,
}

/// Reads a web page, until its end or until `is_stopped`.
pub(super) fn read_page(html: &str, is_stopped: impl Fn() -> bool) -> Page {
    read(html, false, is_stopped)
}

/// Reads Confluence's storage format, in which code stands in CDATA.
pub(super) fn read_storage(xhtml: &str, is_stopped: impl Fn() -> bool) -> String {
    read(xhtml, true, is_stopped).text
}

fn read(html: &str, has_cdata: bool, is_stopped: impl Fn() -> bool) -> Page {
    let tokenizer = Tokenizer::new(Reader { has_cdata, writer: RefCell::default() }, TokenizerOpts::default());
    let queue = BufferQueue::default();
    let mut rest = html;
    while !rest.is_empty() && !is_stopped() {
        let mut cut = CHUNK.min(rest.len());
        while !rest.is_char_boundary(cut) {
            cut -= 1;
        }
        queue.push_back(StrTendril::from_slice(&rest[..cut]));
        rest = &rest[cut..];
        // Stops early only for scripts and encodings, which this sink never reports.
        let _ = tokenizer.feed(&queue);
    }
    tokenizer.end();
    tokenizer.sink.writer.into_inner().finish()
}

struct Reader {
    has_cdata: bool,
    writer: RefCell<Writer>,
}

impl TokenSink for Reader {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut writer = self.writer.borrow_mut();
        match token {
            Token::CharacterTokens(text) => writer.characters(&text),
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => return writer.start(&tag),
            Token::TagToken(tag) => writer.end(&tag.name),
            _ => {}
        }
        TokenSinkResult::Continue
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.has_cdata
    }
}

/// Collects text, with blanks and line breaks as a reader would see them.
#[derive(Default)]
struct Writer {
    text: String,
    title: String,
    in_title: bool,
    /// The element whose content is left out, and how many of its name are open inside it.
    hidden: Option<(String, usize)>,
    preformatted: usize,
    /// Line breaks before the next text.
    breaks: usize,
    blank: bool,
}

impl Writer {
    fn start(&mut self, tag: &Tag) -> TokenSinkResult<()> {
        let name: &str = &tag.name;
        if let Some((hidden, depth)) = &mut self.hidden {
            *depth += usize::from(*hidden == name && !tag.self_closing);
        } else {
            match name {
                "script" | "style" | "noscript" | "template" | "svg" | "iframe" | "object" | "noembed" | "noframes"
                | "ac:parameter"
                    if !tag.self_closing =>
                {
                    self.hidden = Some((name.to_string(), 1));
                }
                "title" if self.title.is_empty() => self.in_title = true,
                "br" => self.break_lines(1),
                "li" => {
                    self.break_lines(1);
                    self.write("- ");
                }
                "td" | "th" => self.cell(),
                "pre" | "ac:plain-text-body" => {
                    self.break_lines(2);
                    self.preformatted += 1;
                }
                "img" => self.attribute(tag, "alt"),
                "ri:page" | "ri:attachment" => {
                    self.attribute(tag, "ri:content-title");
                    self.attribute(tag, "ri:filename");
                }
                _ => self.heading_or_block(name),
            }
        }
        match name {
            "script" => TokenSinkResult::RawData(RawKind::ScriptData),
            "style" | "xmp" | "iframe" | "noembed" | "noframes" => TokenSinkResult::RawData(RawKind::Rawtext),
            "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
            _ => TokenSinkResult::Continue,
        }
    }

    fn end(&mut self, name: &str) {
        if let Some((hidden, depth)) = &mut self.hidden {
            *depth -= usize::from(*hidden == name);
            if *depth == 0 {
                self.hidden = None;
            }
            return;
        }
        match name {
            "title" => self.in_title = false,
            "pre" | "ac:plain-text-body" => {
                self.preformatted = self.preformatted.saturating_sub(1);
                self.break_lines(2);
            }
            "li" | "tr" => self.break_lines(1),
            _ => self.break_lines(breaks_around(name)),
        }
    }

    fn heading_or_block(&mut self, name: &str) {
        self.break_lines(breaks_around(name));
        if let Some(level @ '1'..='6') =
            name.strip_prefix('h').filter(|rest| rest.len() == 1).and_then(|r| r.chars().next())
        {
            let level = level.to_digit(10).unwrap_or(1) as usize;
            self.write(&format!("{} ", "#".repeat(level)));
        }
    }

    fn cell(&mut self) {
        if self.breaks == 0 && !self.text.is_empty() && !self.text.ends_with("| ") {
            self.blank = false;
            self.text.truncate(self.text.trim_end_matches(' ').len());
            self.text.push_str(" | ");
        }
    }

    fn attribute(&mut self, tag: &Tag, name: &str) {
        if let Some(value) = tag.attrs.iter().find(|a| &*a.name.local == name).filter(|a| !a.value.trim().is_empty()) {
            self.characters(&format!(" [{}] ", value.value.trim()));
        }
    }

    fn characters(&mut self, text: &str) {
        if self.hidden.is_some() {
            return;
        }
        if self.in_title {
            self.title.push_str(text);
        } else if self.preformatted > 0 {
            self.write(text);
        } else {
            for part in text.split_inclusive(char::is_whitespace) {
                let word = part.trim_end_matches(char::is_whitespace);
                if !word.is_empty() {
                    self.write(word);
                }
                self.blank |= word.len() < part.len();
            }
        }
    }

    /// Writes text after the breaks or the blank that are due.
    fn write(&mut self, text: &str) {
        if !self.text.is_empty() {
            if self.breaks > 0 {
                self.text.truncate(self.text.trim_end_matches(' ').len());
                self.text.extend(std::iter::repeat_n('\n', self.breaks));
            } else if self.blank && !self.text.ends_with([' ', '\n']) {
                self.text.push(' ');
            }
        }
        self.breaks = 0;
        self.blank = false;
        self.text.push_str(text);
    }

    fn break_lines(&mut self, lines: usize) {
        self.breaks = self.breaks.max(lines);
    }

    fn finish(self) -> Page {
        let title = self.title.split_whitespace().collect::<Vec<_>>().join(" ");
        Page { title: Some(title).filter(|t| !t.is_empty()), text: self.text.trim().to_string() }
    }
}

/// Line breaks before and after an element: 2 leave an empty line.
fn breaks_around(name: &str) -> usize {
    match name {
        "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "ul" | "ol" | "dl" | "table" | "blockquote" | "hr"
        | "section" | "article" => 2,
        "div"
        | "tr"
        | "dt"
        | "dd"
        | "header"
        | "footer"
        | "main"
        | "nav"
        | "aside"
        | "form"
        | "fieldset"
        | "figure"
        | "figcaption"
        | "address"
        | "details"
        | "summary"
        | "option"
        | "caption"
        | "body"
        | "thead"
        | "tbody"
        | "ac:task"
        | "ac:structured-macro"
        | "ac:rich-text-body" => 1,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn check(html: &str, expected: &str) {
        assert_eq!(read_page(html, || false).text, expected, "text of {html:?}");
    }

    #[test]
    fn pages_become_readable_text() {
        check("<p>Hello\n  <b>big</b> world&amp;co<p>second", "Hello big world&co\n\nsecond");
        check("<h2>配置</h2><ul><li>一<li>二</ul>end", "## 配置\n\n- 一\n- 二\n\nend");
        check("<table><tr><th>a<th>b<tr><td>1</td> <td>2</td></table>", "a | b\n1 | 2");
        check("<script>if (a<b) alert('<p>x')</script>a<style>p{}</style><svg><text>no</text></svg>b", "ab");
        check("<pre>fn main() {\n    1\n}</pre>x", "fn main() {\n    1\n}\n\nx");
        check("a<br>b<img alt='a cat'>", "a\nb [a cat]");
        check("broken < markup <", "broken < markup <");
        let page = read_page("<head><title> The\n page </title></head><body>text</body>", || false);
        assert_eq!(page, Page { title: Some("The page".into()), text: "text".into() });
    }

    #[test]
    fn storage_format_keeps_code_and_drops_parameters() {
        let storage = "<p>Run</p><ac:structured-macro ac:name=\"code\"><ac:parameter ac:name=\"language\">sh</ac:parameter>\
            <ac:plain-text-body><![CDATA[if a < b; then\n  run]]></ac:plain-text-body></ac:structured-macro>\
            <p>see <ac:link><ri:page ri:content-title=\"Guide\" /></ac:link></p>";
        assert_eq!(read_storage(storage, || false), "Run\n\nif a < b; then\n  run\n\nsee [Guide]");
    }

    /// S-03: pages that are made to be slow take linear time.
    #[test]
    fn hostile_pages_are_read_in_linear_time() {
        for piece in
            ["<div>", "<b><p>", "<table><tr><td>", "<svg>", "<!--", "<a href='", "&amp", "<pre>", "</li>", "<li>"]
        {
            let started = Instant::now();
            read_page(&piece.repeat(500_000 / piece.len()), || false);
            assert!(started.elapsed() < Duration::from_secs(10), "{piece} took {:?}", started.elapsed());
        }
        assert_eq!(read_page(&"x".repeat(1_000_000), || true).text, "", "a stopped reader reads nothing");
    }
}
