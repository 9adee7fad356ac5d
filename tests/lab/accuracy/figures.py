"""Statistics of profiles: shares, their errors, and how far profiles agree. No VM is needed."""
import math


def slope(predicted, measured):
    """(slope, its standard error, offset) of the straight line of least squares; at least three points."""
    n = len(predicted)
    mean_x, mean_y = sum(predicted) / n, sum(measured) / n
    spread = sum((x - mean_x) ** 2 for x in predicted)
    rise = sum((x - mean_x) * (y - mean_y) for x, y in zip(predicted, measured)) / spread
    offset = mean_y - rise * mean_x
    rest = sum((y - offset - rise * x) ** 2 for x, y in zip(predicted, measured))
    return rise, math.sqrt(rest / (n - 2) / spread), offset


def share_error(share, samples):
    """Standard error, in points, of a share of `share` percent that `samples` independent samples show."""
    return math.sqrt(max(share * (100 - share), 0) / max(samples, 1))


def percent(counts):
    """{name: count} as percentages of the sum."""
    total = sum(counts.values())
    return {name: 100.0 * count / total for name, count in counts.items()} if total else {}


def overlap(one, other):
    """How much of two profiles, {name: count}, is the same: the sum of the smaller share of each name, in percent."""
    one, other = percent(one), percent(other)
    return sum(min(share, other.get(name, 0)) for name, share in one.items())


def hottest(counts, number):
    """The names of the largest counts; of equal ones the first by name."""
    return [name for name, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:number]]


def common(runs, number):
    """How many of the `number` hottest two runs have in common, in percent, mean over all pairs of runs."""
    sets = [set(hottest(run, number)) for run in runs]
    pairs = [(a, b) for i, a in enumerate(sets) for b in sets[:i]]
    return 100.0 * sum(len(a & b) / min(number, max(len(a), len(b), 1)) for a, b in pairs) / len(pairs)


def chi_square(runs, least=5):
    """Of the hypothesis that all runs draw from the same shares, per degree of freedom: 1 is counting noise alone.

    Names that a run can expect fewer than `least` samples of are one name together; None where fewer than two are left."""
    totals = [sum(run.values()) for run in runs]
    whole = float(sum(totals))
    sums = {}
    for run in runs:
        for name, count in run.items():
            sums[name] = sums.get(name, 0) + count
    smallest = min(totals) / whole if whole else 0
    cells = [[name] for name, count in sums.items() if count * smallest >= least]
    rare = [name for name, count in sums.items() if count * smallest < least]
    if sum(sums[name] for name in rare) * smallest >= least:
        cells.append(rare)
    if len(cells) < 2:
        return None
    statistic = 0.0
    used = [sum(run.get(name, 0) for names in cells for name in names) for run in runs]
    for names in cells:
        share = sum(sums[name] for name in names) / float(sum(used))
        for run, total in zip(runs, used):
            expected = share * total
            statistic += (sum(run.get(name, 0) for name in names) - expected) ** 2 / expected
    return statistic / ((len(cells) - 1) * (len(runs) - 1))


def lead(runs):
    """By how many standard errors the hottest method of all runs together leads the second, in a run of mean length."""
    sums = {}
    for run in runs:
        for name, count in run.items():
            sums[name] = sums.get(name, 0) + count / len(runs)
    first, second = (sorted(sums.values(), reverse=True) + [0, 0])[:2]
    return (first - second) / math.sqrt(first + second) if first else 0.0
