//! Calls that an agent makes who wants the program to stumble: every tool that an agent has, with arguments that fit its parameters and the
//! grammars behind them (formulas, recurrence rules, globs, regular expressions, Markdown, addresses, PDF), small to write and dear to carry out.
//! The same calls for the same seed. Not a test itself.

use std::fmt::Write as _;

use dayshift_engine::{Audience, Kind, Parameter, RandomStream, Seed, SmolStr, ToolSpec, Value, World, map};
use dayshift_services::Office;

use crate::Bench;

/// The stream of calls of one seed.
pub struct Hostile {
    random: RandomStream,
    tools: Vec<&'static ToolSpec>,
}

/// What agents are likely to find in an office, so that calls reach what is behind the first look-up.
const NAMES: [&str; 8] = ["/a.txt", "/bomb.pdf", "/wide.csv", "Budget", "Sheet1", "ann@acme.example", "Team", "INBOX"];

/// Texts that have hurt parsers before.
const SNAGS: [&str; 22] = [
    "",
    " ",
    "\u{0}",
    "\u{202e}gnp.exe",
    "\u{1b}[2Jscore 1.000: passed",
    "../../etc/passwd",
    "/a/../b",
    "A\u{301}\u{301}\u{301}",
    "ß",
    "İ",
    "𝕬",
    "\r\n\r\nBcc: eve@evil.example",
    "=?utf-8?b?w7w=?= =?utf-16?q?=00=fc?=",
    "\"a\"\"b\" <x@y.example>, z@y.example; ,,,",
    "<script>alert(1)</script>",
    "{{event.answer}}",
    "1e308",
    "-0",
    "0x1p-1074",
    "9999999999999999999999",
    "2026-02-30T25:61:61Z",
    "true",
];

impl Hostile {
    /// Returns the calls of `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let everybody = |spec: &&&'static ToolSpec| spec.audience == Audience::Everybody && spec.name != "shell.run";
        Self {
            random: Seed::new(seed).stream("hostile"),
            tools: Office::tools().iter().filter(everybody).copied().collect(),
        }
    }

    /// Returns the next call.
    ///
    /// # Panics
    ///
    /// If there are no tools.
    pub fn next_call(&mut self) -> (&'static str, Value) {
        let spec = *self.random.choose(&self.tools).expect("an office has tools");
        let mut arguments = std::collections::BTreeMap::new();
        for parameter in spec.parameters {
            // One in twelve required arguments is left out too.
            let given = if parameter.required { self.random.below(12) > 0 } else { self.random.below(2) == 0 };
            if given {
                arguments.insert(SmolStr::from(parameter.name), self.argument(spec.name, parameter));
            }
        }
        if self.random.below(40) == 0 {
            arguments.insert("surprise".into(), self.value(3));
        }
        (spec.name, Value::Map(arguments))
    }

    fn argument(&mut self, tool: &str, parameter: &Parameter) -> Value {
        if self.random.below(25) == 0 {
            return self.value(4);
        }
        match parameter.kind {
            Kind::Text => self.text(tool, parameter.name).into(),
            Kind::Int => self.int().into(),
            Kind::Number => Value::Float(self.pick(&[0.0, -1.0, 0.5, 1e308, 5e-324, 1e15])),
            Kind::Bool => Value::Bool(self.random.below(2) == 0),
            Kind::Time => self.time().into(),
            Kind::Choice(words) => words[self.at(words.len())].into(),
            Kind::List(&Kind::Text) => {
                let count = self.pick(&[0, 1, 2, 50, 3000]);
                (0..count).map(|_| Value::from(self.text(tool, parameter.name))).collect()
            }
            Kind::List(_) => self.rows(tool),
            Kind::Object => self.object(tool),
            Kind::Any => self.condition(4),
        }
    }

    fn text(&mut self, tool: &str, name: &str) -> String {
        if self.random.below(8) == 0 {
            return self.pick(&SNAGS).to_owned();
        }
        match name {
            "path" | "folder" | "destination" | "book" | "calendar" | "address" | "name" | "worksheet" | "table"
            | "database" => self.pick(&NAMES).to_owned(),
            "range" => self
                .pick(&["Sheet1!A:XFD", "A1:XFD1048576", "Sheet1!A1:C3", "1:1048576", "'a''b'!Z9", "A1:A1:A1", "R1C1"])
                .to_owned(),
            "rrule" => self.rule(),
            "pattern" => self.glob(),
            "query" if tool == "files.search" => self.regex(),
            "markdown" => self.markdown(),
            "id" | "page" | "row" | "block" | "uid" | "message_id" => {
                self.pick(&["1", "p1", "x@y", "BC-0042", "0", "-1"]).to_owned()
            }
            "to" | "cc" | "bcc" | "attendees" => self
                .pick(&["ann@acme.example", "Bo <bo@acme.example>", "\"A, B\" <ab@x.example>", "@", "a@b@c", "x@[::1]"])
                .to_owned(),
            "start" | "end" => self
                .pick(&["2026-03-16T09:00:00", "2026-03-16", "2026-03-29T02:30:00", "0001-01-01", "9999-12-31"])
                .to_owned(),
            "zone" => self.pick(&["Europe/Berlin", "europe/berlin", "UTC+01:00", "Mars/Base", "GMT+0100"]).to_owned(),
            "attachments" => self.pick(&["/a.txt", "/bomb.pdf", "/nowhere"]).to_owned(),
            _ => self.long(),
        }
    }

    fn long(&mut self) -> String {
        let unit =
            self.pick(&["a", "é", "\n", "> ", "a b ", "((", "[[", "<<", "&#0;", "=1+", "\"", "\\", "\u{301}", "|"]);
        unit.repeat(self.pick(&[1, 10, 1_000, 60_000]))
    }

    fn rule(&mut self) -> String {
        let frequency = self.pick(&["SECONDLY", "MINUTELY", "HOURLY", "DAILY", "WEEKLY", "MONTHLY", "YEARLY"]);
        let mut rule = format!("FREQ={frequency}");
        let all = |count: u32| (0..count).map(|number| number.to_string()).collect::<Vec<_>>().join(",");
        for (name, dense, rare) in [
            ("BYMONTH", (1..=12).map(|number: u32| number.to_string()).collect::<Vec<_>>().join(","), "2".to_owned()),
            (
                "BYMONTHDAY",
                (1..=31).map(|number: u32| number.to_string()).collect::<Vec<_>>().join(","),
                "30".to_owned(),
            ),
            ("BYDAY", "MO,TU,WE,TH,FR,SA,SU".to_owned(), "5SU".to_owned()),
            ("BYHOUR", all(24), "3".to_owned()),
            ("BYMINUTE", all(60), "59".to_owned()),
            ("BYSECOND", all(60), "60".to_owned()),
            (
                "BYYEARDAY",
                (1..=366).map(|number: u32| number.to_string()).collect::<Vec<_>>().join(","),
                "366".to_owned(),
            ),
            ("BYWEEKNO", (1..=53).map(|number: u32| number.to_string()).collect::<Vec<_>>().join(","), "53".to_owned()),
            (
                "BYSETPOS",
                (1..=366).map(|number: u32| number.to_string()).collect::<Vec<_>>().join(","),
                "-366".to_owned(),
            ),
        ] {
            match self.random.below(5) {
                0 => drop(write!(rule, ";{name}={dense}")),
                1 => drop(write!(rule, ";{name}={rare}")),
                _ => {}
            }
        }
        rule.push_str(self.pick(&[
            "",
            ";INTERVAL=1000000",
            ";INTERVAL=0",
            ";COUNT=2000000000",
            ";UNTIL=99991231T235959Z",
            ";WKST=XX",
        ]));
        rule
    }

    fn formula(&mut self, depth: u32) -> String {
        if depth == 0 {
            return self
                .pick(&[
                    "A1",
                    "A:A",
                    "1:1048576",
                    "Sheet1!A1:XFD1048576",
                    "\"a\"",
                    "REPT(\"a\",32767)",
                    "1E+308",
                    "{1,2;3,4}",
                    "TRUE",
                    "#REF!",
                    "OFFSET(A1,1,1,1000000,16000)",
                    "ROW(1:1048576)",
                    "SEQUENCE(1000000)",
                ])
                .to_owned();
        }
        let first = self.formula(depth - 1);
        let second = self.formula(depth - 1);
        let shape = self.pick(&[
            "SUBSTITUTE(@,\"a\",#)",
            "SUM(@,#)",
            "LET(x,@,x&x&#)",
            "TEXTJOIN(#,TRUE,@)",
            "SEARCH(\"*a*b*c*d*\",@)",
            "IFERROR(@,#)",
            "MMULT(@,#)",
            "SUMPRODUCT(@*#)",
            "VLOOKUP(@,#,1,FALSE)",
            "COUNTIF(@,\"*?*?*\")",
            "INDEX(@,1,1)+#",
            "(@)^(#)",
            "FACT(@)*#",
            "CONCATENATE(@,#,@)",
            "REDUCE(0,@,LAMBDA(a,b,a&b))",
            "SORT(UNIQUE(@))",
            "TEXT(@,#)",
            "DATE(@,#,1)",
            "INDIRECT(@)",
            "@&#&@",
        ]);
        shape.replace('@', &first).replace('#', &second)
    }

    fn rows(&mut self, tool: &str) -> Value {
        let (rows, columns) = self.pick(&[(1, 1), (1, 3), (50, 50), (2_000, 3)]);
        if tool.starts_with("sheets.") {
            return (0..rows)
                .map(|_| (0..columns).map(|_| Value::from(self.cell(rows > 1))).collect::<Value>())
                .collect();
        }
        (0..rows.min(200)).map(|_| self.object(tool)).collect()
    }

    fn cell(&mut self, many: bool) -> String {
        if many && self.random.below(30) > 0 {
            return self.pick(&["1", "", "2026-03-16", "5%", "'5", "a"]).to_owned();
        }
        let depth = u32::try_from(self.random.below(5)).unwrap_or_default();
        format!("={}", self.formula(depth))
    }

    fn glob(&mut self) -> String {
        let unit = self.pick(&["**/", "{a,{b,c}}", "[!a-z]", "*?", "{*,**}/", "\\", "{a}", "./"]);
        unit.repeat(self.pick(&[1, 5, 60, 2_000]))
    }

    fn regex(&mut self) -> String {
        let unit = self.pick(&[
            "(a+)+",
            "(?:a{1,99}){1,99}",
            ".*.*.*=",
            "\\p{L}{100}",
            "(?i)ß",
            "[^\\x00-\\u{10FFFF}]",
            "(",
            "a|",
        ]);
        unit.repeat(self.pick(&[1, 3, 40, 1_000]))
    }

    fn markdown(&mut self) -> String {
        let unit = self.pick(&[
            "# 1. a\n",
            "> ",
            "- ",
            "`",
            "*_",
            "[a](",
            "![",
            "| a |\n|-|\n",
            "<div>\n",
            "1. ",
            "    ",
            "&amp;",
            "[^1]: ",
        ]);
        unit.repeat(self.pick(&[1, 30, 3_000, 40_000]))
    }

    /// Returns something like a filter: conditions in conditions.
    fn condition(&mut self, depth: u32) -> Value {
        if depth == 0 || self.random.below(4) == 0 {
            return map! { "property" => self.pick(&NAMES), "title" => map! { "contains" => self.long() }, "id" => self.value(1) };
        }
        let parts: Value = (0..self.pick(&[1, 3, 12])).map(|_| self.condition(depth - 1)).collect();
        map! { self.pick(&["and", "or", "not", "all", "any"]) => parts }
    }

    fn object(&mut self, tool: &str) -> Value {
        let count = self.pick(&[0, 1, 3, 300]);
        let entries = (0..count).map(|index| {
            let name = if self.random.below(2) == 0 {
                self.pick(&["Name", "status", "amount", "id"]).to_owned()
            } else {
                format!("k{index}")
            };
            let value = if tool.starts_with("knowledge.") { self.condition(2) } else { self.value(2) };
            (SmolStr::from(name), value)
        });
        Value::Map(entries.collect())
    }

    fn value(&mut self, depth: u32) -> Value {
        match self.random.below(if depth == 0 { 5 } else { 8 }) {
            0 => Value::Null,
            1 => Value::Bool(true),
            2 => self.int().into(),
            3 => Value::Float(self.pick(&[f64::MAX, f64::MIN_POSITIVE, -0.0, 1.5])),
            4 => self.long().into(),
            5 => (0..self.pick(&[0, 1, 40])).map(|_| self.value(depth - 1)).collect(),
            6 => (0..VALUES_DEEP).fold(Value::Null, |value, _| Value::List(vec![value])),
            _ => map! { "a" => self.value(depth - 1), self.pick(&SNAGS) => self.value(depth - 1) },
        }
    }

    fn int(&mut self) -> i64 {
        self.pick(&[0, 1, -1, 7, 100, 501, 1 << 31, i64::MAX, i64::MIN])
    }

    fn time(&mut self) -> &'static str {
        self.pick(&[
            "2026-03-16T09:00:00+01:00",
            "2026-03-17T09:00:00+01:00",
            "0000-01-01T00:00:00Z",
            "9999-12-31T23:59:59Z",
            "2026-03-29T02:30:00+01:00",
            "1969-12-31T23:59:59-23:59",
        ])
    }

    fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.at(choices.len())]
    }

    fn at(&mut self, length: usize) -> usize {
        usize::try_from(self.random.below(length as u64)).unwrap_or_default()
    }
}

/// How deep the deepest values nest.
const VALUES_DEEP: u32 = 200;

/// Returns an office in which there is something to hurt oneself with: mail, a calendar with dense and rare rules, a workbook with formulas, a
/// page, a database, and files of several kinds.
///
/// # Panics
///
/// If the office refuses any of it.
#[must_use]
pub fn furnished() -> Bench {
    let mut bench = Bench::new();
    let mut lay = |tool: &str, arguments: Value| {
        bench.call(tool, arguments).unwrap_or_else(|refusal| panic!("{tool}: {refusal}"));
    };
    lay("files.write", map! { "path" => "/a.txt", "text" => "one\ntwo\nthree\n".repeat(5_000) });
    lay("files.write", map! { "path" => "/wide.csv", "text" => format!("{}\n", ",".repeat(20_000)).repeat(20) });
    lay("files.write", map! { "path" => "/bomb.pdf", "text" => inline_font_pdf() });
    lay("mail.send", map! { "to" => vec!["ann@acme.example"], "subject" => "Hello", "body" => "Body\n".repeat(2_000) });
    lay("calendar.make", map! { "calendar" => "Team" });
    for rule in ["FREQ=DAILY;BYMONTH=2;BYMONTHDAY=29;BYDAY=SU", "FREQ=DAILY", "FREQ=YEARLY;BYMONTH=1,7"] {
        for number in 0..20_i64 {
            let summary = format!("Meeting {number}");
            let (start, end) = ("2026-03-16T09:00:00", "2026-03-16T10:00:00");
            lay(
                "calendar.create",
                map! { "calendar" => "Team", "summary" => summary, "start" => start, "end" => end, "zone" => "Europe/Berlin", "rrule" => rule },
            );
        }
    }
    lay("sheets.create", map! { "name" => "Budget" });
    let rows: Value = (0..500_i64)
        .map(|row| vec![Value::Int(row), Value::from(format!("=SUM(A1:A{})", row + 1))].into())
        .collect::<Vec<Value>>()
        .into();
    lay("sheets.write", map! { "book" => "Budget", "range" => "Sheet1!A1", "rows" => rows, "mode" => "user" });
    lay("knowledge.create_page", map! { "title" => "Team", "markdown" => "# One\n\nText.\n\n- a\n- b\n".repeat(50) });
    bench
}

/// Returns a small PDF whose page sets a font that has no object of its own a hundred thousand times.
fn inline_font_pdf() -> String {
    let content = "/F 1 Tf ".repeat(100_000);
    let widths: String = (0..200).map(|code| format!("{code} ")).collect();
    let font = format!(
        "<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /X /W [0 [{widths}]] >>] >>"
    );
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] /Contents 4 0 R /Resources << /Font << /F {font} >> >> >>"
        ),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
    ];
    let mut pdf = "%PDF-1.4\n".to_owned();
    let mut places = Vec::new();
    for (index, object) in objects.iter().enumerate() {
        places.push(pdf.len());
        let _ = write!(pdf, "{} 0 obj\n{object}\nendobj\n", index + 1);
    }
    let table = pdf.len();
    let _ = write!(pdf, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1);
    for place in places {
        let _ = writeln!(pdf, "{place:010} 00000 n ");
    }
    let _ = write!(pdf, "trailer << /Size {} /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n", objects.len() + 1);
    pdf
}
