import { posixFileTrust } from '@wins/trusted-files';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { InstallLock, NodeHost, NodeRooms, ProgramSwap } from '../ports.js';
import type { Around } from '../run/install-context.js';
import { installPlaces, type InstallPlaces } from '../wish/install-places.js';
import { posixFiles, posixFolders, posixStrangers } from './posix-files.js';
import { posixSystem, readSystem, type ServiceRunner, type StandInSystem } from './posix-system.js';

/** What a stand-in takes from outside. */
export interface StandInOptions {
  /** A folder that stands for the root of the system. */
  readonly root: string;
  readonly runner: ServiceRunner;
  /** Sees every operation that changes something. Default: does it. */
  readonly around?: Around;
  /** Whether the daemon serves as it should; rejects when it does not. Default: it does. */
  readonly prove?: NodeHost['prove'];
  /** Waits until a daemon answers. Default: it does at once. */
  readonly answers?: NodeHost['answers'];
  /** What a program says of its release. Default: nothing. */
  readonly versionOf?: NodeHost['versionOf'];
  /** Default: one that replaces the file and starts the service. */
  readonly swap?: ProgramSwap;
  readonly lock?: () => Promise<InstallLock | undefined>;
}

/**
 * A node of POSIX in the place of one of Windows: files with modes below a folder, and one JSON file for what is a registry there.
 * It is real but for the system's own services, which a runner starts.
 */
export class PosixNode implements NodeHost {
  readonly platform = 'linux';
  readonly trust = posixFileTrust();
  readonly places: InstallPlaces;
  readonly rooms: NodeRooms;
  readonly swap: ProgramSwap;
  readonly prove: NodeHost['prove'];
  readonly answers: NodeHost['answers'];
  readonly versionOf: NodeHost['versionOf'];
  readonly lock: NodeHost['lock'];
  readonly #file: string;

  constructor(options: StandInOptions) {
    const { root, runner } = options;
    const around: Around = options.around ?? ((_effect, act) => act());
    for (const folder of ['etc', 'usr', 'var/lib']) {
      mkdirSync(path.join(root, folder), { recursive: true, mode: 0o755 });
    }
    this.#file = path.join(root, 'system.json');
    this.places = installPlaces('linux', { root });
    this.rooms = {
      ...{ folder: posixFolders(around), file: posixFiles(around) },
      ...posixSystem(this.#file, runner, around),
    };
    this.swap = options.swap ?? this.#plainSwap();
    this.prove = options.prove ?? (() => Promise.resolve());
    this.answers = options.answers ?? (() => Promise.resolve());
    this.versionOf = options.versionOf ?? (() => Promise.resolve(undefined));
    this.lock = options.lock ?? (() => Promise.resolve({ close: () => Promise.resolve() }));
  }

  /** The system as it is on the disk. */
  get system(): StandInSystem {
    return readSystem(this.#file);
  }

  readonly programOf = (command: string): string | undefined => /^"([^"]+)"/.exec(command)?.[1];

  readonly isBeingRemoved = (service: string): Promise<boolean> =>
    Promise.resolve(this.system.services[service]?.isBeingRemoved === true);

  readonly strangersIn = posixStrangers;

  #plainSwap(): ProgramSwap {
    return {
      swap: async (program, file, sha256) => {
        await this.rooms.file.write(
          { kind: 'file', path: program },
          { sha256, access: 'executable' },
          file,
        );
        const [name] =
          Object.entries(this.system.services).find(
            ([, { command }]) => this.programOf(command) === program,
          ) ?? [];
        if (name !== undefined)
          await this.rooms.running.write({ kind: 'running', service: name }, 'present', undefined);
      },
      settle: () => Promise.resolve(),
    };
  }
}
