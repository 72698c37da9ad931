/**
 * Exit codes of the wins programs. Scripts branch on the numbers, so a code never changes its meaning; docs/errors.md
 * gives the next steps. `server` and `upgrade` use the numbers of BSD's sysexits.h; `client` uses those of a shell,
 * because `wins cli prc run` exits with the code of the program that it ran.
 */
export const EXIT = {
  /** `wins cli`, and `wins` itself. */
  client: {
    ok: 0,
    /** The command line is invalid. `prc run` exits with `failed` instead, because its other codes belong to the program. */
    usage: 64,
    /** The daemon, or the connection to it, failed. */
    failed: 125,
    /** The daemon refused. */
    refused: 126,
    /** There is no such program, process or directory. */
    notFound: 127,
    /** Base for runs ended by a signal: the signal number is added. */
    signalBase: 128,
    /** A second Ctrl-C: the client did not wait for the run to end. */
    interrupted: 130,
    /** The reader of the run's output has gone: 128 + SIGPIPE. */
    readerGone: 141,
    /** The code of the run does not fit into 8 bits. */
    wide: 255,
  },
  /** `wins srv`. */
  server: {
    ok: 0,
    /** `wins srv audit verify` found the log changed. */
    altered: 1,
    /** `wins srv config explain`, like `wins cli explain`: the program or port would not be allowed. */
    notAllowed: 126,
    /** `wins srv plan apply`: an instruction of the plan failed. */
    planFailed: 1,
    /** `wins srv registry check`: no registry has the image. */
    imageMissing: 1,
    /** `wins srv network apply` and `teardown`: a route could not be changed. */
    routeNotChanged: 1,
    /** The command line is invalid. */
    usage: 64,
    /** `wins srv plan apply`: the plan cannot be read, or one of its files cannot be created. */
    invalidPlan: 65,
    /** A pipe cannot be served: its name is invalid, or another daemon serves it. */
    unavailable: 69,
    /** The daemon itself failed. */
    internal: 70,
    /** The pipe cannot be protected as configured. */
    noPermission: 77,
    /** The config file is invalid. */
    config: 78,
  },
  /** `wins doctor`. An invalid command line and internal failures use the codes of `server`. */
  doctor: {
    ok: 0,
    /** Warnings, but no problems. */
    warnings: 1,
    /** At least one problem. */
    problems: 2,
  },
  /** `wins up`. */
  upgrade: {
    /** The requested release is serving, or the upgrade helper, which outlives this run, completes the upgrade. */
    ok: 0,
    /** The upgrade failed; the old release is serving again. */
    rolledBack: 1,
    /** The command line is invalid. */
    usage: 64,
    /** The upgrade is not allowed; nothing was changed. */
    refused: 65,
    /** The upgrade failed, and it is unknown whether a daemon is serving: see the result file. */
    failed: 70,
    /** Another upgrade of this service is in progress. */
    busy: 75,
  },
} as const;
