import { readAuditLog } from '../kernel/audit/read-audit-log.js';
import { RECORD_HEAD, recordRow } from '../kernel/audit/record-row.js';
import { EXIT, type CommandSurroundings } from '@wins/wins-program';
import { sinceOption } from '../kernel/audit/parse-since.js';
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
  const since = sinceOption(options.since);
  const directory = await auditPlace(options);
  if (options.output === 'table') process.stdout.write(`${RECORD_HEAD}\n`);
  for await (const record of readAuditLog(directory, since && { since })) {
    const text = `${recordRow(record)}\n`;
    if (!(await show({ value: record, text, names: [String(record.seq)], isOneOfMany: true })))
      break;
  }
  return EXIT.server.ok;
}
