"""Summaries of the patients' waiting times."""

from collections import Counter, defaultdict

import numpy as np


class Summary:
    def __init__(self, patients):
        self.patients = patients
        self.groups = defaultdict(list)
        for patient in patients:
            self.groups[patient.urgency].append(patient.waited)

    def waiting(self, level):
        waits = np.array(self.groups[level])
        return waits.mean(), np.percentile(waits, 90)

    def overall(self):
        return np.mean([patient.waited for patient in self.patients])

    def busiest_hour(self):
        counts = Counter(patient.hour for patient in self.patients)
        return max(sorted(counts), key=lambda hour: counts[hour])
