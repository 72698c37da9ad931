import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { NodeHost, ItemStores } from '../ports.js';
import type { Around } from '../install-context.js';
import { installPaths, type InstallPaths } from '../desired/install-paths.js';
import { posixFiles, posixFolders, posixStrangers } from './posix-files.js';
import { posixSystem, readSystem, type FolderSystem, type ServiceRunner } from './posix-system.js';

export interface FolderNodeOptions {
  /** Absolute path; the root of the node's file system. */
  readonly root: string;
  readonly runner: ServiceRunner;
  /** Wraps every change. Default: runs it. */
  readonly around?: Around;
}

/** A node in a folder: files with modes, and one JSON file for the state that Windows keeps in its registry. */
export class FolderNode implements Pick<
  NodeHost,
  'platform' | 'stores' | 'strangersIn' | 'isBeingRemoved'
> {
  readonly platform = 'linux';
  readonly paths: InstallPaths;
  readonly stores: ItemStores;
  readonly strangersIn: NodeHost['strangersIn'] = posixStrangers;
  readonly #file: string;

  constructor({ root, runner, around = (_effect, action) => action() }: FolderNodeOptions) {
    for (const folder of ['etc', 'usr', 'var/lib']) {
      mkdirSync(path.join(root, folder), { recursive: true, mode: 0o755 });
    }
    this.#file = path.join(root, 'system.json');
    this.paths = installPaths('linux', { root });
    this.stores = {
      folder: posixFolders(around),
      file: posixFiles(around),
      ...posixSystem(this.#file, runner, around),
    };
  }

  get system(): FolderSystem {
    return readSystem(this.#file);
  }

  readonly isBeingRemoved = (): Promise<boolean> => Promise.resolve(false);
}
