//! Which functions of `checks.star` name which words: enough of a call graph to know what a check looks at, without running it.

use std::collections::{BTreeMap, BTreeSet};

use dayshift_engine::SmolStr;

/// The functions of the language that look for words in a text.
const TEXT_FUNCTIONS: [&str; 3] = ["matches", "contains_any", "mentions"];

/// The functions of a script, each with the words that it names.
#[derive(Debug, Default)]
pub(super) struct CallGraph(BTreeMap<SmolStr, BTreeSet<SmolStr>>);

impl CallGraph {
    /// Reads `source`. A function ends where the next line without indentation begins.
    pub(super) fn of(source: &str) -> Self {
        let mut functions: BTreeMap<SmolStr, BTreeSet<SmolStr>> = BTreeMap::new();
        let mut open: Option<SmolStr> = None;
        for line in source.lines() {
            if line.starts_with(|character: char| !character.is_whitespace() && character != ')' && character != '#') {
                let name = line.strip_prefix("def ").and_then(|rest| rest.split_once('('));
                open = name.map(|(name, _)| name.trim().into());
            }
            let Some(name) = &open else { continue };
            let code = line.strip_prefix("def ").map_or(line, |rest| rest.split_once('(').map_or("", |(_, code)| code));
            functions.entry(name.clone()).or_default().extend(words(code));
        }
        Self(functions)
    }

    /// Returns the functions that `function` calls, over however many others, and itself.
    pub(super) fn reach(&self, function: &str) -> BTreeSet<&str> {
        let mut reached = BTreeSet::new();
        let mut open: Vec<&str> = self.0.get_key_value(function).map(|(name, _)| name.as_str()).into_iter().collect();
        while let Some(name) = open.pop() {
            if reached.insert(name) {
                let words = self.0.get(name).into_iter().flatten();
                open.extend(words.filter_map(|word| self.0.get_key_value(word)).map(|(name, _)| name.as_str()));
            }
        }
        reached
    }

    /// Returns whether `function`, or one that it calls, looks for words in a text.
    pub(super) fn looks_at_text(&self, function: &str) -> bool {
        TEXT_FUNCTIONS.iter().any(|word| self.names(function, word))
    }

    /// Returns whether `function`, or one that it calls, asks what has changed.
    pub(super) fn asks_for_changes(&self, function: &str) -> bool {
        self.names(function, "changes")
    }

    fn names(&self, function: &str, word: &str) -> bool {
        self.reach(function).iter().any(|name| self.0.get(*name).is_some_and(|words| words.contains(word)))
    }
}

/// Returns the names in a line of code, without those in comments and in texts on that line.
fn words(line: &str) -> Vec<SmolStr> {
    let mut found = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for character in line.chars() {
        if let Some(open) = quote {
            quote = (character != open).then_some(open);
            continue;
        }
        if character.is_alphanumeric() || character == '_' {
            word.push(character);
            continue;
        }
        if !word.is_empty() {
            found.push(SmolStr::from(std::mem::take(&mut word)));
        }
        match character {
            '"' | '\'' => quote = Some(character),
            '#' => break,
            _ => {}
        }
    }
    if !word.is_empty() {
        found.push(word.into());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "WORDS = [\"late\"]\n\ndef polite(text):\n    # never contains_any\n    return \"thank\" in text\n\n\
                          def names_it(text):\n    return mentions(text, WORDS)\n\ndef told():\n    return any([\n        names_it(m[\"body\"])\n    for m in sent()\n    ])\n\n\
                          def sent():\n    return mail.sent()\n\ndef closed():\n    return not changes(except_ = [\"mail\"])\n";

    #[test]
    fn a_function_reaches_what_it_calls_over_others() {
        let graph = CallGraph::of(SOURCE);
        assert_eq!(graph.reach("told").into_iter().collect::<Vec<_>>(), ["names_it", "sent", "told"]);
        assert!(graph.reach("nobody").is_empty());
    }

    #[test]
    fn looking_for_words_counts_wherever_it_is_done_and_not_in_comments() {
        let graph = CallGraph::of(SOURCE);
        assert!(graph.looks_at_text("told") && graph.looks_at_text("names_it"));
        assert!(!graph.looks_at_text("polite") && !graph.looks_at_text("sent"));
        assert!(graph.asks_for_changes("closed") && !graph.asks_for_changes("told"));
    }
}
