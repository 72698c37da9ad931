// This file is long because it is one list of what the commands of the daemon print.
import type {
  PlanApplied,
  PlanApplyResponse,
  PlanContent,
  PlanFailure,
  PlanProbeState,
} from '@wins/wins-api/contract';
import type { ConfigReload } from '@wins/wins-api';
import type { ImageCheck } from '@wins/system-agent';
import * as z from 'zod';
import { decidingEntry, time } from './client-json.js';
import { tied } from './tied.js';

type AuditRecord = import('@wins/wins-server').AuditRecord;
type AuditVerdict = import('@wins/wins-server').AuditVerdict;
type Condition = import('@wins/wins-server').Condition;
type CsiProxyFacts = import('@wins/wins-server').CsiProxyFacts;
type CsiProxyStep = import('@wins/wins-server').CsiProxyStep;
type DiagnosticsFacts = import('@wins/wins-server').DiagnosticsFacts;
type NetworkFacts = import('@wins/wins-server').NetworkFacts;
type NetworkSteps = import('@wins/wins-server').NetworkSteps;
type PlanFacts = import('@wins/wins-server').PlanFacts;
type PortsFacts = import('@wins/wins-server').PortsFacts;
type RingEvent = import('@wins/wins-server').RingEvent;

/** A word of a type that is open, or whose words the schema does not list. */
const word = <Word extends string>() => z.string() as unknown as z.ZodType<Word>;

/** The facts of a feature, or why it is off. */
const told = <Shape extends z.core.$ZodLooseShape>(facts: z.ZodObject<Shape, z.core.$strict>) =>
  z.union([
    z.strictObject({ on: z.literal(false), reason: z.string() }),
    z.strictObject({ on: z.literal(true), ...facts.shape }),
  ]);

const condition = tied<Condition>()(
  z
    .strictObject({
      check: z.string(),
      code: z.string().optional().describe('Absent only for ok.'),
      level: z.enum(['ok', 'warning', 'problem']),
      found: z.string(),
      advice: z.string().optional().describe('Absent only for ok.'),
      since: time.optional(),
    })
    .meta({ id: 'condition' }),
);
const report = z.strictObject({ healthy: z.boolean(), findings: z.array(condition) });

const configProblem = z.strictObject({
  severity: z.string(),
  code: z.string(),
  key: z.string(),
  line: z.int().optional(),
  column: z.int().optional(),
  message: z.string(),
  nextStep: z.string(),
});
const checkedProblem = configProblem.extend({ found: z.string(), expected: z.string() });
const position = z.strictObject({ line: z.int(), column: z.int() });

const verdict = {
  allowed: z.boolean(),
  code: z.string(),
  reason: z.string(),
  entry: decidingEntry,
};

const probe = tied<PlanProbeState>()(
  z
    .strictObject({
      name: z.string(),
      healthy: z.boolean(),
      successCount: z.int(),
      failureCount: z.int(),
    })
    .meta({ id: 'probe' }),
);
const planFailure = tied<PlanFailure>()(
  z
    .strictObject({ instruction: z.string(), exitCode: z.int(), stderr: z.string() })
    .meta({ id: 'planFailure' }),
);
const planFacts = tied<PlanFacts>()(
  z.strictObject({
    lastContact: time.optional(),
    strictTls: z.boolean(),
    sources: z.array(
      z.strictObject({
        source: z.string(),
        state: z.enum([
          ...(['starting', 'noPlan', 'noSecret', 'applying', 'applied', 'failed'] as const),
          ...(['cancelled', 'paused', 'waiting', 'invalid', 'unwritten'] as const),
          ...(['disconnected', 'unregistered'] as const),
        ]),
        problem: z.string().optional(),
        nextAt: time.optional(),
        checksum: z.string().optional(),
        appliedChecksum: z.string().optional(),
        failedChecksum: z.string().optional(),
        failures: z.int(),
        lastApplyTime: z.string().optional().describe('Copied from the Secret.'),
        probes: z.array(probe),
        periodic: z.array(
          z.strictObject({
            name: z.string(),
            exitCode: z.int(),
            failures: z.int(),
            lastSuccessfulRunTime: z.string(),
            lastFailedRunTime: z.string(),
          }),
        ),
        failure: planFailure.optional(),
      }),
    ),
  }),
);
const planContent = tied<PlanContent>()(
  z
    .strictObject({
      source: z.string(),
      checksum: z.string(),
      files: z.array(
        z.strictObject({
          path: z.string(),
          directory: z.boolean(),
          permissions: z.string(),
          uid: z.int(),
          gid: z.int(),
          action: z.string(),
          sizeBytes: z.int(),
          effect: z.string().describe('Empty except in a dry run.'),
        }),
      ),
      instructions: z.array(
        z.strictObject({
          name: z.string(),
          image: z.string(),
          command: z.string(),
          argumentCount: z.int(),
          variables: z.array(z.string()),
          saveOutput: z.boolean(),
          periodSeconds: z.int().describe('0 for an instruction that runs once.'),
        }),
      ),
      probes: z.array(
        z.strictObject({ name: z.string(), address: z.string(), timeoutSeconds: z.int() }),
      ),
    })
    .meta({ id: 'planContent' }),
);

const csiProxyFacts = tied<CsiProxyFacts>()(
  z.strictObject({
    state: z.enum(['absent', 'fetching', 'verified', 'installed', 'serving', 'failed']),
    detail: z.string(),
    failure: z
      .strictObject({
        code: word<NonNullable<CsiProxyFacts['failure']>['code']>(),
        failures: z.int(),
        retryAt: time,
      })
      .optional(),
    wanted: z
      .strictObject({
        version: z.string(),
        sha256: z.string().optional(),
        address: z.string(),
        folder: z.string(),
        arguments: z.array(z.string()),
      })
      .optional(),
  }),
);
const csiProxySteps = z.strictObject({
  steps: z.array(tied<CsiProxyStep>()(z.strictObject({ action: z.string(), reason: z.string() }))),
});

const source = tied<NetworkFacts['sources'][number]>()(
  z
    .strictObject({
      source: z.string(),
      state: z.enum(['starting', 'current', 'stale', 'degraded']),
      version: z.string(),
      ageMs: z.number().optional().describe('Absent before the first contact.'),
      sinceMs: z.number(),
      count: z.int(),
      isDoubted: z.boolean(),
      isLimited: z.boolean(),
      problem: z.string(),
      skipped: z.array(
        z.strictObject({
          id: z.string(),
          code: word<NetworkFacts['sources'][number]['skipped'][number]['code']>(),
        }),
      ),
      skippedCount: z.int(),
      duplicates: z
        .array(z.strictObject({ id: z.string(), of: z.string(), isStale: z.boolean() }))
        .optional(),
    })
    .meta({ id: 'source' }),
);
const itemKind = z.enum(['bridge', 'address', 'filter', 'rule', 'forwarding']);
const networkStatus = tied<
  NetworkFacts & Pick<PortsFacts, 'ports'> & { readonly on: boolean; readonly reason: string }
>()(
  z
    .strictObject({
      on: z.boolean(),
      reason: z.string().describe('Why it is off; empty while it is on.'),
      state: z.enum(['starting', 'settled', 'partial', 'failed']),
      down: z.boolean().describe('Whether it was torn down by hand.'),
      routes: z.array(
        z.strictObject({
          kind: z.enum(['route', 'subnet', ...itemKind.options]),
          destination: z.string(),
          state: z.enum([
            ...(['applied', 'foreign', 'planned', 'waiting'] as const),
            ...(['conflict', 'rejected', 'failed'] as const),
          ]),
          detail: z.string(),
          gateway: z.string(),
          interface: z.string(),
          metric: z.int(),
          peer: z.string().optional(),
          code: word<NonNullable<NetworkFacts['routes'][number]['code']>>().optional(),
        }),
      ),
      orphans: z.array(z.string()),
      problems: z.array(z.string()),
      sources: z.array(source),
      ports: z.array(
        z.strictObject({
          proto: z.enum(['tcp', 'udp']),
          listen: z.string(),
          to: z.string(),
          state: z.enum(['starting', 'listening', 'busy', 'failed', 'rejected', 'down']),
          detail: z.string(),
          open: z.int().describe('Number of open connections.'),
        }),
      ),
    })
    .meta({ id: 'networkStatus' }),
);
const networkPlan = told(
  tied<NetworkSteps>()(
    z.strictObject({
      steps: z.array(
        z.union([
          z.strictObject({
            op: z.enum(['add', 'remove']),
            route: z.strictObject({
              destination: z.string(),
              gateway: z.string(),
              interface: z.string(),
              metric: z.int(),
            }),
            assumesOnLink: z.boolean().optional(),
            reason: z.string(),
          }),
          z.strictObject({
            op: z.enum(['add', 'remove']),
            item: z.strictObject({ kind: itemKind, key: z.string(), value: z.string() }),
            prior: z.string().optional(),
            reason: z.string(),
          }),
        ]),
      ),
      isLimited: z.boolean(),
    }),
  ),
).meta({ id: 'networkPlan' });

const client = z
  .strictObject({
    pid: z.int().optional(),
    account: z.string().optional(),
    container: z.string().optional(),
  })
  .meta({ id: 'client', description: 'A client as the system identifies it.' });
const connection = {
  name: z.string(),
  client,
  openedAt: time,
  receivedBytes: z.int(),
  sentBytes: z.int(),
};
const diagnostics = tied<DiagnosticsFacts>()(
  z.strictObject({
    handles: z.array(z.strictObject({ kind: z.string(), count: z.int() })),
    connections: z.array(z.strictObject({ ...connection, calls: z.int() })),
    runs: z.array(
      z.strictObject({
        name: z.string(),
        mark: z.string(),
        path: z.string(),
        pid: z.int(),
        state: z.enum(['running', 'stopping', 'killing', 'draining', 'ended']),
        startedAt: time,
        owner: z.string(),
      }),
    ),
    streams: z.array(z.strictObject({ ...connection, streams: z.int(), pauses: z.int() })),
  }),
);
const writtenFile = z
  .strictObject({ file: z.string(), bytes: z.int() })
  .meta({ id: 'writtenFile' });

export const DAEMON_JSON: Readonly<Record<string, z.ZodType>> = {
  'srv config check': z.union([
    z.strictObject({
      file: z.string(),
      found: z.boolean(),
      valid: z.literal(true),
      problems: z.array(checkedProblem),
      values: z.array(
        z.strictObject({
          key: z.string(),
          value: z.unknown().optional(),
          origin: z.union([z.literal('default'), position]),
        }),
      ),
    }),
    z.strictObject({
      file: z.string(),
      found: z.boolean(),
      valid: z.literal(false),
      problems: z.array(checkedProblem),
    }),
  ]),
  'srv config schema': z.looseObject({ $schema: z.string() }).describe('A JSON Schema.'),
  'srv config explain': z.union([
    z.array(
      z.strictObject({
        key: z.string(),
        meaning: z.string(),
        type: z.string(),
        default: z.unknown().optional(),
        absent: z.string().optional(),
        since: z.string(),
        spellings: z.array(z.string()),
      }),
    ),
    z.strictObject({
      subject: z.string(),
      ...verdict,
      nextStep: z.string().optional(),
      udp: z.strictObject(verdict).optional(),
      relays: z.array(z.strictObject({ relay: z.string(), entry: decidingEntry })).optional(),
    }),
  ]),
  'srv config reload': tied<
    Omit<ConfigReload, 'rejected' | 'problems'> & {
      readonly valid: boolean;
      readonly problems: readonly z.output<typeof configProblem>[];
    }
  >()(
    z.strictObject({
      file: z.string(),
      valid: z.boolean(),
      changed: z.array(z.string()),
      changes: z.array(z.string()),
      needRestart: z.array(z.string()),
      problems: z.array(configProblem),
    }),
  ),
  'srv plan status': told(planFacts),
  'srv plan show': z.array(planContent),
  'srv plan history': z.array(
    tied<PlanApplied>()(
      z.strictObject({
        file: z.string(),
        checksum: z.string(),
        files: z.int(),
        instructions: z.int(),
        periodicInstructions: z.int(),
        probes: z.int(),
      }),
    ),
  ),
  'srv plan apply': tied<PlanApplyResponse>()(
    z.strictObject({
      plan: planContent.optional(),
      applied: z.boolean().describe('False for a dry run.'),
      succeeded: z.boolean(),
      outputs: z.array(z.strictObject({ name: z.string(), sizeBytes: z.int() })),
      probes: z.array(probe),
      failure: planFailure.optional(),
    }),
  ),
  'srv registry check': tied<ImageCheck & { readonly found: boolean }>()(
    z.strictObject({
      found: z.boolean(),
      image: z.string(),
      isInArchive: z.boolean(),
      registriesFile: z.string(),
      registries: z.array(
        z.strictObject({
          url: z.string(),
          repository: z.string(),
          mirrorOf: z.string(),
          rewrittenBy: z.string(),
          proxy: z.string(),
          trust: z.string(),
          login: z.string(),
          isLoginShown: z.boolean(),
          result: z.enum(['ok', 'failed', 'notAsked']),
          failure: z.string(),
        }),
      ),
      warnings: z.array(z.string()),
    }),
  ),
  'srv csi-proxy status': told(csiProxyFacts),
  'srv csi-proxy apply': z
    .union([told(csiProxyFacts), told(csiProxySteps)])
    .describe('The steps with --dry-run.'),
  'srv network status': networkStatus,
  'srv network plan': networkPlan,
  'srv network apply': networkStatus,
  'srv network teardown': z
    .union([networkStatus, networkPlan])
    .describe('The steps with --dry-run.'),
  'srv events': tied<RingEvent>()(
    z
      .object({ seq: z.int(), time, type: z.string() })
      .catchall(z.union([z.string(), z.number(), z.boolean()]).optional())
      .describe('One line for each event; its facts depend on its type.'),
  ),
  'srv metrics': z.strictObject({ text: z.string().describe('In the format of Prometheus.') }),
  'srv debug stacks': z.strictObject({ stacks: z.string() }),
  'srv debug report': z
    .looseObject({ header: z.looseObject({}) })
    .describe('The diagnostic report of Node.js, without secrets.'),
  'srv debug heap': writtenFile,
  'srv debug cpu': writtenFile,
  'srv debug trace': writtenFile,
  'srv debug handles': diagnostics.shape.handles,
  'srv debug log-level': z.strictObject({
    level: z.string(),
    until: z.string().describe('RFC 3339; empty without a limit.'),
  }),
  'srv debug connections': diagnostics.shape.connections,
  'srv debug runs': diagnostics.shape.runs,
  'srv debug streams': diagnostics.shape.streams,
  'srv audit show': tied<AuditRecord>()(
    z
      .looseObject({ seq: z.int(), prev: z.string(), time, kind: z.string() })
      .describe('One line for each record; its facts depend on its kind.'),
  ),
  'srv audit verify': tied<AuditVerdict & { readonly directory: string }>()(
    z.strictObject({
      directory: z.string(),
      ok: z.boolean(),
      records: z.int(),
      firstSeq: z.int().optional(),
      lastSeq: z.int().optional(),
      lastHash: z.string().optional(),
      lost: z.int(),
      unfinishedBytes: z.int(),
      problems: z.array(z.strictObject({ file: z.string(), line: z.int(), what: z.string() })),
      problemCount: z.int(),
    }),
  ),
  status: report,
  doctor: report,
  'support-bundle': z.strictObject({
    file: z.string(),
    bytes: z.int(),
    members: z.array(
      z.strictObject({
        name: z.string(),
        bytes: z.int(),
        isCut: z.boolean(),
        isFailure: z.boolean(),
      }),
    ),
  }),
  stackdump: z.strictObject({ pid: z.int(), file: z.string() }),
};
