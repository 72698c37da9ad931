/** How outputs and statuses are written into the Secret and `.pos` files. */
import { z } from 'zod';

import type { Outputs, PeriodicStatus, ProbeStatus } from '../apply/pass.js';
import { goJson, goMap, goStruct } from '../plan/go-json.js';

const bytes = z
  .string()
  .nullish()
  .transform((text) => (text ? Buffer.from(text, 'base64') : null));
const count = z.int().catch(0);
const time = z.string().catch('');

const outputs = z.record(z.string(), bytes).nullable();
const periodicStatus = z.object({
  name: z.string().catch(''),
  stdout: bytes,
  stderr: z
    .string()
    .nullish()
    .transform((text) => (text === '' ? undefined : text ? Buffer.from(text, 'base64') : null)),
  exitCode: count,
  lastSuccessfulRunTime: time,
  failures: count,
  lastFailedRunTime: time,
});
const probeStatus = z.object({
  healthy: z.boolean().default(false),
  successCount: z.int().default(0),
  failureCount: z.int().default(0),
});

/** `{"name":"<base64>"}`; null for no output. */
export function outputsJson(saved: Outputs): string {
  return goMap(saved, base64Json);
}

/** @throws Error, which may quote the text, when it is of another form. */
export function parseOutputs(text: string): Outputs {
  return text === '' ? {} : (outputs.parse(JSON.parse(text)) ?? {});
}

export function periodicJson(statuses: Readonly<Record<string, PeriodicStatus>>): string {
  return goMap(statuses, (status) =>
    goStruct([
      ['name', goJson(status.name)],
      ['stdout', base64Json(status.stdout)],
      // What was not saved is empty, what was saved and empty is null.
      ['stderr', status.stderr === undefined ? '""' : base64Json(status.stderr)],
      ['exitCode', String(status.exitCode)],
      ['lastSuccessfulRunTime', goJson(status.lastSuccessfulRunTime)],
      ['failures', String(status.failures)],
      ['lastFailedRunTime', goJson(status.lastFailedRunTime)],
    ]),
  );
}

/** @throws Error, which may quote the text, when it is of another form. */
export function parsePeriodic(text: string): Readonly<Record<string, PeriodicStatus>> {
  if (text === '') return {};
  return z.record(z.string(), periodicStatus).nullable().parse(JSON.parse(text)) ?? {};
}

export function probesJson(statuses: Readonly<Record<string, ProbeStatus>>): string {
  return goMap(statuses, ({ healthy, successCount, failureCount }) =>
    goStruct([
      ['healthy', healthy ? 'true' : undefined],
      ['successCount', successCount ? String(successCount) : undefined],
      ['failureCount', failureCount ? String(failureCount) : undefined],
    ]),
  );
}

/** @throws Error, which may quote the text, when it is of another form. */
export function parseProbes(text: string): Readonly<Record<string, ProbeStatus>> {
  return z.record(z.string(), probeStatus).nullable().parse(JSON.parse(text)) ?? {};
}

function base64Json(saved: Buffer | null): string {
  return saved === null || saved.length === 0 ? 'null' : `"${saved.toString('base64')}"`;
}
