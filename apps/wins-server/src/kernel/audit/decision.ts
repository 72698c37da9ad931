import type { EntryName, ProcessErrorCode, ProcessRule } from '@wins/process-manager';
import type { RefusalRule } from '@wins/tcp-tunnel';
import { escapeText, quoteText } from '@wins/base';
import type { HostSystemErrorCode } from '../feature-error.js';
import type { Flood } from './flood-gate.js';

/** A rule by which the daemon refuses; the list is closed. */
export type DecidingRule = ProcessRule | RefusalRule;
/** Why it refuses or fails where no rule says it; the list is closed. */
export type DecidingCode = ProcessErrorCode | HostSystemErrorCode;

/** A decision as the parts of the daemon report it. */
export type Decision = DecisionFacts &
  (
    | { readonly verdict: 'refused'; readonly rule?: DecidingRule }
    /** `failed`: it was allowed, and the system could not do it. The rule is what allowed it. */
    | { readonly verdict: 'allowed' | 'failed'; readonly rule?: string }
  );

/** The parts of a {@link Decision} that do not depend on its verdict. */
export interface DecisionFacts {
  readonly action: DecidedAction;
  readonly requester: string;
  readonly mark?: string;
  readonly client?: object | undefined;
  /** Subject of the decision, as far as the part knows it. */
  readonly path?: string;
  readonly name?: string;
  /** Entry of the whitelist by which a start was judged. */
  readonly entry?: EntryName;
  readonly port?: number | undefined;
  readonly address?: string;
  readonly code?: DecidingCode;
  /** The name of the variable for which it was refused. */
  readonly variable?: string;
  /** Origin of the plan, the SHA-256 of its bytes, and the try, for an action of a plan. */
  readonly source?: string;
  readonly checksum?: string;
  readonly attempt?: number;
  readonly periodic?: boolean;
  /** How what was decided has ended. */
  readonly outcome?: string;
}

/**
 * How a decision is recorded. `before`: the act waits until its record is on the disk. `with`: it does not happen while no record
 * can be written, but waits for none. `after`: nothing happens that could wait.
 */
export interface RecordRule {
  readonly when: 'before' | 'with' | 'after';
  /** Absent when it is always written out. */
  readonly flood?: Flood;
}

type Subject = Pick<DecisionFacts, 'path' | 'name' | 'port' | 'address'>;
type Act = readonly [
  /**
   * How it is recorded when it is allowed. `before` is for what changes the host, or cannot come a thousand times a second, and
   * is never counted as one of a flood; `with` for what gives a client something, and changes nothing.
   */
  when: RecordRule['when'],
  /** Words for the wanted action, as they follow "allowed to" and "refused to". */
  words: string | ((about: Subject) => string),
];

const quoted = (text: string | undefined): string => quoteText(text ?? '');

/** Everything that the daemon decides about, and records. */
const ACTS = {
  start: ['before', ({ path }) => `start ${quoted(path)}`],
  wait: ['with', ({ name }) => `read the output of ${quoted(name)}`],
  keepAlive: ['with', ({ name }) => `hold the lease of ${quoted(name)}`],
  updateFile: ['before', ({ name }) => `change a file of ${quoted(name)}`],
  stop: ['before', ({ name }) => `stop ${quoted(name)}`],
  connect: [
    'with',
    ({ port, address }) => `connect to ${port === undefined ? quoted(address) : `port ${port}`}`,
  ],
  getVersion: ['after', 'read the version of the host'],
  getAdapter: ['after', 'read a network adapter of the host'],
  getHnsNetwork: ['after', 'read an HNS network of the host'],
  listRoutes: ['after', 'list the routes of the host'],
  addRoutes: ['before', 'add routes to the host'],
  removeRoutes: ['before', 'remove routes from the host'],
  upgrade: ['before', 'upgrade the service'],
  planApply: ['before', 'apply a plan by hand'],
  planWrite: ['before', ({ path }) => `write ${quoted(path)} for a plan`],
  planDelete: ['before', ({ path }) => `delete ${quoted(path)} for a plan`],
  planInstruction: ['before', ({ name }) => `run the instruction ${quoted(name)} of a plan`],
  planCredentials: [
    'before',
    ({ name, address }) => `ask the credential provider ${quoted(name)} for ${quoted(address)}`,
  ],
  csiProxyApply: ['before', 'apply csi-proxy by hand'],
  csiProxyFetch: ['before', ({ address }) => `fetch csi-proxy from ${quoted(address)}`],
  csiProxySwitch: ['before', ({ path }) => `make the service csiproxy run ${quoted(path)}`],
  csiProxyStart: ['before', ({ path }) => `start ${quoted(path)} as the service csiproxy`],
  csiProxyTidy: ['before', 'remove unused releases of csi-proxy'],
  csiProxyRemove: ['before', 'uninstall csi-proxy'],
  hostNetworkChange: ['before', ({ name }) => `change routes of the host: ${name ?? ''}`],
  hostNetworkApply: ['before', 'apply the network of the host by hand'],
  hostNetworkTeardown: ['before', 'tear down the network of the host'],
  debugHeap: ['before', 'read the whole heap of the daemon'],
  debugLogLevel: ['before', ({ name }) => `set the log level of the daemon to ${quoted(name)}`],
} satisfies Readonly<Record<string, Act>>;

/** Action that was decided about; the list is closed. */
export type DecidedAction = keyof typeof ACTS;

/**
 * Judges how a decision is recorded. Pure.
 *
 * @param client - By whom floods are counted.
 */
export function recordRule(
  { action, verdict, requester, mark }: Decision,
  client = requester,
): RecordRule {
  const flood = { client, verdict };
  if (verdict !== 'allowed') return { when: 'after', flood };
  const [when] = ACTS[action];
  if (when !== 'before') return { when, flood };
  // A run can be stopped once; a client that repeats it is counted.
  return action === 'stop' ? { when, flood: { ...flood, act: mark ?? '' } } : { when };
}

/** The label of the threat model at the start of a rule: `A15 not listed`. The record keeps it, in its field `rule`. */
const LABEL = /^A\d+ /;
const MAX_REASON = 128;

/** The words of a rule, without the label of the threat model. */
export type RuleWords<Rule> = Rule extends `A${number} ${infer Words}` ? Words : Rule;

/** A rule without the label of the threat model. */
export function ruleWords<Rule extends string>(rule: Rule): RuleWords<Rule> {
  return rule.replace(LABEL, '') as RuleWords<Rule>;
}

/** Reasons that read better than the words of their rule or code. */
const REASONS: Readonly<Record<string, string>> = {
  'address-length': 'the address is too long',
  'protocol-tcp': 'only TCP is supported',
  'host-loopback': 'only the loopback of the host is reachable',
  'port-number': 'the port is not a number from 1 to 65535',
  'port-allowed': 'not listed',
  'stream-limit': 'too many streams',
  draining: 'the daemon is stopping',
  'connect-rate': 'too many in a short time',
  'not-recorded': 'the audit log cannot be written',
  'A1 nothing is allowed': 'not listed, as the list is empty',
  'A35 run of another connection': 'another connection started it',
  'A118 limits not allowed': 'more than its entry allows',
  'A130 files not granted': 'its entry does not allow these files',
  'A55 processes of one client': 'this client has too many runs',
};

/** Says a decision in one sentence, for people. Text of a client is quoted and cut. */
export function decisionMessage(decision: Decision): string {
  const { action, verdict, code, rule, variable, outcome } = decision;
  if (outcome !== undefined) return `an upgrade has ended: ${outcome}`;
  const words: Act[1] = ACTS[action][1];
  const act = typeof words === 'string' ? words : words(decision);
  if (verdict === 'allowed') return `allowed to ${act}`;
  const reason = rule ?? code;
  const why = reason === undefined ? '' : `: ${REASONS[reason] ?? readable(reason)}`;
  const which = variable === undefined ? '' : ` ${quoteText(variable, { maxLength: MAX_REASON })}`;
  return `${verdict} to ${act}${why}${which}`;
}

/** A rule or a code as words: `A15 not listed`, `connect-rate` and `alreadyRunning` without what only programs need. */
function readable(name: string): string {
  if (LABEL.test(name)) return escapeText(ruleWords(name), { maxLength: MAX_REASON });
  return name.replace(/(?<=[a-z])-(?=[a-z])|(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
}
