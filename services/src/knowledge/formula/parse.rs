//! Reading a formula: tokens by hand, operators by precedence climbing.

use dayshift_engine::{SmolStr, Value};

use super::{FORMULA_BYTES_MAX, FORMULA_DEPTH_MAX, Function, Node, Op};
use crate::knowledge::rollup::number;

#[derive(Clone, Debug, PartialEq)]
enum Token {
    Number(f64),
    Text(String),
    Word(String),
    Symbol(&'static str),
}

const SYMBOLS: &[&str] =
    &["==", "!=", ">=", "<=", "&&", "||", "+", "-", "*", "/", "%", "^", "(", ")", ",", "?", ":", "<", ">", "!"];

/// Reads a whole formula.
pub(super) fn read(source: &str) -> Result<Node, String> {
    if source.len() > FORMULA_BYTES_MAX {
        return Err(format!("the formula is over {FORMULA_BYTES_MAX} bytes; split it into several properties"));
    }
    let mut parser = Parser { tokens: tokens(source)?, place: 0, depth: 0 };
    let node = parser.expression(0)?;
    match parser.peek() {
        None => Ok(node),
        Some(token) => Err(format!("the formula goes on with {} where it should end", name(token))),
    }
}

fn tokens(source: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = source.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if first == '"' || first == '\'' {
            let (text, length) = quoted(rest, first)?;
            tokens.push(Token::Text(text));
            length
        } else if first.is_ascii_digit() {
            let length =
                rest.find(|character: char| !character.is_ascii_digit() && character != '.').unwrap_or(rest.len());
            let value = rest[..length].parse().map_err(|_| format!("'{}' is no number", &rest[..length]))?;
            tokens.push(Token::Number(value));
            length
        } else if first.is_alphabetic() || first == '_' {
            let length =
                rest.find(|character: char| !character.is_alphanumeric() && character != '_').unwrap_or(rest.len());
            tokens.push(Token::Word(rest[..length].to_owned()));
            length
        } else {
            let symbol = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol));
            let symbol = symbol.ok_or_else(|| format!("the formula has a '{first}' that means nothing"))?;
            tokens.push(Token::Symbol(symbol));
            symbol.len()
        };
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

/// Returns the text that `source` opens with, and how many bytes it takes with its quotes.
fn quoted(source: &str, quote: char) -> Result<(String, usize), String> {
    let mut text = String::new();
    let mut escaped = false;
    for (index, character) in source.char_indices().skip(1) {
        match character {
            other if escaped => {
                text.push(if other == 'n' { '\n' } else { other });
                escaped = false;
            }
            '\\' => escaped = true,
            other if other == quote => return Ok((text, index + 1)),
            other => text.push(other),
        }
    }
    Err("a text in the formula has no closing quote".to_owned())
}

fn name(token: &Token) -> String {
    match token {
        Token::Number(number) => number.to_string(),
        Token::Text(text) => format!("\"{text}\""),
        Token::Word(word) => format!("'{word}'"),
        Token::Symbol(symbol) => format!("'{symbol}'"),
    }
}

struct Parser {
    tokens: Vec<Token>,
    place: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.place)
    }

    fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.place).cloned();
        self.place += 1;
        token
    }

    fn takes(&mut self, symbol: &str) -> bool {
        let there = matches!(self.peek(), Some(Token::Symbol(other)) if *other == symbol);
        self.place += usize::from(there);
        there
    }

    fn expect(&mut self, symbol: &str) -> Result<(), String> {
        if self.takes(symbol) {
            return Ok(());
        }
        Err(match self.peek() {
            Some(token) => format!("the formula has {} where '{symbol}' should be", name(token)),
            None => format!("the formula ends where '{symbol}' should be"),
        })
    }

    /// Reads an expression whose operators bind at least as tightly as `least`.
    fn expression(&mut self, least: u8) -> Result<Node, String> {
        self.depth += 1;
        if self.depth > FORMULA_DEPTH_MAX {
            return Err(format!(
                "the formula nests deeper than {FORMULA_DEPTH_MAX} levels; split it into several properties"
            ));
        }
        let mut left = self.operand()?;
        let mut chained = 0;
        while let Some((op, binding)) = self.peek().and_then(operator).filter(|(_, binding)| *binding >= least) {
            // A chain of operators makes a tree that leans to the left as deep as it is long.
            chained += 1;
            if chained > FORMULA_DEPTH_MAX {
                return Err(format!(
                    "the formula has more than {FORMULA_DEPTH_MAX} operators in a row; use brackets or several properties"
                ));
            }
            self.place += 1;
            // Powers group to the right, all else to the left.
            let right = self.expression(if op == Op::Power { binding } else { binding + 1 })?;
            left = Node::Binary(op, Box::new(left), Box::new(right));
        }
        if least == 0 && self.takes("?") {
            let then = self.expression(0)?;
            self.expect(":")?;
            let otherwise = self.expression(0)?;
            left = Node::If(vec![left, then, otherwise]);
        }
        self.depth -= 1;
        Ok(left)
    }

    fn operand(&mut self) -> Result<Node, String> {
        match self.next() {
            Some(Token::Number(value)) => Ok(Node::Constant(number(value))),
            Some(Token::Text(text)) => Ok(Node::Constant(text.into())),
            Some(Token::Symbol("(")) => {
                let inner = self.expression(0)?;
                self.expect(")")?;
                Ok(inner)
            }
            Some(Token::Symbol("-")) => Ok(Node::Negate(Box::new(self.expression(7)?))),
            Some(Token::Symbol("!")) => Ok(Node::Not(Box::new(self.expression(7)?))),
            Some(Token::Word(word)) => self.word(&word),
            Some(token) => Err(format!("the formula has {} where a value should be", name(&token))),
            None => Err("the formula ends where a value should be".to_owned()),
        }
    }

    fn word(&mut self, word: &str) -> Result<Node, String> {
        match word {
            "true" => return Ok(Node::Constant(Value::Bool(true))),
            "false" => return Ok(Node::Constant(Value::Bool(false))),
            "not" if self.peek() != Some(&Token::Symbol("(")) => return Ok(Node::Not(Box::new(self.expression(7)?))),
            _ => {}
        }
        self.expect("(").map_err(|_| format!("'{word}' is no value; a property is written prop(\"{word}\")"))?;
        if word == "prop" {
            let Some(Token::Text(name)) = self.next() else { return Err("prop takes a name in quotes".to_owned()) };
            self.expect(")")?;
            return Ok(Node::Property(SmolStr::from(name)));
        }
        let mut parts = Vec::new();
        if !self.takes(")") {
            loop {
                parts.push(self.expression(0)?);
                if self.takes(")") {
                    break;
                }
                self.expect(",")?;
            }
        }
        call(word, parts)
    }
}

fn call(word: &str, mut parts: Vec<Node>) -> Result<Node, String> {
    let fold = |op: Op, parts: Vec<Node>| {
        let count = parts.len();
        let folded = parts.into_iter().reduce(|left, right| Node::Binary(op, Box::new(left), Box::new(right)));
        folded
            .filter(|_| (2..=FORMULA_DEPTH_MAX).contains(&count))
            .ok_or_else(|| format!("{word} takes 2 to {FORMULA_DEPTH_MAX} values"))
    };
    match (word, parts.len()) {
        ("if", 2 | 3) => Ok(Node::If(parts)),
        ("ifs", 2..) => Ok(Node::If(parts)),
        ("if" | "ifs", _) => Err("if takes a condition, a value, and a value otherwise".to_owned()),
        ("not", 1) => Ok(Node::Not(Box::new(parts.remove(0)))),
        ("and", _) => fold(Op::And, parts),
        ("or", _) => fold(Op::Or, parts),
        ("add", 2) => fold(Op::Add, parts),
        ("subtract", 2) => fold(Op::Subtract, parts),
        ("multiply", 2) => fold(Op::Multiply, parts),
        ("divide", 2) => fold(Op::Divide, parts),
        ("mod", 2) => fold(Op::Remainder, parts),
        ("pow", 2) => fold(Op::Power, parts),
        ("equal", 2) => fold(Op::Equal, parts),
        ("unequal", 2) => fold(Op::NotEqual, parts),
        _ => {
            let function = Function::read(word).ok_or_else(|| {
                format!("there is no function '{word}'; there are: if, and, or, not, {}", Function::names())
            })?;
            let (least, most) = function.arity();
            if !(least..=most).contains(&parts.len()) {
                return Err(format!("{word} takes {least} to {most} values, not {}", parts.len()));
            }
            Ok(Node::Call(function, parts))
        }
    }
}

fn operator(token: &Token) -> Option<(Op, u8)> {
    let text = match token {
        Token::Symbol(symbol) => symbol,
        Token::Word(word) => word.as_str(),
        Token::Number(_) | Token::Text(_) => return None,
    };
    Some(match text {
        "||" | "or" => (Op::Or, 1),
        "&&" | "and" => (Op::And, 2),
        "==" => (Op::Equal, 3),
        "!=" => (Op::NotEqual, 3),
        "<" => (Op::Less, 4),
        "<=" => (Op::LessOrEqual, 4),
        ">" => (Op::Greater, 4),
        ">=" => (Op::GreaterOrEqual, 4),
        "+" => (Op::Add, 5),
        "-" => (Op::Subtract, 5),
        "*" => (Op::Multiply, 6),
        "/" => (Op::Divide, 6),
        "%" => (Op::Remainder, 6),
        "^" => (Op::Power, 8),
        _ => return None,
    })
}
