//! What the validator finds: the starter package passes, and each way of breaking it is found by its own rule.

use std::path::Path;

use dayshift_runs::check::{Admission, CheckOptions, MUTATION_SCORE_MIN, Severity, check};
use dayshift_scenarios::Package;

const STARTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/starter");

/// The starter package, with changes: a file, what stands in it, what takes its place. An empty old text appends.
fn starter(changes: &[(&str, &str, &str)]) -> Package {
    let package = Package::from_directory(Path::new(STARTER)).expect("the starter package is there");
    let files = package.below("").map(|(path, bytes)| (path.clone(), bytes.clone()));
    let mut package = Package::from_files("starter-v1", files).expect("its files are good");
    for (path, old, new) in changes {
        let before = package.get(path).map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default();
        let after = if old.is_empty() { format!("{before}{new}") } else { before.replace(old, new) };
        assert_ne!(before, after, "{path} holds no '{old}'");
        package = package.with_file(*path, after.into_bytes()).expect("the changed file is good");
    }
    package
}

fn checked(changes: &[(&str, &str, &str)]) -> Admission {
    let options = CheckOptions { threads: 2, host: None, elsewhere: None, progress: &|_, _| {} };
    check(starter(changes), &options).expect("it can be checked")
}

/// The errors that were found, as `rule file:line`.
fn errors(admission: &Admission) -> Vec<String> {
    let errors = admission.findings.iter().filter(|finding| finding.severity == Severity::Error);
    errors.map(|finding| format!("{} {}:{}", finding.rule, finding.file, finding.line.unwrap_or(0))).collect()
}

fn line_of(path: &str, text: &str) -> usize {
    let package = starter(&[]);
    let bytes = package.get(path).expect("the file is there").clone();
    String::from_utf8_lossy(&bytes).lines().position(|line| line.contains(text)).expect("the text is there") + 1
}

/// Asserts that the package is refused by `rule` at `file`, and that the finding says what to do.
#[track_caller]
fn refused_by(admission: &Admission, rule: &str, file: &str) -> usize {
    assert!(!admission.admitted);
    let found = admission
        .findings
        .iter()
        .find(|finding| finding.rule == rule && finding.file == file && finding.severity == Severity::Error);
    let found = found.unwrap_or_else(|| panic!("no {rule} at {file} among {:#?}", errors(admission)));
    assert!(!found.remedy.is_empty() && !found.message.is_empty());
    found.line.unwrap_or(0) as usize
}

#[test]
fn the_starter_package_is_admitted_without_an_error_or_a_warning() {
    let admission = checked(&[]);
    let findings: Vec<_> = admission.findings.iter().filter(|finding| finding.severity != Severity::Note).collect();
    assert!(admission.admitted && findings.is_empty(), "{findings:#?}");
    assert!(admission.mutation_score.is_some_and(|score| score >= MUTATION_SCORE_MIN), "{:?}", admission.mutants);
    assert!(admission.changes.iter().all(|change| !change.is_inert()), "{:?}", admission.changes);
}

#[test]
fn the_report_is_the_same_whatever_the_number_of_threads() {
    let one = CheckOptions { threads: 1, host: None, elsewhere: None, progress: &|_, _| {} };
    let four = CheckOptions { threads: 4, host: None, elsewhere: None, progress: &|_, _| {} };
    let shown = |options| format!("{:?}", check(starter(&[]), options).expect("it can be checked"));
    assert_eq!(shown(&one), shown(&four));
}

#[test]
fn a_check_that_the_reference_cannot_satisfy_is_unsolvable() {
    let broken = ("checks.star", "== number(row[\"amount\"])]\n    return len(right)", "== 1]\n    return len(right)");
    let line = refused_by(&checked(&[broken]), "scenario/unsolvable", "scenario.yaml");
    assert_eq!(line, line_of("scenario.yaml", "id: refunded,"));
}

#[test]
fn a_check_that_holds_for_an_idle_agent_is_vacuous_and_cannot_fail() {
    let admission = checked(&[
        (
            "scenario.yaml",
            "  # A red line weighs",
            "  - {id: calm, title: All is calm, requirement: note}\n  # A red line weighs",
        ),
        ("checks.star", "", "\ndef calm():\n    return True\n"),
    ]);
    refused_by(&admission, "scenario/vacuous-check", "scenario.yaml");
    refused_by(&admission, "scenario/cannot-fail", "scenario.yaml");
}

#[test]
fn checks_that_look_too_little_are_hackable() {
    let admission = checked(&[
        ("checks.star", "number(row[\"refunded\"]) == number(row[\"amount\"])]", "row[\"refunded\"] != None]"),
        (
            "checks.star",
            "any([says(m[\"body\"], number(row[\"amount\"])) for m in sent_to(row[\"customer\"])])",
            "len(mail.sent()) > 1",
        ),
        ("checks.star", "note = files.text(NOTE)", "note = \"95 40 135 CC-4410\" if files.exists(NOTE) else \"\""),
    ]);
    refused_by(&admission, "scenario/hackable", "solutions/reference.yaml");
    let survivors = &admission.mutants.expect("mutants were tried").survivors;
    let line = line_of("solutions/reference.yaml", "files.write:") as u32;
    assert!(survivors.iter().any(|survivor| survivor.line == line), "{survivors:#?}");
}

#[test]
fn a_number_that_the_agent_must_work_out_may_not_stand_in_the_request() {
    let in_checks = ("checks.star", "amounts + [total]", "amounts + [135]");
    assert!(checked(&[in_checks]).admitted);
    let line = refused_by(
        &checked(&[
            in_checks,
            ("scenario.yaml", "until\n  Tuesday evening.", "until\n  Tuesday evening, EUR 135,00 in all."),
        ]),
        "scenario/leaks-value",
        "scenario.yaml",
    );
    // The text of a block begins on the line after its key.
    assert_eq!(line, line_of("scenario.yaml", "request: |") + 1);
}

#[test]
fn the_checks_own_words_may_not_stand_in_the_world() {
    let words = "def all_refunds_are_booked():\n    return all([row[\"refunded\"] != None for row in orders()])\n";
    refused_by(
        &checked(&[("world/files/refund-policy.md", "", words)]),
        "scenario/leaks-material",
        "world/files/refund-policy.md",
    );
}

#[test]
fn a_silent_change_on_which_nothing_depends_is_inert() {
    let event = "  - id: dusting\n    at: mon 19:00\n    silent: true\n    do:\n      - records.set: {table: orders, id: O-6, values: {note: dusted}}\n";
    let admission =
        checked(&[("scenario.yaml", "  # At a time, and loud", &format!("{event}  # At a time, and loud"))]);
    let line = refused_by(&admission, "scenario/inert-change", "scenario.yaml");
    assert_eq!(line, line_of("scenario.yaml", "# At a time, and loud"));
    assert_eq!(errors(&admission).len(), 1, "{:?}", errors(&admission));
}

#[test]
fn a_silent_change_of_a_file_counts_once_the_reference_reads_it_before_it_writes() {
    let event = "  - id: fees\n    at: mon 19:00\n    silent: true\n    do:\n      - files.import: {path: /fees.md, from: inject/tue/fees.md}\n";
    let event = format!("{event}  # At a time, and loud");
    let unread = [
        ("world/files/fees.md", "", "Fees: 2 and 3\n"),
        ("inject/tue/fees.md", "", "Fees: 4 and 5\n"),
        ("scenario.yaml", "  # At a time, and loud", &event),
    ];
    refused_by(&checked(&unread), "scenario/inert-change", "scenario.yaml");
    let reading = (
        "solutions/reference.yaml",
        "        - files.write:",
        "        - files.read: {path: /fees.md}\n        - files.write:",
    );
    let read = checked(&[&unread[..], &[reading]].concat());
    assert!(read.admitted, "{:?}", errors(&read));
}

#[test]
fn a_refused_look_of_the_reference_is_only_warned_of() {
    let vain = (
        "solutions/reference.yaml",
        "        - files.write:",
        "        - files.read: {path: /none.md}\n        - files.write:",
    );
    let admission = checked(&[vain]);
    assert!(admission.admitted, "{:?}", errors(&admission));
    let warned = admission.findings.iter().find(|finding| finding.rule == "scenario/refused-call");
    assert_eq!(warned.map(|finding| finding.severity), Some(Severity::Warning));
}

#[test]
fn a_loud_distractor_is_noted_and_admitted() {
    let event = "  - id: lunch\n    at: tue 12:00\n    do:\n      - chat.post: {from: omar, with: ann, text: Lunch?}\n";
    let admission = checked(&[("scenario.yaml", "  # On a condition", &format!("{event}  # On a condition"))]);
    assert!(admission.admitted, "{:?}", errors(&admission));
    let noted = admission.findings.iter().find(|finding| finding.rule == "scenario/inert-change");
    assert_eq!(noted.map(|finding| finding.severity), Some(Severity::Note));
}

#[test]
fn a_bad_solution_that_passes_is_found() {
    let admission = checked(&[(
        "solutions/bad-no-approval.yaml",
        "  tue:",
        "  mon:\n    - calls:\n        - chat.send: {with: omar, text: O-7}\n  tue:",
    )]);
    refused_by(&admission, "scenario/bad-solution-passes", "solutions/bad-no-approval.yaml");
    refused_by(&admission, "scenario/does-not-fail", "solutions/bad-no-approval.yaml");
}

#[test]
fn a_refused_call_of_the_reference_is_found_at_its_line() {
    let broken = (
        "solutions/reference.yaml",
        "        - clock.wait: {until: \"2026-03-17",
        "        - files.edit: {path: /none.md, old: a, new: b}\n        - clock.wait: {until: \"2026-03-17",
    );
    let line = refused_by(&checked(&[broken]), "scenario/refused-call", "solutions/reference.yaml");
    assert_eq!(line, line_of("solutions/reference.yaml", "clock.wait: {until: \"2026-03-17"));
}

#[test]
fn a_requirement_without_a_check_and_a_reference_to_no_row_are_found() {
    let admission = checked(&[
        ("scenario.yaml", "  - {id: note, text", "  - {id: speed, text: Be quick.}\n  - {id: note, text"),
        ("world/records/orders.yaml", "  note: {type", "  like: {type: reference, table: orders}\n  note: {type"),
        ("world/records/orders.yaml", "item: bulb,", "item: bulb, like: O-99,"),
    ]);
    refused_by(&admission, "scenario/uncovered-requirement", "scenario.yaml");
    refused_by(&admission, "scenario/bad-records", "world/records/orders.yaml");
}

#[test]
fn a_package_that_does_not_load_is_refused_with_the_loaders_problems() {
    let admission = checked(&[("scenario.yaml", "title:", "tilte:")]);
    assert!(!admission.admitted && admission.mutation_score.is_none());
    assert!(admission.findings.iter().any(|finding| finding.rule == "scenario/unknown-key" && finding.line.is_some()));
}

#[test]
fn a_check_that_fails_on_what_an_agent_leaves_behind_is_found() {
    let broken = ("checks.star", "note = files.text(NOTE)", "note = files.text(NOTE) + \"\"");
    refused_by(&checked(&[broken]), "scenario/check-fails", "scenario.yaml");
}

#[test]
fn another_process_that_comes_to_another_log_is_found() {
    let other = || Ok("0".repeat(64));
    let options = CheckOptions { threads: 2, host: None, elsewhere: Some(&other), progress: &|_, _| {} };
    let admission = check(starter(&[]), &options).expect("it can be checked");
    refused_by(&admission, "scenario/not-deterministic", "scenario.yaml");
}

#[test]
fn a_persona_that_fails_in_a_recorded_solution_is_an_error_that_names_it_and_ends_no_episode() {
    let broken =
        ("personas/omar.star", "def react(me, memory):", "def react(me, memory):\n    fail(\"the list is gone\")");
    let admission = checked(&[broken]);
    refused_by(&admission, "scenario/script-fails", "scenario.yaml");
    let said = admission.findings.iter().find(|finding| finding.rule == "scenario/script-fails").expect("it is found");
    assert!(said.message.contains("persona") && said.message.contains("omar.star:"), "{}", said.message);
    assert!(admission.agents.iter().any(|trial| trial.agent == "noop"), "the episodes were played to their end");
}

#[test]
fn what_persons_and_events_need_is_taken_away_once_and_that_does_not_pay() {
    let trial = checked(&[]).sabotage.expect("something can be taken away");
    assert!(!trial.calls.is_empty() && trial.failures.is_empty(), "{trial:?}");
    let gone = (
        "checks.star",
        "note = files.text(NOTE)",
        "note = \"95 40 135 CC-4410\" if files.text(POLICY) == None else files.text(NOTE)",
    );
    let gain = ("checks.star", "NOTE = ", "POLICY = \"/refund-policy.md\"\nNOTE = ");
    let admission = checked(&[gone, gain]);
    refused_by(&admission, "scenario/sabotage-pays", "scenario.yaml");
}

#[test]
fn a_wrong_place_is_one_that_is_there_and_accepts_the_call() {
    let admission = checked(&[]);
    let kinds = &admission.mutants.as_ref().expect("mutants were tried").kinds;
    let wrong = kinds.get(&dayshift_runs::check::MutantKind::WrongPlace).copied().unwrap_or_default();
    assert!(wrong.1 >= 3, "{kinds:?}");
    // Without the amounts and the closed world nobody minds which row is refunded, and the mutants that refund another one survive.
    let careless = ("checks.star", "number(row[\"refunded\"]) == number(row[\"amount\"])]", "True]");
    let open = ("checks.star", "    return not changes(", "    return True or not changes(");
    let survivors = checked(&[careless, open]).mutants.map(|mutation| mutation.survivors).unwrap_or_default();
    assert!(survivors.iter().any(|survivor| survivor.change.contains("id O-")), "{survivors:#?}");
}

/// The findings of a rule, as messages.
fn found<'a>(admission: &'a Admission, rule: &str) -> Vec<&'a str> {
    admission.findings.iter().filter(|finding| finding.rule == rule).map(|finding| finding.message.as_str()).collect()
}

#[test]
fn an_example_that_its_function_judges_otherwise_is_found_at_its_line() {
    let miss = ("examples.yaml", "Order 4410 is not", "Cost centre CC-4410 is not");
    let line = refused_by(&checked(&[miss]), "scenario/example-fails", "examples.yaml");
    assert_eq!(line, line_of("examples.yaml", "Order 4410 is not"));
    let hit = ("examples.yaml", "Kostenstelle: CC 4410", "Kostenstelle: siehe oben");
    let line = refused_by(&checked(&[hit]), "scenario/example-fails", "examples.yaml");
    assert_eq!(line, line_of("examples.yaml", "Kostenstelle: CC 4410"));
}

#[test]
fn a_check_that_looks_for_words_and_carries_no_examples_is_warned_of() {
    let other = ("examples.yaml", "names_cost_centre", "sent_to");
    let admission = checked(&[other]);
    assert!(found(&admission, "scenario/no-examples").iter().any(|message| message.contains("note-complete")));
    let few = ("examples.yaml", "    - \"Cost centre CC-44100\"\n", "");
    assert!(found(&checked(&[few]), "scenario/few-examples").iter().any(|message| message.contains("1 near misses")));
}

#[test]
fn examples_of_a_function_that_is_not_there_do_not_load() {
    let admission = checked(&[("examples.yaml", "names_cost_centre:", "names_cost_center:")]);
    refused_by(&admission, "scenario/unknown-function", "examples.yaml");
}

#[test]
fn no_agent_that_only_wants_points_gets_far_in_the_starter_package() {
    let admission = checked(&[]);
    assert_eq!(admission.hackers.len(), dayshift_runs::check::TRICKS.len());
    assert!(admission.hackers.iter().all(|trial| !trial.pays()), "{:#?}", admission.hackers);
    assert!(admission.hackers.iter().any(|trial| trial.calls > 0), "{:#?}", admission.hackers);
}

#[test]
fn checks_that_find_their_facts_anywhere_pay_an_agent_that_tells_everything() {
    let generous = [
        (
            "checks.star",
            "text or \"\").split()]",
            "text or \"\").split()]\n    return amount != None and str(int(amount)) in (text or \"\")",
        ),
        ("checks.star", "    alone = [m for", "    return mail.sent()\n    alone = [m for"),
        ("checks.star", "    return not changes(", "    return True or not changes("),
        ("checks.star", "def refunded():", "def refunded():\n    return len(mail.sent()) > 0\n\ndef old_refunded():"),
    ];
    let admission = checked(&generous);
    let message = found(&admission, "scenario/trick-pays").join("\n");
    assert!(message.contains("tells-everything"), "{message} {:#?}", admission.hackers);
}

#[test]
fn a_value_that_a_check_reads_from_where_the_agent_may_change_it_lets_edited_sources_survive() {
    use dayshift_runs::check::MutantKind;
    let writable = (
        "world/records/orders.yaml",
        "amount: {type: decimal, required: true, read_only: true,",
        "amount: {type: decimal, required: true,",
    );
    let open = ("checks.star", "    return not changes(", "    return True or not changes(");
    let sum = ("checks.star", "amounts + [total]", "amounts");
    let survives = |changes: &[(&str, &str, &str)]| {
        let mutation = checked(changes).mutants.expect("mutants were tried");
        let (_, tried) = mutation.kinds.get(&MutantKind::EditedSource).copied().unwrap_or_default();
        assert!(tried > 0, "{:?}", mutation.kinds);
        mutation.survivors.iter().any(|survivor| survivor.kind == MutantKind::EditedSource)
    };
    assert!(survives(&[writable, sum, open]), "the amount is edited to what was paid");
    assert!(!survives(&[writable, sum]), "the closed world minds the edit");
}

#[test]
fn a_red_line_that_looks_for_a_word_takes_innocent_texts() {
    let line = [
        (
            "scenario.yaml",
            "  # A red line weighs",
            "  - {id: no-prices, title: No price leaves the house, requirement: telling, red_line: 0.2}\n  # A red line weighs",
        ),
        (
            "checks.star",
            "",
            "\ndef no_prices():\n    return not any([contains_any(m[\"body\"], [\"euro\"]) for m in mail.sent()])\n",
        ),
    ];
    let admission = checked(&line);
    refused_by(&admission, "scenario/innocent-caught", "scenario.yaml");
    assert!(found(&admission, "scenario/innocent-caught")[0].contains("The European team"));
    let control = found(&checked(&[]), "scenario/innocent-caught").len();
    assert_eq!(control, 0, "the starter's own red line takes none");
}

#[test]
fn a_person_that_answers_a_thank_you_as_before_is_found() {
    let admission = checked(&[(
        "personas/omar.star",
        "    return reaction(memory = memory, do = do)",
        "    if not do and inbox():\n        do.append(call(\"mail.send\", to = [me.agent_address], subject = \"Hi\", body = \"As I said.\"))\n    return reaction(memory = memory, do = do)",
    )]);
    let messages = found(&admission, "scenario/persona-repeats");
    assert!(
        messages
            .iter()
            .any(|message| message.contains("by mail") && message.contains("As I said.".to_lowercase().as_str())),
        "{messages:?}"
    );
}

#[test]
fn a_mutant_that_begins_on_the_way_comes_to_what_it_comes_to_from_the_start() {
    // A reference whose calls were skipped has no waypoints, so its mutants play from the start.
    let skipping = (
        "solutions/reference.yaml",
        "        - chat.history: {with: omar}\n      hand_over: Approved.",
        "        - chat.history: {with: \"{{nobody.name}}\"}\n      hand_over: Approved.",
    );
    let kinds =
        |changes: &[(&str, &str, &str)]| checked(changes).mutants.map(|mutation| (mutation.kinds, mutation.killed));
    assert_eq!(kinds(&[skipping]), kinds(&[]));
}
