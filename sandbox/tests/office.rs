//! The shell of an office, played with the host and executed again without it. Where bubblewrap does not run, the refusal is what is recorded.

use std::sync::Arc;

use dayshift_engine::codec::Stored;
use dayshift_engine::{
    Blobs, Episode, Genesis, Head, Host, MemoryBlobs, Plan, PlannedDay, Prefix, Reaction, Recorded, Rejection, Scene,
    Script, ScriptError, Seed, SimTime, ToolCall, Value, World, map, verify_chain,
};
use dayshift_sandbox::Sandbox;
use dayshift_services::Office;

/// A day in which nothing happens by itself.
struct Quiet(Plan);

impl Script<Office> for Quiet {
    fn plan(&self) -> &Plan {
        &self.0
    }

    fn holds(&self, _index: usize, _scene: &Scene<'_, Office>) -> Result<bool, ScriptError> {
        Ok(false)
    }

    fn react(&self, _index: usize, memory: &Value, _scene: &Scene<'_, Office>) -> Result<Reaction, ScriptError> {
        Ok(Reaction { memory: memory.clone(), ..Reaction::default() })
    }
}

struct Table {
    prefix: Prefix<Office>,
    script: Arc<dyn Script<Office>>,
    blobs: Arc<MemoryBlobs>,
}

impl Table {
    fn new(shell: Option<Value>) -> Self {
        let opens: SimTime = "2026-03-16T08:00:00Z".parse().expect("a time");
        let day =
            PlannedDay { name: "mon".into(), opens, ends: opens, notification: "Hello.".to_owned(), closing: None };
        let script: Arc<dyn Script<Office>> =
            Arc::new(Quiet(Plan { days: vec![day], closes: opens, ..Plan::default() }));
        let blobs = Arc::new(MemoryBlobs::new());
        let digest = blobs.put(Arc::from(*b"manifest"));
        let numbers = blobs.put(Arc::from(*b"1\n2\n3\n"));
        let genesis = Genesis { scenario: "shell-v1".into(), digest, blobs: vec![digest, numbers], epoch: opens };
        let ann = map! { "name" => "ann", "display" => "Ann Lee", "address" => "ann@acme.example", "agent" => true };
        let mut setup = vec![
            ToolCall::new("people.settle", map! { "zone" => "Europe/Berlin" }),
            ToolCall::new("people.introduce", ann),
            ToolCall::new("files.import", map! { "path" => "/in/numbers.txt", "blob" => numbers.to_string() }),
        ];
        setup.extend(shell.map(|limits| ToolCall::new("shell.turn_on", limits)));
        let prefix = Prefix::build(Office::default(), genesis, setup, Arc::clone(&script), blobs.clone());
        Self { prefix: prefix.expect("laid out"), script, blobs }
    }

    fn open(&self, host: Option<Arc<dyn Host>>) -> Episode<Office> {
        let opened = Episode::open(&self.prefix, Seed::new(1), Arc::clone(&self.script), self.blobs.clone());
        let mut episode = opened.expect("opened").0;
        if let Some(host) = host {
            episode.set_host(host);
        }
        episode
    }
}

fn run(episode: &mut Episode<Office>, arguments: Value) -> Result<Value, Rejection> {
    episode.call(ToolCall::new("shell.run", arguments)).expect("recorded").answer
}

fn play(episode: &mut Episode<Office>) -> Vec<Result<Value, Rejection>> {
    vec![
        run(
            episode,
            map! { "command" => "s=0; while read n; do s=$((s+n)); done < numbers.txt; echo $s > /workspace/sum.txt; head -c 3000 /dev/urandom > noise; rm numbers.txt; date +%N", "folder" => "/in" },
        ),
        run(episode, map! { "command" => "cat sum.txt; wc -c < in/noise; ls in; exit 4" }),
        run(episode, map! { "command" => "true", "folder" => "/nowhere" }),
    ]
}

fn records(episode: &Episode<Office>) -> Vec<Arc<[u8]>> {
    episode.log().since(0).map(Arc::clone).collect()
}

#[test]
fn what_a_command_changes_is_in_the_workspace_and_replays_without_the_host() {
    let table = Table::new(Some(map! { "timeout_seconds" => 20_i64 }));
    let sandbox = Arc::new(Sandbox::new());
    let mut episode = table.open(Some(sandbox.clone()));
    let answers = play(&mut episode);
    assert_eq!(answers[2].as_ref().err().map(|rejection| &*rejection.code), Some("files/not-found"));
    if let Some(why) = sandbox.unavailable() {
        eprintln!("no command was run: {why}");
        for answer in &answers[..2] {
            assert_eq!(answer, &Err(Rejection::new("shell/unavailable", why.clone())));
        }
    } else {
        let first = answers[0].as_ref().expect("run");
        assert_eq!(first.get("exit_code"), Some(&0_i64.into()));
        assert_eq!(first.get("changed"), Some(&["/in/noise", "/sum.txt"].into_iter().collect()));
        assert_eq!(first.get("deleted"), Some(&["/in/numbers.txt"].into_iter().collect()));
        let second = answers[1].as_ref().expect("run");
        assert_eq!(second.get("exit_code"), Some(&4_i64.into()));
        assert_eq!(second.get("stdout").and_then(Value::as_text), Some("6\n3000\nnoise\n"));
        let mut other = table.open(Some(sandbox));
        play(&mut other);
        assert_ne!(records(&other), records(&episode), "noise and the host's time are others each time");
    }
    let recorded = Recorded::of(&records(&episode), &*table.blobs).expect("whole");
    let mut again = table.open(Some(Arc::new(recorded)));
    assert_eq!(play(&mut again), answers);
    assert_eq!(records(&again), records(&episode));
    assert_eq!(again.world().digest(), episode.world().digest());
}

#[test]
fn what_is_recorded_of_a_command_decides_what_it_changed() {
    let table = Table::new(Some(map! {}));
    let mut episode = table.open(Some(Arc::new(Sandbox::new())));
    play(&mut episode);
    let honest = records(&episode);
    let at = honest.iter().position(|record| {
        Stored::new(record).and_then(|stored| stored.head()).is_ok_and(|head| head.brought.is_some())
    });
    let at = at.expect("a command was run, or refused for a reason of the host");
    // What was brought back is altered, and the events are left as they are: executing the log again comes to other bytes.
    let mut forged = honest.clone();
    let mut bytes = forged[at].to_vec();
    let places = |needle: &[u8]| {
        let found = bytes.windows(needle.len()).enumerate().filter(|(_, window)| *window == needle);
        found.map(|(place, _)| place).collect::<Vec<_>>()
    };
    // The command itself names the file first.
    let place = places(b"/sum.txt").get(1).or(places(b"bubblewrap").first()).copied().expect("an outcome");
    bytes[place + 1] = b'X';
    forged[at] = bytes.into();
    let mut again = table.open(Some(Arc::new(Recorded::of(&forged, &*table.blobs).expect("whole"))));
    play(&mut again);
    assert_ne!(records(&again)[at], forged[at]);
    let chain = verify_chain(forged.iter().map(|record| &**record), Head::default(), episode.log().head());
    assert!(chain.is_err(), "and the chain is broken");
}

#[test]
fn an_office_without_a_shell_knows_no_such_tool() {
    let table = Table::new(None);
    let mut episode = table.open(Some(Arc::new(Sandbox::new())));
    let refused = run(&mut episode, map! { "command" => "true" }).expect_err("no shell");
    assert_eq!(refused.code, "call/unknown-tool");
    assert!(!refused.message.contains("shell,"), "{refused}");
    let mut without_host = Table::new(Some(map! {})).open(None);
    let refused = run(&mut without_host, map! { "command" => "true" }).expect_err("no host");
    assert_eq!(refused.code, "shell/unavailable");
}
