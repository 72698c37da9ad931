import * as z from 'zod';
import type { ItemKind } from './item.js';
import type { Step } from './step.js';

const text = z.string().max(32_767);
const digest = z.string().regex(/^[0-9a-f]{64}$/);
const presence = z.literal('present');
const path = z.strictObject({ path: text });
const named = z.strictObject({ name: text });

/** Item and state of each kind, as a file of ours may have them. */
const KINDS = {
  folder: [
    z.strictObject({ path: text, isData: z.literal(true).optional() }),
    z.strictObject({ access: text }),
  ],
  file: [path, z.strictObject({ sha256: digest, access: text })],
  program: [path, z.strictObject({ sha256: digest })],
  pathElement: [path, presence],
  certificate: [z.strictObject({ sha256: digest }), presence],
  winHttpProxy: [z.strictObject({}), z.strictObject({ proxy: text, bypass: text })],
  eventSource: [named, presence],
  service: [
    named,
    z.strictObject({
      command: text,
      startType: z.enum(['automatic', 'delayed', 'manual', 'disabled']),
    }),
  ],
  variable: [z.strictObject({ service: text, name: text }), z.strictObject({ sha256: digest })],
  dependency: [z.strictObject({ service: text, on: text }), presence],
  running: [z.strictObject({ service: text }), presence],
} as const satisfies Record<ItemKind, readonly [z.ZodObject, z.ZodType]>;

/** The most steps that a file of ours may have. */
export const MAX_STEPS = 1000;

/** A step of a file of ours, each state of the kind of its item. */
export const STEP_SCHEMA: z.ZodType<Step> = z.union(
  Object.entries(KINDS).map(([kind, [at, state]]) =>
    z.strictObject({
      item: at.extend({ kind: z.literal(kind) }),
      from: state.optional(),
      to: state.optional(),
    }),
  ),
) as unknown as z.ZodType<Step>;
