/**
 * How each program of wins ends. Scripts branch on the numbers: none changes its meaning. docs/errors.md says what to do.
 * `server` and `upgrade` use the numbers of BSD's sysexits.h, `client` those of a shell, because `wins cli prc run` ends with
 * the code of what it ran.
 */
export const EXIT = {
  /** `wins cli`, and `wins` itself. */
  client: {
    ok: 0,
    /** The command line is invalid; of `prc run`, whose codes are those of the program, `failed`. */
    usage: 64,
    /** The daemon or the way to it failed. */
    failed: 125,
    /** The daemon refused. */
    refused: 126,
    /** There is no such program, process or directory. */
    notFound: 127,
    /** Added to the number of the signal that ended the run. */
    signalBase: 128,
    /** A second Ctrl-C: the client did not wait for the run to end. */
    interrupted: 130,
    /** The reader of the output of the run is gone: 128 and SIGPIPE. */
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
    /** `wins srv plan apply`: the plan cannot be read, or a file of it cannot be made. */
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
  /** `wins doctor`. Its command line and its own failures end as those of `server`. */
  doctor: {
    ok: 0,
    /** Warnings, no problem. */
    warnings: 1,
    /** At least one problem. */
    problems: 2,
  },
  /** `wins up`. */
  upgrade: {
    /** The wanted release serves; or a helper outside the run does the rest. */
    ok: 0,
    /** The upgrade failed, and the old release serves again. */
    rolledBack: 1,
    /** The command line is invalid. */
    usage: 64,
    /** The upgrade must not be done: nothing was changed. */
    refused: 65,
    /** The upgrade failed, and whether a daemon serves is not known: the result file says more. */
    failed: 70,
    /** Another upgrade of this service is in progress. */
    busy: 75,
  },
} as const;
