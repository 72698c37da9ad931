import { z } from 'zod';

import type { KeyShape } from './fold-keys.js';
import type { Command, HttpGet, Plan, Probe } from './plan.js';

const VALUE: KeyShape = { kind: 'value' };

/** The keys of a plan, for `foldKeys`. */
export const PLAN_KEYS: KeyShape = struct({
  files: list(
    struct({
      ...values('content', 'directory', 'uid', 'gid', 'path', 'permissions', 'action'),
      // Rancher's planner says by them which files change without the node; to an agent they mean nothing.
      ...values('dynamic', 'minor'),
    }),
  ),
  instructions: list(struct({ ...command(), ...values('saveOutput') })),
  periodicInstructions: list(
    struct({ ...command(), ...values('periodSeconds', 'saveStderrOutput') }),
  ),
  probes: {
    kind: 'map',
    of: struct({
      ...values(
        'name',
        'initialDelaySeconds',
        'timeoutSeconds',
        'successThreshold',
        'failureThreshold',
      ),
      httpGet: struct(values('url', 'insecure', 'clientCert', 'clientKey', 'caCert')),
    }),
  },
});

const text = z.string().default('');
const flag = z.boolean().default(false);
const number = z.int().default(0);
// Null in a list of texts is an empty text to Go.
const texts = z
  .array(
    z
      .string()
      .nullable()
      .transform((element) => element ?? ''),
  )
  .default([]);

const file = z
  .object({
    content: text,
    directory: flag,
    permissions: text,
    uid: number,
    gid: number,
    path: text,
    action: text,
  })
  .transform(({ content, permissions, action, ...rest }) => ({
    ...rest,
    ...given({ content, permissions, action }),
  }));

const commandKeys = { name: text, image: text, env: texts, args: texts, command: text };

const instruction = z
  .object({ ...commandKeys, saveOutput: flag })
  .transform(({ saveOutput, ...rest }) => ({ ...commandOf(rest), saveOutput }));

const periodicInstruction = z
  .object({ ...commandKeys, periodSeconds: number, saveStderrOutput: flag })
  .transform(({ periodSeconds, saveStderrOutput, ...rest }) => ({
    ...commandOf(rest),
    periodSeconds: positive(periodSeconds, DEFAULTS.periodSeconds),
    saveStderrOutput,
  }));

const httpGet = z
  .object({ url: text, insecure: flag, clientCert: text, clientKey: text, caCert: text })
  .transform(({ url, insecure, ...paths }): HttpGet => ({ url, insecure, ...given(paths) }));

const probe = z
  .object({
    name: text,
    initialDelaySeconds: number,
    timeoutSeconds: number,
    successThreshold: number,
    failureThreshold: number,
    httpGet: httpGet.optional(),
  })
  .transform(({ name, httpGet, successThreshold, failureThreshold, ...delays }): Probe => ({
    ...given({ name }),
    ...delays,
    successThreshold: positive(successThreshold, DEFAULTS.successThreshold),
    failureThreshold: positive(failureThreshold, DEFAULTS.failureThreshold),
    ...(httpGet && { httpGet }),
  }));

/** What stands for a number that a plan leaves out, or that is 0. */
export const DEFAULTS = { periodSeconds: 600, successThreshold: 1, failureThreshold: 3 } as const;

/** A plan whose keys are folded. Probes are read one by one, since a schema of a record passes over `__proto__`. */
export const planSchema = z
  .object({
    files: z.array(file).default([]),
    instructions: z.array(instruction).default([]),
    periodicInstructions: z.array(periodicInstruction).default([]),
    probes: z.custom<object>(isMap).default({}),
  })
  .transform((plan, context): Plan => {
    const probes: [string, Probe][] = [];
    for (const [name, value] of Object.entries(plan.probes)) {
      const parsed = probe.safeParse(value);
      if (parsed.success) probes.push([name, parsed.data]);
      else {
        for (const issue of parsed.error.issues) {
          context.addIssue({ ...issue, path: ['probes', name, ...issue.path] });
        }
      }
    }
    return { ...plan, probes: Object.fromEntries(probes) };
  });

function commandOf({
  name,
  image,
  command,
  env,
  args,
}: {
  name: string;
  image: string;
  command: string;
  env: string[];
  args: string[];
}): Command {
  return { ...given({ name, image, command }), env, args };
}

/** A negative period would be over at once, for ever. */
function positive(value: number, otherwise: number): number {
  return value > 0 ? value : otherwise;
}

function isMap(value: unknown): boolean {
  return typeof value === 'object' && !Array.isArray(value);
}

/** Without the texts that are empty: to Go an empty text and none are one. */
function given<K extends string>(members: Record<K, string>): Partial<Record<K, string>> {
  return Object.fromEntries(
    Object.entries(members).filter(([, member]) => member !== ''),
  ) as Partial<Record<K, string>>;
}

function struct(keys: Readonly<Record<string, KeyShape>>): KeyShape {
  return { kind: 'struct', keys };
}

function list(of: KeyShape): KeyShape {
  return { kind: 'list', of };
}

function values(...names: string[]): Record<string, KeyShape> {
  return Object.fromEntries(names.map((name) => [name, VALUE]));
}

function command(): Record<string, KeyShape> {
  return { ...values('name', 'image', 'command'), env: list(VALUE), args: list(VALUE) };
}
