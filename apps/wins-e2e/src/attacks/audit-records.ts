import assert from 'node:assert/strict';
import path from 'node:path';
import { runWins, type Outcome } from '../testing/built-program.js';
import type { Workspace } from '../testing/workspace.js';

export type AuditRecord = Readonly<Record<string, unknown>> & { readonly kind: string };

/** Runs `wins srv audit` for the log of the workspace's daemon. */
export function audit(workspace: Workspace, ...args: string[]): Promise<Outcome> {
  const words = ['srv', 'audit', ...args, '--config', workspace.path('config')];
  return runWins(words, workspace.environment);
}

export async function records(workspace: Workspace): Promise<AuditRecord[]> {
  const { code, stdout, stderr } = await audit(workspace, 'show', '-o', 'json');
  assert.deepEqual({ code, stderr }, { code: 0, stderr: '' });
  const lines = stdout.toString().trim().split('\n');
  return lines.map((line) => JSON.parse(line) as AuditRecord);
}

/** Returns the verdict of `verify` on the log. */
export async function verified(workspace: Workspace): Promise<Record<string, unknown>> {
  const { stdout } = await audit(workspace, 'verify', '-o', 'json');
  return JSON.parse(stdout.toString()) as Record<string, unknown>;
}

/** Folder of the audit log of a daemon on the default pipe. */
export function auditFolder(workspace: Workspace): string {
  return path.join(workspace.runtimeDirectory, 'rancher_wins.audit');
}

/** Returns the records of starts with this verdict. */
export function starts(all: readonly AuditRecord[], verdict: string): AuditRecord[] {
  return all.filter((record) => record.kind === 'start' && record['verdict'] === verdict);
}
