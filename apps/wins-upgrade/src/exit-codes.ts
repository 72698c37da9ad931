/** How `wins up` ends; the numbers above 63 are those of BSD's sysexits.h. */
export const EXIT = {
  /** The wanted release serves, or served already; or a helper that has left the run does the rest. */
  ok: 0,
  /** The upgrade failed and the old release serves again. */
  rolledBack: 1,
  /** The command line made no sense. */
  usage: 64,
  /** The upgrade must not be done; nothing was touched. */
  refused: 65,
  /** The upgrade failed and it is not known that a daemon serves: see the result file. */
  failed: 70,
  /** Another upgrade of this service is under way. */
  busy: 75,
} as const;
