"""url=http://...: each report is posted. Whatever the server does, the program does not notice."""
import gzip
import json
import urllib.parse

from harness import check, check_equal, vm_test
from peers import HttpServer, close_request, closed_port, reset_request, stall_request
from pictures import Json, Page, Pprof, parse_collapsed
from reports import parse_ascii

TIMES = ("bytecode", "cpu_times", "sink_http")
QUERY = "?name={name}{labels}&from={from}&until={until}&unit={unit}&pid={pid}&n={sequence}"


def url(server, rest):
    return "url=http://127.0.0.1:%d%s" % (server.port, rest)


def query_of(target):
    return {name: values[0] for name, values in urllib.parse.parse_qs(target.split("?", 1)[1]).items()}


def calls_of(posts, name):
    return sum(Pprof(body).self_by_method("calls").get(name, 0) for _, _, _, body in posts)


@vm_test(units=TIMES + ("encoder_pprof", "filter_gzip"), quick=True)
def windows_are_posted(vm):
    with HttpServer(200) as server:
        options = "cpu=times,every=1,cutoff=0,format=pprof,labels=service:shop;env:prod,http-header=X-Scope-OrgID:7,"
        live = vm.start(options + url(server, "/ingest" + QUERY), "Rounds")
        live.wait_until(lambda: len(server.posts) >= 3 and calls_of(list(server.posts), "Rounds.round") == 2 * 25, "all calls")
        run = live.finish()
        check_equal(run.code, 0, "exit code\n%s" % run)
        posts = list(server.posts)
    check_equal(calls_of(posts, "Rounds.round"), 2 * 25, "calls of round")
    queries = [query_of(target) for _, target, _, _ in posts]
    for (method, target, headers, _), query in zip(posts, queries):
        check_equal((method, target.split("?")[0]), ("POST", "/ingest"), "request")
        check_equal((query["name"], query["unit"], query["pid"]), ("shop{env=prod}", "cpu_times", str(live.pid)), "query")
        check_equal((headers["x-scope-orgid"], headers["content-type"]), ("7", "application/octet-stream"), "headers")
        check("content-encoding" not in headers, "a packed file is a file: %s" % headers)
    check_equal([query["n"] for query in queries], [str(i + 1) for i in range(len(queries))], "numbers")
    for before, after in zip(queries, queries[1:]):
        check_equal(after["from"], before["until"], "begin of a window and end of the one before")


@vm_test(units=TIMES + ("encoder_ascii", "encoder_collapsed", "encoder_flamegraph", "encoder_json"))
def each_report_is_whole_in_every_format(vm):
    readers = {"a": lambda text: parse_ascii(text).cpu("CPU TIME (ms)"),
               "collapsed": lambda text: parse_collapsed(text, "calls", False).stacks,
               "json": lambda text: Json(text).tables, "flamegraph": lambda text: Page(text).tables}
    for form, read in readers.items():
        with HttpServer(200) as server:
            extra = ",weight=calls" if form == "collapsed" else ""
            live = vm.start("cpu=times,every=1,cutoff=0,format=%s%s,%s" % (form, extra, url(server, "/" + form)), "Idle")
            live.wait_until(lambda: len(server.posts) >= 2, "two windows")
            run = live.finish()
            check_equal(run.code, 0, "exit code\n%s" % run)
            for _, _, headers, body in server.posts[:2]:
                check(headers["content-type"], "type")
                read(body.decode())


@vm_test(units=TIMES + ("encoder_collapsed", "filter_gzip"))
def packed_text_says_so(vm):
    with HttpServer(204) as server:
        options = "cpu=times,cutoff=0,format=collapsed,weight=calls,compress=gzip,http-method=put,"
        run = vm.profiled(options + url(server, "/{unit}/{host}-{pid}.txt"), "Calls")
        check_equal(len(server.posts), 1, "posts\n%s" % run)
        method, target, headers, body = server.posts[0]
    check_equal((method, target.split("/")[1], headers["content-encoding"]), ("PUT", "cpu_times", "gzip"), "request")
    table = parse_collapsed(gzip.decompress(body).decode(), "calls", False)
    check_equal(table.self_by_method("calls").get("Calls.main"), 1, "calls of main")


@vm_test(units=TIMES + ("encoder_pprof", "filter_gzip"))
def what_a_server_does_not_take_is_posted_again(vm):
    with HttpServer(503, reset_request, close_request, 200) as server:
        live = vm.start("cpu=times,every=1,cutoff=0,format=pprof,net-timeout=5," + url(server, "/x" + QUERY), "Rounds")
        live.wait_until(lambda: len(server.posts) >= 3 and calls_of(list(server.posts), "Rounds.round") == 2 * 25, "all calls")
        run = live.finish()
        check_equal(run.code, 0, "exit code\n%s" % run)
        posts = list(server.posts)
    check_equal(calls_of(posts, "Rounds.round"), 2 * 25, "calls of round")
    check_equal([query_of(target)["n"] for _, target, _, _ in posts], [str(i + 1) for i in range(len(posts))], "numbers")
    check("can't post to" in run.err and "it answers 503" in run.err and "posting again to" in run.err, run.err)


@vm_test(units=TIMES + ("encoder_pprof",))
def what_a_server_refuses_is_lost_and_said(vm):
    with HttpServer(404) as server:
        live = vm.start("cpu=times,every=1,format=pprof," + url(server, "/x"), "Idle")
        live.wait_until(lambda: server.seen >= 3, "three requests")
        run = live.finish()
    check_equal(run.code, 0, "exit code\n%s" % run)
    check_equal(run.err.count("is not taken by"), 1, "messages\n%s" % run)
    check("it answers 404; it is lost" in run.err and "done:" not in run.err, run.err)


@vm_test(units=TIMES + ("encoder_json",))
def a_server_that_fails_gets_it_again(vm):
    """A database whose disk is full answers 500."""
    with HttpServer(500, 500, 200) as server:
        live = vm.start("cpu=times,every=1,cutoff=0,depth=4,format=rows," + url(server, "/x"), "Rounds")
        live.wait_until(lambda: sum(row["value"] for _, _, _, body in list(server.posts) for row in map(json.loads, body.splitlines())
                                    if row["name"] == "calls" and row["stack"][-1] == "Rounds.round") == 50, "all calls")
        run = live.finish()
    check_equal(run.code, 0, "exit code\n%s" % run)
    check("it answers 500; it is tried again" in run.err and "posting again to" in run.err and "lost" not in run.err, run.err)


@vm_test(units=TIMES + ("encoder_json", "filter_gzip"))
def a_report_that_is_too_large_is_said_at_once(vm):
    for form, taken in (("rows", 0), ("rows,compress=gzip", 1)):
        with HttpServer(200) as server:
            run = vm.run_java(vm.agent_option("cpu=times,cutoff=0,depth=4,memory-limit=512k,format=%s,%s" % (form, url(server, "/x"))), "Calls")
            check_equal(len(server.posts), taken, "posts of %s\n%s" % (form, run))
        check_equal((run.code, run.err.count("is larger than memory-limit=524288"), run.err.count("done: ")), (0, 1 - taken, taken),
                    "messages of %s\n%s" % (form, run))


@vm_test(units=TIMES + ("encoder_pprof",))
def no_server_stops_the_program(vm):
    plain = vm.truth("Calls").out
    stalls = HttpServer(stall_request)
    for step, port in ((None, closed_port()), (stalls, stalls.port)):
        options = "cpu=times,format=pprof,net-timeout=1,url=http://127.0.0.1:%d/x" % port
        run = vm.run_java(vm.agent_option(options), "Calls")
        check_equal((run.code, run.out), (0, plain), "exit code and stdout\n%s" % run)
        check("1 report was not posted by the end" in run.err and "done:" not in run.err, run.err)
        if step:
            step.__exit__()


@vm_test(units=TIMES + ("encoder_pprof",))
def the_program_goes_on_while_a_server_holds_a_request(vm):
    """The server has the first window and answers nothing until the program has done all of its work."""
    with HttpServer(stall_request) as server:
        live = vm.start("cpu=times,every=1,format=pprof,net-timeout=600," + url(server, "/x"), "Rounds")
        live.wait_until(lambda: "worked" in live.out() and server.seen >= 1, "the end of the work")
        server.released.set()
        run = live.finish()
    check_equal(run.code, 0, "exit code\n%s" % run)


@vm_test(units=("sink_http",))
def what_is_no_url_is_refused(vm):
    line = vm.refused("cpu=samples,url=https://store/ingest")
    check("https is not supported, the agent has no TLS" in line, line)
    line = vm.refused("cpu=samples,url=http://store/{nobody}")
    check("braces are for {name} {unit}" in line, line)
    line = vm.refused("cpu=samples,keep-files=3,url=http://store/")
    check("keep-files= needs an output in files" in line, line)


@vm_test(units=("monitor", "msa", "sink_http", "encoder_pprof"))
def losses_are_in_the_report_that_is_posted(vm):
    with HttpServer(200) as server:
        options = "monitor=all,msa=y,format=pprof,compress=n," + url(server, "/{unit}")
        run = vm.run_java(vm.agent_option(options), "Contend", "monitor", "3", "3", "10")
        posts = {target: body for _, target, _, body in server.posts}
    # Nothing of msa=y has stacks.
    check_equal((run.code, sorted(posts)), (0, ["/monitor"]), "posts\n%s" % run)
    check(b"lost 1 tables: " in posts["/monitor"], "no loss in %r" % posts["/monitor"])
