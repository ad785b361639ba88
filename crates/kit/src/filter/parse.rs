//! Parses a filter: `or` binds weakest, then `and`, then `not`.

use super::glob::Glob;
use super::{Expr, FilterError, Predicate};

pub(super) fn parse(text: &str) -> Result<Expr, FilterError> {
    let mut parser = Parser { text, rest: text, depth: 0, counted: 0, column: 1 };
    let expr = parser.any()?;
    parser.skip_space();
    match parser.rest.chars().next() {
        None => Ok(expr),
        Some(')') => Err(parser.error("this `)` has no matching `(`")),
        Some(_) => Err(parser.error("expected `and`, `or` or the end of the filter")),
    }
}

struct Parser<'a> {
    text: &'a str,
    rest: &'a str,
    depth: usize,
    /// The last offset whose column was asked for, and that column.
    counted: usize,
    column: usize,
}

impl<'a> Parser<'a> {
    fn any(&mut self) -> Result<Expr, FilterError> {
        let mut any = vec![self.all()?];
        while self.operator('|', "or") {
            any.push(self.all()?);
        }
        Ok(one_or(any, Expr::Or))
    }

    fn all(&mut self) -> Result<Expr, FilterError> {
        let mut all = vec![self.one()?];
        while self.operator('&', "and") {
            all.push(self.one()?);
        }
        Ok(one_or(all, Expr::And))
    }

    fn one(&mut self) -> Result<Expr, FilterError> {
        // The parser and the filter are recursive, and the text comes from the command line.
        if self.depth == MAX_DEPTH {
            return Err(self.error("the filter is nested too deeply"));
        }
        self.depth += 1;
        let expr = if self.operator('!', "not") {
            Expr::Not(Box::new(self.one()?))
        } else if self.take('(') {
            let expr = self.any()?;
            self.expect_close()?;
            expr
        } else {
            self.skip_space();
            let column = self.column();
            Expr::Is(self.predicate()?, column)
        };
        self.depth -= 1;
        Ok(expr)
    }

    fn predicate(&mut self) -> Result<Predicate, FilterError> {
        self.skip_space();
        let start = self.rest;
        let word = self.word();
        if word.is_empty() {
            return Err(self.error("expected a predicate such as id(…), clause(…) or level(…)"));
        }
        if !self.rest.starts_with('(') {
            return match word {
                "and" | "or" | "not" => {
                    self.rest = start;
                    Err(self.error(format!("expected a predicate before `{word}`")))
                }
                _ if Glob::is_pattern(word) => Ok(Predicate::Id(Glob::new(word))),
                _ => Ok(Predicate::IdPart(word.to_owned())),
            };
        }
        self.rest = &self.rest[1..];
        let argument = self.argument()?;
        match word {
            "id" => Ok(Predicate::Id(Glob::new(argument))),
            "clause" => Ok(Predicate::Clause(Glob::new(argument))),
            "op" => Ok(Predicate::Operation(Glob::new(argument))),
            "level" => Ok(Predicate::Level(argument.to_owned())),
            "area" => Ok(Predicate::Area(argument.to_owned())),
            "strength" => Ok(Predicate::Strength(argument.to_owned())),
            unknown => {
                self.rest = start;
                Err(self.error(format!(
                    "unknown predicate `{unknown}`; known are id, clause, level, area, strength \
                     and op"
                )))
            }
        }
    }

    fn argument(&mut self) -> Result<&'a str, FilterError> {
        let Some(end) = self.rest.find([')', '(']).filter(|&end| self.rest[end..].starts_with(')'))
        else {
            return Err(self.error("expected a value and a closing `)`"));
        };
        let argument = self.rest[..end].trim();
        if argument.is_empty() {
            return Err(self.error("expected a value between the parentheses"));
        }
        self.rest = &self.rest[end + 1..];
        Ok(argument)
    }

    fn expect_close(&mut self) -> Result<(), FilterError> {
        if self.take(')') {
            return Ok(());
        }
        Err(self.error("expected `and`, `or` or a closing `)`"))
    }

    fn operator(&mut self, sign: char, word: &str) -> bool {
        if self.take(sign) {
            return true;
        }
        match self.rest.strip_prefix(word) {
            // `order` begins with `or`, and is a word of its own.
            Some(after) if after.is_empty() || after.starts_with(ends_a_word) => {
                self.rest = after;
                true
            }
            _ => false,
        }
    }

    fn take(&mut self, sign: char) -> bool {
        self.skip_space();
        let after = self.rest.strip_prefix(sign);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn word(&mut self) -> &'a str {
        let end = self.rest.find(ends_a_word).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    fn skip_space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn error(&mut self, message: impl Into<String>) -> FilterError {
        FilterError { column: self.column(), message: message.into() }
    }

    /// The column of the rest, counted on from the last call: all at once would be quadratic.
    fn column(&mut self) -> usize {
        let offset = self.text.len() - self.rest.len();
        self.column += self.text[self.counted..offset].chars().count();
        self.counted = offset;
        self.column
    }
}

/// The only expression of a list, or all of them joined.
fn one_or(mut exprs: Vec<Expr>, join: fn(Vec<Expr>) -> Expr) -> Expr {
    if exprs.len() == 1 { exprs.remove(0) } else { join(exprs) }
}

fn ends_a_word(next: char) -> bool {
    next.is_whitespace() || "()&|!".contains(next)
}

const MAX_DEPTH: usize = 64;
