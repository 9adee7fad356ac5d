// A debugger: `Steps CLASSPATH CLASS [OPTION...]` runs CLASS in a VM with these options, steps through its main by lines, into each call,
// and prints where each step ends: Class.method:line.
import com.sun.jdi.Bootstrap;
import com.sun.jdi.Location;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.Connector;
import com.sun.jdi.connect.LaunchingConnector;
import com.sun.jdi.event.BreakpointEvent;
import com.sun.jdi.event.ClassPrepareEvent;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.event.StepEvent;
import com.sun.jdi.event.VMDeathEvent;
import com.sun.jdi.request.ClassPrepareRequest;
import com.sun.jdi.request.EventRequestManager;
import com.sun.jdi.request.StepRequest;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Map;

public class Steps {
    static final int MOST = 5000;

    static void drain(InputStream in) {
        Thread reader = new Thread(() -> {
            try {
                in.transferTo(System.err);
            } catch (Exception ended) {
            }
        });
        reader.setDaemon(true);
        reader.start();
    }

    static String name(Location at) {
        return at.declaringType().name() + "." + at.method().name() + ":" + at.lineNumber();
    }

    public static void main(String[] arguments) throws Exception {
        LaunchingConnector connector = Bootstrap.virtualMachineManager().defaultConnector();
        Map<String, Connector.Argument> with = connector.defaultArguments();
        with.get("main").setValue(arguments[1]);
        String options = String.join(" ", Arrays.asList(arguments).subList(2, arguments.length));
        with.get("options").setValue("-cp " + arguments[0] + " " + options);
        VirtualMachine vm = connector.launch(with);
        drain(vm.process().getInputStream());
        drain(vm.process().getErrorStream());
        EventRequestManager requests = vm.eventRequestManager();
        ClassPrepareRequest prepare = requests.createClassPrepareRequest();
        prepare.addClassFilter(arguments[1]);
        prepare.enable();
        int steps = 0;
        for (boolean ended = false; !ended; ) {
            EventSet events = vm.eventQueue().remove();
            for (Event event : events) {
                if (event instanceof ClassPrepareEvent) {
                    requests.createBreakpointRequest(
                        ((ClassPrepareEvent) event).referenceType().methodsByName("main").get(0).location()).enable();
                } else if (event instanceof BreakpointEvent) {
                    requests.createStepRequest(((BreakpointEvent) event).thread(), StepRequest.STEP_LINE, StepRequest.STEP_INTO).enable();
                } else if (event instanceof StepEvent) {
                    StepEvent step = (StepEvent) event;
                    System.out.println(name(step.location()));
                    boolean last = ++steps == MOST || step.location().method().name().equals("last");
                    if (last) requests.deleteEventRequest(step.request());
                } else if (event instanceof VMDeathEvent) {
                    ended = true;
                }
            }
            if (!ended) events.resume();
        }
    }
}
