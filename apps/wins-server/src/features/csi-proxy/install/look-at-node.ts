import { fileFingerprint, hashFile, openTrustedFile } from '@wins/trusted-files';
import type { KeeperOptions, ServiceFacts } from '../csi-proxy-port.js';
import type { CsiProxyFacts } from '../decide/decide.js';
import type { InstallRecord, StoredRelease } from '../decide/install-record.js';
import type { RecordFile } from './record-file.js';

/** Returns a function that reads the facts of the node. A program with a verified digest is hashed again only if its file has changed. */
export function nodeLook(
  { service, goProgram, removesGo = false, trust }: KeeperOptions,
  records: RecordFile,
): () => Promise<CsiProxyFacts> {
  /** Fingerprints of files with a verified digest. */
  const known = new Map<string, string>();
  /** Any error counts as not intact: the program is then fetched again. */
  const isIntact = async ({ program, programSha256 }: StoredRelease): Promise<boolean> => {
    const state = `${programSha256} ${fileFingerprint(program)}`;
    if (known.get(program) === state) return true;
    try {
      const file = await openTrustedFile(program, trust);
      try {
        if ((await hashFile(file, ['sha256'])).sha256 !== programSha256) return false;
      } finally {
        await file.handle.close();
      }
    } catch {
      return false;
    }
    known.set(program, state);
    return true;
  };
  return async () => {
    const record = await records.read();
    const found = await service.query();
    const intact: string[] = [];
    for (const release of record.releases)
      if (await isIntact(release)) intact.push(release.program);
    return {
      record,
      intact,
      goProgram,
      removesGo,
      isServing: await service.isServing(),
      service: found && spelled(found, record, goProgram),
    };
  };
}

/** Returns `facts` with the program's path spelled as in the record or in `goProgram`, so that callers can compare paths. */
function spelled(
  facts: ServiceFacts,
  { releases, installed, trial }: InstallRecord,
  goProgram: string | undefined,
): ServiceFacts {
  const { command } = facts;
  if (command === undefined) return facts;
  const plain = (text: string): string =>
    process.platform === 'win32' ? text.replaceAll('/', '\\').toLowerCase() : text;
  const programs = [...releases, installed, trial?.to, trial?.from].map((one) => one?.program);
  const program = [...programs, goProgram].find(
    (one) => one !== undefined && plain(one) === plain(command.program),
  );
  return program === undefined ? facts : { ...facts, command: { ...command, program } };
}
