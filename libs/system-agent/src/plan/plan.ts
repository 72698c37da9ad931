/** A plan for the node. Lists and maps that the text leaves out are empty. */
export interface Plan {
  readonly files: readonly PlanFile[];
  readonly instructions: readonly Instruction[];
  readonly periodicInstructions: readonly PeriodicInstruction[];
  /** By the name that the plan gives the probe. */
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

/** Members that one-time and periodic instructions have in common. */
export interface Command {
  /** Absent or empty: the output is not saved, and a periodic instruction is skipped. */
  readonly name?: string;
  /** Image to unpack into the folder of the execution. */
  readonly image?: string;
  /** `NAME=value`; what has another form is handed on as it is. */
  readonly env: readonly string[];
  readonly args: readonly string[];
  /** Absent or empty: `run.sh` in the folder of the execution. */
  readonly command?: string;
}

/** Runs once for each plan, in the order of the list, until the first that fails. */
export interface Instruction extends Command {
  readonly saveOutput: boolean;
}

/** Runs periodically. */
export interface PeriodicInstruction extends Command {
  /** Seconds; 600 when the plan says nothing, 0 or less. */
  readonly periodSeconds: number;
  readonly saveStderrOutput: boolean;
}

/** Checks a component by an HTTP request. */
export interface Probe {
  readonly name?: string;
  readonly initialDelaySeconds: number;
  /** 0 means that the plan gives none. */
  readonly timeoutSeconds: number;
  /** 1 when the plan says nothing, 0 or less. */
  readonly successThreshold: number;
  /** 3 when the plan says nothing, 0 or less. */
  readonly failureThreshold: number;
  readonly httpGet?: HttpGet;
}

export interface HttpGet {
  readonly url: string;
  /** Accepts any certificate, and shows none. */
  readonly insecure: boolean;
  /** Paths of PEM files. */
  readonly clientCert?: string;
  readonly clientKey?: string;
  readonly caCert?: string;
}
