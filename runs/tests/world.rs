//! What the files of a package lay out: pages within pages, databases that relate to each other, calendars that say whose they are.

use std::path::Path;
use std::sync::Arc;

use dayshift_engine::{Blobs, Episode, Frame, Looking, MemoryBlobs, Seed, ToolCall, Value, World, map};
use dayshift_scenarios::{Package, Problem, Scenario};
use dayshift_services::Office;

const STARTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/starter");

const FEED: &str = "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//x//EN\nBEGIN:VEVENT\nUID:a@x\nDTSTAMP:20260301T000000Z\n\
                    DTSTART;VALUE=DATE:20260316\nDTEND;VALUE=DATE:20260317\nSUMMARY:Bank holiday\nEND:VEVENT\nEND:VCALENDAR\n";

/// The starter's world with more files, at its opening.
fn opened(files: &[(&str, &str)]) -> Result<Episode<Office>, Vec<Problem>> {
    let mut package = Package::from_directory(Path::new(STARTER)).expect("the starter package is there");
    let own: Vec<_> = package.below("").map(|(path, bytes)| (path.clone(), bytes.clone())).collect();
    package = Package::from_files("starter-v1", own).expect("its files are good");
    for (path, text) in files {
        package = package.with_file(*path, text.as_bytes().to_vec()).expect("a good file");
    }
    let scenario = Scenario::<Office>::load(package)?;
    let blobs: Arc<dyn Blobs> = Arc::new(MemoryBlobs::new());
    let prefix = scenario.prefix(Office::default(), &blobs).unwrap_or_else(|error| panic!("laid out: {error}"));
    Ok(Episode::open(&prefix, Seed::new(1), scenario.script(), blobs).expect("it opens").0)
}

fn ask(episode: &Episode<Office>, question: &str, arguments: Value) -> Value {
    let frame = Frame::new();
    let looking = Looking { time: episode.now(), frame: &frame, blobs: &**episode.blobs() };
    episode.world().query(question, &arguments, &looking).expect("a good question")
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_text).unwrap_or_else(|| panic!("no text {name} in {value}"))
}

#[test]
fn databases_that_relate_to_each_other_are_filled_whatever_their_files_are_called() {
    let people = "title: People\nproperties:\n  Name: title\n  Leads: {type: relation, database: Teams}\n  Boss: {type: relation, database: People}\n\
                  rows:\n  - {Name: Ada, Leads: [Blue], Boss: [Bea]}\n  - {Name: Bea, id: bea}\n";
    let teams = "title: Teams\nproperties:\n  - {name: Name, type: title}\n  - {name: Members, type: relation, database: people}\n\
                 rows:\n  - {Name: Blue, Members: [Ada, bea]}\n  - {Name: Red}\n";
    for (first, second) in [("a", "b"), ("b", "a")] {
        let (one, two) = (format!("world/knowledge/{first}.yaml"), format!("world/knowledge/{second}.yaml"));
        let episode = opened(&[(&one, people), (&two, teams)]).expect("it loads");
        let row = |name: &str| ask(&episode, "knowledge.row", map! { "row" => name });
        let property = |row: &Value, name: &str| row.get("properties").and_then(|all| all.get(name)).cloned();
        let (ada, blue) = (row("Ada"), row("Blue"));
        let ids = |ids: &[&str]| Some(ids.iter().copied().collect::<Value>());
        assert_eq!(property(&ada, "Leads"), ids(&[text(&blue, "id")]), "{first}");
        assert_eq!(property(&blue, "Members"), ids(&[text(&ada, "id"), "bea"]), "{first}");
        assert_eq!(property(&ada, "Boss"), ids(&["bea"]), "{first}");
    }
}

#[test]
fn a_folder_beside_a_page_holds_what_lies_in_it_and_front_matter_gives_id_and_title() {
    let episode = opened(&[
        ("world/knowledge/handbook.md", "# The handbook\nAll of it.\n"),
        ("world/knowledge/handbook/leave.md", "---\nid: leave-rules\ntitle: Leave\n---\nTwenty days.\n"),
        ("world/knowledge/handbook/leave/old/2019.md", "# Leave in 2019\nTen days.\n"),
        ("world/knowledge/handbook/rooms.yaml", "properties: {Name: title}\nrows: [{Name: Blue}]\n"),
    ])
    .expect("it loads");
    let page = |name: &str| ask(&episode, "knowledge.page", map! { "page" => name });
    assert_eq!(text(&page("The handbook"), "id"), "handbook");
    assert_eq!((text(&page("leave-rules"), "title"), text(&page("leave-rules"), "parent")), ("Leave", "handbook"));
    assert_eq!(text(&page("Leave in 2019"), "parent"), "leave-rules", "the nearest page above");
    let markdown = ask(&episode, "knowledge.markdown", map! { "page" => "Leave" });
    assert_eq!(markdown.as_text().map(str::trim), Some("Twenty days."), "front matter is no content");
    let databases = ask(&episode, "knowledge.databases", map! {});
    let rooms = databases.as_list().expect("databases").iter().find(|each| text(each, "title") == "rooms");
    assert_eq!(text(rooms.expect("it is there"), "parent"), "handbook");
}

#[test]
fn front_matter_that_says_something_else_is_refused_at_its_line() {
    let problems =
        opened(&[("world/knowledge/a.md", "---\nid: a\nowner: x\n---\ntext\n")]).map(|_| ()).expect_err("refused");
    assert_eq!((problems[0].rule, problems[0].line), ("scenario/unknown-key", Some(3)));
}

#[test]
fn a_side_file_says_whose_a_calendar_is_and_that_it_leaves_the_time_free() {
    let episode = opened(&[
        ("world/calendars/holidays.ics", FEED),
        ("world/calendars/holidays.yaml", "owner: nobody\ndescription: Bank holidays\nleaves_time_free: true\n"),
        ("world/calendars/plan.yaml", "owner: omar\n"),
        ("world/calendars/own.ics", FEED),
    ])
    .expect("it loads");
    let all = ask(&episode, "calendar.calendars", map! {});
    let named = |name: &str| all.as_list().expect("calendars").iter().find(|each| text(each, "name") == name).cloned();
    let holidays = named("holidays").expect("it is there");
    assert_eq!((text(&holidays, "description"), holidays.get("owner")), ("Bank holidays", Some(&Value::Null)));
    assert_eq!(holidays.get("leaves_time_free"), Some(&Value::Bool(true)));
    assert_eq!(holidays.get("events"), Some(&Value::Int(1)));
    let plan = named("plan").expect("it is there");
    assert!(text(&plan, "owner").starts_with("omar@"), "{plan}");
    assert!(text(&named("own").expect("it is there"), "owner").starts_with("ann@"));
    let range = map! { "from" => "2026-03-16T00:00:00+01:00", "until" => "2026-03-17T00:00:00+01:00", "calendars" => vec!["holidays"] };
    let step = episode.clone().call(ToolCall::new("calendar.free_busy", range)).expect("it goes on");
    let busy = step.answer.expect("an answer").get("busy").and_then(|busy| busy.get("holidays")).cloned();
    assert_eq!(busy, Some(Value::List(Vec::new())));
}

#[test]
fn a_side_file_that_names_nobody_who_is_there_is_refused() {
    let problems = opened(&[("world/calendars/plan.yaml", "owner: omra\n")]).map(|_| ()).expect_err("refused");
    assert_eq!(problems[0].rule, "scenario/unknown-person");
}
