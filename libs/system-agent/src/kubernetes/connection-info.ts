import { openTrustedFile, readText, TrustedFileError, type FileTrust } from '@wins/trusted-files';
import { quoteText } from '@wins/wins-program';
import { AgentError } from '../agent-error.js';
import { parseKubeconfig, type ClusterAccess } from './kubeconfig.js';

/** Which Secret holds the plan of this node, and how to get at it. Holds secrets: never for a log. */
export interface ConnectionInfo {
  readonly access: ClusterAccess;
  readonly namespace: string;
  readonly secretName: string;
}

/** As many as a Secret can have; the file has some kilobytes. */
const MAX_BYTES = 1_048_576;

/**
 * Reads the `connectionInfoFile` that the installer of Rancher writes: JSON with `kubeConfig`, `namespace` and `secretName`, in any
 * case, as Go reads it. The file is read only where administrators and this account alone can change it.
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
      return await readText(file, { maxBytes: MAX_BYTES });
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
  let parsed: unknown;
  try {
    parsed = JSON.parse(text.replace(/^\ufeff/, ''));
  } catch {
    // The error of the parser repeats text, which may be the token.
    throw refused(path, 'found no JSON; run the installation of the node again');
  }
  const entries = typeof parsed === 'object' && parsed !== null ? Object.entries(parsed) : [];
  const field = (name: string): string => {
    const [, value] = entries.findLast(([key]) => key.toLowerCase() === name.toLowerCase()) ?? [];
    if (typeof value === 'string' && value !== '') return value;
    throw refused(path, `found no text for ${name}; wanted kubeConfig, namespace and secretName`);
  };
  const namespace = field('namespace');
  const secretName = field('secretName');
  for (const name of [namespace, secretName]) {
    if (!/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(name)) {
      throw refused(path, `found ${quoteText(name)}; wanted the name of a Kubernetes object`);
    }
  }
  return { access: parseKubeconfig(field('kubeConfig')), namespace, secretName };
}

function refused(path: string, found: string, cause?: Error): AgentError {
  const message = `cannot use the connection info ${quoteText(path)}: ${found}`;
  return new AgentError('invalidConnection', message, cause && { cause });
}
