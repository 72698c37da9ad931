import { posixFileTrust } from '@wins/trusted-files';
import { FolderNode, type FolderNodeOptions } from './folder-node.js';
import type { NodeHost, ProgramSwap } from '../ports.js';

export interface PosixNodeOptions extends FolderNodeOptions {
  readonly prove?: NodeHost['prove'];
  readonly answers?: NodeHost['answers'];
  /** Default: reports no release. */
  readonly versionOf?: NodeHost['versionOf'];
  /** Default: replaces the file and starts the service. */
  readonly swap?: ProgramSwap;
}

/** `prove` and `answers` succeed at once, unless the spec replaces them. */
export class PosixNode extends FolderNode implements NodeHost {
  readonly trust = posixFileTrust();
  readonly swap: ProgramSwap;
  readonly prove: NodeHost['prove'];
  readonly answers: NodeHost['answers'];
  readonly versionOf: NodeHost['versionOf'];

  constructor(options: PosixNodeOptions) {
    super(options);
    this.swap = options.swap ?? this.#plainSwap();
    this.prove = options.prove ?? (() => Promise.resolve());
    this.answers = options.answers ?? (() => Promise.resolve());
    this.versionOf = options.versionOf ?? (() => Promise.resolve(undefined));
  }

  readonly programOf = (command: string): string | undefined => /^"([^"]+)"/.exec(command)?.[1];

  #plainSwap(): ProgramSwap {
    return {
      swap: async (program, file, sha256) => {
        await this.stores.file.write(
          { kind: 'file', path: program },
          { sha256, access: 'executable' },
          file,
        );
        const [name] =
          Object.entries(this.system.services).find(
            ([, { command }]) => this.programOf(command) === program,
          ) ?? [];
        if (name !== undefined)
          await this.stores.running.write({ kind: 'running', service: name }, 'present', undefined);
      },
      settle: () => Promise.resolve(),
    };
  }
}
