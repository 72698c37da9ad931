import type { UpgradeProgress } from '@wins/service-upgrade';
import * as z from 'zod';
import { CLIENT_JSON } from './client-json.js';
import { DAEMON_JSON } from './daemon-json.js';
import { tied } from './tied.js';

type CommandOutcome = import('@wins/wins-upgrade').CommandOutcome;
type NodeOutcome = import('@wins/wins-upgrade').NodeOutcome;

const program = z
  .strictObject({ sha256: z.string(), version: z.string().optional() })
  .meta({ id: 'program' });

const upgradeOutcome = z.union([
  tied<CommandOutcome>()(
    z.union([
      z.strictObject({
        id: z.string(),
        outcome: z.enum(['upgraded', 'nothing', 'refused', 'rolledBack', 'failed']),
        reason: z.string(),
        askedBy: z.string().optional(),
        attempt: z.int().optional(),
        from: program.optional(),
        to: program.optional(),
        target: z.string().optional(),
        log: z.string().optional(),
        serviceArgs: z
          .strictObject({
            before: z.array(z.string()).optional(),
            after: z.array(z.string()),
          })
          .optional(),
        configWarnings: z.string().optional(),
        interrupted: z.literal(true).optional(),
      }),
      z.strictObject({
        outcome: z.literal('planned'),
        text: z.string(),
        exitCode: z.int(),
      }),
      z.strictObject({
        outcome: z.literal('handedOver'),
        id: z.string(),
        reason: z.string(),
        result: z.string(),
        log: z.string(),
      }),
    ]),
  ),
  tied<UpgradeProgress>()(
    z.strictObject({
      id: z.string(),
      outcome: z.enum(['running', 'interrupted', 'none']),
      reason: z.string(),
    }),
  ),
  z
    .strictObject({
      id: z.string().optional(),
      outcome: z.enum(['refused', 'failed']),
      reason: z.string(),
    })
    .describe('The command failed before an upgrade began.'),
  z.null().describe('With --show-result: no upgrade has ended.'),
]);

const recovery = z.enum(['finished', 'undone']);
const nodeOutcome = tied<NodeOutcome>()(
  z
    .strictObject({
      outcome: z.enum([
        ...(['adopted', 'installed', 'left', 'rolledBack', 'uninstalled'] as const),
        ...(['failed', 'nothing', 'planned', 'refused'] as const),
      ]),
      reason: z.string(),
      steps: z.array(z.string()).optional(),
      kept: z.array(z.string()).optional(),
      recovered: recovery.optional(),
      pending: z.strictObject({ outcome: recovery, steps: z.array(z.string()) }).optional(),
    })
    .meta({ id: 'nodeOutcome' }),
);

/** Schema of what each command prints with `-o json`, by its words after `wins`. An unknown member does not match. */
export const COMMAND_JSON: Readonly<Record<string, z.ZodType>> = {
  ...CLIENT_JSON,
  ...DAEMON_JSON,
  up: upgradeOutcome,
  install: nodeOutcome,
  join: nodeOutcome,
  leave: nodeOutcome,
  uninstall: nodeOutcome,
  suc: nodeOutcome,
  version: z.strictObject({ version: z.string(), commit: z.string() }),
};

/** Returns the values that a command printed. @throws ZodError when one does not match the schema of the command. */
export function commandValues(command: string, values: readonly unknown[]): readonly unknown[] {
  const schema = COMMAND_JSON[command];
  if (schema === undefined) throw new Error(`wins ${command} has no schema`);
  return values.map((value) => schema.parse(value));
}

/** Returns the JSON Schema of all commands, as docs/command-output.schema.json has it. */
export function commandJsonSchema(): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(z.strictObject(COMMAND_JSON).partial(), {
    override: ({ jsonSchema }) => {
      if (jsonSchema.type !== 'integer') return;
      // The limits of exact integers in JavaScript say nothing about the value.
      delete jsonSchema.minimum;
      delete jsonSchema.maximum;
    },
  });
}
