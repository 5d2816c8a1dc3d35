//! Arbitrary bytes as a message: taken in, shown, searched, answered and passed on, and given back byte for byte. What we write in answer can be
//! taken in again.

#![no_main]

use dayshift_engine::{Value, map};
use dayshift_fuzz::{Bench, run};
use libfuzzer_sys::fuzz_target;

const ANN: &str = "ann@acme.example";

fuzz_target!(|bytes: &[u8]| {
    run(|| {
        let mut bench = Bench::new();
        let blob = bench.blob(bytes);
        bench.call("mail.import", map! { "address" => ANN, "blob" => blob }).expect("any bytes are a message");
        assert_eq!(bench.message(ANN, "INBOX", 1).as_deref(), Some(bytes), "the bytes stay");
        let shown = bench.call("mail.read", map! { "uid" => 1_i64, "headers" => true }).expect("it is there");
        bench.call("mail.list", map! {}).expect("a listing");
        bench.call("mail.thread", map! { "uid" => 1_i64 }).expect("a thread");
        let subject = shown.get("subject").and_then(Value::as_text).unwrap_or_default();
        let _ = bench.call("mail.search", map! { "query" => subject });
        let count = shown.get("attachments").and_then(Value::as_list).map_or(0, <[_]>::len) as i64;
        for number in (1..=count).take(4) {
            let arguments = map! { "uid" => 1_i64, "attachment" => number, "path" => format!("/saved/{number}") };
            bench.call("mail.save_attachment", arguments).expect("a listed attachment can be saved");
        }
        let written = [
            ("mail.reply", map! { "uid" => 1_i64, "body" => "Thank you." }),
            ("mail.reply_all", map! { "uid" => 1_i64, "body" => "Thanks." }),
            ("mail.forward", map! { "uid" => 1_i64, "to" => vec!["bob@acme.example"], "body" => "See below." }),
        ];
        let sent = written.into_iter().filter(|(tool, arguments)| bench.call(tool, arguments.clone()).is_ok()).count();
        for uid in (1..).take(sent) {
            let source = bench.message(ANN, "Sent", uid).expect("what was sent is in Sent");
            let blob = bench.blob(&source);
            bench
                .call("mail.import", map! { "address" => "bob@acme.example", "blob" => blob })
                .expect("what was sent can be taken in");
        }
    });
});
