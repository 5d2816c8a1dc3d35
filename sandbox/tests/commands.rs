//! Commands in the sandbox: what they see, what they may use, and what comes back. Where bubblewrap does not run, each test says so and
//! checks that the answer says so too.

#![expect(
    clippy::disallowed_methods,
    reason = "an edge: how long a command takes is what some of these tests are about"
)]

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use dayshift_engine::{BlobId, Blobs, Content, Errand, ErrandEntry, Host, MemoryBlobs, Seq, SimTime, Value, map};
use dayshift_sandbox::Sandbox;

static SANDBOX: LazyLock<Sandbox> = LazyLock::new(Sandbox::new);

/// A workspace and what a command may use.
struct Bench {
    blobs: MemoryBlobs,
    entries: Vec<ErrandEntry>,
    limits: Vec<(&'static str, i64)>,
}

fn bench() -> Bench {
    let limits = vec![
        ("timeout_seconds", 20),
        ("memory_mib", 512),
        ("output_bytes", 4096),
        ("processes", 32),
        ("changes_max", 100),
    ];
    Bench { blobs: MemoryBlobs::new(), entries: Vec::new(), limits }
}

impl Bench {
    fn file(mut self, path: &str, content: &[u8]) -> Self {
        self.add(path, Some(Content::Inline(content.into())));
        self
    }

    fn folder(mut self, path: &str) -> Self {
        self.add(path, None);
        self
    }

    fn add(&mut self, path: &str, content: Option<Content>) {
        let modified = "2026-03-16T09:00:00Z".parse().expect("a time");
        self.entries.push(ErrandEntry { path: path.into(), content, mode: 0o644, modified });
    }

    fn limit(mut self, name: &'static str, limit: i64) -> Self {
        self.limits.retain(|(known, _)| *known != name);
        self.limits.push((name, limit));
        self
    }

    fn carry_out(&self, sandbox: &Sandbox, command: &str) -> Value {
        let now: SimTime = "2026-03-16T10:00:00Z".parse().expect("a time");
        let mut order = map! {
            "kind" => "shell", "command" => command, "folder" => "/", "zone" => "Europe/Berlin", "now" => now.as_millis(),
        };
        if let Value::Map(order) = &mut order {
            order.extend(self.limits.iter().map(|(name, limit)| ((*name).into(), Value::from(*limit))));
        }
        sandbox.carry_out(Seq::new(1), &Errand { order, entries: self.entries.clone() }, &self.blobs)
    }

    /// Runs a command. Nothing if commands do not run here; then that is what the outcome says.
    fn run(&self, command: &str) -> Option<Value> {
        let outcome = self.carry_out(&SANDBOX, command);
        if let Some(why) = SANDBOX.unavailable() {
            eprintln!("no command was run: {why}");
            assert_eq!(outcome, map! { "unavailable" => why });
            return None;
        }
        assert_eq!(outcome.get("unavailable"), None, "{outcome}");
        Some(outcome)
    }

    fn content(&self, outcome: &Value, path: &str) -> Option<Vec<u8>> {
        let listed = outcome.get("changes").and_then(Value::as_list).expect("a list");
        let change = listed.iter().find(|change| text(change, "path") == path)?;
        let id: BlobId = text(change, "blob").parse().ok()?;
        self.blobs.get(id).map(|bytes| bytes.to_vec())
    }
}

fn text(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_text).unwrap_or_default().to_owned()
}

fn exit(outcome: &Value) -> Option<i64> {
    outcome.get("exit_code").and_then(Value::as_int)
}

fn changes(outcome: &Value) -> Vec<String> {
    let listed = outcome.get("changes").and_then(Value::as_list).expect("a list");
    listed.iter().map(|change| format!("{} {}", text(change, "kind"), text(change, "path"))).collect()
}

#[test]
fn a_command_sees_the_workspace_and_its_changes_come_back() {
    let bench = bench().file("/a.txt", b"one\n").folder("/in").file("/in/b.txt", b"two\n").file("/same", b"same");
    let command = "cat a.txt in/b.txt; stat -c %Y a.txt; echo more >> a.txt; mkdir -p new/deep; echo x > new/deep/c; chmod 755 new/deep/c; \
                   rm -r in; touch same; echo oops >&2; exit 3";
    let Some(outcome) = bench.run(command) else { return };
    assert_eq!(text(&outcome, "stdout"), "one\ntwo\n1773651600\n", "content, and simulated time");
    assert_eq!((text(&outcome, "stderr"), exit(&outcome)), ("oops\n".to_owned(), Some(3)));
    let expected = ["deleted /in", "folder /new", "folder /new/deep", "file /a.txt", "file /new/deep/c"];
    assert_eq!(changes(&outcome), expected);
    assert_eq!(bench.content(&outcome, "/a.txt").as_deref(), Some(&b"one\nmore\n"[..]));
    let listed = outcome.get("changes").and_then(Value::as_list).expect("a list");
    assert_eq!(listed[4].get("mode"), Some(&Value::from(0o755_i64)));
}

#[test]
fn a_file_and_a_folder_can_change_places_and_permissions_count() {
    let bench = bench().file("/file", b"f").folder("/folder").file("/folder/inner", b"i").file("/mode", b"m");
    let Some(outcome) = bench.run("rm file; mkdir file; rm -r folder; echo f > folder; chmod 600 mode") else { return };
    let expected = ["deleted /file", "deleted /folder", "folder /file", "file /folder", "file /mode"];
    assert_eq!(changes(&outcome), expected);
    let listed = outcome.get("changes").and_then(Value::as_list).expect("a list");
    assert_eq!(listed[3].get("mode"), Some(&Value::from(0o644_i64)), "whatever the host's usual bits are");
}

#[test]
fn only_files_and_folders_come_back() {
    let bench = bench().file("/a", b"content");
    let command = "ln -s /etc/passwd outside; ln -s ../../../../etc/hostname climbing; ln -s a inside; ln -s /workspace/a absolute; ln -s nowhere dangling; \
                   ln -s . loop; mkfifo pipe; mkdir shut; echo x > shut/x; chmod 000 shut; echo s > secret; chmod 000 secret; touch '*' $'bad\\xff'";
    let Some(outcome) = bench.run(command) else { return };
    let expected = ["folder /shut", "file /absolute", "file /inside", "file /secret", "file /shut/x"];
    assert_eq!(changes(&outcome), expected);
    assert_eq!(bench.content(&outcome, "/inside").as_deref(), Some(&b"content"[..]));
    let dropped = outcome.get("dropped").and_then(Value::as_list).expect("a list");
    let dropped: Vec<String> =
        dropped.iter().map(|each| format!("{}: {}", text(each, "path"), text(each, "why"))).collect();
    let link = "a symbolic link that leads to no file of the workspace";
    let expected = [
        "/*: a path that the workspace does not take".to_owned(),
        "/bad\u{fffd}: a name that is no UTF-8".to_owned(),
        format!("/climbing: {link}"),
        format!("/dangling: {link}"),
        format!("/loop: {link}"),
        format!("/outside: {link}"),
        "/pipe: a pipe".to_owned(),
    ];
    assert_eq!(dropped, expected);
}

#[test]
fn a_command_sees_and_reaches_nothing_else() {
    let secret = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(secret.path(), "secret").expect("written");
    std::fs::set_permissions(secret.path(), std::fs::Permissions::from_mode(0o644)).expect("readable by all");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port of this machine");
    let port = listener.local_addr().expect("bound").port();
    let command = format!(
        "cat {secret}; ls /home /root /var 2>&1; touch /usr/x /x /etc/x /dev/x /dev/shm/x; (echo > /dev/tcp/127.0.0.1/{port}) && echo connected; \
         env | cut -d= -f1 | sort | tr '\\n' ' '; id -u; {nested}",
        nested = "perl -e 'print qq(nested\\n) if syscall(272, 0x10000000) == 0'",
        secret = secret.path().display(),
    );
    let Some(outcome) = bench().run(&command) else { return };
    let stdout = text(&outcome, "stdout");
    assert!(!stdout.contains("secret\n") && !stdout.contains("connected"), "{stdout}");
    for path in ["/home", "/root", "/var"] {
        assert!(stdout.contains(&format!("cannot access '{path}'")), "{stdout}");
    }
    assert!(stdout.contains("HOME LANG PATH PWD SHLVL TERM TMPDIR TZ USER _ 1000\n"), "{stdout}");
    let stderr = text(&outcome, "stderr");
    for path in ["/usr/x", "/x", "/etc/x", "/dev/x", "/dev/shm/x"] {
        assert!(stderr.contains(&format!("cannot touch '{path}'")), "{stderr}");
        assert!(!Path::new(path).exists());
    }
    assert!(!stdout.contains("nested"), "{stdout}");
    assert!(changes(&outcome).is_empty(), "{outcome}");
}

#[test]
fn time_is_limited_and_what_was_written_until_then_comes_back() {
    let started = Instant::now();
    let bench = bench().limit("timeout_seconds", 1);
    let Some(outcome) = bench.run("echo begun > a; (sleep 60; echo late > b) & sleep 60") else { return };
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
    assert_eq!(outcome.get("timed_out"), Some(&true.into()));
    assert_eq!((exit(&outcome), changes(&outcome)), (None, vec!["file /a".to_owned()]));
}

#[test]
fn what_a_command_leaves_running_ends_with_it() {
    let bench = bench();
    let started = Instant::now();
    let Some(outcome) = bench.run("(exec >&- 2>&-; while true; do echo x >> a; done) & sleep 0.1; kill -9 $$") else {
        return;
    };
    assert!(started.elapsed() < Duration::from_secs(15));
    assert_eq!((exit(&outcome), changes(&outcome)), (Some(137), vec!["file /a".to_owned()]), "{outcome}");
}

#[test]
fn memory_is_limited_of_one_process_and_of_all_together() {
    let bench = bench().limit("memory_mib", 64);
    let Some(outcome) = bench.run("x=$(head -c 500000000 /dev/zero | tr '\\0' x); echo ${#x}") else { return };
    assert_ne!((exit(&outcome), text(&outcome, "stdout").as_str()), (Some(0), "500000000\n"), "{outcome}");
    let many =
        "for i in 1 2 3 4 5 6; do (x=$(head -c 25000000 /dev/zero | tr '\\0' x); sleep 20) & done; wait; echo survived";
    let outcome = bench.run(many).expect("it ran before");
    assert_eq!(text(&outcome, "stopped"), "it took more than 64 MiB of memory", "{outcome}");
    assert_eq!((exit(&outcome), text(&outcome, "stdout")), (None, String::new()));
}

#[test]
fn processes_are_limited() {
    let bench = bench().limit("processes", 16).limit("timeout_seconds", 5);
    let started = Instant::now();
    let Some(outcome) = bench.run("bomb() { bomb | bomb & }; bomb; sleep 1; echo alive") else { return };
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
    let refused = text(&outcome, "stderr").contains("fork");
    assert!(refused || text(&outcome, "stopped") == "it had more than 16 processes", "{outcome}");
    let fine = bench.run("for i in 1 2 3 4 5 6 7 8; do sleep 0.2 & done; wait; echo done").expect("it ran before");
    assert_eq!((exit(&fine), text(&fine, "stdout")), (Some(0), "done\n".to_owned()), "{fine}");
}

#[test]
fn output_is_kept_up_to_a_limit_and_a_flood_ends() {
    let bench = bench().limit("output_bytes", 10);
    let Some(outcome) = bench.run("printf 'ééééé'; printf 1234567890 >&2") else { return };
    assert_eq!((text(&outcome, "stdout"), text(&outcome, "stderr")), ("ééééé".to_owned(), "1234567890".to_owned()));
    let outcome = bench.run("printf 'xééééé'").expect("it ran before");
    assert_eq!(
        (text(&outcome, "stdout"), outcome.get("stdout_bytes")),
        ("xéééé".to_owned(), Some(&Value::from(11_i64)))
    );
    let started = Instant::now();
    let outcome = bench.run("yes").expect("it ran before");
    assert!(started.elapsed() < Duration::from_secs(15));
    assert_eq!(text(&outcome, "stopped"), "it printed without end", "{outcome}");
}

#[test]
fn files_are_limited_in_size_and_number() {
    let bench = bench().limit("changes_max", 3);
    let Some(outcome) = bench.run("head -c 9000000 /dev/zero > big; ls -l big | cut -d' ' -f5") else { return };
    assert_eq!(text(&outcome, "stdout"), "8388608\n", "the kernel ends a file there");
    let outcome = bench.run("touch 1 2 3").expect("it ran before");
    assert_eq!((changes(&outcome).len(), outcome.get("refused")), (3, Some(&Value::Null)));
    let outcome = bench.run("touch 1 2 3 4").expect("it ran before");
    assert!(changes(&outcome).is_empty() && text(&outcome, "refused").contains("changed 4 files"), "{outcome}");
}

#[test]
fn where_bubblewrap_is_missing_or_broken_the_answer_says_what_to_do() {
    for program in ["/nonexistent/bwrap", "/bin/false"] {
        let sandbox = Sandbox::with_program(Path::new(program));
        let outcome = bench().carry_out(&sandbox, "true");
        let why = text(&outcome, "unavailable");
        assert!(why.contains("apt-get install bubblewrap"), "{outcome}");
        assert_eq!(sandbox.unavailable(), Some(why));
    }
    let unknown = SANDBOX.carry_out(
        Seq::new(1),
        &Errand { order: map! { "kind" => "fax" }, entries: Vec::new() },
        &MemoryBlobs::new(),
    );
    assert!(unknown.get("unavailable").is_some());
}

#[test]
fn a_command_sees_the_programs_that_are_listed_and_nothing_else_of_the_host() {
    let command = "ls -A / /usr /usr/local 2>&1; find / -xdev -iname '*dayshift*' -not -path '/proc/*' 2>/dev/null; \
                   for name in cargo rustc gcc ssh curl mount sudo dayshift; do command -v $name; done; \
                   python3 -c 'import json, sqlite3, dayshift' 2>&1 | tail -1; echo a b | awk '{print $2}' | sed s/b/c/";
    let Some(outcome) = bench().run(command) else { return };
    let stdout = text(&outcome, "stdout");
    for name in ["home", "root", "var", "opt", "srv", "mnt", "media", "boot", "sys", "run"] {
        assert!(!stdout.lines().any(|line| line == name), "{name}: {stdout}");
    }
    assert!(!stdout.contains("/cargo") && !stdout.contains("/gcc") && !stdout.contains("/dayshift"), "{stdout}");
    assert!(stdout.contains("No module named 'dayshift'") || stdout.contains("python3: command not found"), "{stdout}");
    assert!(stdout.ends_with("c\n"), "{stdout}");
}

#[test]
fn listings_show_no_time_of_the_host() {
    let bench = bench().file("/a.txt", b"one").folder("/in");
    let Some(outcome) = bench.run("ls -la --time-style=full-iso . / /usr /etc") else { return };
    let stdout = text(&outcome, "stdout");
    assert!(stdout.contains("2026-03-16 10:00:00.000000000 +0100 a.txt"), "{stdout}");
    assert!(stdout.contains("2026-03-16 11:00:00.000000000 +0100 .\n"), "the workspace, as of now: {stdout}");
    assert!(stdout.contains("2000-01-01 01:00:00.000000000 +0100 ..\n"), "what is around it: {stdout}");
    // What the kernel shows has the time of the machine; programs have theirs.
    for line in stdout.lines().filter(|line| line.starts_with(['d', '-', 'l'])) {
        let is_kernel = ["proc", "dev"].iter().any(|name| line.ends_with(&format!(" {name}")));
        let is_told = line.contains(" 2026-03-16 ") || line.contains(" 2000-01-01 ");
        assert!(is_kernel || is_told || line.contains(" nobody ") || line.contains(" 65534 "), "{line}");
    }
}

#[test]
fn memory_that_no_process_shows_cannot_be_had() {
    let bench = bench();
    let command = r#"perl -e '
        for (["memfd_create", 319, "x", 0], ["shmget", 29, 0, 1 << 20, 0x3ff], ["msgget", 68, 0, 0x3ff], ["io_uring_setup", 425, 8, 0],
             ["unshare", 272, 0x10000000], ["ptrace", 101, 0, 0, 0, 0]) {
            my ($name, $number, @arguments) = @$_;
            print "$name: ", syscall($number, @arguments) == -1 && $!{EPERM} ? "refused" : "made", "
";
        }'"#;
    let Some(outcome) = bench.run(command) else { return };
    if cfg!(target_arch = "x86_64") {
        let refused = "memfd_create: refused\nshmget: refused\nmsgget: refused\nio_uring_setup: refused\nunshare: refused\nptrace: refused\n";
        assert_eq!(text(&outcome, "stdout"), refused, "{outcome}");
    }
}

#[test]
fn files_without_a_name_count_as_files_with_one_do() {
    // Open files that are removed: 200 of 8 MiB would be 1.6 GB.
    let command = r#"perl -e '
        my (@open, $written); my $block = "x" x (1 << 20);
        for my $number (1 .. 200) {
            open(my $file, ">", "f$number") or last; unlink "f$number"; push @open, $file;
            for (1 .. 8) { my $bytes = syswrite($file, $block) // last; $written += $bytes; }
        }
        print $written > 60 << 20 && $written < 70 << 20 ? "full" : $written, "
";'"#;
    for folder in ["/workspace", "/tmp"] {
        let Some(outcome) = bench().run(&format!("cd {folder}; {command}; df -h . | tail -1")) else { return };
        assert!(text(&outcome, "stdout").starts_with("full\n"), "{outcome}");
        assert!(changes(&outcome).is_empty());
    }
}

#[test]
fn folders_nested_deeper_than_any_path_leave_nothing_on_the_host() {
    let command = r#"perl -e '
        my $name = "d" x 200; my $block = "x" x (1 << 20);
        for my $depth (1 .. 5000) {
            mkdir $name and chdir $name or last;
            open(my $file, ">", "f") or last; syswrite($file, $block); close $file;
        }
        print "deep
";'"#;
    let started = Instant::now();
    let bench = bench();
    let Some(outcome) = bench.run(command) else { return };
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
    assert_eq!(text(&outcome, "stdout"), "deep\n", "{outcome}");
    let kept = std::fs::read_dir(std::env::temp_dir()).expect("there is one").flatten();
    for folder in kept.filter(|entry| entry.file_name().to_string_lossy().starts_with("dayshift-shell-")) {
        assert!(bytes_below(&folder.path()) < 100_000, "{}", folder.path().display());
    }
}

fn bytes_below(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => bytes_below(&entry.path()),
            Ok(metadata) => metadata.len(),
            Err(_) => 0,
        })
        .sum()
}

#[test]
fn files_are_counted_even_if_they_are_empty() {
    let command =
        "perl -e 'for my $f (1 .. 10000000) { open(my $file, q(>), qq(/tmp/$f)) or last; close $file }'; echo done";
    let started = Instant::now();
    let Some(outcome) = bench().run(command) else { return };
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
    assert_eq!(text(&outcome, "stopped"), "it made more than 200000 files", "{outcome}");
}

#[test]
fn links_are_followed_inside_the_workspace_and_nowhere_else() {
    let bench = bench().file("/a", b"content").folder("/in").file("/in/b", b"inner");
    let command = "ln -s in folder; ln -s folder/b through; ln -s ./in/../a dotted; ln -s /workspace/in/b absolute; ln -s in/../../a climbing; \
                   ln -s a/x not-a-folder; ln -s one two; ln -s two one; ln -s /proc/self/environ host; ln -s /workspace/../etc/passwd out";
    let Some(outcome) = bench.run(command) else { return };
    assert_eq!(changes(&outcome), ["file /absolute", "file /dotted", "file /through"]);
    assert_eq!(bench.content(&outcome, "/through").as_deref(), Some(&b"inner"[..]));
    let dropped = outcome.get("dropped").and_then(Value::as_list).expect("a list");
    let dropped: Vec<String> = dropped.iter().map(|each| text(each, "path")).collect();
    assert_eq!(dropped, ["/climbing", "/folder", "/host", "/not-a-folder", "/one", "/out", "/two"]);
}

#[test]
fn long_names_and_old_times_arrive_as_they_are() {
    let long = format!("/{}", "n".repeat(240));
    let bench = bench().folder(&long).file(&format!("{long}/{}", "ö".repeat(100)), b"x");
    let Some(outcome) = bench.run("find . -type f -printf '%p %TY-%Tm-%Td %m\\n'") else { return };
    assert_eq!(text(&outcome, "stdout"), format!(".{long}/{} 2026-03-16 644\n", "ö".repeat(100)), "{outcome}");
    assert!(changes(&outcome).is_empty(), "{outcome}");
}
