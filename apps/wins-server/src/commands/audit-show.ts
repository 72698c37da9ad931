import { readAuditLog } from '@wins/audit-log';
import { escapeJson, EXIT, quoteText } from '@wins/wins-program';
import { once } from 'node:events';
import { parseSince } from '../audit/parse-since.js';
import { RECORD_HEAD, recordRow } from '../audit/record-row.js';
import { UsageError } from '../usage-error.js';
import { auditPlace, type AuditPlaceOptions } from './audit-place.js';

interface ShowOptions extends AuditPlaceOptions {
  readonly output: 'table' | 'json';
  readonly since?: string | undefined;
}

/** `wins srv audit show`: the records of the audit log, the oldest first; for programs one JSON text per line. */
export async function showAudit(options: ShowOptions): Promise<number> {
  const since = sinceOf(options.since);
  const directory = await auditPlace(options);
  const isTable = options.output === 'table';
  const { stdout } = process;
  if (isTable) stdout.write(`${RECORD_HEAD}\n`);
  for await (const record of readAuditLog(directory, since && { since })) {
    if (stdout.destroyed) break;
    const line = isTable ? recordRow(record) : escapeJson(JSON.stringify(record));
    if (!stdout.write(`${line}\n`))
      await Promise.race([once(stdout, 'drain'), once(stdout, 'close')]);
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
