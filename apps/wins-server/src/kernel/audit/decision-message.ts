import { escapeText, quoteText } from '@wins/wins-program';
import type { Decision } from './record-policy.js';

/** The label of the threat model before the words of a rule: `A15 not listed`. It stays a field of the record. */
const LABEL = /^A\d+ /;
const MAX_REASON = 128;

/** What was wanted, as it follows "allowed to" and "refused to". */
const ACTS: Readonly<Record<string, (decision: Decision) => string>> = {
  start: ({ path }) => `start ${quoteText(path ?? '')}`,
  wait: ({ name }) => `read the output of ${quoteText(name ?? '')}`,
  keepAlive: ({ name }) => `hold the lease of ${quoteText(name ?? '')}`,
  stop: ({ name }) => `stop ${quoteText(name ?? '')}`,
  connect: ({ port, address }) =>
    port === undefined ? `connect to ${quoteText(address ?? '')}` : `connect to port ${port}`,
  getVersion: () => 'read the version of the host',
  getAdapter: () => 'read a network adapter of the host',
  getHnsNetwork: () => 'read an HNS network of the host',
  listRoutes: () => 'list the routes of the host',
  addRoutes: () => 'add routes to the host',
  removeRoutes: () => 'remove routes from the host',
  upgrade: () => 'upgrade the service',
  planApply: () => 'apply a plan by hand',
  planWrite: ({ path }) => `write ${quoteText(path ?? '')} for a plan`,
  planDelete: ({ path }) => `delete ${quoteText(path ?? '')} for a plan`,
  csiProxyApply: () => 'see to csi-proxy by hand',
  csiProxyFetch: ({ address }) => `fetch csi-proxy from ${quoteText(address ?? '')}`,
  csiProxySwitch: ({ path }) => `have the service csiproxy run ${quoteText(path ?? '')}`,
  csiProxyStart: ({ path }) => `start ${quoteText(path ?? '')} as the service csiproxy`,
  csiProxyTidy: () => 'remove releases of csi-proxy that nothing needs',
  csiProxyRemove: () => 'remove what was installed of csi-proxy',
  debugHeap: () => 'read the whole heap of the daemon',
  debugLogLevel: ({ name }) => `have the daemon log at the level ${quoteText(name ?? '')}`,
  planInstruction: ({ name }) => `run the instruction ${quoteText(name ?? '')} of a plan`,
  planCredentials: ({ name, address }) =>
    `ask the credential provider ${quoteText(name ?? '')} for ${quoteText(address ?? '')}`,
};

/** Reasons that read better than the words of their rule or code. */
const REASONS: Readonly<Record<string, string>> = {
  'address-length': 'the address is too long',
  'protocol-tcp': 'only TCP can be reached',
  'host-loopback': 'only the loopback of the host can be reached',
  'port-number': 'the port is no number from 1 to 65535',
  'port-allowed': 'not listed',
  'stream-limit': 'too many streams',
  draining: 'the daemon is stopping',
  'connect-rate': 'too many in a short time',
  'not-recorded': 'the audit log cannot be written',
  'A1 nothing is allowed': 'not listed, as the list is empty',
  'A35 run of another connection': 'another connection started it',
  'A55 processes of one client': 'this client has too many runs',
};

/** Says a decision in one sentence, for people. Text of a client is quoted and cut. */
export function decisionMessage(decision: Decision): string {
  const { action, verdict, code, rule, variable, outcome } = decision;
  if (outcome !== undefined) return `an upgrade has ended: ${outcome}`;
  const act = ACTS[action]?.(decision) ?? words(action);
  if (verdict === 'allowed') return `allowed to ${act}`;
  const reason = rule ?? code;
  const why = reason === undefined ? '' : `: ${REASONS[reason] ?? words(reason)}`;
  const which = variable === undefined ? '' : ` ${quoteText(variable, { maxLength: MAX_REASON })}`;
  return `${verdict === 'refused' ? 'refused' : 'failed'} to ${act}${why}${which}`;
}

/** A rule or a code as words: `A15 not listed`, `connect-rate` and `alreadyRunning` without what only programs need. */
function words(name: string): string {
  if (LABEL.test(name)) return escapeText(name.replace(LABEL, ''), { maxLength: MAX_REASON });
  return name.replace(/(?<=[a-z])-(?=[a-z])|(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
}
