/** Plan format as Go's `encoding/json` reads and writes it. */
import { escapeText } from '@wins/base';
import { AgentError } from '../agent-error.js';
import { goJson, goMap, goStruct } from './go-json.js';
import type { Plan } from './plan.js';

interface GoType<T> {
  /** Undefined and null yield the empty value. @throws AgentError `invalidPlan`. */
  read(value: unknown, at: Reading): T;
  /** Undefined for a value that Go omits. */
  json(value: T | undefined): string | undefined;
}

/** Position of the parser, and the ignored keys. */
export class Reading {
  readonly unknownKeys: string[] = [];
  readonly #path: (string | number)[] = [];

  member<T>(type: GoType<T>, value: unknown, key: string | number): T {
    this.#path.push(key);
    const read = type.read(value, this);
    this.#path.pop();
    return read;
  }

  /** Returns a path such as `instructions[0].name`. */
  pathOf(...keys: readonly string[]): string {
    const steps = [...this.#path, ...keys].map((key) =>
      typeof key === 'number' ? `[${key}]` : `.${key}`,
    );
    return steps.join('').replace(/^\./, '');
  }
}

function refused(value: unknown, at: Reading, wanted: string): AgentError {
  const location = escapeText(at.pathOf(), { maxLength: 256 }) || 'its top';
  return invalidPlan(`found ${typeOf(value)} at ${location}; wanted ${wanted}`);
}

/** @param what - Must contain no value of the plan, which may be secret. */
export function invalidPlan(what: string): AgentError {
  return new AgentError('invalidPlan', `cannot read the plan: ${what}`);
}

function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'number' && !Number.isSafeInteger(value))
    return 'a number that is no integer';
  return (
    { string: 'text', boolean: 'true or false', number: 'an integer' }[typeof value as string] ??
    'an object'
  );
}

/** Go does not distinguish missing and empty texts. */
const text: GoType<string | undefined> = {
  read: (value, at) => required.read(value, at) || undefined,
  json: (value) => required.json(value),
};
const required: GoType<string> = {
  read(value, at) {
    if (typeof (value ?? '') !== 'string') throw refused(value, at, 'text');
    return (value ?? '') as string;
  },
  json: (value) => (value ? goJson(value) : undefined),
};
const flag: GoType<boolean> = {
  read(value, at) {
    if (typeof (value ?? false) !== 'boolean') throw refused(value, at, 'true or false');
    return value === true;
  },
  json: (value) => (value ? 'true' : undefined),
};
/** A known key that agents ignore. */
const ignored: GoType<undefined> = { read: () => undefined, json: () => undefined };

/**
 * `otherwise` is the default. A positive default also replaces values below 1, because an instruction whose
 * `periodSeconds` is below 1 would always be due.
 */
const integer = (otherwise = 0): GoType<number> => ({
  read(value, at) {
    const found = value ?? otherwise;
    if (!Number.isSafeInteger(found)) throw refused(value, at, 'an integer');
    return otherwise > 0 && Number(found) <= 0 ? otherwise : Number(found);
  },
  json: (value) => (value === undefined || value === otherwise ? undefined : String(value)),
});

const list = <T>(of: GoType<T>): GoType<readonly T[]> => ({
  read(value, at) {
    if (!Array.isArray(value ?? [])) throw refused(value, at, 'a list');
    return ((value ?? []) as unknown[]).map((each, index) => at.member(of, each, index));
  },
  json: (values = []) =>
    values.length === 0 ? undefined : `[${values.map((each) => of.json(each) ?? '""').join()}]`,
});

const map = <T>(of: GoType<T>): GoType<Readonly<Record<string, T>>> => ({
  read: (value, at) =>
    Object.fromEntries(
      membersOf(value, at).map(([name, each]) => [name, at.member(of, each, name)]),
    ),
  json: (members = {}) =>
    Object.keys(members).length === 0 ? undefined : goMap(members, (each) => of.json(each) ?? '{}'),
});

type Keys = Readonly<Record<string, GoType<unknown>>>;
type Value<T> = T extends GoType<infer V> ? V : never;
type Struct<K> = {
  readonly [Name in keyof K as undefined extends Value<K[Name]> ? never : Name]: Value<K[Name]>;
} & {
  readonly [Name in keyof K as undefined extends Value<K[Name]> ? Name : never]?: Exclude<
    Value<K[Name]>,
    undefined
  >;
};

/** Keys match regardless of case; the last match that is not null counts. `json` returns text even for undefined, because Go never omits a struct. */
function struct<K extends Keys>(keys: K): GoType<Struct<K>> {
  const all = Object.entries(keys);
  const nameOf = (key: string): string | undefined => {
    // The fast path, because a plan may have thousands of keys.
    if (Object.hasOwn(keys, key)) return key;
    return all.find(([name]) => name.toLowerCase() === key.toLowerCase())?.[0];
  };
  return {
    read(value, at) {
      const given = new Map<string, unknown>();
      for (const [key, member] of membersOf(value, at)) {
        const name = nameOf(key);
        if (name === undefined) at.unknownKeys.push(at.pathOf(key));
        else if (member !== null) given.set(name, member);
      }
      const read = all.map(([name, type]) => [name, at.member(type, given.get(name), name)]);
      return Object.fromEntries(read.filter(([, member]) => member !== undefined)) as Struct<K>;
    },
    json: (members) =>
      goStruct(all.map(([name, type]) => [name, type.json(members?.[name as keyof Struct<K>])])),
  };
}

function optional<T>(type: GoType<T>): GoType<T | undefined> {
  return { ...type, read: (value, at) => (value == null ? undefined : type.read(value, at)) };
}

function membersOf(value: unknown, at: Reading): [string, unknown][] {
  if (typeof (value ?? {}) === 'object' && !Array.isArray(value))
    return Object.entries(value ?? {});
  throw refused(value, at, 'an object');
}

const command = {
  name: text,
  image: text,
  env: list(required),
  args: list(required),
  command: text,
};

/** Keys in the order of Go's structs. */
export const PLAN: GoType<Plan> = struct({
  files: list(
    struct({
      content: text,
      directory: flag,
      uid: integer(),
      gid: integer(),
      path: required,
      permissions: text,
      action: text,
      // Rancher's planner uses these keys to mark files that may change without affecting the node.
      dynamic: ignored,
      minor: ignored,
    }),
  ),
  instructions: list(struct({ ...command, saveOutput: flag })),
  probes: map(
    struct({
      name: text,
      initialDelaySeconds: integer(),
      timeoutSeconds: integer(),
      successThreshold: integer(1),
      failureThreshold: integer(3),
      httpGet: optional(
        struct({ url: required, insecure: flag, clientCert: text, clientKey: text, caCert: text }),
      ),
    }),
  ),
  periodicInstructions: list(
    struct({ ...command, periodSeconds: integer(600), saveStderrOutput: flag }),
  ),
});
