import { verifyAuditLog, type AuditVerdict } from '../kernel/audit/verify-audit-log.js';
import { escapeText, EXIT, type CommandSurroundings } from '@wins/wins-program';
import { auditPlace, type AuditPlaceOptions } from './audit-place.js';

/** `wins srv audit verify`: whether the audit log is complete and unchanged, and what is wrong with it. */
export async function verifyAudit(
  options: AuditPlaceOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const directory = await auditPlace(options);
  const verdict = await verifyAuditLog(directory);
  await show({
    value: { directory, ...verdict },
    text: reportOf(directory, verdict),
    names: verdict.problems.map(({ file, line }) => `${file}:${line}`),
  });
  return verdict.ok ? EXIT.server.ok : EXIT.server.altered;
}

function reportOf(directory: string, verdict: AuditVerdict): string {
  const { records, firstSeq, lastSeq, lastHash, lost, unfinishedBytes } = verdict;
  const lines = [`${escapeText(directory)}: ${records} records`];
  if (firstSeq !== undefined)
    lines.push(`numbers ${firstSeq} to ${lastSeq}, the last line has SHA-256 ${lastHash}`);
  if (lost > 0) lines.push(`the log reports ${lost} lost records`);
  if (unfinishedBytes > 0) lines.push(`the last line is unfinished: ${unfinishedBytes} bytes`);
  for (const { file, line, what } of verdict.problems)
    lines.push(escapeText(`${file}:${line}: ${what}`));
  const more = verdict.problemCount - verdict.problems.length;
  if (more > 0) lines.push(`and ${more} more`);
  lines.push(
    verdict.ok
      ? 'complete and unchanged'
      : `not as it was written: ${verdict.problemCount} problems`,
  );
  return `${lines.join('\n')}\n`;
}
