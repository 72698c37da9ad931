import { reporter } from '@wins/base';
import { StateFile } from '@wins/files';
import { replaceFile, type FileTrust } from '@wins/trusted-files';
import path from 'node:path';

/** A state file that other users can neither read nor write. */
export interface PrivateFileOptions {
  /** Absolute path. Before each write, a missing folder is created private, and an existing folder is checked. */
  readonly path: string;
  readonly trust: Pick<FileTrust, 'distrustOfFile' | 'ensurePrivateFolder'>;
  /** Called for an invalid file, which then counts as missing. */
  readonly onDamaged: (file: string) => unknown;
}

/** A file that only administrators may read. Methods reject with TrustedFileError. */
export function privateFile<Content>(
  { path: file, trust, onDamaged }: PrivateFileOptions,
  parse: (json: unknown) => Content,
): StateFile<Content> {
  return new StateFile<Content>({
    // Enough for 1,024 peers with the longest ids, or for 2,048 routes. A route counts twice while another replaces it.
    path: file,
    maxBytes: 1024 * 1024,
    trust,
    parse,
    damaged: () => {
      reporter(onDamaged)(file);
      return undefined;
    },
    replace: async (location, content) => {
      trust.ensurePrivateFolder(path.dirname(location));
      await replaceFile(location, content);
    },
  });
}
