/** Entry point of the csi-proxy bundle, for configs that have, or had, a csi-proxy section. */
import { toldAddress } from '@wins/base';
import { KeptService, type KeptServiceKind, type KeptServiceOptions } from '@wins/installation';
import { parseServiceCommand } from '@wins/service-upgrade';
import { windowsCommandLine } from '@wins/windows-host';
import type { Decision } from '../../kernel/audit/decision.js';
import { FETCH, REMOVE, RESTORE, SWITCH, TIDY } from './actions.js';
import { codeOf, type CsiProxyErrorCode } from './csi-proxy-error.js';
import type { CsiProxyNode } from './csi-proxy-system.js';
import { fetchProgram, type FetchOptions } from './fetch-program.js';
import type { DesiredCsiProxy } from './settings/judge-settings.js';

export interface CsiProxyOptions
  extends
    Omit<
      KeptServiceOptions<DesiredCsiProxy, CsiProxyErrorCode>,
      'kind' | 'node' | 'fetch' | 'beforeChange' | 'codeOf'
    >,
    Pick<FetchOptions, 'downloadFor'> {
  /** Resolves once the action is recorded; a rejection cancels the action. */
  readonly onDecision: (decision: Decision) => Promise<void> | undefined;
}

export type KeptCsiProxy = KeptService<DesiredCsiProxy, CsiProxyErrorCode>;

const KIND: KeptServiceKind = {
  item: { kind: 'service', name: 'csiproxy' },
  subject: 'csi-proxy',
  pipe: 'csi-proxy-filesystem-v1',
  programName: 'csi-proxy.exe',
  log: 'csi-proxy.log',
  programOf: (command) => parseServiceCommand(command)?.imagePath,
  commandOf: windowsCommandLine,
};

const CHANGES = { switch: SWITCH, restore: RESTORE, tidy: TIDY, remove: REMOVE };

export function keepCsiProxy(
  { onDecision, downloadFor, ...options }: CsiProxyOptions,
  desired: DesiredCsiProxy | undefined,
  node: CsiProxyNode,
): KeptCsiProxy {
  const { trust, onWarning } = options;
  const { programMagic } = node;
  const record = async (
    action: Pick<Decision, 'action' | 'recording'>,
    facts: Pick<Decision, 'path' | 'name' | 'address' | 'checksum'>,
  ): Promise<void> => onDecision({ ...action, verdict: 'allowed', requester: 'config', ...facts });
  const kept: KeptServiceOptions<DesiredCsiProxy, CsiProxyErrorCode> = {
    ...options,
    kind: KIND,
    node,
    codeOf,
    beforeChange: ({ kind, program: path }) =>
      record(CHANGES[kind], path === undefined ? {} : { path }),
    fetch: async (wanted, checksum, signal) => {
      const address = toldAddress(wanted.url);
      const facts = { name: wanted.version, address };
      await record(FETCH, checksum === undefined ? facts : { ...facts, checksum });
      const how = { trust, onWarning, downloadFor, programMagic, signal };
      return fetchProgram(wanted, checksum, how);
    },
  };
  return new KeptService(kept, desired);
}

/**
 * The caller closes the result.
 *
 * @param node - Passed by the caller, because this bundle has its own copy of `csiProxySystem`. Default: Windows.
 */
export async function startCsiProxy(
  options: CsiProxyOptions,
  desired: DesiredCsiProxy | undefined,
  node?: CsiProxyNode,
): Promise<KeptCsiProxy> {
  const system = node ?? (await import('./windows-csi-node.js')).windowsCsiNode();
  return keepCsiProxy(options, desired, system);
}
