import type { MethodDefinition } from '@grpc/grpc-js';
import type { CallOptions } from './call-options.js';
import { camelCaseKeys } from './camel-case-keys.js';
import { ConfigServiceService } from './gen/config.js';

/** Whether a client may do something. */
export interface ConfigVerdict {
  readonly allowed: boolean;
  /** How the attempt would be refused, such as `pathNotAllowed`; empty when it is allowed. */
  readonly code: string;
  /** The same as a sentence. */
  readonly reason: string;
  /** The entry that decides; only administrators of the host learn it. */
  readonly entry?: ConfigEntry | undefined;
  /** The same of UDP, for a port. A daemon of before does not say it. */
  readonly udp?: ConfigVerdict | undefined;
}

/** An entry of a config; line and column count from 1 and are 0 when it is not at a place in the file. */
export interface ConfigEntry {
  /** Such as `white_list.processPaths[2]`; empty when no entry names the subject. */
  readonly key: string;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** The config file in force, and the daemon that has it. */
export interface ConfigDescription {
  /** Its absolute path. */
  readonly file: string;
  /** Whether there was such a file; without one everything is default. */
  readonly found: boolean;
  /** The SHA-256 digest of the content that the daemon runs with; empty without a file. */
  readonly sha256: string;
  /** When the process of the daemon began, in milliseconds since 1970. */
  readonly startedAtMs: number;
  /** The number of that process. */
  readonly pid: number;
}

/** Outcome of a reload. */
export interface ConfigReload {
  readonly file: string;
  /** Whether the file cannot be used, so that nothing has changed. */
  readonly rejected: boolean;
  /** Keys that have other values than before. */
  readonly changed: readonly string[];
  /** A line for each of them with both values, as far as they cannot be secret. */
  readonly changes: readonly string[];
  /** Keys whose values take effect at the next start of the daemon. */
  readonly needRestart: readonly string[];
  readonly problems: readonly ConfigProblem[];
}

/** One thing that is wrong, or doubtful, in a config; line and column as of {@link ConfigEntry}. */
export interface ConfigProblem {
  /** `error` or `warning`. */
  readonly severity: string;
  readonly code: string;
  readonly key: string;
  readonly line: number;
  readonly column: number;
  /** One line that says where it is, what was found and what was wanted. */
  readonly message: string;
  readonly nextStep: string;
}

/** Act to be judged by the config. */
export type ConfigSubject =
  /** Run a program; without a SHA-256 digest its content is not judged. */
  | { readonly path: string; readonly sha256?: string | undefined }
  /** Reach a TCP port of the host. */
  | { readonly port: number };

/** How the config is read again. */
export interface ConfigReloadOptions extends CallOptions {
  readonly allowDrop?: readonly string[];
}

/**
 * The config of a daemon. Each method rejects with a `WinsClientError`; a daemon before 1.0.0 answers `unimplemented`, and who is no
 * administrator of the host gets `refused` from all but `explain`.
 */
export interface ConfigClient {
  /** Asks whether the caller might do something, and why not. Nothing is done or recorded. */
  explain(subject: ConfigSubject, options?: CallOptions): Promise<ConfigVerdict>;
  /** Asks which config file is in force. */
  describe(options?: CallOptions): Promise<ConfigDescription>;
  /**
   * Has the config file read again; an unusable one is answered with `rejected` and its problems.
   *
   * @param options - `allowDrop`: guarded keys that the file may drop, such as `systemagent`. Default: none.
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
    explain: async (subject, options) =>
      camelCaseKeys(await call(explain, { Subject: subjectOf(subject) }, options)),
    describe: async (options) => camelCaseKeys(await call(describe, {}, options)),
    reload: async ({ allowDrop = [], ...options } = {}) =>
      camelCaseKeys(await call(reload, { AllowDrop: [...allowDrop] }, options)),
  };
}

function subjectOf(subject: ConfigSubject) {
  if ('port' in subject) return { $case: 'Port', value: subject.port } as const;
  const value = { Path: subject.path, DigestSHA256: subject.sha256 ?? '' };
  return { $case: 'Program', value } as const;
}
