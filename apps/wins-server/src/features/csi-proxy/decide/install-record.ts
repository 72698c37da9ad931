/** What a service runs. */
export interface ServiceCommand {
  /** Its absolute path. */
  readonly program: string;
  readonly args: readonly string[];
}

/** A release that was verified and unpacked. */
export interface StoredRelease {
  readonly version: string;
  /** Of the archive, in lower-case hex. */
  readonly archiveSha256: string;
  /** Of the program in it. */
  readonly programSha256: string;
  /** Where the program lies. */
  readonly program: string;
}

/** A program that is to be removed once nothing needs it, if it is still the one that was seen. */
export interface ObsoleteProgram {
  readonly path: string;
  readonly sha256: string;
}

/** What the daemon has done to a node, as its state file says. */
export interface InstallRecord {
  /** The digest of the archive by version, as it was seen first. */
  readonly pins: Readonly<Record<string, string>>;
  readonly releases: readonly StoredRelease[];
  /** What the service was proven to serve with; absent: nothing of ours. */
  readonly installed?: ServiceCommand;
  /** A change of the service without an end yet; `from` is what is put back, absent for a service that is new. */
  readonly trial?: { readonly to: ServiceCommand; readonly from?: ServiceCommand };
  /** The program of an installation that was taken over. */
  readonly obsolete?: ObsoleteProgram;
}

/** Of a node on which nothing was done. */
export const NO_RECORD: InstallRecord = { pins: {}, releases: [] };
