//! Random work against a reference that is as simple as can be: lists of subjects.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    Send { to: Vec<u8>, body: String },
    Move { from: usize, nth: usize, to: usize },
    Delete { from: usize, nth: usize },
    Flag { from: usize, nth: usize, flag: usize, is_added: bool },
    Read { from: usize, nth: usize },
}

const FOLDERS: [&str; 4] = ["INBOX", "Sent", "Archive", "Trash"];
const FLAGS: [&str; 3] = ["\\Flagged", "\\Seen", "todo"];
const PEOPLE: [&str; 3] = ["ann@acme.example", "bob@acme.example", "carl@acme.example"];

/// One message of the reference.
#[derive(Clone, Debug, PartialEq)]
struct Expected {
    uid: i64,
    body: String,
    flags: Vec<String>,
}

#[derive(Default)]
struct Reference {
    folders: BTreeMap<(String, String), Vec<Expected>>,
    next: BTreeMap<(String, String), i64>,
}

impl Reference {
    fn put(&mut self, address: &str, folder: &str, body: String, flags: Vec<String>) {
        let path = (address.to_owned(), folder.to_owned());
        let uid = self.next.entry(path.clone()).or_insert(0);
        *uid += 1;
        self.folders.entry(path).or_default().push(Expected { uid: *uid, body, flags });
    }

    fn ann(&mut self, folder: usize) -> &mut Vec<Expected> {
        self.folders.entry((PEOPLE[0].to_owned(), FOLDERS[folder].to_owned())).or_default()
    }
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (prop::collection::vec(0..3_u8, 1..4), ".{0,12}").prop_map(|(to, body)| Step::Send { to, body }),
        2 => (0..4_usize, 0..4_usize, 0..4_usize).prop_map(|(from, nth, to)| Step::Move { from, nth, to }),
        2 => (0..4_usize, 0..4_usize).prop_map(|(from, nth)| Step::Delete { from, nth }),
        2 => (0..4_usize, 0..4_usize, 0..3_usize, any::<bool>())
            .prop_map(|(from, nth, flag, is_added)| Step::Flag { from, nth, flag, is_added }),
        1 => (0..4_usize, 0..4_usize).prop_map(|(from, nth)| Step::Read { from, nth }),
    ];
    prop::collection::vec(step, 1..40)
}

/// Takes one step in both. A step at a message that is not there must be refused.
fn take(step: &Step, bench: &mut Bench<MailState>, reference: &mut Reference) {
    let at = |reference: &mut Reference, from: usize, nth: usize| {
        let messages = reference.ann(from);
        messages
            .get(nth)
            .map(|each| each.uid)
            .ok_or_else(|| messages.iter().map(|each| each.uid).max().unwrap_or_default() + 1000)
    };
    match step {
        Step::Send { to, body } => {
            let names: Vec<&str> = to.iter().map(|person| PEOPLE[usize::from(*person)]).collect();
            bench
                .call("mail.send", map! { "to" => names.clone(), "subject" => "s", "body" => body.as_str() })
                .expect("a message");
            let body = body.replace("\r\n", "\n");
            reference.put(PEOPLE[0], "Sent", body.clone(), vec!["\\Seen".to_owned()]);
            let mut reached = Vec::new();
            for name in names {
                if !reached.contains(&name) {
                    reached.push(name);
                    reference.put(name, "INBOX", body.clone(), Vec::new());
                }
            }
        }
        Step::Move { from, nth, to } => {
            let uid = at(reference, *from, *nth);
            let arguments = map! { "folder" => FOLDERS[*from], "uid" => uid.unwrap_or_else(|uid| uid), "destination" => FOLDERS[*to] };
            assert_eq!(bench.call("mail.move", arguments).is_ok(), uid.is_ok());
            if uid.is_ok() && from != to {
                let taken = reference.ann(*from).remove(*nth);
                reference.put(PEOPLE[0], FOLDERS[*to], taken.body, taken.flags);
            }
        }
        Step::Delete { from, nth } => {
            let uid = at(reference, *from, *nth);
            let arguments = map! { "folder" => FOLDERS[*from], "uid" => uid.unwrap_or_else(|uid| uid) };
            assert_eq!(bench.call("mail.delete", arguments).is_ok(), uid.is_ok());
            if uid.is_ok() {
                let taken = reference.ann(*from).remove(*nth);
                if FOLDERS[*from] != "Trash" {
                    reference.put(PEOPLE[0], "Trash", taken.body, taken.flags);
                }
            }
        }
        Step::Flag { from, nth, flag, is_added } => {
            let uid = at(reference, *from, *nth);
            let verb = if *is_added { "add" } else { "remove" };
            let arguments =
                map! { "folder" => FOLDERS[*from], "uid" => uid.unwrap_or_else(|uid| uid), verb => vec![FLAGS[*flag]] };
            assert_eq!(bench.call("mail.flag", arguments).is_ok(), uid.is_ok());
            if uid.is_ok() {
                let flags = &mut reference.ann(*from)[*nth].flags;
                flags.retain(|each| each != FLAGS[*flag]);
                if *is_added {
                    flags.push(FLAGS[*flag].to_owned());
                    flags.sort();
                }
            }
        }
        Step::Read { from, nth } => {
            let uid = at(reference, *from, *nth);
            let arguments = map! { "folder" => FOLDERS[*from], "uid" => uid.unwrap_or_else(|uid| uid) };
            assert_eq!(bench.call("mail.read", arguments).is_ok(), uid.is_ok());
            if uid.is_ok() {
                let flags = &mut reference.ann(*from)[*nth].flags;
                if !flags.iter().any(|flag| flag == "\\Seen") {
                    flags.push("\\Seen".to_owned());
                    flags.sort();
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mailboxes_are_what_a_simple_reference_says(steps in steps()) {
        let mut bench = bench();
        let mut reference = Reference::default();
        for step in &steps {
            take(step, &mut bench, &mut reference);
        }
        for address in PEOPLE {
            for folder in FOLDERS {
                let found: Vec<Expected> = messages(&mut bench, address, folder)
                    .iter()
                    .map(|each| Expected {
                        uid: int(each, "uid"),
                        body: text(each, "body").to_owned(),
                        flags: list(each, "flags").iter().filter_map(Value::as_text).map(str::to_owned).collect(),
                    })
                    .collect();
                let expected = reference.folders.get(&(address.to_owned(), folder.to_owned())).cloned().unwrap_or_default();
                prop_assert_eq!(found, expected, "{} {}", address, folder);
            }
        }
        let mut again = super::bench();
        let mut same = Reference::default();
        steps.iter().for_each(|step| take(step, &mut again, &mut same));
        prop_assert_eq!(bench.service.graded_digest(), again.service.graded_digest());
    }

    #[test]
    fn line_ends_of_all_kinds_come_back_as_line_feeds(body in "[a\r\n]{0,12}") {
        let mut bench = bench();
        send(&mut bench, "bob@b.example", "Lines", &body);
        let found = messages(&mut bench, "bob@b.example", "INBOX").remove(0);
        let ends = regex::Regex::new("\r+\n").expect("an expression");
        prop_assert_eq!(text(&found, "body"), ends.replace_all(&body, "\n"));
    }

    #[test]
    fn any_text_comes_back_as_it_was_written(subject in "[^\\p{C}]{0,80}", body in "(?s).{0,400}") {
        let mut bench = bench();
        send(&mut bench, "bob@b.example", &subject, &body);
        let found = messages(&mut bench, "bob@b.example", "INBOX").remove(0);
        let ends = regex::Regex::new("\r+\n").expect("an expression");
        prop_assert_eq!(text(&found, "body"), ends.replace_all(&body, "\n"));
        if !subject.contains("=?") {
            prop_assert_eq!(text(&found, "subject"), subject.trim());
        }
    }

    #[test]
    fn any_attachment_comes_back_as_it_was_sent(
        content in prop::collection::vec(any::<u8>(), 0..300),
        media_type in prop::sample::select(vec!["text/plain", "text/html", "text/csv", "application/pdf", "image/png", "message/rfc822", "nonsense"]),
        name in "[^\\p{C}/]{1,40}",
    ) {
        prop_assume!(name.trim() == name && !name.contains("=?"));
        let mut bench = bench();
        let file = map! { "name" => name.as_str(), "blob" => bench.blob(&content), "media_type" => media_type };
        let arguments = map! {
            "from" => "bob@b.example", "to" => vec!["ann@acme.example"], "subject" => "s", "body" => "b", "files" => vec![file],
        };
        bench.call("mail.deliver", arguments).expect("a message");
        let shown = messages(&mut bench, "ann@acme.example", "INBOX").remove(0);
        let parts = list(&shown, "attachments");
        prop_assert_eq!(parts.len(), 1);
        prop_assert_eq!((text(&parts[0], "name"), int(&parts[0], "bytes")), (name.as_str(), content.len() as i64));
        prop_assert_eq!(super::sending::saved(&bench, 1, &name), content);
    }

    #[test]
    fn any_bytes_can_be_imported_and_stay_as_they_are(source in prop::collection::vec(any::<u8>(), 0..600)) {
        let mut bench = bench();
        import(&mut bench, &source);
        prop_assert_eq!(super::sending::raw(&bench, "ann@acme.example", "INBOX", 1), source);
        read(&mut bench, 1);
    }
}
