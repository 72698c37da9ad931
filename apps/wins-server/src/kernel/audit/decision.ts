import type { EntryName, ProcessErrorCode, ProcessRule } from '@wins/process-manager';
import type { RefusalRule } from '@wins/tcp-tunnel';
import { escapeText, quoteText } from '@wins/base';
import type { HostSystemErrorCode } from '../feature-error.js';
import type { Flood } from './flood-gate.js';

export type DecidingRule = ProcessRule | RefusalRule;
export type DecidingCode = ProcessErrorCode | HostSystemErrorCode;

export type Decision = DecisionFacts &
  (
    | { readonly verdict: 'refused'; readonly rule?: DecidingRule | undefined }
    /** `failed`: the rule allowed the action, but the system could not do it. */
    | { readonly verdict: 'allowed' | 'failed'; readonly rule?: string | undefined }
  );

export interface DecisionFacts {
  readonly action: DecidedAction;
  /** Set for actions of features by {@link featureAction}; records do not have it. */
  readonly recording?: ActionRule | undefined;
  readonly requester: string;
  /** Trace of the client, if the call of the client has a `traceparent`. */
  readonly traceId?: string | undefined;
  readonly mark?: string | undefined;
  readonly client?: object | undefined;
  readonly path?: string | undefined;
  readonly name?: string | undefined;
  readonly runName?: string | undefined;
  readonly entry?: EntryName | undefined;
  readonly port?: number | undefined;
  readonly address?: string | undefined;
  readonly code?: DecidingCode | undefined;
  readonly variable?: string | undefined;
  /** Origin of the plan that contains the action. The next two fields are the plan's SHA-256, and the number of the attempt to apply the plan. */
  readonly source?: string | undefined;
  readonly checksum?: string | undefined;
  readonly attempt?: number | undefined;
  readonly periodic?: boolean | undefined;
  readonly outcome?: string | undefined;
}

/**
 * `before`: the action starts only after its record is written. `with`: the action does not wait, and is refused while the audit log cannot be
 * written. `after`: the action never depends on the audit log.
 */
export interface RecordRule {
  readonly when: 'before' | 'with' | 'after';
  /** Absent: every decision is written. */
  readonly flood?: Flood;
}

type Subject = Pick<DecisionFacts, 'path' | 'name' | 'port' | 'address'>;
type ActionRule = readonly [
  /** `before` for actions that change the host or are rare, `after` for reads of the host, `with` for others. */
  when: RecordRule['when'],
  /** Words after "allowed to" or "refused to". */
  words: string | ((about: Subject) => string),
];

export const quoted = (text: string | undefined): string => quoteText(text ?? '');

const ACTIONS = {
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
  debugHeap: ['before', 'read the whole heap of the daemon'],
  debugLogLevel: ['before', ({ name }) => `set the log level of the daemon to ${quoted(name)}`],
} satisfies Readonly<Record<string, ActionRule>>;

type KernelAction = keyof typeof ACTIONS;

/** The part of a decision that names an action of a feature. */
export type ActionOfFeature = Required<Pick<DecisionFacts, 'action' | 'recording'>>;

/** Name of an action that only its feature knows. */
type FeatureAction = string & { readonly [declared]: true };
declare const declared: unique symbol;

export type DecidedAction = KernelAction | FeatureAction;

/**
 * Returns the part of a decision that names an action of a feature.
 * @param when - `before` for actions that change the host or are rare, `after` for reads of the host, `with` for others.
 * @param words - Words after "allowed to" or "refused to".
 */
export function featureAction(
  name: string,
  when: RecordRule['when'],
  words: string | ((about: Subject) => string),
): ActionOfFeature {
  return { action: name as FeatureAction, recording: [when, words] };
}

/** An unknown action is recorded before it happens, because nothing says that it may go unrecorded. */
function ruleOf({ action, recording }: Pick<DecisionFacts, 'action' | 'recording'>): ActionRule {
  if (recording !== undefined) return recording;
  return isOfKernel(action) ? ACTIONS[action] : ['before', action];
}

function isOfKernel(action: DecidedAction): action is KernelAction {
  return Object.hasOwn(ACTIONS, action);
}

/** Returns how a decision is recorded. Floods are counted per `client`. */
export function recordRule(decision: Decision, client = decision.requester): RecordRule {
  const { action, verdict, mark } = decision;
  const flood = { client, verdict };
  if (verdict !== 'allowed') return { when: 'after', flood };
  const [when] = ruleOf(decision);
  if (when !== 'before') return { when, flood };
  // A run stops only once, so repeated requests may be counted instead of recorded.
  return action === 'stop' ? { when, flood: { ...flood, actionId: mark ?? '' } } : { when };
}

/** Label from the threat model, as in `A15 not listed`. Messages omit the label, but records keep it. */
const LABEL = /^A\d+ /;
const MAX_REASON = 128;

export type RuleWords<Rule> = Rule extends `A${number} ${infer Words}` ? Words : Rule;

export function ruleWords<Rule extends string>(rule: Rule): RuleWords<Rule> {
  return rule.replace(LABEL, '') as RuleWords<Rule>;
}

/** Plainer reasons for some rules and codes. */
const REASONS: Readonly<Record<string, string>> = {
  'address-length': 'the address is too long',
  'protocol-tcp': 'only TCP is supported',
  'host-loopback': 'only the loopback of the host is reachable',
  'port-number': 'the port is not a number from 1 to 65535',
  'port-not-listed': 'not listed',
  'stream-limit': 'too many streams',
  draining: 'the daemon is stopping',
  'connect-rate': 'too many connections in a short time',
  'not-recorded': 'the audit log cannot be written',
  'A1 nothing is allowed': 'the list is empty',
  'A35 run of another connection': 'another connection started it',
  'A118 limits not allowed': 'more than its entry allows',
  'A130 files not granted': 'its entry does not allow these files',
  'A55 processes of one client': 'this client has too many runs',
};

/** Returns a sentence for people. Text of a client is quoted and shortened. */
export function decisionMessage(decision: Decision): string {
  const { verdict, code, rule, variable, outcome } = decision;
  if (outcome !== undefined) return `an upgrade has ended: ${outcome}`;
  const [, words] = ruleOf(decision);
  const phrase = typeof words === 'string' ? words : words(decision);
  if (verdict === 'allowed') return `allowed to ${phrase}`;
  const reason = rule ?? code;
  const why = reason === undefined ? '' : `: ${REASONS[reason] ?? readable(reason)}`;
  const which = variable === undefined ? '' : ` ${quoteText(variable, { maxLength: MAX_REASON })}`;
  return `${verdict} to ${phrase}${why}${which}`;
}

/** Turns `A15 not listed`, `connect-rate` or `alreadyRunning` into words. */
function readable(name: string): string {
  if (LABEL.test(name)) return escapeText(ruleWords(name), { maxLength: MAX_REASON });
  return name.replace(/(?<=[a-z])-(?=[a-z])|(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase();
}
