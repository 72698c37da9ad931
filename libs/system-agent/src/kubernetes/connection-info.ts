import { judgeConnectionInfo, MAX_CONNECTION_INFO_BYTES, type ConnectionInfo } from '@wins/net';
import { readText, TrustedFileError, type FileTrust } from '@wins/trusted-files';
import { quoteText } from '@wins/base';
import { AgentError } from '../agent-error.js';

/**
 * Reads the `connectionInfoFile` of `wins join` or Rancher's installer, if only administrators and this account can
 * change it.
 * @throws AgentError `invalidConnection`.
 */
export async function readConnectionInfo(
  path: string,
  trust: Pick<FileTrust, 'distrustOfFile'>,
): Promise<ConnectionInfo> {
  const reading = readText(path, { trust, maxBytes: MAX_CONNECTION_INFO_BYTES });
  const text = await reading.catch((error: unknown) => {
    throw error instanceof TrustedFileError ? refused(path, error.found, error) : error;
  });
  return parseConnectionInfo(text, path);
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
