//! Tests of mail on the bench. Not for the parser and builder libraries, which have their own.

mod fidelity;
mod keys;
mod limits;
mod model;
mod organising;
mod paging;
mod questions;
mod real;
mod replying;
mod sending;

use dayshift_engine::{Rejection, Value, map};

use super::MailState;
use crate::testing::Bench;

fn bench() -> Bench<MailState> {
    Bench::new(MailState::default())
}

fn send(bench: &mut Bench<MailState>, to: &str, subject: &str, body: &str) -> Value {
    bench
        .call("mail.send", map! { "to" => vec![to], "subject" => subject, "body" => body })
        .expect("a message that can be sent")
}

fn deliver(bench: &mut Bench<MailState>, from: &str, subject: &str, body: &str) -> Value {
    let arguments = map! { "from" => from, "to" => vec!["ann@acme.example"], "subject" => subject, "body" => body };
    bench.call("mail.deliver", arguments).expect("a message that can be delivered")
}

fn import(bench: &mut Bench<MailState>, source: &[u8]) -> Value {
    let blob = bench.blob(source);
    bench
        .call("mail.import", map! { "address" => "ann@acme.example", "blob" => blob })
        .expect("a message that can be imported")
}

fn read(bench: &mut Bench<MailState>, uid: i64) -> Value {
    bench.call("mail.read", map! { "uid" => uid }).expect("a message that is there")
}

/// Returns the messages in a folder of somebody's.
fn messages(bench: &mut Bench<MailState>, address: &str, folder: &str) -> Vec<Value> {
    let asked = map! { "address" => address, "folder" => folder, "flags" => true };
    let answer = bench.ask("messages", asked).expect("a good question");
    answer.as_list().expect("a list").to_vec()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_text).unwrap_or_else(|| panic!("no text {name} in {value}"))
}

fn int(value: &Value, name: &str) -> i64 {
    value.get(name).and_then(Value::as_int).unwrap_or_else(|| panic!("no number {name} in {value}"))
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_list).unwrap_or_else(|| panic!("no list {name} in {value}"))
}

fn code(result: Result<Value, Rejection>) -> String {
    result.expect_err("a refusal").code.into_owned()
}
