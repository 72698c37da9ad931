import { defaultConfigPath } from '@wins/config';
import { installPlaces, type InstallPlaces } from '@wins/node-install';
import {
  Effects,
  UpgradeError,
  UpgradeLog,
  type Around,
  type UpgradeContext,
} from '@wins/service-upgrade';
import { randomUUID } from 'node:crypto';
import { ownFile, pipeOf } from '../compose-upgrade.js';
import type { NodeParts } from './node-parts.js';

const LONGEST_RUN_MS = 30_000;

/** How a node is put together. */
export interface NodeSettings {
  /** How long the daemon may take to end, and to prove itself, in milliseconds. */
  readonly waitMs: number;
  /** Gets lines of JSON about the replacement of the program. */
  readonly log: (line: string) => void;
  /** Sees every effect. */
  readonly around?: Around | undefined;
}

/**
 * The node that this process runs on.
 *
 * @throws UpgradeError `refused` on systems that are no nodes: `WINS_NODE_ROOT` names a folder that stands for one.
 */
export async function composeNode(
  places: InstallPlaces | undefined,
  { waitMs, log, around }: NodeSettings,
): Promise<NodeParts> {
  const effects = new Effects(around);
  const { system, places: found, dialOf, lockNode, ...parts } = await systemParts(places, effects);
  return {
    ...{ system, places: found, ...(dialOf && { dialOf }), ...(lockNode && { lockNode }) },
    upgrade: {
      ...parts,
      ...{ id: randomUUID(), effects, log: new UpgradeLog(log), waitMs, pipeOf },
      ...{ ownFile: ownFile(), defaultConfig: defaultConfigPath() },
      runMs: Math.min(waitMs, LONGEST_RUN_MS),
    },
  };
}

/** The folder of a node on Linux, for development. */
export function nodeFolder(): string | undefined {
  return process.platform === 'win32' ? undefined : process.env['WINS_NODE_ROOT'];
}

type SystemParts = Pick<NodeParts, 'places' | 'system' | 'dialOf' | 'lockNode'> &
  Pick<UpgradeContext, 'service' | 'host' | 'probe'>;

async function systemParts(
  places: InstallPlaces | undefined,
  effects: Effects,
): Promise<SystemParts> {
  // The platform is a constant of a bundle: the one for Windows does without the node in a folder.
  if (process.platform !== 'win32') {
    const { folderParts } = await import('./posix/folder-parts.js');
    return folderParts(requireNodeFolder());
  }
  const { windowsParts } = await import('./windows/windows-parts.js');
  return windowsParts(places ?? installPlaces('win32'), effects);
}

function requireNodeFolder(): string {
  const folder = nodeFolder();
  if (folder !== undefined) return folder;
  throw new UpgradeError(
    'refused',
    `cannot install on ${process.platform}: wins is deployed on Windows; to try it here, WINS_NODE_ROOT names an empty folder that stands for a node`,
  );
}
