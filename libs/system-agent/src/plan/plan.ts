/** A plan for the node. Lists and maps that the text leaves out are empty. */
export interface Plan {
  readonly files: readonly PlanFile[];
  readonly instructions: readonly Instruction[];
  readonly periodicInstructions: readonly PeriodicInstruction[];
  /** Probes by name. */
  readonly probes: Readonly<Record<string, Probe>>;
}

/** A file or folder that a plan creates or removes. Its fields are validated when applied, not when parsed. */
export interface PlanFile {
  readonly path: string;
  /** Base64; absent means an empty file. */
  readonly content?: string;
  readonly directory: boolean;
  /** Octal text such as `0644`; absent means 0600 for a file and 0755 for a folder. */
  readonly permissions?: string;
  /** 0 unless the plan says otherwise; -1 leaves the owner as it is. Without meaning on Windows. */
  readonly uid: number;
  readonly gid: number;
  /** `delete` removes; anything else writes. */
  readonly action?: string;
}

export interface Command {
  /** Absent or empty: the output is not saved, and a periodic instruction is skipped. */
  readonly name?: string;
  /** Image to unpack into the folder of the execution. */
  readonly image?: string;
  /** `NAME=value`; not validated. */
  readonly env: readonly string[];
  readonly args: readonly string[];
  /** Absent or empty: `run.sh` in the folder of the execution. */
  readonly command?: string;
}

/** Runs once per plan, in list order; after a failure, the rest do not run. */
export interface Instruction extends Command {
  readonly saveOutput: boolean;
}

export interface PeriodicInstruction extends Command {
  /** Default, also for 0 or less: 600. */
  readonly periodSeconds: number;
  readonly saveStderrOutput: boolean;
}

export interface Probe {
  readonly name?: string;
  readonly initialDelaySeconds: number;
  /** Default, also for 0 or less: 10. */
  readonly timeoutSeconds: number;
  /** Default, also for 0 or less: 1. */
  readonly successThreshold: number;
  /** Default, also for 0 or less: 3. */
  readonly failureThreshold: number;
  readonly httpGet?: HttpGet;
}

export interface HttpGet {
  readonly url: string;
  /** Accepts any certificate, and sends none. */
  readonly insecure: boolean;
  /** Paths of PEM files. */
  readonly clientCert?: string;
  readonly clientKey?: string;
  readonly caCert?: string;
}
