import { withDefaults, type Optional } from '@wins/base';
import type { ServiceCommand } from '../service/service-command.js';
import { PHASES, type JournalPhase } from './upgrade-phases.js';
import { readText, type Effects } from '../effects.js';
import { hasFields, isText, maybe } from './has-fields.js';
import type { UpgradePaths } from './upgrade-paths.js';

/** Digests and release of a program file, in lower-case hexadecimal digits. */
export interface ProgramIdentity {
  readonly sha256: string;
  /** A running daemon reports this digest for its own program. */
  readonly sha1: string;
  /** Output of `--version`, if any. */
  readonly version?: string | undefined;
}

/** Config of the old daemon, as {@link UpgradeConfigs} has saved it. */
export interface ConfigBefore {
  readonly file: string;
  readonly sha256: string;
  /** The old daemon's pipe under that config; absent when unknown. */
  readonly pipe?: string | undefined;
}

/** Content of the journal: all that a process needs to finish or undo the upgrade. */
export interface UpgradeRecord {
  readonly phase: JournalPhase;
  readonly id: string;
  /** Path of the new program during its trial. */
  readonly staged: string;
  /** Program before the upgrade; absent if there was none. */
  readonly from?: ProgramIdentity | undefined;
  readonly to: ProgramIdentity;
  /** Command of the service before the upgrade; absent if there was no service. */
  readonly oldCommand?: ServiceCommand | undefined;
  readonly newCommand: ServiceCommand;
  /** Pipe of the new daemon. */
  readonly pipe: string;
  /** Pipe of the old daemon. */
  readonly oldPipe: string;
  /** Absent when unknown. */
  readonly configBefore?: ConfigBefore | undefined;
  /** True if the service may have been stopped or changed. */
  readonly disturbed: boolean;
  readonly reason?: string | undefined;
  /** Run that requested the upgrade; absent for a request on the host itself. */
  readonly askedBy?: string | undefined;
  /** Counts the daemon's own attempts to upgrade to this program. The first is 1. Absent for a requested upgrade. */
  readonly attempt?: number | undefined;
}

const FORMAT = 1;
const LIMIT_BYTES = 1024 * 1024;

const isDigest = (digits: number) => (value: unknown) =>
  typeof value === 'string' && value.length === digits && /^[0-9a-f]*$/.test(value);
const isIdentity = hasFields<ProgramIdentity>({
  sha256: isDigest(64),
  sha1: isDigest(40),
  version: maybe(isText),
});
const isCommand = hasFields<ServiceCommand>({
  imagePath: isText,
  args: (value) => Array.isArray(value) && value.every(isText),
});
const isRecord = hasFields<UpgradeRecord & { readonly format: number }>({
  format: (value) => value === FORMAT,
  phase: (value) => typeof value === 'string' && Object.hasOwn(PHASES, value),
  id: isText,
  staged: isText,
  pipe: isText,
  oldPipe: isText,
  disturbed: (value) => typeof value === 'boolean',
  reason: maybe(isText),
  askedBy: maybe(isText),
  attempt: maybe(Number.isSafeInteger),
  from: maybe(isIdentity),
  to: isIdentity,
  oldCommand: maybe(isCommand),
  newCommand: isCommand,
  configBefore: maybe(
    hasFields<ConfigBefore>({ file: isText, sha256: isText, pipe: maybe(isText) }),
  ),
});

/** Record of an upgrade in progress, by which a later process finishes or undoes it. */
export class UpgradeJournal {
  readonly #file: string;
  readonly #effects: Effects;

  constructor({ journal }: Pick<UpgradePaths, 'journal'>, effects: Effects) {
    this.#file = journal;
    this.#effects = effects;
  }

  /** Returns undefined without an upgrade, and `unreadable` for a damaged journal. */
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

  /** Writes the journal durably, before the first step. */
  async begin(record: UpgradeRecord): Promise<UpgradeRecord> {
    const text = `${JSON.stringify({ format: FORMAT, ...record }, null, 2)}\n`;
    await this.#effects.write(this.#file, text);
    return record;
  }

  async move(
    record: UpgradeRecord,
    phase: JournalPhase,
    change: Optional<Pick<UpgradeRecord, 'disturbed' | 'reason'>> = {},
  ): Promise<UpgradeRecord> {
    if (phase === record.phase) return record;
    if (!PHASES[record.phase].next.includes(phase))
      throw new Error(`an upgrade that is ${record.phase} cannot be ${phase}`);
    return this.begin({ ...withDefaults(record, change), phase });
  }

  /** Removes the journal. */
  async end(): Promise<void> {
    await this.#effects.remove('journal', this.#file);
  }
}
