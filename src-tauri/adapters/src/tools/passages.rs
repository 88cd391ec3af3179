//! Documents cut into passages: what the search tools rank and quote.
//!
//! A passage ends where a heading starts, else at the paragraph that fills it. Knows nothing of files or scores.

/// Bytes at which a passage is full.
const FULL: usize = 1200;
/// Bytes of one line above which it is cut, since a line may be a whole minified file.
const LONG_LINE: usize = 2 * FULL;
/// Characters of a heading that are kept: every passage below repeats it.
const LONG_HEADING: usize = 200;

/// A stretch of a document under one heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Passage {
    /// From 1.
    pub(super) start_line: usize,
    pub(super) end_line: usize,
    /// The headings that it stands under, outermost first, joined by ` › `; empty where there is none.
    pub(super) heading: String,
    pub(super) text: String,
}

/// Cuts `text`. Only in prose (Markdown and its like) does `#` start a heading: in code it starts a comment.
pub(super) fn split(text: &str, is_prose: bool) -> Vec<Passage> {
    let mut cutter = Cutter::default();
    let mut in_fence = false;
    for (index, line) in text.lines().enumerate() {
        if is_prose && (line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~")) {
            in_fence = !in_fence;
        }
        let heading = if is_prose && !in_fence { heading(line) } else { None };
        if let Some((level, title)) = heading {
            cutter.end();
            cutter.headings.retain(|(above, _)| *above < level);
            cutter.headings.push((level, title.to_string()));
        } else if line.trim().is_empty() && cutter.bytes >= FULL / 2 {
            cutter.end();
        }
        for piece in pieces(line) {
            if cutter.bytes + piece.len() > FULL && cutter.bytes > 0 {
                cutter.end();
            }
            cutter.add(index + 1, piece);
        }
    }
    cutter.end();
    cutter.passages
}

/// Whether `#` lines of the file are headings.
pub(super) fn is_prose(path: &str) -> bool {
    let extension = path.rsplit_once('.').map(|(_, e)| e.to_lowercase()).unwrap_or_default();
    matches!(extension.as_str(), "md" | "markdown" | "mdx" | "txt" | "mdown")
}

/// The level and title of a Markdown heading.
fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|b| *b == b'#').count();
    let title = line[level..].trim().trim_end_matches('#').trim();
    let end = title.char_indices().nth(LONG_HEADING).map_or(title.len(), |(end, _)| end);
    let title = &title[..end];
    ((1..=6).contains(&level) && line[level..].starts_with([' ', '\t']) && !title.is_empty()).then_some((level, title))
}

/// The line, or its parts where it is very long.
fn pieces(line: &str) -> Vec<&str> {
    if line.len() <= LONG_LINE {
        return vec![line];
    }
    let mut pieces = vec![];
    let mut rest = line;
    while rest.len() > FULL {
        let mut cut = FULL;
        while !rest.is_char_boundary(cut) {
            cut -= 1;
        }
        pieces.push(&rest[..cut]);
        rest = &rest[cut..];
    }
    pieces.push(rest);
    pieces
}

#[derive(Default)]
struct Cutter {
    passages: Vec<Passage>,
    headings: Vec<(usize, String)>,
    lines: Vec<String>,
    start_line: usize,
    end_line: usize,
    bytes: usize,
}

impl Cutter {
    fn add(&mut self, line: usize, text: &str) {
        if self.lines.is_empty() {
            if text.trim().is_empty() {
                return;
            }
            self.start_line = line;
        }
        self.end_line = line;
        self.bytes += text.len() + 1;
        self.lines.push(text.to_string());
    }

    fn end(&mut self) {
        while self.lines.last().is_some_and(|line| line.trim().is_empty()) {
            self.lines.pop();
            self.end_line -= 1;
        }
        if !self.lines.is_empty() {
            self.passages.push(Passage {
                start_line: self.start_line,
                end_line: self.end_line,
                heading: self.headings.iter().map(|(_, title)| title.as_str()).collect::<Vec<_>>().join(" › "),
                text: self.lines.join("\n"),
            });
        }
        self.lines.clear();
        self.bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outline(text: &str, is_prose: bool) -> Vec<String> {
        split(text, is_prose).iter().map(|p| format!("{}-{} {}", p.start_line, p.end_line, p.heading)).collect()
    }

    #[test]
    fn headings_start_passages_and_nest() {
        let text = "intro\n\n# Guide\none\n## 配置\ntwo\n```sh\n# no heading\n```\n# Other\nthree\n\n\n";
        assert_eq!(outline(text, true), ["1-1 ", "3-4 Guide", "5-9 Guide › 配置", "10-11 Other"]);
        assert_eq!(outline(text, false), ["1-11 "]);
    }

    #[test]
    fn long_text_is_cut_at_paragraphs_and_long_lines_anywhere() {
        let paragraph = "word ".repeat(130);
        let text = format!("{paragraph}\n\n{paragraph}\n\n{paragraph}");
        assert_eq!(outline(&text, true), ["1-1 ", "3-3 ", "5-5 "]);
        let huge = "长".repeat(100_000);
        let passages = split(&huge, false);
        assert!(passages.iter().all(|p| p.text.len() <= FULL && p.start_line == 1), "no passage is larger than full");
        assert_eq!(passages.iter().map(|p| p.text.len()).sum::<usize>(), huge.len(), "nothing is lost");
    }
}
