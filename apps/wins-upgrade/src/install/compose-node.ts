import type { InstallPlaces } from '@wins/node-install';
import { Effects, UpgradeError, UpgradeLog } from '@wins/service-upgrade';
import { contextOf } from '../compose-upgrade.js';
import type { NodeOfSystem, NodeParts } from './node-parts.js';

/** How a node is put together. */
export interface NodeSettings {
  /** How long the daemon may take to end, and to prove itself, in milliseconds. Default 60,000. */
  readonly waitMs: number | undefined;
  /** Gets lines of JSON about the replacement of the program. */
  readonly log: (line: string) => void;
}

/**
 * The node that this process runs on.
 *
 * @throws UpgradeError `refused` on systems that are no nodes: `WINS_NODE_ROOT` names a folder that stands for one.
 */
export async function composeNode(
  places: InstallPlaces,
  { waitMs, log }: NodeSettings,
): Promise<NodeParts> {
  const effects = new Effects();
  const { upgrade, ...node } = await systemParts(places, effects);
  return { ...node, upgrade: contextOf(upgrade, effects, { log: new UpgradeLog(log), waitMs }) };
}

async function systemParts(places: InstallPlaces, effects: Effects): Promise<NodeOfSystem> {
  // The platform is a constant of a bundle: the one for Windows does without the node in a folder.
  if (process.platform !== 'win32') {
    const { folderParts } = await import('./posix/folder-parts.js');
    return folderParts(nodeFolder());
  }
  const { windowsParts } = await import('./windows/windows-parts.js');
  return windowsParts(places, effects);
}

/** The folder of a node on Linux, for development. */
function nodeFolder(): string {
  const folder = process.env['WINS_NODE_ROOT'];
  if (folder !== undefined) return folder;
  throw new UpgradeError(
    'refused',
    `cannot install on ${process.platform}: wins is deployed on Windows; to try it here, WINS_NODE_ROOT names an empty folder that stands for a node`,
  );
}
