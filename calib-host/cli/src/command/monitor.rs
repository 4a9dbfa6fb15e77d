//! `calib monitor`

use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use calib_core::wire::{Beside, CountersRefusal, Ranked, Refusal, Reply, ReplyBody, RequestBody, ScoreEcho};
use calib_core::{BinFlags, Outcome, ProbInterval, Uncalibrated};
use calib_fit::artifact::number_of;
#[cfg(feature = "probe")]
use calib_io::device::probe::{Chip, log_addr};
use calib_io::device::serial::{DeviceError, Link, LogLine, LogTable, RetryPolicy, open_port};
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::fleet_log::FleetLog;
use crate::context::Context;
use crate::error::Error;
use crate::options::headings::{DATA, DEVICE, OUTPUT};
use crate::options::{SerialLine, count, parse_seconds};
use crate::out::{escaped, escaped_json};
use crate::run::Run;
use crate::show::{counter_words, counters_json, device_json, slots_json};

/// How long a look at the log waits for bytes.
const LOG_PAUSE: Duration = Duration::from_millis(50);

/// Show what a device sends and logs, one line each.
///
/// The command runs until you interrupt it.
///
/// With --watch calib also queries the monitors of the device: whether predictions and outcomes are still like the
/// calibration.
///
/// With --fleet-log calib writes a log of what the device predicts and what its monitors report. Anyone can verify
/// every alert in it with `calib fleet --verify`. The log starts with a device that has counted nothing. It ends with
/// an error if the device counted what calib did not see. Examples are outcomes, or predictions that the device
/// returned on another serial link.
///
/// Results go to standard output. With --elf calib also decodes and shows the device's log. With JSON lines the log
/// goes to standard output, with CSV to standard error.
#[derive(Args)]
pub(crate) struct Monitor {
    #[command(flatten)]
    line: SerialLine,
    /// Form of the lines.
    #[arg(long, value_enum, default_value_t = LineForm::Csv, help_heading = OUTPUT)]
    format: LineForm,
    /// Number of lines on standard output after which the command ends.
    #[arg(long, value_name = "N", value_parser = count::<u64>(..), help_heading = OUTPUT)]
    lines: Option<u64>,
    /// Seconds between queries of the device's monitors: of each table in turn, on standard error beside CSV.
    #[arg(long, value_name = "S", value_parser = parse_seconds, help_heading = OUTPUT)]
    watch: Option<f64>,
    /// Log file for `calib fleet --verify`: every prediction by its bin, and what the monitors report.
    #[arg(long, value_name = "FILE", requires_all = ["watch", "calibrator"], help_heading = OUTPUT)]
    fleet_log: Option<PathBuf>,
    /// Calibrator that the device has, for its log.
    #[arg(long, value_name = "ARTIFACT", requires = "fleet_log", help_heading = DATA)]
    calibrator: Option<PathBuf>,
    /// Name of the device in its log; by default the name of the file.
    #[arg(long, value_name = "NAME", requires = "fleet_log", help_heading = OUTPUT, hide_short_help = true)]
    name: Option<String>,
    /// Replace an existing log.
    #[arg(long, requires = "fleet_log", help_heading = OUTPUT)]
    force: bool,
    /// ELF file of the device's program, to decode its log with.
    #[arg(long, value_name = "ELF", help_heading = DEVICE)]
    elf: Option<PathBuf>,
    /// Serial port that carries the log.
    #[arg(long, value_name = "PORT", requires = "elf", help_heading = DEVICE)]
    log_port: Option<String>,
    /// Chip on a debug probe, to read the log over RTT.
    #[cfg(feature = "probe")]
    #[arg(long, value_name = "NAME", requires = "elf", conflicts_with = "log_port", help_heading = DEVICE)]
    log_chip: Option<String>,
    /// Debug probe, if there are several: vendor:product:serial number.
    #[cfg(feature = "probe")]
    #[arg(long, value_name = "PROBE", requires = "log_chip", help_heading = DEVICE, hide_short_help = true)]
    probe: Option<String>,
}

#[derive(Clone, Copy, PartialEq, ValueEnum)]
enum LineForm {
    /// Write a header, then a line for each prediction.
    Csv,
    /// Write a JSON object for everything that the device sends.
    Json,
}

/// What happens while a device is watched.
enum Event {
    Reply(Box<Reply>),
    /// So many damaged frames came since the start.
    Damaged(u64),
    Log(LogLine),
    /// So many lines of the log were damaged since the start.
    DamagedLog(u64),
    Failed(Error),
    Interrupted,
}

impl Run for Monitor {
    const ENDS_BY_INTERRUPT: bool = true;

    fn run(self, cx: &Context) -> Result<(), Error> {
        let mut fleet_log = self.new_fleet_log()?;
        let (events, incoming) = mpsc::channel();
        let interrupted = events.clone();
        ctrlc::set_handler(move || {
            // The receiver is gone only when all is over.
            let _ = interrupted.send(Event::Interrupted);
        })?;
        self.watch_line(events.clone())?;
        self.watch_log(events)?;

        let mut out = cx.stdout();
        if self.format == LineForm::Csv {
            writeln!(out, "time_s,request,class,score,prob,bin,epsilon,uncalibrated,alarm,band_lo,band_hi")?;
            out.flush()?;
        }
        let mut lines = 0;
        let say = |text: &str| {
            // Nothing is left to be told when standard error is closed.
            let _ = writeln!(cx.stderr(), "{text}");
        };
        while self.lines.is_none_or(|wanted| lines < wanted) {
            // What waits for an interrupt keeps a sender for good.
            let Ok(event) = incoming.recv() else { break };
            if let (Event::Reply(reply), Some(log)) = (&event, &mut fleet_log) {
                log.hear(&reply.body)?;
            }
            let shown = match (event, self.format) {
                (Event::Interrupted, _) => break,
                (Event::Failed(error), _) => return Err(error),
                (Event::Damaged(count), _) => {
                    say(&format!("{count} damaged frames so far"));
                    continue;
                }
                (Event::DamagedLog(count), _) => {
                    say(&format!("{count} damaged lines of the log so far"));
                    continue;
                }
                (Event::Reply(reply), LineForm::Csv) => {
                    if self.watch.is_some() {
                        words_of_monitors(&reply.body).iter().for_each(|line| say(line));
                    }
                    csv_lines(&reply)
                }
                (Event::Reply(reply), LineForm::Json) => {
                    vec![escaped_json(&json_line(&reply).to_string()).into_owned()]
                }
                (Event::Log(line), LineForm::Csv) => {
                    say(&log_text(&line));
                    continue;
                }
                (Event::Log(line), LineForm::Json) => {
                    vec![escaped_json(&log_json(&line).to_string()).into_owned()]
                }
            };
            for line in shown {
                writeln!(out, "{line}")?;
                lines += 1;
            }
            // Whoever reads along sees it at once.
            out.flush()?;
        }
        if !cx.quiet {
            say(&number_of(lines, "line"));
        }
        Ok(())
    }
}

impl Monitor {
    /// Begins the log for a fleet, if it is asked for.
    fn new_fleet_log(&self) -> Result<Option<FleetLog>, Error> {
        let Some((path, calibrator)) = self.fleet_log.as_ref().zip(self.calibrator.as_ref()) else {
            return Ok(None);
        };
        let of_file =
            || path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let name = self.name.clone().unwrap_or_else(of_file);
        FleetLog::create(calibrator, path, name, self.force).map(Some)
    }

    /// Watches the line for replies.
    fn watch_line(&self, events: Sender<Event>) -> Result<(), Error> {
        let mut link = self.line.link()?;
        let mut questions = None;
        if let Some(seconds) = self.watch {
            let pause = Duration::from_secs_f64(seconds);
            // A wait is over when the next question is due.
            link = Link::new(link.into_line(), RetryPolicy { reply: pause, tries: 1 });
            questions = Some(Questions::every(pause));
        }
        thread::spawn(move || {
            let mut damaged = 0;
            loop {
                if let Some(question) = questions.as_mut().and_then(Questions::next)
                    && let Err(error) = link.send(&question)
                {
                    let _ = events.send(Event::Failed(error.into()));
                    return;
                }
                let sent = match link.receive(None) {
                    Ok(Some(reply)) => {
                        if let Some(questions) = &mut questions {
                            questions.hear(&reply.body);
                        }
                        events.send(Event::Reply(Box::new(reply)))
                    }
                    Ok(None) => Ok(()),
                    Err(error) => {
                        let _ = events.send(Event::Failed(error.into()));
                        return;
                    }
                };
                if sent.is_err() {
                    return;
                }
                if link.damaged() > damaged {
                    damaged = link.damaged();
                    let _ = events.send(Event::Damaged(damaged));
                }
            }
        });
        Ok(())
    }

    /// Watches what carries the log, if anything does.
    fn watch_log(&self, events: Sender<Event>) -> Result<(), Error> {
        let Some(elf) = &self.elf else { return Ok(()) };
        let table = LogTable::read(elf)?;
        if let Some(port) = &self.log_port {
            let mut port = open_port(port, self.line.baud())?;
            serialport::SerialPort::set_timeout(&mut port, LOG_PAUSE)
                .map_err(|error| DeviceError::from(std::io::Error::from(error)))?;
            watch(table, events, move |bytes| match port.read(bytes) {
                Ok(0) => Err(DeviceError::Gone.into()),
                Ok(len) => Ok(len),
                Err(error) if error.kind() == std::io::ErrorKind::TimedOut => Ok(0),
                Err(error) => Err(DeviceError::from(error).into()),
            });
            return Ok(());
        }
        #[cfg(feature = "probe")]
        if let Some(name) = &self.log_chip {
            let mut chip = Chip::attach(name, self.probe.as_deref())?;
            let mut log = chip.log(log_addr(elf)?)?;
            watch(table, events, move |bytes| {
                let len = chip.read_log(&mut log, bytes)?;
                if len == 0 {
                    thread::sleep(LOG_PAUSE);
                }
                Ok(len)
            });
            return Ok(());
        }
        Err(Error::Usage("where does the log come from? give --log-port or --log-chip beside --elf".into()))
    }
}

/// What is asked of a device's monitors: the counters of its tables, one after the other.
struct Questions {
    pause: Duration,
    due: Instant,
    table: u16,
}

impl Questions {
    fn every(pause: Duration) -> Self {
        Self { pause, due: Instant::now(), table: 0 }
    }

    /// The next question, if it is time for one.
    fn next(&mut self) -> Option<RequestBody> {
        let now = Instant::now();
        if now < self.due {
            return None;
        }
        self.due = now + self.pause;
        Some(RequestBody::Counters { table: self.table })
    }

    /// Goes on with the next table, as soon as one is answered; after the last, the first is next when it is time.
    fn hear(&mut self, answer: &ReplyBody) {
        let (table, tables) = match answer {
            ReplyBody::Counters(counters) => (counters.table, counters.tables),
            ReplyBody::Refused(Refusal::Counters(CountersRefusal::Table { tables })) => (self.table, *tables),
            _ => return,
        };
        self.table = table.saturating_add(1);
        if self.table < tables {
            self.due = Instant::now();
        } else {
            self.table = 0;
        }
    }
}

/// Decodes a log as it is read, until that fails or nobody listens any more.
fn watch(
    table: LogTable,
    events: Sender<Event>,
    mut read: impl FnMut(&mut [u8]) -> Result<usize, Error> + Send + 'static,
) {
    thread::spawn(move || {
        let mut decoder = table.decoder();
        let mut bytes = [0; 1024];
        let mut damaged = 0;
        loop {
            let len = match read(&mut bytes) {
                Ok(len) => len,
                Err(error) => {
                    let _ = events.send(Event::Failed(error));
                    return;
                }
            };
            for line in decoder.push(bytes.get(..len).unwrap_or_default()) {
                if events.send(Event::Log(line)).is_err() {
                    return;
                }
            }
            if decoder.damaged() > damaged {
                damaged = decoder.damaged();
                let _ = events.send(Event::DamagedLog(damaged));
            }
        }
    });
}

fn now_s() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

/// What a device's monitors say, or why they do not; nothing of other replies.
fn words_of_monitors(reply: &ReplyBody) -> Vec<String> {
    match reply {
        ReplyBody::Counters(counters) => counter_words(counters),
        // The next table is asked for instead.
        ReplyBody::Refused(Refusal::Counters(CountersRefusal::Table { .. })) => Vec::new(),
        ReplyBody::Refused(Refusal::Counters(refusal)) => vec![format!("monitors    none: {refusal}")],
        ReplyBody::Refused(Refusal::Unknown) => {
            vec![format!("monitors    none: {}", DeviceError::UnknownRequest)]
        }
        _ => Vec::new(),
    }
}

/// A line for each class of a prediction; none for what is no prediction.
fn csv_lines(reply: &Reply) -> Vec<String> {
    match &reply.body {
        ReplyBody::Answer(answer) => {
            let others: &[Ranked] = match &answer.beside {
                Beside::Ranked(others) => others,
                _ => &[],
            };
            let all = std::iter::once(answer.first()).chain(others.iter().copied());
            all.map(|class| csv_line(reply.id, &class, answer.alarm, answer.band())).collect()
        }
        _ => Vec::new(),
    }
}

fn csv_line(request: u32, prediction: &Ranked, alarm: bool, band: Option<ProbInterval>) -> String {
    let Ranked { class, score, outcome } = prediction;
    let score = match score {
        ScoreEcho::F32(score) => score.get().to_string(),
        ScoreEcho::Margin(margin) => margin.get().to_string(),
        ScoreEcho::Code(key) | ScoreEcho::Top2Margin(key) => key.to_string(),
    };
    let outcome = match (outcome.calibrated(), outcome) {
        (Some(c), _) => {
            let epsilon = c.epsilon.map_or(String::new(), |epsilon| epsilon.to_string());
            let mark = if c.flags.contains(BinFlags::OUT_OF_RANGE) { "out-of-range" } else { "" };
            format!("{},{},{epsilon},{mark}", c.prob, c.bin)
        }
        (None, Outcome::Uncalibrated(reason)) => format!(",,,{reason}"),
        (None, Outcome::Calibrated(_)) => format!(",,,{}", Uncalibrated::EmptyBin),
    };
    let band = band.map_or(",".into(), |ProbInterval { lo, hi }| format!("{lo},{hi}"));
    format!("{:.3},{request},{class},{score},{outcome},{},{band}", now_s(), u8::from(alarm))
}

fn json_line(reply: &Reply) -> Value {
    let body = match &reply.body {
        ReplyBody::Answer(answer) => json!({"prediction": answer}),
        ReplyBody::Status(status) => json!({"status": device_json(status)}),
        ReplyBody::Slots(slots) => json!({"slots": slots_json(slots)}),
        ReplyBody::Counters(counters) => json!({"monitors": counters_json(counters)}),
        other => json!({"other": format!("{other:?}")}),
    };
    json!({"time_s": now_s(), "request": reply.id, "reply": body})
}

fn log_json(line: &LogLine) -> Value {
    let LogLine { level, timestamp, message, place } = line;
    let (file, at) = place.clone().unzip();
    json!({"time_s": now_s(), "log": {
        "level": level, "device_time": timestamp, "message": message, "file": file, "line": at,
    }})
}

fn log_text(line: &LogLine) -> String {
    let level = line.level.unwrap_or("log");
    let time = line.timestamp.as_ref().map_or(String::new(), |time| format!("{time} "));
    format!("{time}{level:<5} {}", escaped(&line.message))
}

#[cfg(test)]
mod tests {
    use calib_core::{Calibrated, Margin, Score};

    use super::*;

    /// The midpoint of a bin without calibration points has a flag.
    #[test]
    fn a_midpoint_is_shown_as_uncalibrated() {
        let midpoint =
            Calibrated { prob: 0.25, bin: 2, epsilon: None, flags: BinFlags::EMPTY, interval: None };
        let line = |outcome| {
            let score = ScoreEcho::F32(Score::ZERO);
            let line = csv_line(7, &Ranked { class: 1, score, outcome }, true, None);
            line.split_once(',').unwrap().1.to_owned()
        };
        let uncalibrated = "7,1,0,,,,no calibration observation is in the score's bin,1,,";
        assert_eq!(line(Outcome::Calibrated(midpoint)), uncalibrated);
        assert_eq!(line(Outcome::Uncalibrated(Uncalibrated::EmptyBin)), uncalibrated);
        let calibrated = Calibrated { flags: BinFlags::NONE, ..midpoint };
        assert_eq!(line(Outcome::Calibrated(calibrated)), "7,1,0,0.25,2,,,1,,");
        let of_score = |score| {
            let outcome = Outcome::Calibrated(calibrated);
            csv_line(7, &Ranked { class: 4, score, outcome }, false, ProbInterval::new(0.125, 0.5))
        };
        assert!(
            of_score(ScoreEcho::Margin(Margin::new(-2.5).unwrap()))
                .ends_with(",7,4,-2.5,0.25,2,,,0,0.125,0.5")
        );
        assert!(of_score(ScoreEcho::Top2Margin(300)).ends_with(",7,4,300,0.25,2,,,0,0.125,0.5"));
        let beyond = Calibrated { flags: BinFlags::OUT_OF_RANGE, ..midpoint };
        assert_eq!(line(Outcome::Calibrated(beyond)), "7,1,0,0.25,2,,out-of-range,1,,");
    }
}
