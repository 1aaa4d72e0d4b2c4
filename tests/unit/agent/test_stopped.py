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
