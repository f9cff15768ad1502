"""Susceptible, infected and recovered shares of a population, day by day (Runge-Kutta)."""


def rates(s, i, contact, recovery):
    new = contact * s * i
    return -new, new - recovery * i


def kernel(susceptible, infected, contact, recovery, step):
    s, i = susceptible[0], infected[0]
    for day in range(1, len(susceptible)):
        s1, i1 = rates(s, i, contact, recovery)
        s2, i2 = rates(s + 0.5 * step * s1, i + 0.5 * step * i1, contact, recovery)
        s3, i3 = rates(s + 0.5 * step * s2, i + 0.5 * step * i2, contact, recovery)
        s4, i4 = rates(s + step * s3, i + step * i3, contact, recovery)
        s = s + step / 6.0 * (s1 + 2.0 * s2 + 2.0 * s3 + s4)
        i = i + step / 6.0 * (i1 + 2.0 * i2 + 2.0 * i3 + i4)
        susceptible[day] = s
        infected[day] = i
    return infected.max(), infected.argmax()
