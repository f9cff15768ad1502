"""The clinic: events in a heap, patients in queues."""

import heapq
from collections import deque

from patient import Patient


class Clinic:
    def __init__(self, doctors, beds, rng):
        self.rng = rng
        self.free_doctors = doctors
        self.free_beds = beds
        self.queues = {1: deque(), 2: deque(), 3: deque()}
        self.heap = []
        self.counter = 0
        self.now = 0.0
        self.finished = []
        self.turned_away = 0
        self.events = 0
        self.handlers = {"arrival": self.on_arrival, "triage": self.on_triage, "done": self.on_done, "leave": self.on_leave}

    def schedule(self, delay, kind, patient=None):
        self.counter += 1
        heapq.heappush(self.heap, (self.now + delay, self.counter, kind, patient))

    def arrival_gap(self):
        hour = (self.now / 60) % 24
        mean = 7.0 if 9 <= hour < 21 else 16.0
        return self.rng.exponential(mean)

    def on_arrival(self, _):
        self.schedule(self.arrival_gap(), "arrival")
        if sum(len(q) for q in self.queues.values()) > 40:
            self.turned_away += 1
            return
        p = self.rng.random()
        urgency = 1 if p < 0.1 else (2 if p < 0.5 else 3)
        patient = Patient(self.counter, urgency, self.now)
        self.schedule(2 + self.rng.exponential(3.0), "triage", patient)

    def on_triage(self, patient):
        patient.note("triage", self.now)
        self.queues[patient.urgency].append(patient)
        self.call_next()

    def call_next(self):
        while self.free_doctors > 0 and self.free_beds > 0:
            for level in (1, 2, 3):
                if self.queues[level]:
                    patient = self.queues[level].popleft()
                    break
            else:
                return
            self.free_doctors -= 1
            self.free_beds -= 1
            patient.note("doctor", self.now)
            self.schedule(self.rng.gamma(4.0, 24.0 / 4 / patient.urgency**0.3), "done", patient)

    def on_done(self, patient):
        self.free_doctors += 1
        patient.note("treated", self.now)
        stay = self.rng.exponential(120.0 if patient.urgency == 1 else 35.0)
        self.schedule(stay, "leave", patient)
        self.call_next()

    def on_leave(self, patient):
        self.free_beds += 1
        patient.note("left", self.now)
        self.finished.append(patient)
        self.call_next()

    def run(self, until):
        self.schedule(0.0, "arrival")
        while self.heap:
            time, _, kind, patient = heapq.heappop(self.heap)
            if time > until:
                break
            self.now = time
            self.events += 1
            self.handlers[kind](patient)
