from phalanx.agent.stopped import STOPPED_S, StoppedWatch


def test_only_a_long_stop_counts_and_going_on_starts_anew():
    stopped = {7}
    watch = StoppedWatch(lambda pid: pid in stopped)
    assert watch.look(0.0, [7, 8]) is None
    assert watch.look(STOPPED_S, [7, 8]) is None
    stopped.clear()
    assert watch.look(STOPPED_S + 0.5, [7, 8]) is None
    stopped.add(7)
    assert watch.look(STOPPED_S + 1, [7, 8]) is None
    assert watch.look(2 * STOPPED_S + 1.5, [7, 8]) == 7


def test_a_process_that_has_no_number_yet_is_left_out():
    assert StoppedWatch(lambda pid: True).look(99.0, [0]) is None


def test_whose_process_it_is():
    def said(stopped: int, below: dict[int, list[int]] | None) -> str:
        watch, find = StoppedWatch(lambda pid: pid == stopped), below and below.__getitem__
        watch.said(0.0, {7: 0, 8: 1}, find, [5])
        return watch.said(STOPPED_S + 1, {7: 0, 8: 1}, find, [5]).partition(" is stopped")[0]

    below = {0: [20], 1: [30, 31]}
    assert said(8, None) == "rank 1 (process 8)"
    assert said(31, below) == "a process below rank 1 (process 31)"
    assert said(5, below) == "the collective store (process 5)"
    assert said(31, None) == ""  # a data loader of a rank that tells its steps
