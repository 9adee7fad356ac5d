"""A running VM: reports on request, and agents that come late."""
import os
import signal

from commands import load_agent
from harness import check, check_equal, vm_test
from reports import parse_ascii, parse_binary

UNITS = ("cpu_samples", "encoder_ascii", "sink_file")


@vm_test(units=UNITS, quick=True)
def data_dump_requests_give_a_report_each(vm):
    live = vm.start("cpu=samples,file=out.txt", "Idle")
    for number in (1, 2, 3):
        live.request_data_dump()
        live.wait_for("out.txt", "CPU SAMPLES END\n", number)
    run = live.ended_well()
    sections = parse_ascii(run.text("out.txt")).cpu()
    check_equal(len(sections), 4, "CPU sections: three asked for, one at exit")
    totals = [section.total for section in sections]
    check_equal(totals, sorted(totals), "totals never go down")


@vm_test(units=("cpu_samples", "encoder_binary", "sink_file"))
def binary_file_holds_all_requested_reports(vm):
    live = vm.start("cpu=samples,format=b,file=out.hprof", "Idle")
    for _ in range(3):
        before = os.path.getsize(vm.path("out.hprof")) if os.path.exists(vm.path("out.hprof")) else 0
        live.request_data_dump()
        live.wait_until(lambda: os.path.exists(vm.path("out.hprof")) and os.path.getsize(vm.path("out.hprof")) > before,
                        "more of the report")
    run = live.finish()
    check_equal(run.code, 0, "exit code\n%s\n" % run)
    # Requests that come while a report is being written may be answered by one.
    check(2 <= len(parse_binary(run.bytes("out.hprof")).samples) <= 4, "CPU SAMPLES records")


@vm_test(units=UNITS)
def doe_n_reports_on_request_only(vm):
    live = vm.start("cpu=samples,doe=n,file=out.txt", "Idle")
    live.request_data_dump()
    live.wait_for("out.txt", "CPU SAMPLES END\n", 1)
    run = live.finish()
    check_equal(len(parse_ascii(run.text("out.txt")).cpu()), 1, "CPU sections")


@vm_test(units=UNITS)
def attach_socket_loads_the_agent_into_a_running_vm(vm):
    live = vm.start(None, "Idle", java=vm.attachable)
    answer = load_agent(live.pid, vm.agent, "cpu=samples,file=%s" % vm.path("out.txt"))
    check(answer.split()[:1] == ["0"], "the VM answers %r\n%s" % (answer, live.state()))
    attached_report(vm, live)


def attached_report(vm, live):
    """Asks for reports until one has seen the busy thread, then ends the program."""
    number = 0

    def seen():
        nonlocal number
        number += 1
        live.request_data_dump()
        live.wait_for("out.txt", "CPU SAMPLES END\n", number)
        return " Spin.hot\n" in open(vm.path("out.txt")).read()
    live.wait_until(seen, "a sample of the busy thread")
    run = live.finish()
    check_equal(run.code, 0, "exit code\n%s\n" % run)
    section = parse_ascii(run.text("out.txt")).cpu()[-1]
    check("Spin.hot" in [row.method for row in section.rows], "the busy thread was not seen\n%s" % run.text("out.txt"))


@vm_test(units=UNITS)
def late_agent_with_bad_options_is_refused_and_the_vm_goes_on(vm):
    live = vm.start(None, "Idle", java=vm.attachable)
    answer = load_agent(live.pid, vm.agent, "foo=bar")
    check("\nreturn code: 0" not in "\n" + answer and answer.split() != ["0", "0"] and answer.split() != ["0"],
          "the VM answers %r\n%s" % (answer, live.state()))
    live.ended_well()


@vm_test(units=UNITS)
def killed_vm_leaves_what_was_written_readable(vm):
    live = vm.start("cpu=samples,file=out.txt", "Idle")
    live.request_data_dump()
    live.wait_for("out.txt", "CPU SAMPLES END\n", 1)
    live.signal(signal.SIGKILL)
    live.process.wait()
    with open(vm.path("out.txt")) as file:
        parse_ascii(file.read()).cpu()


@vm_test(units=UNITS)
def sigterm_writes_the_report(vm):
    live = vm.start("cpu=samples,file=out.txt", "Idle")
    live.signal(signal.SIGTERM)
    live.process.wait()
    run = live.finish()
    check_equal(run.code, 143, "exit code\n%s\n" % run)
    check_equal(len(parse_ascii(run.text("out.txt")).cpu()), 1, "CPU sections")
