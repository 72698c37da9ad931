import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { messageOf, quoteText } from '@wins/base';
import { imageFailed } from '../image-failure.js';
import type { CredentialProvider } from './provider-config.js';

const MAX_BYTES = 1024 * 1024;
const TOLD_BYTES = 256;
/** Variables that a provider inherits: proxies and authorities, and those that programs of Windows need. */
const PASSED_ON = [
  ...['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY', 'https_proxy', 'http_proxy', 'no_proxy'],
  ...['HOME', 'PATH', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'TMPDIR'],
  ...['SystemRoot', 'SYSTEMROOT', 'TEMP', 'TMP', 'USERPROFILE', 'ProgramData', 'ProgramFiles'],
];

export interface RunOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

/**
 * Runs a trusted credential provider without a shell, and resolves with its output, at most 1 MiB.
 * @throws AgentError `imageFailed`; the reason of the signal.
 */
export async function runProvider(
  { name, file, args, env }: CredentialProvider,
  input: string,
  { environment, limitMs, signal }: RunOptions,
): Promise<string> {
  signal.throwIfAborted();
  const passed = PASSED_ON.flatMap((each) => {
    const value = environment[each];
    return value === undefined ? [] : [[each, value] as const];
  });
  // A group of its own, so that its children end with it.
  const own = (env ?? []).map((each) => [each.name, each.value] as const);
  const child = spawn(file, args ?? [], {
    ...{ env: Object.fromEntries([...passed, ...own]), stdio: 'pipe', windowsHide: true },
    detached: process.platform !== 'win32',
  });
  const failed = (found: string, cause?: unknown): Error =>
    imageFailed(`ask the credential provider ${quoteText(name)}`, found, 'its answer', cause);
  return await new Promise<string>((resolve, reject) => {
    const written: Buffer[] = [];
    let writtenBytes = 0;
    let said = '';
    const end = (reason: unknown): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      endTree(child);
      reject(reason instanceof Error ? reason : new Error(messageOf(reason)));
    };
    const onAbort = (): void => end(signal.reason);
    const timer = setTimeout(() => end(failed(`no end after ${limitMs} ms`)), limitMs);
    signal.addEventListener('abort', onAbort);
    child.stdout.on('data', (part: Buffer) => {
      written.push(part);
      writtenBytes += part.length;
      if (writtenBytes > MAX_BYTES) end(failed(`more than ${MAX_BYTES} bytes`));
    });
    child.stderr.on('data', (part: Buffer) => {
      said = (said + part.toString('utf8')).slice(-TOLD_BYTES);
    });
    child.on('error', (error) => end(failed(quoteText(messageOf(error)), error)));
    // A program that does not read is judged by its answer.
    child.stdin.on('error', () => undefined);
    child.on('close', (code) => {
      if (code !== 0) {
        const words = said.trim() === '' ? '' : ` with ${quoteText(said.trim())}`;
        end(failed(`the exit code ${code ?? 'of a signal'}${words}`));
        return;
      }
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
      resolve(Buffer.concat(written).toString('utf8'));
    });
    child.stdin.end(input);
  });
}

function endTree(child: ChildProcessWithoutNullStreams): void {
  for (const stream of child.stdio) stream?.destroy();
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  if (process.platform === 'win32') child.kill();
  else {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It ended meanwhile.
    }
  }
}
