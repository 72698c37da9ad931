import { fileFingerprint, hashFile, openTrustedFile, type FileTrust } from '@wins/trusted-files';
import type { CsiProxyFacts } from '../decide/decide.js';
import type { InstallRecord, StoredRelease } from '../decide/install-record.js';
import type { CsiProxyService, ServiceFacts } from '../ports.js';
import { callService } from './call-service.js';
import type { RecordFile } from './record-file.js';

/** Where to look. */
export interface NodeParts {
  readonly service: CsiProxyService;
  readonly records: RecordFile;
  readonly trust: FileTrust;
  readonly goProgram: string | undefined;
  readonly removesGo: boolean;
  /** Whether names of files have no case. */
  readonly isWindows: boolean;
}

/** Looks at a node. A program is read again only when its file has changed. */
export class NodeLook {
  readonly #parts: NodeParts;
  readonly #seen = new Map<string, { readonly fingerprint: string; readonly isIntact: boolean }>();

  constructor(parts: NodeParts) {
    this.#parts = parts;
  }

  /** @throws CsiProxyError `fileFailed`, `serviceFailed`. */
  async look(): Promise<CsiProxyFacts> {
    const { service, records, goProgram, removesGo } = this.#parts;
    const record = await records.read();
    const found = await callService(service, 'ask for', () => service.query());
    const intact: string[] = [];
    for (const release of record.releases)
      if (await this.#isIntact(release)) intact.push(release.program);
    const isServing = await callService(service, 'look for the pipe of', () => service.isServing());
    return {
      ...{ record, intact, isServing, goProgram, removesGo },
      service: found && this.#spelled(found, record),
    };
  }

  /** One program has one spelling: that of the record. */
  #spelled(facts: ServiceFacts, { releases, installed, trial }: InstallRecord): ServiceFacts {
    const { command } = facts;
    if (command === undefined) return facts;
    const plain = (text: string): string =>
      this.#parts.isWindows ? text.replaceAll('/', '\\').toLowerCase() : text;
    const known = [
      ...releases.map(({ program }) => program),
      ...[installed, trial?.to, trial?.from].map((one) => one?.program),
      this.#parts.goProgram,
    ];
    const program = known.find((one) => one !== undefined && plain(one) === plain(command.program));
    return program === undefined ? facts : { ...facts, command: { ...command, program } };
  }

  async #isIntact({ program, programSha256 }: StoredRelease): Promise<boolean> {
    let fingerprint = fingerprintOf(program);
    if (fingerprint === undefined) return false;
    fingerprint = `${programSha256} ${fingerprint}`;
    const seen = this.#seen.get(program);
    if (seen?.fingerprint === fingerprint) return seen.isIntact;
    const isIntact = await this.#hasDigest(program, programSha256);
    this.#seen.set(program, { fingerprint, isIntact });
    return isIntact;
  }

  async #hasDigest(program: string, wanted: string): Promise<boolean> {
    try {
      const file = await openTrustedFile(program, this.#parts.trust);
      try {
        return (await hashFile(file, ['sha256'])).sha256 === wanted;
      } finally {
        await file.handle.close();
      }
    } catch {
      // Whatever keeps it from being read or trusted: it is fetched again, or that fails with the reason.
      return false;
    }
  }
}

function fingerprintOf(file: string): string | undefined {
  try {
    return fileFingerprint(file);
  } catch {
    return undefined;
  }
}
