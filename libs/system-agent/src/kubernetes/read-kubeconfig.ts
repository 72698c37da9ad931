import { quoteText } from '@wins/base';
import {
  judgeKubeconfig,
  MAX_CONNECTION_INFO_BYTES,
  type Kubeconfig,
  type Refusal,
} from '@wins/net';
import { readText, TrustedFileError, type FileTrust } from '@wins/trusted-files';
import { AgentError } from '../agent-error.js';

const WANTED = 'wanted a kubeconfig that contains the authority, and a token or client certificate';

/**
 * Reads a kubeconfig, at most 1 MiB. Refuses a file that anyone but administrators and this account can change, and a
 * kubeconfig that runs a program or names other files.
 */
export async function judgeKubeconfigFile(
  path: string,
  trust: Pick<FileTrust, 'distrustOfFile'>,
): Promise<Kubeconfig | (Refusal & { readonly cause?: TrustedFileError | undefined })> {
  try {
    const text = await readText(path, { trust, maxBytes: MAX_CONNECTION_INFO_BYTES });
    const judged = judgeKubeconfig(text);
    return 'found' in judged ? { found: `${judged.found}; ${WANTED}` } : judged;
  } catch (error) {
    if (error instanceof TrustedFileError) return { found: error.found, cause: error };
    throw error;
  }
}

/** Reads a kubeconfig as {@link judgeKubeconfigFile} does. @throws AgentError `invalidConnection`. */
export async function readKubeconfig(
  path: string,
  trust: Pick<FileTrust, 'distrustOfFile'>,
): Promise<Kubeconfig> {
  const judged = await judgeKubeconfigFile(path, trust);
  if (!('found' in judged)) return judged;
  const { found, cause } = judged;
  const message = `cannot use the kubeconfig ${quoteText(path)}: ${found}`;
  throw new AgentError('invalidConnection', message, cause && { cause });
}
