import assert from 'node:assert/strict';
import path from 'node:path';
import { runWins, type Outcome } from '../testing/built-program.js';
import type { Workspace } from '../testing/workspace.js';

export type AuditRecord = Readonly<Record<string, unknown>> & { readonly kind: string };

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

export async function verified(workspace: Workspace): Promise<Record<string, unknown>> {
  const { stdout } = await audit(workspace, 'verify', '-o', 'json');
  return JSON.parse(stdout.toString()) as Record<string, unknown>;
}

export function auditFolder(workspace: Workspace): string {
  return path.join(workspace.runtimeDirectory, 'rancher_wins.audit');
}

export function starts(all: readonly AuditRecord[], verdict: string): AuditRecord[] {
  return all.filter((record) => record.kind === 'start' && record['verdict'] === verdict);
}
