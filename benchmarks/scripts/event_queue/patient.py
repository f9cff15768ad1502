"""A patient, with the times at which things happened."""


class Patient:
    def __init__(self, number, urgency, arrived):
        self.number = number
        self.urgency = urgency
        self.times = {"arrived": arrived}

    def note(self, what, when):
        self.times[what] = when

    @property
    def waited(self):
        return self.times["doctor"] - self.times["arrived"]

    @property
    def hour(self):
        return int(self.times["arrived"] / 60) % 24
