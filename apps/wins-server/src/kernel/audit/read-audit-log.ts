import { auditFiles, decodeLine, MAX_LINE_BYTES, type AuditRecord } from './audit-record.js';

/**
 * Yields the records of a log, oldest first; invalid lines are skipped, see `verifyAuditLog`. The log may be written to meanwhile.
 *
 * @param options - `since`: only decisions of that time or later.
 * @throws TrustedFileError for a file that is a link or cannot be read; any error of Node for a folder that cannot be read.
 */
export async function* readAuditLog(
  directory: string,
  { since }: { readonly since?: Date } = {},
): AsyncGenerator<AuditRecord> {
  const from = since?.toISOString() ?? '';
  const files = auditFiles(directory);
  for (const number of await files.numbers()) {
    for await (const { text } of files.lines(number, { maxLineBytes: MAX_LINE_BYTES })) {
      const record = text === undefined ? undefined : decodeLine(text);
      if (record !== undefined && record.time >= from) yield record;
    }
  }
}
