"""The classifier for scikit-learn."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

import sklearn
from sklearn.base import clone
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_predict, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import calib_host
from calib_host import DataError, UsageError
from calib_host.sklearn import CalibratedClassifier

pytestmark = pytest.mark.filterwarnings("ignore::calib_host.CalibrationWarning")


@parametrize_with_checks(
    [
        CalibratedClassifier(),
        CalibratedClassifier(method="isotonic", cv=3),
        CalibratedClassifier(LinearSVC(), method="platt", options={"loss": "bayes"}),
    ]
)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture
def data():
    return train_test_split(*make_classification(2000, n_informative=4, random_state=1), random_state=1)


def test_it_lowers_the_loss_of_an_overconfident_classifier(data):
    X, X_test, y, y_test = data
    plain = GaussianNB().fit(X, y).predict_proba(X_test)[:, 1]
    for method in ["umd", "isotonic", "beta", "venn-abers"]:
        bins = 10 if method == "umd" else None
        classifier = CalibratedClassifier(GaussianNB(), method=method, bins=bins).fit(X, y)
        after = classifier.predict_proba(X_test)
        np.testing.assert_allclose(after.sum(axis=1), 1)
        assert ((after[:, 1] - y_test) ** 2).mean() < ((plain - y_test) ** 2).mean() + 0.002, method


def test_a_frozen_estimator_stays_and_keeps_its_guarantee(data):
    X, X_test, y, y_test = data
    fitted = LogisticRegression().fit(X, y)
    classifier = CalibratedClassifier(FrozenEstimator(fitted), method="umd", bins=5).fit(X_test, y_test)
    direct = calib_host.fit(fitted.predict_proba(X_test)[:, 1], y_test, "umd", bins=5, alpha=0.1, seed=0)
    assert classifier.calibrator_ == direct and classifier.calibrator_.guarantee is not None
    np.testing.assert_array_equal(
        classifier.predict_proba(X)[:, 1].astype(np.float32), direct.predict(fitted.predict_proba(X)[:, 1])
    )


def test_a_frozen_estimator_may_know_classes_that_the_rows_lack():
    X, y = make_classification(900, n_classes=3, n_informative=5, n_clusters_per_class=1, random_state=1)
    fitted = GaussianNB().fit(X[:300], y[:300])
    rest = np.arange(300, 900)[y[300:] != 1]
    classifier = CalibratedClassifier(FrozenEstimator(fitted), method="umd").fit(X[rest], y[rest])
    # The column of class 2 is not that of class 1.
    assert classifier.classes_.tolist() == [0, 1, 2]
    probs = classifier.predict_proba(X[rest])
    assert np.isnan(probs[:, 1]).all() and (classifier.predict(X[rest]) == y[rest]).mean() > 0.8
    # Without a probability of one class, nothing is known of the shares of the others.
    assert np.isnan(classifier.predict_proba(X[300:])).all()
    with pytest.warns(calib_host.CalibrationWarning, match="600 of 600 rows have no calibrated probability"):
        predicted = classifier.predict(X[300:])
    assert predicted.tolist() == fitted.predict(X[300:]).tolist()
    with pytest.raises(DataError, match=r"y has the classes \[7\], which the frozen classifier does not know: it has \[0, 1, 2\]"):
        CalibratedClassifier(FrozenEstimator(fitted)).fit(X[300:], np.where(y[300:] == 1, 7, y[300:]))


@pytest.mark.parametrize("reduction", [None, "class-wise", "top-label"])
def test_with_folds_nothing_is_guaranteed_anywhere(reduction, tmp_path):
    X, y = make_classification(900, n_classes=2 if reduction is None else 3, n_informative=5, random_state=2)
    how = {"method": "umd", "reduction": reduction, "bins": 4 if reduction is None else None}
    how |= {} if reduction is None else {"rows_per_bin": 60}
    frozen = CalibratedClassifier(FrozenEstimator(GaussianNB().fit(X[:300], y[:300])), **how).fit(X[300:], y[300:])
    assert frozen.calibrator_.guarantee.epsilon < 1
    calibrator = CalibratedClassifier(GaussianNB(), cv=3, **how).fit(X, y).calibrator_
    assert calibrator.guarantee is None
    assert calibrator.statement.startswith("Nothing is guaranteed: the scores are from 3 classifiers")
    assert calibrator.statement in repr(calibrator)
    calibrator.save(tmp_path / "cal.bin")
    loaded = calib_host.load(tmp_path / "cal.bin")
    assert loaded.guarantee is None and loaded.statement == calibrator.statement
    inspect = [sys.executable, "-m", "calib_host", "inspect", "--all", "cal.bin"]
    inspected = subprocess.run(inspect, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    words = " ".join(inspected.split())
    assert "guarantee none" in words and calibrator.statement in words
    bins = [line for line in inspected.splitlines() if line.startswith("table ")]
    assert bins and not any("epsilon" in line for line in bins)
    texts = [inspected, repr(calibrator), calibrator._repr_html_(), calibrator.export_rust()]
    for text in texts if reduction else [*texts, calibrator.export_c()]:
        assert "Nothing is guaranteed" in text and "With probability" not in text, text
    if reduction is None:
        # The numbers are those of the same scores: only what is said of them differs.
        held_out = cross_val_predict(GaussianNB(), X, y, cv=3, method="predict_proba")[:, 1]
        one, several = (calib_host.fit(held_out, y, "umd", bins=4, alpha=0.1, seed=0, classifiers=k) for k in (1, 3))
        assert one.guarantee is not None and several == calibrator
        np.testing.assert_array_equal(one.predict(held_out), several.predict(held_out))


def test_bins_that_were_chosen_for_a_guarantee_say_that_there_is_none(data):
    X, _, y, _ = data
    chosen = CalibratedClassifier(GaussianNB()).fit(X, y).calibrator_
    assert chosen.guarantee is None and chosen.chosen.endswith("scores by 5 classifiers have none")


def test_one_fold_of_all_rows_is_no_fold(data):
    X, _, y, _ = data
    rows = np.arange(len(y))
    with pytest.raises(UsageError, match="one test fold"):
        CalibratedClassifier(GaussianNB(), cv=[(rows, rows)]).fit(X, y)


def test_margins_of_a_decision_function(data):
    X, X_test, y, y_test = data
    for estimator in (LinearSVC(), RidgeClassifier()):
        classifier = CalibratedClassifier(estimator, method="platt").fit(X, y)
        assert classifier.calibrator_.kind == "margins"
        assert classifier.score(X_test, y_test) > 0.7
    with pytest.raises(UsageError, match="no predict_proba"):
        CalibratedClassifier(LinearSVC(), response="predict_proba").fit(X, y)


def test_text_labels_and_several_classes():
    X, y = load_digits(return_X_y=True)
    names = np.array(["nil", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])
    X, X_test, y, y_test = train_test_split(X, names[y], random_state=0)
    for estimator in (GaussianNB(), make_pipeline(StandardScaler(), LinearSVC())):
        classifier = CalibratedClassifier(estimator, method="isotonic", cv=3).fit(X, y)
        assert set(classifier.predict(X_test)) <= set(names) and classifier.score(X_test, y_test) > 0.8
        probs = classifier.predict_proba(X_test)
        np.testing.assert_allclose(probs.sum(axis=1), 1, rtol=0, atol=1e-12)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            log_loss(y_test, probs, labels=classifier.classes_)
    joint = CalibratedClassifier(LogisticRegression(max_iter=200), method="temperature", cv=3).fit(X / 16, y)
    assert joint.calibrator_.reduction == "joint"


@pytest.mark.parametrize("missing", [None, float("nan")])
@pytest.mark.parametrize("labels", [["cat", "dog"], [0, 1], [0.0, 1.0]])
@pytest.mark.parametrize("as_array", [list, lambda y: np.array(y, dtype=object), lambda y: np.array([y], dtype=object).T])
def test_a_label_that_is_missing_is_told_with_its_row(missing, labels, as_array):
    X, y = make_classification(100, random_state=0)
    y = [labels[label] for label in y]
    y[7] = missing
    with pytest.raises(DataError, match="y, row 7: the label is missing; leave such rows out"):
        CalibratedClassifier(LinearSVC()).fit(X, as_array(y))
    if None not in y and "cat" not in labels:
        with pytest.raises(DataError, match="y, row 7: the label is missing"):
            CalibratedClassifier(LinearSVC()).fit(X, np.array(y))


def test_pandas_labels_that_are_missing_are_told_with_their_row():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    X, y = make_classification(100, random_state=0)
    for dtype in ("string", "category", object, "Int64"):
        labels = pandas.Series(y).astype("Int64" if dtype == "Int64" else str).astype(dtype)
        labels[7] = None
        with pytest.raises(DataError, match="y, row 7: the value is missing; leave such rows out"):
            CalibratedClassifier(LinearSVC()).fit(X, labels)


def test_a_class_may_be_missing_from_a_fold():
    X, y = make_classification(300, n_classes=3, n_informative=5, random_state=0)
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    classifier = CalibratedClassifier(GaussianNB(), method="isotonic", cv=KFold(3)).fit(X, y)
    assert classifier.predict_proba(X).shape == (300, 3)
    with pytest.raises(DataError, match="a fold has no row of a class"):
        CalibratedClassifier(LinearSVC(), method="isotonic", cv=KFold(3)).fit(X, y)
    with pytest.raises(DataError, match="every row"):
        CalibratedClassifier(GaussianNB(), cv=[(np.arange(100, 300), np.arange(100))]).fit(X, y)


def test_pipelines_grids_and_clones():
    X, y = load_breast_cancer(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), CalibratedClassifier(LogisticRegression(), method="umd", bins=5))
    assert pipeline.fit(X, y).score(X, y) > 0.9
    grid = GridSearchCV(
        CalibratedClassifier(make_pipeline(StandardScaler(), LogisticRegression()), method="umd"),
        {"bins": [2, 4], "estimator__logisticregression__C": [0.1, 1.0]},
        cv=3,
        scoring="neg_brier_score",
    ).fit(X, y)
    assert grid.best_params_["bins"] in (2, 4) and grid.best_estimator_.calibrator_.n_bins <= 4
    copy = clone(grid.best_estimator_)
    assert not hasattr(copy, "calibrator_")
    again = pickle.loads(pickle.dumps(grid.best_estimator_))
    np.testing.assert_array_equal(again.predict_proba(X), grid.predict_proba(X))


class Weighed(LogisticRegression):
    """Remembers the weights that it was given."""

    seen: list = []

    def fit(self, X, y, sample_weight=None):
        Weighed.seen.append(None if sample_weight is None else np.asarray(sample_weight))
        return super().fit(X, y, sample_weight=sample_weight)


def test_metadata_gets_where_it_was_requested(data):
    X, _, y, _ = data
    weights = np.arange(len(y), dtype=float)
    groups = np.arange(len(y)) // 10
    Weighed.seen.clear()
    CalibratedClassifier(Weighed(), method="isotonic", cv=3).fit(X, y, sample_weight=weights)
    assert [len(seen) for seen in Weighed.seen] == [1000, 1000, 1000, 1500]
    with sklearn.config_context(enable_metadata_routing=True):
        Weighed.seen.clear()
        estimator = Weighed().set_fit_request(sample_weight=True)
        classifier = CalibratedClassifier(estimator, method="isotonic", cv=GroupKFold(3))
        classifier.fit(X, y, sample_weight=weights, groups=groups)
        assert all(seen is not None for seen in Weighed.seen) and len(Weighed.seen) == 4
        np.testing.assert_array_equal(Weighed.seen[-1], weights)
        refuses = CalibratedClassifier(Weighed().set_fit_request(sample_weight=False), method="isotonic", cv=3)
        with pytest.raises((TypeError, ValueError)):
            refuses.fit(X, y, sample_weight=weights)


IRIS = load_iris(return_X_y=True)


@pytest.mark.parametrize("method", ["platt", "beta"])
def test_a_class_that_a_threshold_separates_is_predicted(method):
    """Its slope is infinite: it has no probability, and the shares of the others are none."""
    X, y = IRIS
    with pytest.warns(calib_host.CalibrationWarning, match='Uncalibrated: class 0 .*\n  hint: fit with loss="bayes"'):
        classifier = CalibratedClassifier(LogisticRegression(max_iter=500), method=method).fit(X, y)
    assert np.isnan(classifier.predict_proba(X[:1])).all()
    with pytest.warns(calib_host.CalibrationWarning, match="150 of 150 rows"):
        assert classifier.score(X, y) > 0.95
    classifier.set_params(options={"loss": "bayes"})
    if method == "platt":
        assert classifier.fit(X, y).score(X, y) > 0.95 and not np.isnan(classifier.predict_proba(X)).any()


class Unsorted(ClassifierMixin, BaseEstimator):
    """Its classes, and its columns, are in descending order."""

    def __init__(self, margins=False):
        self.margins = margins

    def fit(self, X, y):
        self.fitted_ = LogisticRegression(max_iter=500).fit(X, y)
        self.classes_ = self.fitted_.classes_[::-1]
        return self

    def predict(self, X):
        return self.fitted_.predict(X)

    def decision_function(self, X):
        said = self.fitted_.decision_function(X)
        return -said if said.ndim == 1 else said[:, ::-1]

    def predict_proba(self, X):
        return self.fitted_.predict_proba(X)[:, ::-1]


@pytest.mark.parametrize("response", ["predict_proba", "decision_function"])
@pytest.mark.parametrize("rows", [slice(0, 150), slice(50, 150)])
def test_columns_are_those_of_their_classes(rows, response):
    X, y = (part[rows] for part in IRIS)
    method = "isotonic" if response == "predict_proba" or len(X) < 150 else "temperature"
    classifier = CalibratedClassifier(Unsorted(), method=method, response=response).fit(X, y)
    assert classifier.score(X, y) > 0.93


class Columns(ClassifierMixin, BaseEstimator):
    """So many columns, whatever its classes are; none is one dimension."""

    def __init__(self, columns):
        self.columns = columns

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        said = np.full((len(X), max(1, self.columns)), 1 / max(1, self.columns))
        return said if self.columns else said[:, 0] / 2


@pytest.mark.parametrize("columns", [0, 1, 3])
def test_other_columns_than_those_of_the_classes_are_refused(columns):
    X, y = (part[50:] for part in IRIS)
    with pytest.raises(UsageError, match=r"predict_proba of Columns has the shape \(20,.*\(20, 2\) is expected, a column for each"):
        CalibratedClassifier(Columns(columns), method="isotonic").fit(X, y)


def test_columns_of_pairs_are_refused():
    X, y = IRIS
    with pytest.raises(UsageError, match='columns of classes are needed, as decision_function_shape="ovr" has them'):
        CalibratedClassifier(SVC(decision_function_shape="ovo"), method="isotonic").fit(X, y)
    assert CalibratedClassifier(SVC(), method="isotonic").fit(X, y).score(X, y) > 0.93


def frozen(method="isotonic", **how):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 2))
    y = (rng.random(400) < 1 / (1 + np.exp(-X[:, 0]))).astype(int)
    return CalibratedClassifier(FrozenEstimator(LogisticRegression().fit(X, y)), method=method, **how), X, y


def test_weights_are_those_of_the_calibrator():
    classifier, X, y = frozen()
    weights = np.where(y == 1, 10.0, 1.0)
    theirs = CalibratedClassifierCV(classifier.estimator, method="isotonic")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        mean = theirs.fit(X, y, sample_weight=weights).predict_proba(X)[:, 1].mean()
    assert abs(classifier.fit(X, y, sample_weight=weights).predict_proba(X)[:, 1].mean() - mean) < 0.01
    for method in (None, "umd"):
        classifier, X, y = frozen(method)
        with pytest.warns(calib_host.CalibrationWarning, match="sample_weight went to the classifier, and not to the calibrator"):
            classifier.fit(X, y, sample_weight=weights)
        # Of equal weights nothing is to be told.
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "sample_weight")
            classifier.fit(X, y, sample_weight=np.full(400, 2.0))


@pytest.mark.parametrize(
    ("weights", "error", "words"),
    [
        (np.full(400, np.nan), DataError, "row 0: nan is no weight"),
        (-np.ones(400), DataError, "row 0: -1.0 is no weight"),
        (np.ones(5), UsageError, "400 rows but 5 weights"),
        (np.ones((400, 1)), DataError, "one a row is needed"),
    ],
)
def test_weights_that_are_none_are_refused(weights, error, words):
    classifier, X, y = frozen()
    with pytest.raises(error, match=words):
        classifier.fit(X, y, sample_weight=weights)


def test_a_keyword_that_nobody_takes_is_refused():
    classifier, X, y = frozen()
    with pytest.raises(TypeError, match="unexpected keyword argument 'sample_wieght'"):
        classifier.fit(X, y, sample_wieght=np.ones(400))


def test_a_search_over_methods_has_no_gaps():
    X, y = (part[50:] for part in IRIS)
    grids = [{"method": ["umd", "fixed-width"], "bins": [2, 4]}, {"method": ["umd", "isotonic", "platt"]}]
    grid = GridSearchCV(CalibratedClassifier(LogisticRegression()), grids, cv=3, error_score="raise").fit(X, y)
    assert len(grid.cv_results_["mean_test_score"]) == 7 and np.isfinite(grid.cv_results_["mean_test_score"]).all()


def test_a_fit_that_fails_leaves_the_earlier_one():
    X, y = IRIS
    classifier = CalibratedClassifier(LogisticRegression(max_iter=500), method="isotonic").fit(X, y)
    before = classifier.predict_proba(X)
    with pytest.raises(UsageError, match="nope"):
        classifier.set_params(method="nope").fit(X[:100], y[:100])
    np.testing.assert_array_equal(classifier.predict_proba(X), before)


def test_scikit_learns_sigmoid_is_named():
    with pytest.raises(UsageError, match='sigmoid is method="platt" with loss="bayes"'):
        CalibratedClassifier(LogisticRegression(), method="sigmoid").fit(*IRIS)
    X, y = make_classification(600, random_state=3)
    ours = CalibratedClassifier(LogisticRegression(), method="platt", response="decision_function", options={"loss": "bayes"}, cv=5)
    theirs = CalibratedClassifierCV(LogisticRegression(), method="sigmoid", ensemble=False, cv=5)
    difference = ours.fit(X, y).predict_proba(X) - theirs.fit(X, y).predict_proba(X)
    assert np.abs(difference).max() < 1e-5


def test_warnings_are_those_of_the_line_that_called():
    X, y = IRIS
    with pytest.warns(calib_host.CalibrationWarning) as caught:
        CalibratedClassifier(LogisticRegression(max_iter=500), method="platt").fit(X, y)
    assert {warning.filename for warning in caught if warning.category is calib_host.CalibrationWarning} == {__file__}


def test_the_classifier_is_found_without_an_import_of_its_own():
    code = "import calib_host; print(calib_host.sklearn.CalibratedClassifier.__name__)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == "CalibratedClassifier\n"


def test_text_labels_name_the_classes_of_the_calibrator():
    X, y = IRIS
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    calibrator = CalibratedClassifier(GaussianNB(), method="isotonic").fit(X, names).calibrator_
    assert calibrator.class_names == ("setosa", "versicolor", "virginica") and "1 = versicolor" in repr(calibrator)
    assert CalibratedClassifier(GaussianNB(), method="isotonic").fit(X, y).calibrator_.class_names is None
