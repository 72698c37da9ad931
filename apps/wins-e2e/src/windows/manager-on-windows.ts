import type { ProcessHost } from '@wins/base';
import {
  createProcessManager,
  ProcessError,
  type ManagedProcess,
  type ProcessManager,
  type StartRequest,
} from '@wins/process-manager';
import { jobObjectProcessHost } from '@wins/windows-host';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

export function hostOnWindows(): ProcessHost {
  return jobObjectProcessHost({ failure: (...facts) => new ProcessError(...facts) });
}

export function managerOnWindows(
  directory: string,
  allowed: readonly string[],
  host = hostOnWindows(),
): ProcessManager {
  return createProcessManager({
    allowed: allowed.map((name) => ({ path: path.join(directory, 'bin', name) })),
    stateDirectory: path.join(directory, 'state'),
    host,
  });
}

export class WindowsPrograms {
  /** @param directory - An existing folder; by default a new one. */
  constructor(readonly directory = mkdtempSync(path.join(tmpdir(), 'wins-'))) {
    mkdirSync(path.join(directory, 'bin'), { recursive: true });
  }

  pathOf(name: string): string {
    return path.join(this.directory, 'bin', name);
  }

  add(name: string, original: string): void {
    copyFileSync(original, this.pathOf(name));
  }

  request(
    name: string,
    args: readonly string[] = [],
    disconnected: StartRequest['owner']['disconnected'] = new AbortController().signal,
  ): StartRequest {
    const sha256 = createHash('sha256')
      .update(readFileSync(this.pathOf(name)))
      .digest('hex');
    const owner = { id: 'pipe:1', disconnected };
    return { path: this.pathOf(name), sha256, args, envs: [], owner };
  }

  close(): void {
    rmSync(this.directory, { recursive: true, maxRetries: 10 });
  }
}

export async function resultOf(run: ManagedProcess) {
  const chunks: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] };
  for await (const chunk of run.read(run.owner.id)) {
    if (chunk.stream === 'skipped') throw new Error(`${chunk.bytes} bytes are missing`);
    chunks[chunk.stream].push(Buffer.from(chunk.bytes));
  }
  const { code, reason } = await run.ended;
  return {
    code,
    reason,
    stdout: Buffer.concat(chunks.stdout),
    stderr: Buffer.concat(chunks.stderr),
  };
}

export async function firstLineOf(run: ManagedProcess): Promise<string> {
  let text = '';
  for await (const chunk of run.read(run.owner.id)) {
    if (chunk.stream === 'stdout') text += chunk.bytes.toString();
    if (text.includes('\n')) break;
  }
  return text.slice(0, text.indexOf('\n')).trimEnd();
}
