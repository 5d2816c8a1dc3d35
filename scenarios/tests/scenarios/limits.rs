//! Scripts from strangers: whatever they do, evaluation ends with a level or with a sentence that names file and line.

use std::sync::Arc;

use dayshift_engine::{Episode, Frame, Seed};
use dayshift_scenarios::{NESTING_MAX, RANGE_MAX, SOURCE_BYTES_MAX, Scenario};

use crate::toy::{BEN, CHECKS, Toy, blobs, load};

fn episode(scenario: &Scenario<Toy>) -> Episode<Toy> {
    let blobs = blobs();
    let prefix = scenario.prefix(Toy::new(), &blobs).expect("laid out");
    Episode::open(&prefix, Seed::new(7), scenario.script(), Arc::clone(&blobs)).expect("opened").0
}

/// Returns what the first check gives when its body is `body`.
pub(crate) fn level(body: &str) -> Result<f64, String> {
    let text = CHECKS.replace("    return kv.get(\"total\") == 42\n", body);
    let scenario = load(&[("checks.star", &text)]).map_err(|problems| problems[0].to_string())?;
    let episode = episode(&scenario);
    let frame = Frame::new();
    let level = scenario.checks().level(0, &episode.scene(&frame));
    level.map_err(|error| error.to_string())
}

/// Makes sure that the check fails with a sentence that names file and line and says `word`.
#[track_caller]
fn fails(body: &str, word: &str) {
    let error = level(body).expect_err("no level");
    assert!(error.contains("checks.star:") && error.contains(word), "{error}");
}

#[test]
fn a_check_that_loops_for_ever_ends_with_its_line() {
    let body = "    x = 0\n    for i in range(1000000):\n        for j in range(1000000):\n            x = j\n    return True\n";
    fails(body, "steps");
    let error = level(body).expect_err("no level");
    assert!(error.contains("checks.star:9:") || error.contains("checks.star:8:"), "{error}");
}

#[test]
fn a_comprehension_that_loops_for_ever_ends() {
    fails("    return len([1 for i in range(100000) for j in range(100000)]) > 0\n", "steps");
}

#[test]
fn a_text_or_list_that_doubles_ends() {
    fails("    x = 'a'\n    for i in range(100):\n        x = x + x\n    return True\n", "too long");
    fails("    x = 'a'\n    for i in range(100):\n        x += x\n    return True\n", "memory");
    fails("    x = [0]\n    for i in range(100):\n        x.extend(x)\n    return True\n", "memory");
}

#[test]
fn a_product_that_would_be_huge_is_refused() {
    fails("    return len('a' * 1000000000) > 0\n", "too long");
    fails("    return len([1] * 1000000000) > 0\n", "too long");
    fails("    x = 3\n    for i in range(100):\n        x = x * x\n    return True\n", "64 bits");
    assert_eq!(
        level("    return len('ab' * 3) == 6 and 2 * 3 == 6 and [0] * 2 == [0, 0] and 1.5 * 2 == 3.0\n"),
        Ok(1.0)
    );
}

#[test]
fn a_method_that_would_make_something_huge_is_refused() {
    let long = "    x = 'a' * 100000\n";
    fails(&format!("{long}    return len(x.replace('a', x)) > 0\n"), "too long");
    fails(&format!("{long}    return len(x.replace('', x)) > 0\n"), "too long");
    fails(&format!("{long}    return len(x.join([x, x, x, x, x, x])) > 0\n"), "too long");
    fails(&format!("{long}    return len(('{{0}}' * 100).format(x)) > 0\n"), "too long");
    fails(&format!("{long}    return len(('%s' * 11) % (x, x, x, x, x, x, x, x, x, x, x)) > 0\n"), "too long");
    fails(&format!("{long}    return getattr(x, 'replace')('a', x) == x\n"), "method");
    fails("    x = [1]\n    for i in range(40):\n        x = [x, x]\n    return '%s' % x\n", "");
}

#[test]
fn methods_that_are_bounded_do_what_they_always_do() {
    let body = r#"    text = ( # )
        ("a.b") + ".c"
    ).replace(".", "-").replace("-", "+", 1)
    joined = ", ".join([w.replace("x", "y") for w in ["x1", "x2"]])
    shown = "{} {b}".format(
        "1",
        b = "z".join(["2"]),
    )
    old = ("%s of %d") % ("a", 3)
    both = (("a" + "b")).replace("a", ("c").join(["d", "e"])).replace("b", "")
    return [text, joined, shown, old, both, 1 + 2, [1] + [2]] == ["a+b-c", "y1, y2", "1 2", "a of 3", "dce", 3, [1, 2]]
"#;
    assert_eq!(level(body), Ok(1.0));
}

#[test]
fn what_cannot_be_bounded_is_refused_with_its_line() {
    for (body, word) in
        [("    x = 'a'\n    x *= 3\n    return True\n", "*="), ("    f = 'a'.join\n    return True\n", ".join")]
    {
        let error = level(body).expect_err("refused");
        assert!(error.contains("checks.star:") && error.contains(word), "{error}");
    }
}

#[test]
fn a_whole_number_stays_within_64_bits_however_it_grows() {
    for grows in ["x = x + x", "x = x * 3", "x = x - (0 - x)", "x = x << 1"] {
        let body = format!("    x = 1\n    for i in range(100):\n        {grows}\n    return True\n");
        fails(&body, "64 bits");
    }
    fails("    return (1 << 63) > 0\n", "64 bits");
    fails("    return (1 << 4000000) > 0\n", "64 bits");
    assert_eq!(
        level("    return (1 << 62) == 4611686018427387904 and 3 << 2 == 12 and 0 << 70 == 0 and 7 - 9 == -2\n"),
        Ok(1.0)
    );
    assert_eq!(level("    return -1 << 3 == -8 and 1.5 - 1 == 0.5 and 2 + 2 == 4 and 5 - 0.5 == 4.5\n"), Ok(1.0));
}

#[test]
fn a_value_whose_parts_are_shared_is_not_shown() {
    let shared = "    x = ['a']\n    for i in range(60):\n        x = [x, x]\n";
    for shown in ["str(x)", "repr(x)", "'%s' % x", "'{}'.format(x)", "f'{x}'"] {
        fails(&format!("{shared}    return len({shown}) > 0\n"), "parts");
    }
    fails(&format!("{shared}    return x\n"), "parts");
    assert_eq!(
        level(
            "    x = [1, ('a', {'b': None})]\n    return str(x) == '[1, (\"a\", {\"b\": None})]' and repr('a') == '\"a\"' and str('a') == 'a'\n"
        ),
        Ok(1.0)
    );
}

#[test]
fn a_text_with_names_in_it_is_bounded_and_says_what_it_always_did() {
    let long = "    x = 'a' * 400000\n";
    fails(&format!("{long}    return len(f'{{x}}{{x}}{{x}}') > 0\n"), "too long");
    let body = r#"    name, n, none = "Ann", 3, [None]
    return [f"{name} has {n}", f'{{{name}}}', f"{none}", f"no names", f"""{n}
{n}""".count("3"), [f"{n}".join(["a", "b"])]] == ["Ann has 3", "{Ann}", "[None]", "no names", 2, ["a3b"]]
"#;
    assert_eq!(level(body), Ok(1.0));
}

#[test]
fn searching_and_moving_count_by_what_they_touch() {
    let text = "    x = 'a' * 1000000\n";
    for looks in ["x.count('b')", "x.find('b')", "matches('b', x)", "contains_any(x, ['b'])", "mentions(x, ['b'])"] {
        fails(&format!("{text}    for i in range(1000):\n        {looks}\n    return True\n"), "units of work");
    }
    fails("    x = []\n    for i in range(400000):\n        x.insert(0, i)\n    return True\n", "units of work");
    fails(
        "    x = list(range(100000))\n    for i in range(100000):\n        x.index(i)\n    return True\n",
        "units of work",
    );
    let few = "    x = []\n    for i in range(1000):\n        x.insert(0, i)\n    return x.index(0) == 999 and x.pop(0) == 999 and 'a,b'.split(',') == ['a', 'b']\n";
    assert_eq!(level(few), Ok(1.0));
}

#[test]
fn what_is_given_back_is_bounded_by_its_text_as_well() {
    let body = "    x = 'a' * 1000000\n    return [x for i in range(20)]\n";
    fails(body, "bytes of text");
}

#[test]
fn a_range_is_refused_above_its_limit_and_given_at_it() {
    assert_eq!(level(&format!("    return len(range({RANGE_MAX})) == {RANGE_MAX}\n")), Ok(1.0));
    fails(&format!("    return len(range({}))\n", RANGE_MAX + 1), "range");
    fails("    return len(list(range(0, -1000000000, -1)))\n", "range");
}

#[test]
fn recursion_ends() {
    fails("    def g(n):\n        return g(n + 1)\n    return g(0)\n", "");
    let text = CHECKS.replace("def total_right():", "def deep(n):\n    return deep(n + 1)\n\ndef total_right():");
    let text = text.replace("return kv.get(\"total\") == 42", "return deep(0)");
    let scenario = load(&[("checks.star", &text)]).expect("loads");
    let episode = episode(&scenario);
    let frame = Frame::new();
    let error = scenario.checks().level(0, &episode.scene(&frame)).expect_err("no level").to_string();
    assert!(error.contains("recursion") && error.contains("checks.star:6"), "{error}");
}

#[test]
fn data_that_nests_deeper_than_any_stack_does_no_harm() {
    let nest = "    x = []\n    for i in range(100000):\n        x = [[[[x]]]]\n";
    assert_eq!(level(&format!("{nest}    return True\n")), Ok(1.0));
    fails(&format!("{nest}    return x\n"), "nests deeper");
    fails(&format!("{nest}    return kv.get(x)\n"), "nests deeper");
    let tuples = "    x = ()\n    for i in range(100000):\n        x = ((((x,),),),)\n";
    assert_eq!(level(&format!("{tuples}    return {{x: 1}} != None\n")), Ok(1.0));
    fails(&format!("{tuples}    return len(str(x)) > 0\n"), "parts");
}

#[test]
fn deep_data_at_the_top_of_a_file_does_no_harm() {
    let text = format!("X = []\nfor i in range(100000):\n    X = [[[[X]]]]\n{CHECKS}");
    assert!(load(&[("checks.star", &text)]).is_ok());
}

#[test]
fn a_source_is_refused_above_its_size_and_read_at_it() {
    let pad = |size: usize| format!("{CHECKS}#{}", "x".repeat(size - CHECKS.len() - 1));
    assert!(load(&[("checks.star", &pad(SOURCE_BYTES_MAX))]).is_ok());
    let found = load(&[("checks.star", &pad(SOURCE_BYTES_MAX + 1))]).map(|_| ()).expect_err("too large");
    assert_eq!(found[0].rule, "script/too-large");
}

#[test]
fn every_kind_of_nesting_is_refused_before_the_parser_sees_it() {
    let count = NESTING_MAX as usize * 50;
    let blocks: String = (1..count.min(3000)).map(|depth| format!("{}if 1:\n", " ".repeat(depth))).collect();
    for source in [
        format!("X = {}1{}\n", "(".repeat(count), ")".repeat(count)),
        format!("X = {}1\n", "not ".repeat(count)),
        format!("X = {}1\n", "1+".repeat(count)),
        format!("X = {}1\n", "lambda: ".repeat(count)),
        format!("X = {}1\n", "1 if 2 else ".repeat(count)),
        format!("X = kv{}\n", ".a".repeat(count)),
        format!("X = kv{}\n", "()".repeat(count)),
        format!("if 1:\n  pass\n{}", "elif 2:\n  pass\n".repeat(count)),
        format!("def f():\n{blocks}"),
        "[".repeat(count),
    ] {
        let found = load(&[("checks.star", &format!("{source}{CHECKS}"))]).map(|_| ()).expect_err("nests");
        assert_eq!(found[0].rule, "script/too-large", "{:.40}", source);
    }
}

#[test]
fn nesting_at_the_limit_is_compiled() {
    let count = NESTING_MAX as usize - 2;
    for source in [
        format!("X = {}1{}\n", "(".repeat(count), ")".repeat(count)),
        format!("X = {}1\n", "not ".repeat(count)),
        format!("X = {}1\n", "lambda: ".repeat(count)),
    ] {
        assert!(load(&[("checks.star", &format!("{source}{CHECKS}"))]).is_ok(), "{:.40}", source);
    }
}

#[test]
fn scripts_cannot_load_print_or_reach_the_host() {
    for (line, word) in
        [("load('x', 'y')\n", "load"), ("X = open('a')\n", "open"), ("import os\n", ""), ("X = _ask\n", "_ask")]
    {
        let found = load(&[("checks.star", &format!("{line}{CHECKS}"))]).map(|_| ()).expect_err("refused");
        assert!(
            found[0].rule == "script/fault" && found[0].line == Some(1) && found[0].message.contains(word),
            "{found:?}"
        );
    }
    assert_eq!(level("    print('x')\n    return True\n"), Ok(1.0));
}

#[test]
fn a_question_that_the_world_does_not_know_is_told_with_its_line() {
    fails("    return ask('kv.gte', key='a') == 1\n", "no question 'kv.gte'");
    fails("    return kv.get('a', 'b') == 1\n", "key");
    fails("    return kv.gte('a') == 1\n", "gte");
    fails("    return at('sun').kv.get('a') == 1\n", "mon, tue");
    fails("    return inbox() == []\n", "persona");
    assert_eq!(
        level("    return kv.get(key = '/shared/note.txt') == ask('kv.get', key = '/shared/note.txt')\n"),
        Ok(1.0)
    );
}

#[test]
fn a_persona_sees_only_what_it_may_see() {
    for (body, word) in [
        ("kv.get('secret')", "does not see 'kv:secret'"),
        ("mail.messages('ann@acme.example')", "does not see 'mail:ann@acme.example'"),
        ("calls()", "does not see the log"),
        ("at('mon').kv.get('shared/a')", "does not see the log or earlier days"),
        ("kv.keys()", "does not see 'kv'"),
    ] {
        let text = BEN.replace("new = inbox()", &format!("x = {body}\n    new = inbox()"));
        let scenario = load(&[("personas/ben.star", &text)]).expect("loads");
        let episode = episode(&scenario);
        let frame = Frame::new();
        let error = scenario.script().react(0, &dayshift_engine::Value::Null, &episode.scene(&frame));
        let error = error.expect_err("not seen").to_string();
        assert!(error.contains("personas/ben.star:3") && error.contains(word), "{error}");
    }
    let text = BEN.replace(
        "new = inbox()",
        "x = kv.get('shared/a')\n    y = mail.messages()\n    z = choose('c', [1, 2])\n    new = inbox()",
    );
    let scenario = load(&[("personas/ben.star", &text)]).expect("loads");
    let episode = episode(&scenario);
    assert!(scenario.script().react(0, &dayshift_engine::Value::Null, &episode.scene(&Frame::new())).is_ok());
}
