import { readAuditLog, RECORD_HEAD, recordRow } from '@wins/audit-log';
import { EXIT, quoteText, UsageError, type CommandSurroundings } from '@wins/wins-program';
import { parseSince } from '../audit/parse-since.js';
import { auditPlace, type AuditPlaceOptions } from './audit-place.js';

export interface ShowOptions extends AuditPlaceOptions {
  readonly output?: string | undefined;
  readonly since?: string | undefined;
}

/** `wins srv audit show`: the records of the audit log, the oldest first; for programs one JSON text per line, or one document of YAML each. */
export async function showAudit(
  options: ShowOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const since = sinceOf(options.since);
  const directory = await auditPlace(options);
  if (options.output === 'table') process.stdout.write(`${RECORD_HEAD}\n`);
  for await (const record of readAuditLog(directory, since && { since })) {
    const text = `${recordRow(record)}\n`;
    if (!(await show({ value: record, text, names: [String(record.seq)], isOneOfMany: true })))
      break;
  }
  return EXIT.server.ok;
}

function sinceOf(text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const since = parseSince(text, Date.now());
  if (since !== undefined) return since;
  throw new UsageError(
    `--since: ${quoteText(text)} is not a time; wanted 90s, 2h30m or 7d before now, at most 36500d, or 2026-03-01T12:00Z`,
  );
}
