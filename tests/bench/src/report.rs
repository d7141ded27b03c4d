//! What was found: figures with a target, plain rates, and measures that failed; as Markdown.

use std::fmt::Write;

/// What a figure has to be.
#[derive(Clone, Copy)]
pub enum Reach {
    AtLeast(f64),
    AtMost(f64),
}

pub struct Figure {
    pub name: String,
    pub reach: Reach,
    pub unit: &'static str,
    pub samples: Vec<f64>,
}

/// What a contender did, for the record and the chart.
pub struct Rate {
    pub group: &'static str,
    pub name: String,
    pub unit: &'static str,
    pub samples: Vec<f64>,
}

pub struct Failure {
    pub measure: &'static str,
    pub error: String,
}

#[derive(Default)]
pub struct Report {
    /// Under what all of it was measured.
    pub circumstances: String,
    pub figures: Vec<Figure>,
    pub rates: Vec<Rate>,
    pub failures: Vec<Failure>,
}

impl Report {
    pub fn figure(&mut self, name: impl Into<String>, reach: Reach, samples: Vec<f64>) {
        self.figure_in("", name, reach, samples);
    }

    pub fn figure_in(
        &mut self,
        unit: &'static str,
        name: impl Into<String>,
        reach: Reach,
        samples: Vec<f64>,
    ) {
        self.figures.push(Figure {
            name: name.into(),
            reach,
            unit,
            samples,
        });
    }

    pub fn rate(
        &mut self,
        group: &'static str,
        name: impl Into<String>,
        unit: &'static str,
        samples: Vec<f64>,
    ) {
        self.rates.push(Rate {
            group,
            name: name.into(),
            unit,
            samples,
        });
    }

    /// The whole report. Its tables are aligned, so that it can be read as it stands.
    pub fn markdown(&self) -> String {
        let mut figures = vec![row(["figure", "reach", "median", "spread", "verdict"])];
        for figure in &self.figures {
            figures.push(vec![
                figure.name.clone(),
                figure.target(),
                with_unit(median(&figure.samples), figure.unit),
                spread(&figure.samples),
                figure.verdict().to_owned(),
            ]);
        }
        for failure in &self.failures {
            figures.push(row([failure.measure, "", "", "", "not measured"]));
        }
        let mut rates = vec![row(["measured", "how", "median", "spread"])];
        for rate in &self.rates {
            rates.push(vec![
                rate.group.to_owned(),
                rate.name.clone(),
                with_unit(median(&rate.samples), rate.unit),
                spread(&rate.samples),
            ]);
        }
        let mut text = format!(
            "{}\n\n{}\n{}",
            self.circumstances,
            table(&figures),
            table(&rates)
        );
        for failure in &self.failures {
            let _ = writeln!(
                text,
                "\nNot measured: {}: {}",
                failure.measure, failure.error
            );
        }
        text
    }
}

impl Figure {
    fn target(&self) -> String {
        match self.reach {
            Reach::AtLeast(least) => format!("at least {}", with_unit(least, self.unit)),
            Reach::AtMost(0.0) => "0".to_owned(),
            Reach::AtMost(most) => format!("at most {}", with_unit(most, self.unit)),
        }
    }

    /// Of what is printed, so that nobody reads 0.90 and "missed".
    pub fn verdict(&self) -> &'static str {
        let median = round(median(&self.samples));
        let reached = match self.reach {
            Reach::AtLeast(least) => median >= least,
            Reach::AtMost(most) => median <= most,
        };
        if reached {
            "reached"
        } else {
            "missed"
        }
    }
}

/// NaN, which reaches nothing, where there are no samples.
pub fn median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => sorted[odd / 2],
        even => (sorted[even / 2 - 1] + sorted[even / 2]) / 2.0,
    }
}

pub fn range(samples: &[f64]) -> (f64, f64) {
    samples
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), sample| {
            (low.min(*sample), high.max(*sample))
        })
}

fn spread(samples: &[f64]) -> String {
    match samples.len() {
        0 | 1 => String::new(),
        _ => {
            let (low, high) = range(samples);
            format!("{} - {}", number(low), number(high))
        }
    }
}

fn with_unit(value: f64, unit: &str) -> String {
    format!("{} {unit}", number(value)).trim_end().to_owned()
}

fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// Two digits after the point below 100, none above, where thousands are told apart.
pub fn number(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if value.abs() < 100.0 {
        return format!("{value:.2}");
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.iter().map(|cell| (*cell).to_owned()).collect()
}

/// The first row is the heading.
fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.first().map_or(0, Vec::len);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            let cells = rows.iter().map(|row| row[column].chars().count());
            cells.max().unwrap_or(0).max(3)
        })
        .collect();
    let mut text = String::new();
    for (place, row) in rows.iter().enumerate() {
        for (cell, width) in row.iter().zip(&widths) {
            let _ = write!(text, "| {cell:<width$} ");
        }
        text.push_str("|\n");
        if place == 0 {
            for width in &widths {
                let _ = write!(text, "|{}", "-".repeat(width + 2));
            }
            text.push_str("|\n");
        }
    }
    text
}
