import type { Socket } from 'node:net';
import { posix } from 'node:path';
import { escapeText, hasInvisible } from './text/escape-text.js';
import { TextError } from './text/text-error.js';
import { runtimeDirectory } from './runtime-directory.js';

/** A resolved pipe. */
export interface PipePath {
  /** The bare NAME, or the socket path if the caller gave one. */
  readonly name: string;
  /** `\\.\pipe\NAME` or the absolute path of a Unix socket. */
  readonly address: string;
  readonly kind: 'named-pipe' | 'unix-socket';
}

/** Options of {@link resolvePipePath}. */
export interface ResolvePipePathOptions {
  /** Platform whose name rules apply. Default: `process.platform`. */
  readonly platform?: NodeJS.Platform | undefined;
  /** Folder for bare names on POSIX. Default: {@link runtimeDirectory}. */
  readonly runtimeDir?: string | undefined;
  /** Environment for {@link runtimeDirectory}. Default: `process.env`. */
  readonly environment?: NodeJS.ProcessEnv | undefined;
  /** User for {@link runtimeDirectory}. Default: the user of this process. */
  readonly uid?: number | undefined;
}

const LOCAL_PIPE = /^(?:npipe:\/\/\/\/\.\/pipe\/|\\\\\.\\pipe\\)/i;
const WINDOWS_PREFIX = '\\\\.\\pipe\\';
const WINDOWS_ADDRESS_LIMIT = 256;
// sun_path holds 108 bytes on Linux and 104 elsewhere, including the final NUL. libuv silently truncates longer paths.
const SOCKET_LIMIT_LINUX = 107;
const SOCKET_LIMIT_ELSEWHERE = 103;
// A listener also creates hidden sockets in the folder. Their names need up to this many bytes, slash included.
const HIDDEN_NAME_BYTES = 14;
const MAX_SHOWN_LENGTH = 300;

/**
 * Resolves the name of a pipe: `npipe:////./pipe/NAME`, `\\.\pipe\NAME`, a bare NAME, or on POSIX an absolute socket path. A NAME
 * has no slash or backslash, no invisible character, no leading dot, and no blank at either end. Limits: 256 characters for a
 * Windows address; 107 bytes for a socket path on Linux, 103 elsewhere. The folder of a socket must stay 14 bytes
 * below that limit. Does not access the file system.
 *
 * @throws TextError `invalidName` for an invalid or too long name; `notFound` when no folder for a bare name is known.
 */
export function resolvePipePath(name: string, options: ResolvePipePathOptions = {}): PipePath {
  const platform = options.platform ?? process.platform;
  const bare = name.replace(LOCAL_PIPE, '');
  if (hasInvisible(name)) throw invalid(name, 'it has a control, invisible or unpaired character');
  if (platform === 'win32') {
    checkBareName(name, bare);
    const address = WINDOWS_PREFIX + bare;
    if (address.length > WINDOWS_ADDRESS_LIMIT)
      throw invalid(name, `its address has ${address.length} characters, of 256 allowed`);
    return { name: bare, address, kind: 'named-pipe' };
  }
  const isSocketPath = bare === name && name.includes('/');
  if (isSocketPath) checkSocketPath(name);
  else checkBareName(name, bare);
  const address = isSocketPath
    ? name
    : posix.join(options.runtimeDir ?? runtimeDirectory(options.environment, options.uid), bare);
  checkSocketLength(name, address, platform);
  return { name: bare, address, kind: 'unix-socket' };
}

function checkBareName(given: string, bare: string): void {
  if (/^\\\\[^.\\]+\\pipe\\/i.test(given)) throw invalid(given, 'it is a pipe of another host');
  if (bare.trim() === '') throw invalid(given, 'it is empty');
  if (/[/\\]/.test(bare)) throw invalid(given, 'it has a slash or backslash in it');
  if (bare.startsWith('.')) throw invalid(given, 'names that start with a dot are reserved');
  if (bare.trim() !== bare) throw invalid(given, 'it starts or ends with a space');
}

function checkSocketPath(path: string): void {
  if (!path.startsWith('/') || posix.normalize(path) !== path || path.endsWith('/'))
    throw invalid(
      path,
      'a socket path must be absolute, without ".", "..", double or trailing slashes',
    );
  if (path.includes('\\')) throw invalid(path, 'it has a backslash in it');
  if (posix.basename(path).startsWith('.'))
    throw invalid(path, 'names that start with a dot are reserved');
}

function checkSocketLength(given: string, address: string, platform: NodeJS.Platform): void {
  const limit = platform === 'linux' ? SOCKET_LIMIT_LINUX : SOCKET_LIMIT_ELSEWHERE;
  const length = Buffer.byteLength(address);
  if (length > limit)
    throw invalid(given, `its socket path has ${length} bytes, of ${limit} allowed`);
  const directory = posix.dirname(address);
  const available = limit - HIDDEN_NAME_BYTES;
  if (Buffer.byteLength(directory) > available)
    throw invalid(given, `the directory ${directory} has more than the ${available} bytes allowed`);
}

function invalid(name: string, found: string): TextError {
  return new TextError(
    'invalidName',
    `"${escapeText(name, { maxLength: MAX_SHOWN_LENGTH })}" is not the name of a pipe: ${found}; wanted NAME, npipe:////./pipe/NAME, ` +
      '\\\\.\\pipe\\NAME or, not on Windows, the absolute path of a socket',
    found,
  );
}

/**
 * Opens a connection to a daemon and verifies the server's identity before any byte is sent. Rejects when the signal aborts: the caller no longer
 * wants the connection. The receiver closes the socket.
 */
export type ConnectDaemon = (signal: AbortSignal) => Promise<Socket>;
