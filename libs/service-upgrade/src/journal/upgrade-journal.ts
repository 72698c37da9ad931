import { readText, remove, replaceText } from './durable-files.js';
import type { Effects } from '../run/effects.js';
import type { ServiceCommand } from '../plan/service-command.js';
import { PHASES, type JournalPhase } from '../plan/upgrade-phases.js';
import { type UpgradePlaces } from './upgrade-places.js';

/** A program of which a daemon can be told. */
export interface ProgramIdentity {
  readonly sha256: string;
  /** What the daemon itself reports. */
  readonly sha1: string;
  /** As `--version` prints it; undefined when the program does not say. */
  readonly version?: string;
}

/** The config that the old daemon served with; its bytes lie beside the journal until the upgrade is over. */
export interface ConfigBefore {
  /** The file that its arguments name. */
  readonly file: string;
  readonly sha256: string;
  /** Where it serves with that; absent when that cannot be told. */
  readonly pipe?: string;
}

/** Everything that finishing or undoing an upgrade needs to know. */
export interface UpgradeRecord {
  readonly phase: JournalPhase;
  readonly id: string;
  /** The new program while it is on trial. */
  readonly staged: string;
  /** Absent when there was no such program. */
  readonly from?: ProgramIdentity;
  readonly to: ProgramIdentity;
  /** Absent when there was no service. */
  readonly oldCommand?: ServiceCommand;
  readonly newCommand: ServiceCommand;
  /** Where the daemon will serve. */
  readonly pipe: string;
  /** Where the old daemon served. */
  readonly oldPipe: string;
  /** What the old daemon served with; absent when that is not known. */
  readonly configBefore?: ConfigBefore;
  /** Whether the service may have been stopped or changed. */
  readonly disturbed: boolean;
  /** Why it is undone. */
  readonly reason?: string;
  /** The run in which it was asked for; absent when that was on the host itself. */
  readonly askedBy?: string;
  /** The how manieth upgrade to this program in a row a daemon began by itself; absent when it was asked for. */
  readonly attempt?: number;
}

const FORMAT = 1;
const LIMIT_BYTES = 1024 * 1024;

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
    return text === undefined ? undefined : (parseRecord(text) ?? 'unreadable');
  }

  /** Writes the first record. */
  async begin(record: UpgradeRecord): Promise<UpgradeRecord> {
    const text = `${JSON.stringify({ format: FORMAT, ...record }, null, 2)}\n`;
    await replaceText(this.#effects, this.#file, text);
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
    await remove(this.#effects, 'journal', this.#file);
  }
}

function parseRecord(text: string): UpgradeRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  return isRecord(value) ? value : undefined;
}

function isRecord(value: unknown): value is UpgradeRecord {
  if (!isObject(value) || value['format'] !== FORMAT) return false;
  const { phase, id, staged, from, to, oldCommand, newCommand, pipe, oldPipe, disturbed } = value;
  const { reason, askedBy, attempt, configBefore } = value;
  return (
    typeof phase === 'string' &&
    Object.hasOwn(PHASES, phase) &&
    [id, staged, pipe, oldPipe].every((text) => typeof text === 'string') &&
    typeof disturbed === 'boolean' &&
    [reason, askedBy].every((text) => text === undefined || typeof text === 'string') &&
    (attempt === undefined || Number.isSafeInteger(attempt)) &&
    (from === undefined || isIdentity(from)) &&
    isIdentity(to) &&
    (oldCommand === undefined || isCommand(oldCommand)) &&
    isCommand(newCommand) &&
    (configBefore === undefined || isConfigBefore(configBefore))
  );
}

function isIdentity(value: unknown): value is ProgramIdentity {
  if (!isObject(value)) return false;
  const { sha256, sha1, version } = value;
  return (
    typeof sha256 === 'string' &&
    /^[0-9a-f]{64}$/.test(sha256) &&
    typeof sha1 === 'string' &&
    /^[0-9a-f]{40}$/.test(sha1) &&
    (version === undefined || typeof version === 'string')
  );
}

function isCommand(value: unknown): value is ServiceCommand {
  if (!isObject(value) || typeof value['imagePath'] !== 'string') return false;
  const { args } = value;
  return Array.isArray(args) && args.every((word) => typeof word === 'string');
}

function isConfigBefore(value: unknown): value is ConfigBefore {
  if (!isObject(value)) return false;
  const { file, sha256, pipe } = value;
  return (
    typeof file === 'string' &&
    typeof sha256 === 'string' &&
    (pipe === undefined || typeof pipe === 'string')
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
