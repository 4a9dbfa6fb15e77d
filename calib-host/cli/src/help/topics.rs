//! What is explained beside the commands.

use clap::Args;
use std::io::Write;

use crate::context::Context;
use crate::error::Error;
use crate::run::Run;

/// What a command ends with.
pub(super) const EXIT_CODES: &str = "\
Exit codes: 0 done; 1 the files do not belong together; 2 usage; 3 input;
4 output; 5 the device; 6 a warning, with --fail-on-warning";

/// What `calib` alone ends with.
pub(super) const FIRST_STEPS: &str = "\
First steps:
  calib fit cal.csv     fit a calibrator to scores and labels
  calib help methods    which method?
  calib help fit        every option of a command, with examples
";

/// Which method?
const METHODS: &str = "\
Which method?

The answer that is right most often: leave --method out, or take umd. It has a
guarantee for every bin, and the smallest table. `calib compare` tries them all.

Two classes, one score of class 1 (--scores, or --margins of any size)
├─ a guarantee is needed
│  ├─ scores hardly ever tie ................. umd --bins B
│  ├─ scores tie: a forest, rounded scores
│  │  ├─ the device has random numbers ....... umd-randomized
│  │  └─ it has none, or integer scores ...... ums, fixed-width
│  └─ fewer than 200 points .................. calib threshold: a promise about
│                                              a threshold, which 59 can keep
└─ no guarantee is needed
   ├─ under 200 points, a sigmoid will do .... platt --loss bayes
   ├─ under 1000 points ...................... platt, beta
   ├─ more ................................... isotonic --max-bins B
   └─ how sure is each probability? .......... venn-abers

Several classes (--logits or --probs, a row for every case)
├─ is the prediction right?
│  ├─ one answer for all classes ............. umd --reduction confidence
│  ├─ right for each predicted class ......... umd --reduction top-label
│  └─ one of the first K ..................... umd --reduction top-k-label --k K
├─ a probability for every class
│  ├─ each right for itself, guaranteed ...... umd --reduction class-wise
│  ├─ that sum to one, few points ............ temperature
│  ├─ that sum to one, many points ........... dirichlet --folds 5
│  └─ up to 16 classes, and any shape ........ multiclass-irp --folds 5
└─ a set that holds the true class ........... calib sets

How many bins?   --epsilon 0.1: as many as keep the guarantee within 0.1;
                 calib plan: before there are data; calib bins: by the data
More of each:    calib fit --help";

/// Whether a command explains something and has no options.
pub(super) fn is_one(name: &str) -> bool {
    name == "methods"
}

/// Which method? A tree of questions
#[derive(Args)]
#[command(long_about = METHODS, help_template = "{about-with-newline}")]
pub(crate) struct Methods {}

impl Run for Methods {
    fn run(self, cx: &Context) -> Result<(), Error> {
        Ok(writeln!(cx.stdout(), "{METHODS}")?)
    }
}
