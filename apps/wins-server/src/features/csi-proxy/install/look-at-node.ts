import { fileFingerprint, hashFile, openTrustedFile } from '@wins/trusted-files';
import type { ServiceFacts } from '../csi-proxy-port.js';
import type { CsiProxyFacts } from '../decide/decide.js';
import type { InstallRecord, StoredRelease } from '../decide/install-record.js';
import type { KeeperOptions } from '../keeper-options.js';
import type { RecordFile } from './record-file.js';

/** Looks at a node. A program is read again only when its file has changed. */
export class NodeLook {
  readonly #options: KeeperOptions;
  readonly #records: RecordFile;
  /** The fingerprints of programs that had their digest. */
  readonly #intact = new Map<string, string>();

  constructor(options: KeeperOptions, records: RecordFile) {
    this.#options = options;
    this.#records = records;
  }

  /** @throws FeatureError `fileFailed`, `serviceFailed`. */
  async look(): Promise<CsiProxyFacts> {
    const { service, goProgram, removesGo = false } = this.#options;
    const record = await this.#records.read();
    const found = await service.query();
    const intact: string[] = [];
    for (const release of record.releases)
      if (await this.#isIntact(release)) intact.push(release.program);
    return {
      ...{ record, intact, goProgram, removesGo, isServing: await service.isServing() },
      service: found && this.#spelled(found, record),
    };
  }

  /** One program has one spelling: that of the record. */
  #spelled(facts: ServiceFacts, { releases, installed, trial }: InstallRecord): ServiceFacts {
    const { command } = facts;
    if (command === undefined) return facts;
    const plain = (text: string): string =>
      process.platform === 'win32' ? text.replaceAll('/', '\\').toLowerCase() : text;
    const known = [
      ...releases.map(({ program }) => program),
      ...[installed, trial?.to, trial?.from].map((one) => one?.program),
      this.#options.goProgram,
    ];
    const program = known.find((one) => one !== undefined && plain(one) === plain(command.program));
    return program === undefined ? facts : { ...facts, command: { ...command, program } };
  }

  /** Whatever keeps it from being read or trusted: it is fetched again, or that fails with the reason. */
  async #isIntact({ program, programSha256 }: StoredRelease): Promise<boolean> {
    const state = `${programSha256} ${fileFingerprint(program)}`;
    if (this.#intact.get(program) === state) return true;
    try {
      const file = await openTrustedFile(program, this.#options.trust);
      try {
        if ((await hashFile(file, ['sha256'])).sha256 !== programSha256) return false;
      } finally {
        await file.handle.close();
      }
    } catch {
      return false;
    }
    this.#intact.set(program, state);
    return true;
  }
}
