import { DaemonCallError } from '../client/daemon-call-error.js';
import { fileSystemError } from '@wins/trusted-files';
import {
  escapeText,
  EXIT,
  messageOf,
  UsageError,
  type CommandSurroundings,
  type Answer,
} from '@wins/base';
import { stat } from 'node:fs/promises';
import { loadStartConfig } from '../load-daemon-config.js';
import { auditDirectoryOf } from '../kept-directory.js';
import {
  readAuditLog,
  verifyAuditLog,
  type AuditVerdict,
} from '../kernel/audit/verify-audit-log.js';
import type { AuditRecord } from '../kernel/audit/audit-record.js';
import { factHead, factRow, factText } from '../kernel/log/fact-row.js';
import { RecordFilter, type FilterOptions } from '../kernel/log/record-filter.js';

const WIDTHS = [24, 8, 14, 8, 12];
const HEAD = factHead(WIDTHS, ['TIME', 'SEQ', 'KIND', 'VERDICT', 'REQUESTER']);

export interface AuditDirectoryOptions {
  readonly config?: string | undefined;
  readonly directory?: string | undefined;
}

export interface ShowOptions extends AuditDirectoryOptions, FilterOptions {
  readonly output?: string | undefined;
}

/** `wins srv audit show`: prints the records of the audit log, oldest first. */
export async function showAudit(options: ShowOptions, { show }: CommandSurroundings) {
  const filter = new RecordFilter(options);
  const directory = await auditDirectory(options);
  if (options.output === 'table' || options.output === 'wide') process.stdout.write(`${HEAD}\n`);
  for await (const records of filter.choose(readAuditLog(directory)))
    if (!(await show(...records.map(answerOf)))) break;
  return EXIT.server.ok;
}

function answerOf(record: AuditRecord): Answer {
  const { seq, time, kind, prev: _prev, verdict, requester, ...facts } = record;
  const cells = [time, String(seq), kind, factText(verdict), factText(requester)];
  const text = `${factRow(WIDTHS, cells, facts)}\n`;
  return { value: record, text, names: [String(seq)], isOneOfMany: true };
}

export interface VerifyOptions extends AuditDirectoryOptions {
  readonly expect?: string | undefined;
}

export async function verifyAudit(options: VerifyOptions): Promise<Answer> {
  const directory = await auditDirectory(options);
  const expect = options.expect?.toLowerCase();
  const verdict = await verifyAuditLog(directory, expect === undefined ? {} : { expect });
  return {
    exitCode: verdict.ok ? EXIT.server.ok : EXIT.server.altered,
    value: { directory, ...verdict },
    text: reportOf(directory, verdict, expect !== undefined),
    names: verdict.problems.map(({ file, line }) => `${file}:${line}`),
  };
}

function reportOf(directory: string, verdict: AuditVerdict, isCompared: boolean): string {
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
  if (!verdict.ok) lines.push(`damaged or edited: ${verdict.problemCount} problems`);
  else if (isCompared) lines.push('unchanged, without a gap, and with the expected line');
  else {
    const found = records === 0 ? 'nothing to verify' : 'unchanged and without a gap';
    lines.push(`${found}; only --expect shows whether newer records were removed`);
  }
  return `${lines.join('\n')}\n`;
}

/** @throws UsageError for an option that names no readable folder; DaemonCallError if the daemon of the config has written none. */
async function auditDirectory({ config, directory }: AuditDirectoryOptions): Promise<string> {
  const folder = directory ?? auditDirectoryOf((await loadStartConfig(config)).loaded.config);
  try {
    if ((await stat(folder)).isDirectory()) return folder;
  } catch (error) {
    const found = messageOf(fileSystemError(error, 'read the audit log in', folder));
    if (directory !== undefined)
      throw new UsageError(`${found}; wanted the folder of a daemon's log`);
    throw new DaemonCallError(found, EXIT.server.unavailable, {
      nextStep: 'a daemon with this config creates it; name another folder with --directory',
    });
  }
  throw new UsageError(`cannot read the audit log: ${escapeText(folder)} is not a folder`);
}
