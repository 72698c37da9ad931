import { judgeConnectionInfo, MAX_CONNECTION_INFO_BYTES, type ConnectionInfo } from '@wins/net';
import { openTrustedFile, readText, TrustedFileError, type FileTrust } from '@wins/trusted-files';
import { quoteText } from '@wins/wins-program';
import { AgentError } from '../agent-error.js';

/**
 * Reads the `connectionInfoFile` that `wins join`, or the installer of Rancher, writes. The file is read only where administrators and this
 * account alone can change it.
 *
 * @param path - Absolute.
 * @throws AgentError `invalidConnection`.
 */
export async function readConnectionInfo(
  path: string,
  trust: Pick<FileTrust, 'distrustOfFile'>,
): Promise<ConnectionInfo> {
  return parseConnectionInfo(await readTrusted(path, trust), path);
}

async function readTrusted(
  path: string,
  trust: Pick<FileTrust, 'distrustOfFile'>,
): Promise<string> {
  try {
    const file = await openTrustedFile(path, trust);
    try {
      return await readText(file, { maxBytes: MAX_CONNECTION_INFO_BYTES });
    } finally {
      await file.handle.close();
    }
  } catch (error) {
    if (!(error instanceof TrustedFileError)) throw error;
    throw refused(path, error.found, error);
  }
}

/** @throws AgentError `invalidConnection`. */
export function parseConnectionInfo(text: string, path: string): ConnectionInfo {
  const info = judgeConnectionInfo(text);
  if ('found' in info) throw refused(path, info.found);
  return info;
}

function refused(path: string, found: string, cause?: Error): AgentError {
  const message = `cannot use the connection info ${quoteText(path)}: ${found}`;
  return new AgentError('invalidConnection', message, cause && { cause });
}
