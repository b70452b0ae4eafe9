//! Errors as types, in boxes, from text, with sources, and taken out of their boxes.

use std::error::Error;
use std::fmt;
use std::num::{ParseFloatError, ParseIntError};

use crate::check::digest_text;

agree!(converted, from_text, chains, taken_out, io_errors);

#[derive(Debug)]
enum Failure {
    Number(ParseIntError),
    Float(ParseFloatError),
    Text(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Number(error) => write!(f, "number: {error}"),
            Failure::Float(error) => error.fmt(f),
            Failure::Text(text) => f.write_str(text),
        }
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Failure::Number(error) => Some(error),
            Failure::Float(error) => Some(error),
            Failure::Text(_) => None,
        }
    }
}

impl From<ParseIntError> for Failure {
    fn from(error: ParseIntError) -> Self {
        Failure::Number(error)
    }
}

impl From<ParseFloatError> for Failure {
    fn from(error: ParseFloatError) -> Self {
        Failure::Float(error)
    }
}

impl From<&str> for Failure {
    fn from(text: &str) -> Self {
        Failure::Text(text.into())
    }
}

fn read(x: u8) -> Result<u32, Failure> {
    let number: u32 = ["12", "x", "", "3", "-1"][x as usize % 5].parse()?;
    if number > 10 {
        Err("large")?;
    }
    let float: f32 = ["1e", "2.5"][x as usize / 5 % 2].parse()?;
    Ok(number + float as u32)
}

fn converted(x: u8) -> Result<u32, u64> {
    read(x).map_err(|error| digest_text(&format!("{error} {error:?}")))
}

fn from_text(x: u8) -> Result<u32, u64> {
    fn choose(x: u8) -> Result<u32, Box<dyn Error + Send + Sync>> {
        match x / 50 {
            0 => Err("small".into()),
            1 => Err(format!("middle {x}").into()),
            2 => Err(Box::new(fmt::Error)),
            _ => Ok(x.to_string().parse()?),
        }
    }
    choose(x).map_err(|error| digest_text(&error.to_string()) ^ u64::from(error.is::<fmt::Error>()))
}

fn chains(x: u8) -> (usize, u64) {
    let Err(error) = read(x) else {
        return (0, 0);
    };
    let chain = std::iter::successors(Some(&error as &dyn Error), |&error| error.source());
    let texts: Vec<String> = chain.map(ToString::to_string).collect();
    (texts.len(), digest_text(&texts.concat()))
}

fn taken_out(x: u8) -> (Option<bool>, bool) {
    let error: Box<dyn Error> = match read(x) {
        Err(error) => Box::new(error),
        Ok(_) => "none".into(),
    };
    let is_text = error.is::<Failure>();
    let failure = error.downcast::<Failure>().ok();
    (
        failure.map(|failure| matches!(*failure, Failure::Text(_))),
        is_text,
    )
}

/// An `io::Error` can be made and asked for its kind; only its text is the operating system's.
fn io_errors(x: u8) -> (bool, bool) {
    use std::io::{Error, ErrorKind, Read};
    let kind = [ErrorKind::NotFound, ErrorKind::Other][x as usize % 2];
    let error = Error::from(kind);
    let mut two = [0; 2];
    let short = (&[x][..]).read_exact(&mut two);
    let at_end = short.is_err_and(|error| error.kind() == ErrorKind::UnexpectedEof);
    (error.kind() == ErrorKind::NotFound, at_end)
}
