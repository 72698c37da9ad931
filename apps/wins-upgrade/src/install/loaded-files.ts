import { hashFile } from '@wins/trusted-files';
import { WinsClientError } from '@wins/wins-api';
import { adminPipeOf } from '@wins/base';
import path from 'node:path';
import { daemonClient } from '../daemon-client.js';
import type { NodeParts } from '../node-of-system.js';

const LIMIT_MS = 5_000;
/** Sentinel digest: the daemon runs a file that differs from the one on disk. */
const OTHER = '0'.repeat(64);

/** Returns the digests of the running daemon's config and program, by path. A Go release reports none. */
export async function loadedFiles({ upgrade, dialOf }: Pick<NodeParts, 'upgrade' | 'dialOf'>) {
  const { service, pipeOf } = upgrade;
  const status = await service.query();
  if (status?.state !== 'running') return undefined;
  const pipe = await pipeOf(status.command.args).catch(() => undefined);
  if (pipe === undefined) return undefined;
  const asking = { clientName: 'wins-install', dialOf } as const;
  await using admin = daemonClient(adminPipeOf(pipe), LIMIT_MS, asking);
  await using client = daemonClient(pipe, LIMIT_MS, asking);
  const signal = AbortSignal.timeout(LIMIT_MS);
  try {
    const config = await admin.config.describe({ signal }).catch((error: unknown) => {
      // An earlier release has no administrators' pipe.
      if (isAbsent(error)) return client.config.describe({ signal });
      throw error;
    });
    const loaded = new Map<string, string>();
    if (config.sha256 !== '') loaded.set(path.resolve(config.file), config.sha256);
    const { checksum: sha1 } = await client.info({ signal });
    const program = status.command.imagePath;
    // An unreadable program counts as absent.
    const found = await hashFile(program, ['sha1', 'sha256'], { followLinks: true }).catch(
      () => undefined,
    );
    if (found !== undefined && sha1 !== '')
      loaded.set(program, found.sha1 === sha1.toLowerCase() ? found.sha256 : OTHER);
    return loaded;
  } catch (error) {
    if (error instanceof WinsClientError) return undefined;
    throw error;
  }
}

function isAbsent(error: unknown): boolean {
  return (
    error instanceof WinsClientError && error.code === 'unavailable' && !error.isConnectionLost
  );
}
