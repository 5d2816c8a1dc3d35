//! The name of a file that somebody outside of the office chose, such as that of an attachment: a name and never a path, and one that every system takes.

use std::borrow::Cow;

use super::NAME_BYTES_MAX;
use super::text::cut_to;
use crate::lowercase::composed;

/// What a file is called whose name has nothing in it that can be kept.
const NAMELESS: &str = "attachment";

/// The names of devices, which some systems take for them whatever follows the first full stop.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

/// Those that there are several of, by number.
const NUMBERED_DEVICES: [&str; 2] = ["com", "lpt"];

/// Returns the name that a file gets which is called `name` by its sender: the last part of a path (RFC 2183, 2.3), without separators, control and
/// formatting characters and characters that are reserved on any system.
pub(crate) fn file_name(name: &str) -> String {
    let name = composed(name);
    let last = name.rsplit(['/', '\\']).find(|part| !part.trim_matches(is_edge).is_empty()).unwrap_or_default();
    let kept = last.chars().filter(|each| !is_invisible(*each)).map(|each| if is_reserved(each) { '_' } else { each });
    let kept: String = kept.collect();
    // A full stop or a blank at the end is lost on some systems; one in front would hide the file.
    let name = kept.trim_matches(is_edge);
    if name.is_empty() {
        return NAMELESS.to_owned();
    }
    let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    let device =
        stem.strip_suffix(|each: char| each.is_ascii_digit()).filter(|device| NUMBERED_DEVICES.contains(device));
    let is_device = device.is_some() || DEVICES.contains(&stem.as_str());
    let name = if is_device { Cow::Owned(format!("_{name}")) } else { Cow::Borrowed(name) };
    // What was taken out may have stood between a letter and its mark.
    composed(&shortened(&name)).into_owned()
}

/// Returns `name`, cut before its extension if it is too long.
fn shortened(name: &str) -> String {
    if name.len() <= NAME_BYTES_MAX {
        return name.to_owned();
    }
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    if extension.is_empty() || extension.len() > 20 {
        return cut_to(name, NAME_BYTES_MAX).to_owned();
    }
    format!("{}.{extension}", cut_to(name, NAME_BYTES_MAX - extension.len() - 1))
}

fn is_edge(each: char) -> bool {
    each == '.' || each.is_whitespace() || each.is_control() || is_invisible(each)
}

fn is_reserved(each: char) -> bool {
    each.is_control() || matches!(each, '<' | '>' | ':' | '"' | '|' | '?' | '*' | '\u{2028}' | '\u{2029}')
}

/// Returns whether a character only changes how those around it are shown: with some of them, `exe.pdf` looks like `fdp.exe`.
fn is_invisible(each: char) -> bool {
    matches!(each, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::files::EntryPath;

    #[test]
    fn a_name_stays_and_a_path_loses_its_folders() {
        let cases = [
            ("Offer 2026 (final).pdf", "Offer 2026 (final).pdf"),
            ("Grüße.txt", "Grüße.txt"),
            ("../../etc/passwd", "passwd"),
            ("..\\..\\boot.ini", "boot.ini"),
            ("C:\\Users\\ann\\plan.doc", "plan.doc"),
            ("/abs/x.txt", "x.txt"),
            ("reports/", "reports"),
            ("..", NAMELESS),
            ("", NAMELESS),
            (" . / . ", NAMELESS),
            ("a\0b\r\nc.txt", "a_b__c.txt"),
            ("what?.txt", "what_.txt"),
            ("*", "_"),
            (".htaccess", "htaccess"),
            ("report.pdf. ", "report.pdf"),
            ("nul.txt", "_nul.txt"),
            ("COM1", "_COM1"),
            ("common.txt", "common.txt"),
            ("invoice\u{202e}fdp.exe", "invoicefdp.exe"),
            ("re\u{301}sume\u{301}.doc", "résumé.doc"),
        ];
        for (given, kept) in cases {
            assert_eq!(file_name(given), kept, "{given:?}");
        }
        let long = format!("{}.pdf", "ü".repeat(200));
        assert!(file_name(&long).len() <= NAME_BYTES_MAX && file_name(&long).ends_with("ü.pdf"));
    }

    proptest! {
        #[test]
        fn whatever_it_is_called_it_lies_in_the_folder(name in "[a./\\\\:*\\x00-\\x1f\\u{202e} é]{0,20}|\\PC{0,300}") {
            let path = format!("/in/{}", file_name(&name));
            let parsed = EntryPath::parse(&path);
            prop_assert_eq!(parsed.as_ref().map(EntryPath::as_str), Ok(path.as_str()));
            prop_assert_eq!(parsed.ok().and_then(|path| path.parent()).map(|parent| parent.to_string()), Some("/in".to_owned()));
        }
    }
}
