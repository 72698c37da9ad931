import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { messageOf, quoteText } from '@wins/base';
import { withoutSecrets } from '@wins/net';
import { imageFailed } from '../image-failure.js';
import type { CredentialProvider } from './provider-config.js';

const MAX_BYTES = 1024 * 1024;
const TOLD_LENGTH = 256;
/** Standard error is masked as a whole before it is cut, because a part of a secret would not be recognized. */
const MAX_ERROR_LENGTH = 64 * 1024;
/** Inherited variables, for proxies, certificate authorities and Windows programs. */
const PASSED_ON = [
  'HTTPS_PROXY',
  'HTTP_PROXY',
  'NO_PROXY',
  'https_proxy',
  'http_proxy',
  'no_proxy',
  'HOME',
  'PATH',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'TMPDIR',
  'SystemRoot',
  'SYSTEMROOT',
  'TEMP',
  'TMP',
  'USERPROFILE',
  'ProgramData',
  'ProgramFiles',
];

type Variables = readonly (readonly [name: string, value: string])[];

export interface RunOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

/** Uses no shell. Accepts at most 1 MiB of output. @throws AgentError `imageFailed`; the signal's reason. */
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
  const own = (env ?? []).map((each) => [each.name, each.value] as const);
  // A process group of its own, so that the program's children end with it.
  const child = spawn(file, args ?? [], {
    env: Object.fromEntries([...passed, ...own]),
    stdio: 'pipe',
    windowsHide: true,
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
    const timer = setTimeout(() => end(failed(`no answer within ${limitMs} ms`)), limitMs);
    signal.addEventListener('abort', onAbort);
    child.stdout.on('data', (part: Buffer) => {
      written.push(part);
      writtenBytes += part.length;
      if (writtenBytes > MAX_BYTES) end(failed(`more than ${MAX_BYTES} bytes`));
    });
    child.stderr.on('data', (part: Buffer) => {
      said = (said + part.toString('utf8')).slice(-MAX_ERROR_LENGTH);
    });
    child.on('error', (error) => end(failed(quoteText(messageOf(error)), error)));
    // Ignore write errors: a program need not read its input.
    child.stdin.on('error', () => undefined);
    child.on('close', (code) => {
      if (code !== 0) {
        // A program that has begun its answer may have logged it, too.
        const told = writtenBytes > 0 ? '' : withoutSecrets(said, secretsOf(passed, own)).trim();
        const words = told === '' ? '' : ` with ${quoteText(told.slice(-TOLD_LENGTH))}`;
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

/** Values that the program may repeat: its own variables, and user and password of a proxy. */
function secretsOf(passed: Variables, own: Variables): readonly string[] {
  const users = passed.flatMap(([, value]) => /\/\/([^/]*)@/.exec(value)?.[1]?.split(':') ?? []);
  return [...users, ...own.map(([, value]) => value)].flatMap((each) => [each, decoded(each)]);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function endTree(child: ChildProcessWithoutNullStreams): void {
  // While an output is open, the group is not empty, even if the program itself has ended.
  const isOver = child.stdout.closed && child.stderr.closed;
  for (const stream of child.stdio) stream?.destroy();
  if (child.pid === undefined || isOver) return;
  if (process.platform === 'win32') child.kill();
  else {
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The program has ended in the meantime.
    }
  }
}
