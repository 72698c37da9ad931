/** How `wins srv` and `wins doctor` end; the numbers above 63 are those of BSD's sysexits.h. */
export const EXIT = {
  ok: 0,
  /** `wins doctor` found nothing wrong, but something to look at. */
  doubtful: 1,
  /** `wins doctor` found something wrong. */
  unwell: 2,
  /** The command line made no sense. */
  usage: 64,
  /** Another daemon serves the pipe, or the pipe cannot be served. */
  unavailable: 69,
  /** The daemon itself failed. */
  internal: 70,
  /** The system does not let us serve the pipe with the access rules that it must have. */
  noPermission: 77,
  /** The config file is wrong. */
  config: 78,
} as const;
