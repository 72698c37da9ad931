import type { MethodDefinition } from '@grpc/grpc-js';
import type { CallOptions } from './call-options.js';
import {
  ConfigServiceService,
  type ConfigDescription,
  type ConfigReload,
  type ConfigVerdict,
} from './gen/config.js';

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
    describe: (options) => call(describe, {}, options),
    reload: ({ allowDrop = [], ...options } = {}) => call(reload, { allowDrop }, options),
  };
}

function subjectOf(subject: ConfigSubject) {
  if ('port' in subject) return { $case: 'port', value: subject.port } as const;
  const value = { path: subject.path, digestSha256: subject.sha256 ?? '' };
  return { $case: 'program', value } as const;
}
