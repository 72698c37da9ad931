import { quoteText } from '@wins/wins-program';
import { isGuardedVariable, isRunMarker, variableKey } from './guarded-variables.js';
import type { PathDialect } from './parsed-path.js';
import { ProcessError, type ProcessRule } from '../process-error.js';

/**
 * What clients may set for a program: the variables of these names, a trailing `*` standing for every name with that beginning;
 * or `any` but the guarded ones, which must be named exactly.
 */
export type AllowedVariables = readonly string[] | 'any';

/** What the environment of a child is made of. */
export interface ChildEnvironmentRequest {
  /** What every run gets, in layers: of a variable that is in several of them the last counts. */
  readonly base: readonly Readonly<Record<string, string>>[];
  /** `NAME=value` entries of the client. */
  readonly envs: readonly string[];
  readonly allowed: AllowedVariables;
  readonly dialect: PathDialect;
}

/**
 * Builds a child's environment: the base, and the client's entries on top where the rule allows them. Names compare without
 * ASCII case in the Windows dialect.
 *
 * @throws ProcessError `invalidArgument` for an entry without `=`, with an empty name, with NUL, with
 * a name beyond ASCII in the Windows dialect, or given twice; `envNotAllowed` for a variable that the rule does not grant.
 */
export function childEnvironment(request: ChildEnvironmentRequest): Record<string, string> {
  const { dialect } = request;
  const grant = grantOf(request.allowed, dialect);
  const asked = new Map<string, readonly [name: string, value: string]>();
  for (const [index, entry] of request.envs.entries()) {
    const [name, value] = splitEntry(entry, index);
    // Whoever folds more than A to Z takes \u017F for S and \u0131 for I: it would be another name here than there.
    if (dialect === 'windows' && /[^ -~]/.test(name)) {
      throw invalid(`environment variable ${quoteText(name)} has a name beyond ASCII; wanted none`);
    }
    const key = variableKey(name, dialect);
    if (asked.has(key)) throw invalid(`environment variable ${quoteText(name)} is given twice`);
    assertGranted(name, grant, dialect);
    asked.set(key, [name, value]);
  }
  const result = new Map<string, readonly [name: string, value: string]>();
  for (const [name, value] of request.base.flatMap((layer) => Object.entries(layer))) {
    result.set(variableKey(name, dialect), [name, value]);
  }
  for (const [key, pair] of asked) result.set(key, pair);
  // No prototype: a variable named __proto__ is a variable like any other.
  const environment = Object.create(null) as Record<string, string>;
  for (const [name, value] of result.values()) environment[name] = value;
  return environment;
}

/** Why a list of allowed variables is invalid, or undefined. */
export function faultOfAllowedVariables(allowed: AllowedVariables): string | undefined {
  if (allowed === 'any') return undefined;
  const bad = allowed.find((name) => !/^[^=*\0]+\*?$/.test(name));
  return bad === undefined
    ? undefined
    : `${quoteText(bad)} in its "envs" is no name of a variable; wanted one such as NODE_NAME or KUBE_*`;
}

/** What a rule grants, ready to be asked many times. */
interface Grant {
  readonly any: boolean;
  readonly names: ReadonlySet<string>;
  readonly beginnings: readonly string[];
}

function grantOf(allowed: AllowedVariables, dialect: PathDialect): Grant {
  if (allowed === 'any') return { any: true, names: new Set(), beginnings: [] };
  const keys = allowed.map((name) => variableKey(name, dialect));
  return {
    any: false,
    names: new Set(keys.filter((key) => !key.endsWith('*'))),
    beginnings: keys.filter((key) => key.endsWith('*')).map((key) => key.slice(0, -1)),
  };
}

function assertGranted(name: string, grant: Grant, dialect: PathDialect): void {
  const key = variableKey(name, dialect);
  const isMarker = isRunMarker(name, dialect);
  if (grant.names.has(key) && !isMarker) return;
  const isGuarded = isGuardedVariable(name, dialect);
  const isGranted = grant.any || grant.beginnings.some((beginning) => key.startsWith(beginning));
  if (isGranted && !isGuarded) return;
  const refused = `cannot set the environment variable ${quoteText(name)} for this program`;
  if (isMarker) {
    throw refusal(`${refused}: it marks the processes of a run`, 'A21 guarded variable', name);
  }
  const why = isGuarded ? 'it can change what programs load' : 'its entry does not grant it';
  const rule = isGuarded ? 'A21 guarded variable' : 'A40 variable not granted';
  throw refusal(`${refused}: ${why}; wanted its exact name in "envs" of the entry`, rule, name);
}

function refusal(message: string, rule: ProcessRule, variable: string): ProcessError {
  return new ProcessError('envNotAllowed', message, { rule, variable });
}

function splitEntry(entry: string, index: number): readonly [name: string, value: string] {
  const equals = entry.indexOf('=');
  // The entry may be a secret with its name forgotten, so it is not repeated in the message.
  if (equals < 0) throw invalid(`environment entry ${index + 1} has no "="; wanted NAME=value`);
  if (equals === 0)
    throw invalid(`environment entry ${index + 1} has an empty name; wanted NAME=value`);
  const name = entry.slice(0, equals);
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\x00-\x1f\x7f]/.test(name) || entry.includes('\0')) {
    throw invalid(`environment variable ${quoteText(name)} holds NUL or a control character`);
  }
  return [name, entry.slice(equals + 1)];
}

function invalid(message: string): ProcessError {
  return new ProcessError('invalidArgument', `cannot build the environment: ${message}`);
}
