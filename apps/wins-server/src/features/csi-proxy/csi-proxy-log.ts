import type { Decision } from '../../kernel/audit/record-policy.js';
import type { CsiProxyAct, CsiProxyEvent } from './csi-proxy.js';
import type { Logger } from '../../kernel/log/logger.js';

const ACTIONS = {
  fetch: 'csiProxyFetch',
  switch: 'csiProxySwitch',
  start: 'csiProxyStart',
  tidy: 'csiProxyTidy',
  remove: 'csiProxyRemove',
} as const satisfies Record<CsiProxyAct['kind'], string>;

/** An act of the component as it is recorded before it happens. */
export function csiProxyDecision(act: CsiProxyAct): Decision {
  const decision = { action: ACTIONS[act.kind], verdict: 'allowed', requester: 'config' };
  if (act.kind === 'fetch') {
    const { version: name, address, sha256: checksum } = act;
    return { ...decision, name, address, ...(checksum !== undefined && { checksum }) };
  }
  return { ...decision, ...(act.program !== undefined && { path: act.program }) };
}

/** Writes an event of the component to the log; its acts are there as the copies of their records. */
export function logCsiProxyEvent(logger: Logger, event: CsiProxyEvent): void {
  if (event.kind === 'warning') {
    logger.warn({ problem: event.message }, 'csi-proxy');
    return;
  }
  const { kind, ...facts } = event.state;
  const level = kind === 'failed' ? 'warn' : 'info';
  logger[level]({ state: kind, ...facts }, 'the state of csi-proxy');
}
