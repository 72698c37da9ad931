/**
 * Exit codes. Scripts depend on the numbers, so a code never changes its meaning. `server` and `upgrade` mostly use numbers of BSD's
 * sysexits.h; `client` uses those of a shell, because `wins cli prc run` passes on the code of its program.
 */
export const EXIT = {
  /** `wins cli`, and `wins` itself. */
  client: {
    ok: 0,
    /** Invalid command line. `prc run` exits with `failed` instead, because 64 may be the program's own exit code. */
    usage: 64,
    /** The daemon or the connection failed. */
    failed: 125,
    refused: 126,
    /** There is no such program, process or directory. */
    notFound: 127,
    /** Added to the number of the signal that ended the run. */
    signalBase: 128,
    /** A second Ctrl-C ended the client before the run ended. */
    interrupted: 130,
    /** The reader of the output has gone: 128 + SIGPIPE. */
    readerGone: 141,
    /** The run's code does not fit into 8 bits. */
    wide: 255,
  },
  /** `wins srv`. */
  server: {
    ok: 0,
    /** `wins srv audit verify`: the log was changed. */
    altered: 1,
    /** `wins srv config explain` and `wins cli explain`: the program or port is not allowed. */
    notAllowed: 126,
    /** `wins srv plan apply`: an instruction of the plan failed. */
    planFailed: 1,
    /** `wins srv registry check`: no registry has the image. */
    imageMissing: 1,
    /** `wins srv network apply` and `teardown`: a route could not be changed. */
    routeNotChanged: 1,
    usage: 64,
    /** `wins srv plan apply`: the plan is invalid, or one of its files cannot be created. */
    invalidPlan: 65,
    /** A pipe cannot be served: its name is invalid, or another daemon serves it. */
    unavailable: 69,
    /** The daemon failed. */
    internal: 70,
    /** The pipe cannot be protected as configured. */
    noPermission: 77,
    config: 78,
  },
  /** `wins doctor`. For an invalid command line or an internal failure it uses the codes of `server`. */
  doctor: {
    ok: 0,
    warnings: 1,
    problems: 2,
  },
  /** `wins up`. */
  upgrade: {
    /** The requested release is serving, or the upgrade helper still runs and will complete the upgrade. */
    ok: 0,
    /** The upgrade failed; the old release is serving again. */
    rolledBack: 1,
    usage: 64,
    /** The upgrade is not allowed. Nothing was changed. */
    refused: 65,
    /** The upgrade failed, and a daemon may or may not be serving; the result file has details. */
    failed: 70,
    /** Another upgrade of this service is in progress. */
    busy: 75,
  },
} as const;
