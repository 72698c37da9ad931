import type { Admission } from './admit-program.js';
import type { ProcessError } from './process-error.js';
import type { StartPlan, StartRequest } from './start-request.js';
import type { DecisionRecord } from './supervision/decision-record.js';
import type { ExposedPort } from './supervision/managed-process.js';
import type { PortsOutcome } from './supervision/ports-outcome.js';

const MAX_AUDITED_PATH = 1024;
const MAX_AUDITED_NAMES = 64;
const MAX_AUDITED_NAME = 128;

/** The record of a start that was refused or that may now happen. */
export function startDecision(
  { owner, path, args, envs, exposes = [] }: StartRequest,
  mark: string,
  outcome: {
    readonly admission?: Admission | undefined;
    readonly plan?: StartPlan | undefined;
    readonly sha256?: string;
    readonly ports?: PortsOutcome | undefined;
    readonly refusal?: ProcessError;
  },
): DecisionRecord {
  const { admission, plan, sha256, ports, refusal } = outcome;
  const { variable } = refusal ?? {};
  const rule = refusal === undefined ? plan?.rule.path : refusal.rule;
  return {
    action: 'start',
    verdict: refusal === undefined ? 'allowed' : 'refused',
    requester: owner.id,
    ...(owner.label === undefined ? {} : { clientSays: owner.label }),
    ...(owner.client === undefined ? {} : { client: owner.client.description }),
    mark,
    path: path.slice(0, MAX_AUDITED_PATH),
    ...(plan === undefined ? {} : { name: plan.name }),
    ...(admission === undefined ? {} : { entry: admission.executable.baseName }),
    ...(refusal === undefined ? {} : { code: refusal.code }),
    ...(rule === undefined ? {} : { rule }),
    ...(variable === undefined ? {} : { variable: variable.slice(0, MAX_AUDITED_NAME) }),
    ...(sha256 === undefined ? {} : { sha256 }),
    ...(exposes.length === 0 ? {} : { exposes: exposes.slice(0, MAX_AUDITED_NAMES).map(portText) }),
    ...(ports === undefined ? {} : { ports: ports.kind }),
    ...(ports?.kind === 'notNeeded' ? { portsReason: ports.why } : {}),
    argumentCount: args.length,
    environmentNames: envs.slice(0, MAX_AUDITED_NAMES).map(auditedName),
  };
}

// What has no `=` may be a value that lost its name.
function auditedName(entry: string): string {
  return entry.slice(0, Math.min(MAX_AUDITED_NAME, Math.max(0, entry.indexOf('='))));
}

function portText({ protocol, port }: ExposedPort): string {
  return `${protocol} ${port}`;
}
