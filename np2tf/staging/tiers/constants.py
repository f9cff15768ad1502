"""All constants of the choice between the host and compiled code.

They are read as `constants.NAME` at every use, so that a test changes a constant in one place. Limits of one
mechanism, such as the size of an unrolled loop, stand where the mechanism does.
"""

from __future__ import annotations

# -- what things cost ----------------------------------------------------------------------------------------

#: The seconds that importing TensorFlow takes on an idle machine: compiling must be expected to gain as much.
IMPORT_SECONDS = 1.2
#: Whether a function is worth importing TensorFlow is asked again when it has taken so many times as long.
#: The question takes 20 µs, and more where arguments are large structures.
ASK_AGAIN = 1.1
#: The seconds on the host from which the half of np2tf that needs TensorFlow is loaded, if the program itself
#: has imported TensorFlow: loading takes half a second, and compiling is expected to take as long again.
LOAD_SECONDS = 2.0
#: The machine's load is measured again after this many seconds.
LOAD_LASTS = 1.0
#: The seconds that compiling a function is expected to take until this process has compiled a function.
COMPILE_SECONDS = 0.5
#: The same for a loop, until loops have been compiled.
LOOP_COMPILE_SECONDS = 0.8
#: The seconds for which XLA compiles a new loop beside the program (0.5 to 2.4 were measured), while the host
#: goes on with the loop: in this time nothing is saved yet.
XLA_BESIDE = 1.0
#: The seconds that a call of compiled code costs, and the seconds from which a call of a jitted function is
#: worth compiling by itself.
CALL_SECONDS, LONG_CALL = 2.5e-4, 1e-3
#: The share of compiled calls that counts as their caller's own time. One program of a caller and its callees
#: may be faster than a program for each callee, so the caller is compiled too, but four times later.
SHARE_OF_LONG_CALLS = 0.25

# -- how long the program goes on ----------------------------------------------------------------------------

#: The share of the host's time that compiled code is expected to save.
EXPECTED_SAVING = 0.6
#: The same if the code computes with single numbers in loops over elements, where most of the time is that of
#: Python itself: compiled kernels of this kind take a fifth to a hundredth of it.
SCALAR_SAVING = 0.9
#: The same if NumPy's libraries take the time: transforms, solvers, sorting.
LIBRARY_SAVING = 0.1
#: The same if a loop draws single numbers that compiled code draws slowly: normal numbers of NumPy's old
#: generator take up to six times as long, numbers for which it calls back, hundreds of times as long. Uniform
#: numbers and integers are 6 to 30 times faster (docs/measurements.md).
DRAWS_SAVING = 0.0
#: A `while`, or a loop that may break, is expected to go on for at most this many times as long as it has
#: run: its steps may grow, and it may converge.
MOST_LEFT = 3.0
#: The same for a `while` that comes closer to its end at an even pace: so many samples, each after twice the
#: time of the one before, differ by at most the factor STEADY.
MOST_LEFT_STEADY, STEADY_SAMPLES, STEADY = 40.0, 4, 1.5
#: Compiling must be expected to save this many times its cost.
FIRST_CALL_GAIN = 1.5

# -- what may be lost ----------------------------------------------------------------------------------------

#: What np2tf has spent beyond what it has saved is borne up to this share of the program's time, and so many
#: seconds. What is expected to be saved next must repay the rest this many times, and twice as many times for
#: each wager that was lost.
ALLOWED_SHARE, ALLOWED_SECONDS, DEBT_FACTOR = 0.05, 0.3, 4.0

# -- calls that stay on the host -----------------------------------------------------------------------------

#: A function whose calls take less than TOO_SHORT seconds on the host, on average over CALLS_TO_AVERAGE
#: calls, stays there without a check: taking its arguments apart would cost more than compiling could gain.
TOO_SHORT, CALLS_TO_AVERAGE = 3e-4, 20
#: For a function that is known to be short, at least so many calls between two timed calls are not timed, and
#: at most MOST_UNTIMED: timing a call takes TIMING_SECONDS, a hundredth of what the calls take.
UNTIMED_CALLS, MOST_UNTIMED, TIMING_SECONDS = 7, 500, 3e-6
#: A function of a converted file without loops is raised to plain Python for the host when it has taken so
#: many seconds: raising takes 5 to 15 ms, once.
RAISE_SECONDS = 2e-2
#: A function whose calls take less than TINY_CALL seconds on average, over so many timed calls, is called
#: without np2tf's wrapper, where no program could tell: the wrapper takes 4e-7 to 1e-6.
TINY_CALL, CALLS_TO_LEAVE = 3e-5, 2 * CALLS_TO_AVERAGE
#: After ASKED_AT_LEAST calls in a row that had to run on the host, the next calls run there without a check,
#: twice as many each time, up to the power TRUSTED_AT_MOST of 2. A call that takes UNUSUAL times the usual
#: time ends that.
ASKED_AT_LEAST, TRUSTED_AT_MOST, UNUSUAL = CALLS_TO_AVERAGE, 10, 4.0

# -- when a function is compiled -----------------------------------------------------------------------------

#: The seconds that a function, and then each kind of calls, must have spent on the host before compiling is
#: considered (tier "auto").
HOST_SECONDS_FIRST = 0.1
#: The calls of a cache must have taken this fraction (one in so many) of the expected cost of compiling.
SHARED_BY = 4
#: Once a function has code for so many kinds of calls, which together have not saved what they cost, the
#: calls of the next kind must have taken that by themselves: kinds that do not recur are not compiled.
UNPAID_TRIES = 3
#: A function, or a kind of its calls, must have taken this share of the processor's time since its first
#: call: compiling can save no more than that, and compiled code takes memory as long as the process lives.
LEAST_SHARE = 0.01
#: A trace may take this many seconds on an idle machine, and in addition this share of the host's time in the
#: function; of a loop, this share of the time that it is expected to go on.
PATIENCE, PATIENCE_PER_SECOND, PATIENCE_OF_LOOPS = 1.5, 0.3, 0.3
#: … or this many times the cost of compiling it in an earlier process.
KNOWN_COST_FACTOR = 2.0
#: Of the time that a loop's trace is given, traces that fail may take this share before the last is begun.
SHARE_OF_FAILURES = 0.125
#: … or this many seconds if a user has asked how the function would be compiled.
PATIENCE_OF_USERS = 5.0
#: A function may spend as many seconds on compiling as the host has spent in it. The share is divided by
#: SHARE_DIVISOR for each trace that failed or gave slower code.
SHARE_DIVISOR = 4.0
#: The share is divided no further after this many: it is far below what any process lives to spend.
MOST_IN_VAIN = 64
#: The share for all functions together.
SHARE_OF_ALL = 0.5
#: The common budget goes first to the function that has taken most. Others wait for it if it has asked within
#: the last seconds on the host, given here.
ASKED_WITHIN = 1.0
#: The number of traces of a cache after which nothing is compiled for it any more.
TRACES_A_CACHE = 16
#: The same if the contents of arrays are constants of the code, which may differ in each call.
TRACES_OF_CONTENTS = 2
#: A function with this many traces and fewer than this many calls per trace is not compiled any more.
TRACES_A_FUNCTION, CALLS_PER_TRACE = 48, 2
#: After so many traces that were given up because a loop would become a very large graph, no more are begun.
MOST_LARGE_LOOPS = 2
#: The number of caches of a function that are stored; every signature has a cache of its own.
MOST_CACHES = 1000

# -- which tier is faster ------------------------------------------------------------------------------------

#: Time this many warm calls and as many host calls before choosing; one host call is enough if compiled code
#: is slower by the factor CLEARLY_SLOWER, and two if it is faster by CLEARLY_FASTER. The first host call was
#: cold, and other processes may have been running.
WARM_CALLS = 3
CLEARLY_SLOWER, CLEARLY_FASTER = 2.0, 20.0
#: Tiers whose times differ by at most this factor get this many calls: a call right after a call of the
#: other tier finds none of its data in the processor's caches, and few calls may all be disturbed.
NEAR, MANY_WARM_CALLS, MANY_HOST_CALLS = 1.25, 12, 8
#: One warm call is enough if it took more seconds than this, and this many times as long as on the host,
#: because long calls vary less.
LONG_WARM_CALL, HOPELESS_FACTOR = 0.02, 1.5
#: The measurement of an earlier process is repeated when compiled calls have taken this many times its cost.
REVIEW_FACTOR = 10.0
#: The tiers are compared again once the chosen tier has taken this many times the cost of the comparison: for
#: the first time early, because only few calls were timed, and then after twice as long each time, up to the
#: last factor.
FIRST_RECONSIDER_FACTOR, RECONSIDER_FACTOR = 12.5, 100.0
#: After this many comparisons the factor has long reached the last one, and is doubled no further.
MOST_DOUBLINGS = 10

# -- what earlier processes measured -------------------------------------------------------------------------

#: The number of processes whose seconds are stored: the shortest predicts the next process.
PROCESSES = 2
#: A record is dropped after this many processes have followed it without measuring anything.
MAX_USES = 8
#: The limits for the functions of a program, and the kinds of calls of a function.
FUNCTIONS, KINDS = 500, 16
#: The seconds on the host from which the records are loaded, if no module has been imported translated.
LOADING_SECONDS = 0.05
#: A process that takes this many times as long as earlier processes counts as another kind.
OTHER_KIND_OF_RUN = 2.0
#: A function that was traced but not run is tried again if the host takes this many times its cost.
RETRY_UNRUN = 3.0

# -- loops that run on the host ------------------------------------------------------------------------------

#: A loop over a range of fewer numbers is not watched, because watching would cost more than it could gain.
SHORT_LOOP = 16
#: A loop that ends before it is hot is left unwatched this many times between two watched runs, and twice as
#: often after each, up to this power of two.
UNWATCHED_RUNS, MOST_DOUBLINGS_OF_UNWATCHED = 15, 6
#: The same holds for a `while` after this many short runs in a row, because its number of iterations is
#: unknown.
SURELY_SHORT = 3
#: The seconds that a loop must have run, and the factor by which its remaining time must exceed the expected
#: cost of compiling it.
HOT_LOOP, REST_FACTOR = 0.05, 2.5
#: The first iterations, which also load modules and make caches, do not say how long the other iterations
#: will take.
LOADING_ROUNDS = 1
#: What a loop calls is not compiled by itself in the first iterations, for so many seconds, and later as long
#: as the loop itself may be compiled.
FIRST_ROUNDS = 0.3
#: The clock is read once in this many seconds.
CLOCK_PERIOD = 0.005
#: A loop of short runs is entered as compiled code when all its runs have taken this many times the expected
#: cost of compiling. By then its function, and the loop around it, have had their chance.
ENTER_FACTOR = 3.0
#: A loop is no longer a candidate after this many runs in a row that had to stay on the host.
ENOUGH_RUNS = 20
#: Compiling a loop again in another process, whose trace is stored, is expected to take this share of what it
#: took; between them, whole programs took 0.1 (mhd) to 0.5 (particle_in_cell).
COST_OF_STORED = 0.5
#: A trace of a loop that took too long is expected to take this many times as long as it was given.
GIVEN_UP_FACTOR = 2
#: A loop is compiled with side exits, not as a whole, if Python acts there in at most one of so many
#: iterations: leaving compiled code and entering it again takes about a millisecond.
LEAST_ROUNDS_AN_ACT = 8
#: A region is measured in so many iterations of a hot loop before it may be compiled. It stays on the host
#: after compiled code has failed to run it so many times in a row.
ROUNDS_OF_REGION, MISSES_OF_REGION = 3, 3
#: After so many side exits, what compiled code has gained is looked at again.
EXITS_TO_COUNT = 8
#: The length of the trials of compiled code, in seconds of the host: a cold trial, in which XLA compiles, and
#: a warm trial.
FIRST_TRIAL, WARM_TRIAL = 0.005, 0.06
#: Compiled code that is no faster gets so many warm trials: the first still makes memory that others use.
WARM_TRIALS = 3
#: Compiled code must take less than this share of the host's time.
FASTER = 0.9
#: A running loop is compared with the host again after compiled code has run for so many seconds, and so many
#: times as long as that takes, and then after twice as long each time: the first comparison was made at
#: another load of the machine.
REVIEW_LOOP, REVIEW_LOOP_FACTOR = 0.5, 25.0
#: Compiled code runs in parts, each PART_GROWTH times as long as the last, until a part takes LONGEST_PART
#: seconds. Between two parts, handlers of signals run, and what other threads have written is read again.
PART_GROWTH, LONGEST_PART = 8, 0.25
#: A loop stays on the host after compiled code has failed to continue it this many times.
MOST_DISCARDED = 100
