import { auditFiles, decodeLine, MAX_LINE_BYTES, type AuditRecord } from './audit-record.js';

/**
 * The records of a log, the oldest first; what is no record is left out, see `verifyAuditLog`. It may be written to meanwhile.
 *
 * @param options - `since`: only what was decided then or later.
 * @throws TrustedFileError for a file that is a link or cannot be read; what Node throws for a folder that cannot be read.
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
