//! The rates as a chart: a panel for each group of contenders, a bar for each median, a line from the
//! lowest to the highest round.

use std::path::Path;

use anyhow::{Context, Result};
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::report::{median, number, range, Rate, Report};

/// Groups worth a picture, and whether less is better there.
const PANELS: [(&str, &str, bool); 5] = [
    ("new calls, async commit", "calls a second", false),
    ("new calls, sync commit", "calls a second", false),
    ("new debit, in backend", "microseconds a call", true),
    ("replays", "calls a second", false),
    ("replay, in backend", "microseconds a call", true),
];

const WIDTH: u32 = 860;
const LABELS: i32 = 230;
const VALUES: i32 = 90;
const HEADING: i32 = 40;
const BAR: i32 = 18;
const STEP: i32 = 26;

const OURS: RGBColor = RGBColor(31, 119, 180);
const OTHERS: RGBColor = RGBColor(160, 160, 160);
const INK: RGBColor = RGBColor(40, 40, 40);

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

pub fn draw(path: &Path, report: &Report) -> Result<()> {
    let panels: Vec<_> = PANELS
        .iter()
        .map(|(group, unit, less)| {
            let rates = report.rates.iter().filter(|rate| rate.group == *group);
            let better = if *less {
                "less is better"
            } else {
                "more is better"
            };
            (
                format!("{group}: {unit}, {better}"),
                rates.collect::<Vec<_>>(),
            )
        })
        .filter(|(_, rates)| !rates.is_empty())
        .collect();
    let height: i32 = panels.iter().map(|(_, rates)| panel_height(rates)).sum();
    let root = SVGBackend::new(path, (WIDTH, (height + 10).max(20) as u32)).into_drawing_area();
    paint(root, &panels).with_context(|| format!("cannot draw {}", path.display()))
}

fn paint(root: Area<'_>, panels: &[(String, Vec<&Rate>)]) -> Result<()> {
    // A ground of its own: pages are read in the dark, too.
    root.fill(&WHITE)?;
    let mut rest = root.clone();
    for (title, rates) in panels {
        let (here, below) = rest.split_vertically(panel_height(rates));
        panel(&here, title, rates)?;
        rest = below;
    }
    root.present()?;
    Ok(())
}

fn panel_height(rates: &[&Rate]) -> i32 {
    HEADING + rates.len() as i32 * STEP
}

fn panel(area: &Area<'_>, title: &str, rates: &[&Rate]) -> Result<()> {
    let heading = text(15).pos(Pos::new(HPos::Left, VPos::Bottom));
    area.draw(&Text::new(title.to_owned(), (12, HEADING - 10), heading))?;

    let longest = rates
        .iter()
        .map(|rate| range(&rate.samples).1)
        .fold(f64::MIN_POSITIVE, f64::max);
    let length = |value: f64| {
        let room = f64::from(WIDTH as i32 - LABELS - VALUES);
        LABELS + (value / longest * room) as i32
    };
    for (place, rate) in rates.iter().enumerate() {
        let top = HEADING + place as i32 * STEP;
        let middle = top + BAR / 2;
        let (value, (low, high)) = (median(&rate.samples), range(&rate.samples));
        let label = text(13).pos(Pos::new(HPos::Right, VPos::Center));
        area.draw(&Text::new(rate.name.clone(), (LABELS - 8, middle), label))?;
        area.draw(&Rectangle::new(
            [(LABELS, top), (length(value), top + BAR)],
            colour(&rate.name).filled(),
        ))?;
        area.draw(&PathElement::new(
            vec![(length(low), middle), (length(high), middle)],
            INK.stroke_width(2),
        ))?;
        let told = text(13).pos(Pos::new(HPos::Left, VPos::Center));
        let end = length(high).max(length(value)) + 8;
        area.draw(&Text::new(number(value), (end, middle), told))?;
    }
    Ok(())
}

/// The extension's own way stands out from what it is compared with.
fn colour(name: &str) -> RGBColor {
    match name {
        "debit_once" | "run_once" | "replay" => OURS,
        _ => OTHERS,
    }
}

fn text(size: i32) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&INK)
}
