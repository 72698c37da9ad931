import type { FileTrust } from '@wins/trusted-files';

export interface JudgingOptions {
  readonly platform: NodeJS.Platform;
  /** Whether an entry that can never match is an error, as unknown keys are, or a warning, as for a daemon that starts. */
  readonly isStrict: boolean;
  /** The host that it is for; absent for another one: then its content alone is judged, as far as that can be. */
  readonly host?: JudgingHost | undefined;
}

/** What only the host of a config can tell. */
export interface JudgingHost {
  readonly trust: FileTrust;
  /** Called for a config with `for` alone. */
  readonly tellsClientsApart: () => boolean;
  /** Why this system does not take an access list of pipes; undefined when it does, or has none. */
  readonly pipeAccessFault: (sddl: string) => string | undefined;
}
