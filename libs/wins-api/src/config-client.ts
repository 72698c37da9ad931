import { camelCaseKeys, type CamelCaseKeys } from '@wins/base';
import type { MethodDefinition } from '@grpc/grpc-js';
import type { CallOptions } from './call-options.js';
import {
  ConfigServiceService,
  type ConfigDescribeResponse,
  type ConfigExplainResponse,
  type ConfigReloadResponse,
} from './gen/config.js';

/** Whether a client may do something, why not, and by which entry, which administrators of the host alone are told. */
export type ConfigVerdict = CamelCaseKeys<ConfigExplainResponse>;

/** The config file in force, with its SHA-256 digest. */
export type ConfigDescription = CamelCaseKeys<ConfigDescribeResponse>;

/** What came of a config that was read again. */
export type ConfigReload = CamelCaseKeys<ConfigReloadResponse>;

/** What someone would do, if the config allowed it. */
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
   * Has the config file read again; one that cannot be used is told as `rejected`, with its problems.
   *
   * @param options - `allowDrop`: guarded keys that the file may drop (`systemagent`, `csi-proxy`, `white_list`). Default: none.
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
