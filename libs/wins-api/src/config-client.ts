import type { MethodDefinition } from '@grpc/grpc-js';
import type { CallOptions } from './call-options.js';
import { ConfigServiceService } from './gen/config.js';

/** Verdict on whether a client may do something. */
export interface ConfigVerdict {
  readonly allowed: boolean;
  /** Error code that an attempt would get, such as `pathNotAllowed`; empty if `allowed`. */
  readonly code: string;
  readonly reason: string;
  /** The deciding entry. Only administrators of the host receive it. */
  readonly entry?: ConfigEntry | undefined;
  /** Verdict on the same port for UDP. Older daemons omit it. */
  readonly udp?: ConfigVerdict | undefined;
}

/** An entry of a config. Lines and columns start at 1; both are 0 for an entry without a position in the file. */
export interface ConfigEntry {
  /** Key such as `white_list.processPaths[2]`; empty when no entry matches the {@link ConfigSubject}. */
  readonly key: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The active config file, and the daemon that uses it. */
export interface ConfigDescription {
  readonly file: string;
  /** False when the file does not exist; all settings are then defaults. */
  readonly found: boolean;
  /** SHA-256 digest of the active content; empty without a file. */
  readonly sha256: string;
  /** Start time of the daemon's process. */
  readonly startedAt: Date;
  readonly pid: number;
}

/** Outcome of a reload. */
export interface ConfigReload {
  readonly file: string;
  /** True when the file is unusable; then nothing has changed. */
  readonly rejected: boolean;
  /** Canonical keys, such as `white_list.proxyPorts`. */
  readonly changed: readonly string[];
  /** One line per changed key, with the old and new values unless they may be secret. */
  readonly changes: readonly string[];
  /** Keys that take effect when the daemon restarts. */
  readonly needRestart: readonly string[];
  readonly problems: readonly ConfigProblem[];
}

/** An error or warning. Line and column as in {@link ConfigEntry}. */
export interface ConfigProblem {
  /** `error` or `warning`. */
  readonly severity: string;
  readonly code: string;
  readonly key: string;
  readonly line: number;
  readonly column: number;
  /** One line with the position, the finding and the expectation. */
  readonly message: string;
  readonly nextStep: string;
}

/** An operation to check against the config. */
export type ConfigSubject =
  /** Run a program. Without a SHA-256 digest the verdict ignores the program's content. */
  | { readonly path: string; readonly sha256?: string | undefined }
  /** Reach a TCP port of the host. */
  | { readonly port: number };

/** Options of {@link ConfigClient.reload}. */
export interface ConfigReloadOptions extends CallOptions {
  /** Guarded keys that the new file may omit. Default: none. */
  readonly allowDrop?: readonly string[] | undefined;
}

/**
 * Config of a daemon. Errors of methods are `WinsClientError`s. A daemon before 1.0.0 answers `unimplemented`. All methods
 * except `explain` fail with `refused` unless the caller is an administrator of the host.
 */
export interface ConfigClient {
  /** Returns whether the caller may perform an operation, and if not, why. Does not perform it. */
  explain(subject: ConfigSubject, options?: CallOptions): Promise<ConfigVerdict>;
  describe(options?: CallOptions): Promise<ConfigDescription>;
  /**
   * Reloads the config file. An unusable file yields `rejected`. So does a file that drops a guarded key, such as `keep`,
   * unless `allowDrop` names the key.
   */
  reload(options?: ConfigReloadOptions): Promise<ConfigReload>;
}

type Call = <Request, Answer>(
  method: MethodDefinition<Request, Answer>,
  request: Request,
  options?: CallOptions,
) => Promise<Answer>;

export function createConfigClient(call: Call): ConfigClient {
  const { explain, describe, reload } = ConfigServiceService;
  return {
    explain: (subject, options) => call(explain, { subject: subjectOf(subject) }, options),
    describe: async (options) => {
      const { startedAtMs, ...description } = await call(describe, {}, options);
      return { ...description, startedAt: new Date(startedAtMs) };
    },
    reload: ({ allowDrop = [], ...options } = {}) =>
      call(reload, { allowDrop: [...allowDrop] }, options),
  };
}

function subjectOf(subject: ConfigSubject) {
  if ('port' in subject) return { $case: 'port', value: subject.port } as const;
  const value = { path: subject.path, digestSha256: subject.sha256 ?? '' };
  return { $case: 'program', value } as const;
}
