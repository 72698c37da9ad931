import { errnoOf } from '@wins/wins-program';
import { auditFilePath, auditFiles } from './audit-files.js';
import { decodeLine, MAX_LINE_BYTES, type AuditRecord } from './audit-record.js';
import { fileLines } from './file-lines.js';

/**
 * The records of a log, the oldest first; what is no record is left out, see `verifyAuditLog`. It may be written to meanwhile.
 *
 * @param options - `since`: only what was decided then or later.
 * @throws what Node throws for a folder or file that cannot be read.
 */
export async function* readAuditLog(
  directory: string,
  { since }: { readonly since?: Date } = {},
): AsyncGenerator<AuditRecord> {
  const from = since?.toISOString() ?? '';
  for (const number of await auditFiles(directory)) {
    try {
      for await (const { text } of fileLines(auditFilePath(directory, number), MAX_LINE_BYTES)) {
        const record = text === undefined ? undefined : decodeLine(text);
        if (record !== undefined && record.time >= from) yield record;
      }
    } catch (error) {
      // The oldest file may be removed while we read.
      if (errnoOf(error) !== 'ENOENT') throw error;
    }
  }
}
