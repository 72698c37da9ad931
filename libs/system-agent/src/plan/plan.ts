/** Lists and maps are empty if the plan's JSON omits them. */
export interface Plan {
  readonly files: readonly PlanFile[];
  readonly instructions: readonly Instruction[];
  readonly periodicInstructions: readonly PeriodicInstruction[];
  readonly probes: Readonly<Record<string, Probe>>;
}

/** A file or folder. Fields are validated when applied, not when parsed. */
export interface PlanFile {
  readonly path: string;
  /** Base64. Default: an empty file. */
  readonly content?: string | undefined;
  readonly directory: boolean;
  /** Octal, such as `0644`. Default: 0600 for a file, 0755 for a folder. */
  readonly permissions?: string | undefined;
  /** 0 if the plan has none; -1 keeps the owner. Has no effect on Windows. */
  readonly uid: number;
  readonly gid: number;
  /** `delete` removes; anything else writes. */
  readonly action?: string | undefined;
}

/** Program of an instruction, with the image that provides it. */
export interface Command {
  /** Absent or empty: the output is not saved, and a periodic instruction is skipped. */
  readonly name?: string | undefined;
  /** Unpacked into the folder of the execution. */
  readonly image?: string | undefined;
  /** `NAME=value`; not validated. */
  readonly env: readonly string[];
  readonly args: readonly string[];
  /** Absent or empty: `run.sh` in the folder of the execution. */
  readonly command?: string | undefined;
}

/** Runs once per plan, in list order, up to the first failure. */
export interface Instruction extends Command {
  readonly saveOutput: boolean;
}

/** Runs again whenever its period has passed since the last run. */
export interface PeriodicInstruction extends Command {
  /** Default, also for 0 or less: 600. */
  readonly periodSeconds: number;
  readonly saveStderrOutput: boolean;
}

/** Checks the health of a program by HTTP requests. Durations are in seconds. */
export interface Probe {
  readonly name?: string | undefined;
  readonly initialDelaySeconds: number;
  /** Default, also for 0 or less: 10. */
  readonly timeoutSeconds: number;
  /** Default, also for 0 or less: 1. */
  readonly successThreshold: number;
  /** Default, also for 0 or less: 3. */
  readonly failureThreshold: number;
  readonly httpGet?: HttpGet | undefined;
}

/** HTTP request of a {@link Probe}. Any 2xx answer is a success. */
export interface HttpGet {
  readonly url: string;
  /** Trusts any server, and sends no client certificate. */
  readonly insecure: boolean;
  /** Paths of PEM files. */
  readonly clientCert?: string | undefined;
  /** Path of a PEM file. */
  readonly clientKey?: string | undefined;
  readonly caCert?: string | undefined;
}
