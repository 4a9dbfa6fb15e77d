"""A classifier that is too sure of itself, and the two tables that calib takes."""

import pandas as pd
from sklearn.datasets import make_classification
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB

X, y = make_classification(n_samples=8000, n_features=12, n_informative=4, n_redundant=6, random_state=1)
X_train, X_held, y_train, y_held = train_test_split(X, y, test_size=0.5, random_state=1)
X_cal, X_test, y_cal, y_test = train_test_split(X_held, y_held, test_size=0.5, random_state=1)

model = GaussianNB().fit(X_train, y_train)

# Rows that the model has not seen: one half to calibrate, the other to judge.
for name, X_part, y_part in [("cal.csv", X_cal, y_cal), ("test.csv", X_test, y_test)]:
    score = model.predict_proba(X_part)[:, 1]
    pd.DataFrame({"score": score.round(6), "label": y_part}).to_csv(name, index=False)
