import type { FileTrust } from '@wins/trusted-files';

export interface JudgingOptions {
  readonly platform: NodeJS.Platform;
  /** If true, an unknown key or an entry that never matches is an error. If false, both are warnings. */
  readonly isStrict: boolean;
  /** Absent if the config is for another host; then only the content of the config is judged. */
  readonly host?: JudgingHost | undefined;
}

export interface JudgingHost {
  readonly trust: FileTrust;
  /** Called only when the config has an entry with `for`. */
  readonly tellsClientsApart: () => boolean;
  /** Returns why Windows rejects the access list of a pipe, if it does. */
  readonly pipeAccessFault: (sddl: string) => string | undefined;
}
