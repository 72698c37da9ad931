import type { ServiceCommand } from '../plan/service-command.js';
import { PHASES, type JournalPhase } from '../plan/upgrade-phases.js';
import { readText, type Effects } from '../run/effects.js';
import { hasFields, isText, maybe } from './has-fields.js';
import type { UpgradePlaces } from './upgrade-places.js';

/** A program of which a daemon can be told. */
export interface ProgramIdentity {
  readonly sha256: string;
  /** Digest that the daemon itself reports. */
  readonly sha1: string;
  /** Output of `--version`; undefined when the program prints none. */
  readonly version?: string | undefined;
}

/** The config that the old daemon served with; its bytes lie beside the journal until the upgrade is over. */
export interface ConfigBefore {
  /** The file that its arguments name. */
  readonly file: string;
  readonly sha256: string;
  /** Where it serves with that; absent when that cannot be told. */
  readonly pipe?: string | undefined;
}

/** Everything that finishing or undoing an upgrade needs to know. */
export interface UpgradeRecord {
  readonly phase: JournalPhase;
  /** The name of the upgrade. */
  readonly id: string;
  /** The new program while it is on trial. */
  readonly staged: string;
  /** Absent when there was no such program. */
  readonly from?: ProgramIdentity | undefined;
  readonly to: ProgramIdentity;
  /** Absent when there was no service. */
  readonly oldCommand?: ServiceCommand | undefined;
  readonly newCommand: ServiceCommand;
  /** Where the daemon will serve. */
  readonly pipe: string;
  /** Where the old daemon served. */
  readonly oldPipe: string;
  /** Config that the old daemon served with; absent when that is not known. */
  readonly configBefore?: ConfigBefore | undefined;
  /** Whether the service may have been stopped or changed. */
  readonly disturbed: boolean;
  /** Why it is undone. */
  readonly reason?: string | undefined;
  /** The run in which it was asked for; absent when that was on the host itself. */
  readonly askedBy?: string | undefined;
  /** The how manieth upgrade to this program in a row a daemon began by itself; absent when it was asked for. */
  readonly attempt?: number | undefined;
}

const FORMAT = 1;
const LIMIT_BYTES = 1024 * 1024;

const isDigest =
  (digits: number) =>
  (value: unknown): boolean =>
    typeof value === 'string' && value.length === digits && /^[0-9a-f]*$/.test(value);
const isIdentity = hasFields<ProgramIdentity>({
  ...{ sha256: isDigest(64), sha1: isDigest(40), version: maybe(isText) },
});
const isCommand = hasFields<ServiceCommand>({
  imagePath: isText,
  args: (value) => Array.isArray(value) && value.every(isText),
});
const isRecord = hasFields<UpgradeRecord & { readonly format: number }>({
  format: (value) => value === FORMAT,
  phase: (value) => typeof value === 'string' && Object.hasOwn(PHASES, value),
  ...{ id: isText, staged: isText, pipe: isText, oldPipe: isText },
  disturbed: (value) => typeof value === 'boolean',
  ...{ reason: maybe(isText), askedBy: maybe(isText), attempt: maybe(Number.isSafeInteger) },
  ...{ from: maybe(isIdentity), to: isIdentity },
  ...{ oldCommand: maybe(isCommand), newCommand: isCommand },
  configBefore: maybe(
    hasFields<ConfigBefore>({ file: isText, sha256: isText, pipe: maybe(isText) }),
  ),
});

/** The record on disk of the upgrade that is under way; none when nothing is. */
export class UpgradeJournal {
  readonly #file: string;
  readonly #effects: Effects;

  constructor({ journal }: Pick<UpgradePlaces, 'journal'>, effects: Effects) {
    this.#file = journal;
    this.#effects = effects;
  }

  /** The record; `unreadable` when there is something, but not what we wrote. */
  async read(): Promise<UpgradeRecord | 'unreadable' | undefined> {
    const text = await readText(this.#file, LIMIT_BYTES);
    if (text === undefined) return undefined;
    try {
      const value: unknown = JSON.parse(text);
      return isRecord(value) ? value : 'unreadable';
    } catch {
      return 'unreadable';
    }
  }

  /** Writes the first record. */
  async begin(record: UpgradeRecord): Promise<UpgradeRecord> {
    const text = `${JSON.stringify({ format: FORMAT, ...record }, null, 2)}\n`;
    await this.#effects.write(this.#file, text);
    return record;
  }

  /** Writes what comes next; nothing when that is what stands there. */
  async move(
    record: UpgradeRecord,
    phase: JournalPhase,
    change: Partial<Pick<UpgradeRecord, 'disturbed' | 'reason'>> = {},
  ): Promise<UpgradeRecord> {
    if (phase === record.phase) return record;
    if (!PHASES[record.phase].next.includes(phase)) {
      throw new Error(`an upgrade that is ${record.phase} cannot be ${phase}`);
    }
    return this.begin({ ...record, ...change, phase });
  }

  /** Nothing is under way any more. */
  async end(): Promise<void> {
    await this.#effects.remove('journal', this.#file);
  }
}
