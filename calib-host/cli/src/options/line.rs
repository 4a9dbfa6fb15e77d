//! The options of a serial line.

use std::time::Duration;

use calib_io::device::serial::{DeviceError, Link, RetryPolicy, open_port};
use clap::Args;
use serialport::TTYPort;

use super::headings::{DATA, DEVICE};
use super::parse::count;

/// The line to a device.
#[derive(Args)]
pub(crate) struct SerialLine {
    /// Serial port, such as /dev/ttyACM0.
    #[arg(long, value_name = "PORT", help_heading = DATA)]
    pub(crate) port: String,
    #[command(flatten)]
    options: LineOptions,
}

/// How a line to a device is used.
#[derive(Args)]
#[command(next_help_heading = DEVICE)]
pub(crate) struct LineOptions {
    /// Bits per second.
    #[arg(long, default_value_t = 115_200, value_name = "N", value_parser = count::<u32>(..), hide_short_help = true)]
    baud: u32,
    /// Time to wait for a reply, in seconds, before asking again.
    #[arg(long, default_value_t = 5.0, value_name = "S", value_parser = parse_seconds, hide_short_help = true)]
    timeout: f64,
    /// Number of times to ask.
    #[arg(long, default_value_t = 3, value_name = "N", value_parser = count::<u32>(1..), hide_short_help = true)]
    tries: u32,
}

impl SerialLine {
    pub(crate) fn link(&self) -> Result<Link<TTYPort>, DeviceError> {
        self.options.link(&self.port)
    }

    pub(crate) fn baud(&self) -> u32 {
        self.options.baud
    }
}

impl LineOptions {
    pub(crate) fn link(&self, port: &str) -> Result<Link<TTYPort>, DeviceError> {
        let retry = RetryPolicy { reply: Duration::from_secs_f64(self.timeout), tries: self.tries };
        Ok(Link::new(open_port(port, self.baud)?, retry))
    }
}

pub(crate) fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if (0.01..=3600.0).contains(&seconds) => Ok(seconds),
        _ => Err("give seconds between 0.01 and 3600".into()),
    }
}
