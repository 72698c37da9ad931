/**
 * The runs that last, as a daemon knows them: those that live, in keepers, and those that have ended, on the disk. One file, longer than most,
 * because each way in which a run comes and goes changes the same list.
 */
import { messageOf, quoteText, UNIDENTIFIED, type ClientIdentity } from '@wins/base';
import {
  ProcessError,
  type LastingGrant,
  type ManagedProcess,
  type ProcessManager,
  type ProcessOwner,
  type StartRequest,
} from '@wins/process-manager';
import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Claim } from '../../kernel/admission/shares.js';
import type { Kernel } from '../../kernel/feature.js';
import { GENTLE_MS } from './keeper/end-keepers.js';
import { KeeperConnection } from './keeper/keeper-connection.js';
import type { KeeperRecord } from './keeper/keeper-messages.js';
import { keeperRecordFile, readKeeperRecords } from './keeper/keeper-records.js';
import { removeCopies } from './keeper/keeper-program.js';
import { startKeeper } from './keeper/start-keeper.js';
import { lastingOwner } from './lasting-owner.js';
import { RunFolders, type KeptEnd, type KeptRun } from './run-folders.js';
import { readSpool, tailOffset, type SpoolPart } from './spool/spool-reader.js';

/** Names that a client may give to a run. */
const LABEL = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;
const SWEEP_EACH_MS = 10 * 60_000;

/** A run that is kept. */
export interface Kept {
  readonly label: string;
  readonly facts: KeptRun;
  /** Undefined once it has ended. */
  readonly process: ManagedProcess | undefined;
  readonly end: KeptEnd | undefined;
}

/** Part of the output that is read. */
export interface LastingRead {
  readonly offset?: number;
  readonly sinceMs?: number;
  readonly follow: boolean;
  readonly signal: AbortSignal;
}

interface Entry extends Kept {
  process: ManagedProcess | undefined;
  end: KeptEnd | undefined;
  readonly claim: Claim | undefined;
  readonly changes: EventEmitter;
  /** Resolves when it has ended and that is known here. */
  over: Promise<void>;
}

type LastingKernel = Pick<
  Kernel,
  | 'stateDirectory'
  | 'processHost'
  | 'system'
  | 'program'
  | 'checksum'
  | 'resources'
  | 'logger'
  | 'audit'
>;

/** Starts, finds, reads and forgets runs that last. */
export class LastingRuns {
  readonly #kernel: LastingKernel;
  readonly #manager: ProcessManager;
  readonly #folders: RunFolders;
  readonly #entries = new Map<string, Entry>();
  /** Labels of starts under way. */
  readonly #labels = new Set<string>();
  readonly #closing = new AbortController();
  readonly #keepers = new Set<KeeperConnection>();
  #own: Promise<KeeperConnection> | undefined;
  #sweeping: NodeJS.Timeout | undefined;

  constructor(kernel: LastingKernel, manager: ProcessManager) {
    this.#kernel = kernel;
    this.#manager = manager;
    this.#folders = new RunFolders(kernel.stateDirectory);
  }

  /** Takes over what earlier daemons left: keepers that live, and what is on the disk. */
  async adopt(): Promise<void> {
    const { processHost, logger } = this.#kernel;
    const release = await this.#kernel.checksum;
    for (const record of await readKeeperRecords(this.#folders.folder)) {
      if (!processHost.isDaemonAlive(record.keeper)) {
        await keeperRecordFile(this.#folders.folder, record.keeper).remove();
        const socket = path.basename(record.socket);
        await rm(path.join(this.#kernel.stateDirectory, socket), { force: true });
        continue;
      }
      try {
        const keeper = await this.#connect(record);
        this.#keepers.add(keeper);
        if (record.release === release) this.#own ??= Promise.resolve(keeper);
      } catch (err) {
        logger.error({ err, keeper: record.keeper }, 'cannot reach a keeper of runs');
      }
    }
    for (const mark of await this.#folders.marks()) {
      try {
        await this.#adoptRun(mark);
      } catch (err) {
        // The others, and all else that the daemon does, matter more.
        logger.error({ err, mark }, 'cannot read what is kept of a run');
      }
    }
    for (const keeper of [...this.#keepers]) this.#leaveIfIdle(keeper);
    await this.#sweep();
    this.#sweeping = setInterval(() => void this.#sweep(), SWEEP_EACH_MS).unref();
  }

  /**
   * Starts a run, and gives the label by which it is found.
   *
   * @param label - Chosen here when empty.
   * @throws ProcessError.
   */
  async start(
    request: Omit<StartRequest, 'owner' | 'lasting'>,
    from: { readonly owner: ProcessOwner; readonly client: ClientIdentity },
    label: string,
    signal: AbortSignal,
  ): Promise<string> {
    const { client } = from;
    const known = this.#knownOwner(client);
    if (known === undefined) throw refusal('callerNotAllowed', 'the system does not say who asks');
    if ((request.exposes ?? []).length > 0)
      throw refusal(
        'invalidArgument',
        'its ports cannot be exposed, because they close with the daemon',
      );
    if (label !== '' && !LABEL.test(label))
      throw refusal(
        'invalidArgument',
        'its name is no word of 1 to 63 letters, digits, ".", "_" and "-"',
      );
    const name = label === '' ? randomLabel() : label;
    if (this.#entries.has(name) || this.#labels.has(name))
      throw refusal(
        'alreadyRunning',
        `a run of the name ${quoteText(name)} is kept; remove it, or choose another name`,
      );
    this.#labels.add(name);
    let entry: Entry | undefined;
    let claim: Claim | undefined;
    try {
      const started = await this.#manager.start(
        {
          ...request,
          owner: lastingOwner(name, client, from.owner),
          lasting: {
            start: async (command, run, grant) => {
              claim = await this.#makeRoom(run.path, grant, client);
              const { spoolBytes, maxAgeMs } = grant;
              const facts = { version: 1, label: name, run, owner: known } as const;
              const changes = new EventEmitter();
              const keeper = await this.#keeper();
              const kept = await keeper.start(
                command,
                { ...facts, spoolBytes, maxAgeMs },
                { written: () => changes.emit('more') },
              );
              const { pid, startToken } = kept;
              const whole = { ...facts, spoolBytes, maxAgeMs, pid, startToken };
              entry = {
                ...{ label: name, process: undefined, end: undefined, claim, changes },
                facts: { ...whole, keeper: kept.keeper, startedAtMs: Date.now() },
                over: Promise.resolve(),
              };
              return kept;
            },
          },
        },
        { signal },
      );
      if (entry !== undefined) this.#follow(entry, started);
      return name;
    } catch (error) {
      claim?.release();
      if (entry !== undefined) await this.#folders.remove(entry.facts.run.mark);
      throw error;
    } finally {
      this.#labels.delete(name);
    }
  }

  /** The runs that a client may see, the oldest first. */
  list(client: ClientIdentity): readonly Kept[] {
    const known = this.#knownOwner(client);
    return [...this.#entries.values()].filter((entry) => isSeenBy(entry, client, known));
  }

  /** @throws ProcessError `notFound`, also for a run of another client. */
  find(label: string, client: ClientIdentity): Kept {
    return this.#entryOf(label, client);
  }

  /** Where the last so many lines of a run begin. */
  tailOffset({ facts }: Kept, lines: number): Promise<number> {
    return tailOffset(this.#folders.folderOf(facts.run.mark), lines);
  }

  /** Reads output; whoever follows gets what comes, until the run has ended. */
  async *read({ label }: Kept, options: LastingRead): AsyncGenerator<SpoolPart> {
    const entry = this.#entries.get(label);
    if (entry === undefined) return;
    const { changes } = entry;
    const folder = this.#folders.folderOf(entry.facts.run.mark);
    const { offset, sinceMs, follow, signal } = options;
    changes.setMaxListeners(0);
    const given = { signal: AbortSignal.any([signal, this.#closing.signal]) };
    yield* readSpool(folder, {
      ...(offset !== undefined && { offset }),
      ...(sinceMs !== undefined && { sinceMs }),
      end: () => entry.end?.outputBytes,
      ...(follow && { more: () => once(changes, 'more', given) }),
    });
  }

  /** Ends a run, if it lives, and forgets it. @throws ProcessError `notFound`. */
  async remove(
    label: string,
    client: ClientIdentity,
    requester: string,
  ): Promise<KeptEnd | undefined> {
    const entry = this.#entryOf(label, client);
    const { process } = entry;
    if (process !== undefined) {
      await process.stop(requester, { runId: process.runId });
      await entry.over;
    }
    await this.#forget(entry);
    return entry.end;
  }

  /** Whether it has been closed: who follows output then gets no more of it. */
  get isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** Ends all runs in good order, for a system that shuts down. Never rejects. */
  async endAll(): Promise<void> {
    const signal = AbortSignal.timeout(GENTLE_MS);
    await Promise.allSettled([...this.#keepers].map((keeper) => keeper.endAll(signal)));
  }

  /** Leaves what lives to its keepers. */
  close(): void {
    this.#closing.abort();
    clearInterval(this.#sweeping);
    for (const keeper of this.#keepers) keeper.close();
  }

  /** What is kept of a client that the system identifies; undefined for another. */
  #knownOwner(client: ClientIdentity): KeptRun['owner'] | undefined {
    const { sessionStart } = this.#kernel.system;
    const { session } = client.description;
    // The accounts of the host's services are its own.
    const isOfHost = sessionStart === undefined || session === 0;
    if (client.isEverybody || client.key === UNIDENTIFIED) return undefined;
    if (isOfHost) return client.names.length === 0 ? undefined : ownerFacts(client);
    const since = typeof session === 'number' ? sessionStart(session) : undefined;
    return since === undefined ? undefined : { ...ownerFacts(client), since };
  }

  #entryOf(label: string, client: ClientIdentity): Entry {
    const entry = this.#entries.get(label);
    if (entry !== undefined && isSeenBy(entry, client, this.#knownOwner(client))) return entry;
    const message = `cannot find ${quoteText(label)}: found no run of that name that is kept for this client`;
    throw new ProcessError('notFound', message);
  }

  async #adoptRun(mark: string): Promise<void> {
    const { logger, resources, processHost } = this.#kernel;
    const facts = await this.#folders.run(mark).read();
    if (facts?.run.mark !== mark) {
      // Of a start that never came, or nothing that we wrote; a keeper may be starting it just now.
      if (this.#keepers.size === 0) await this.#folders.remove(mark);
      return;
    }
    const { owner, spoolBytes: amount } = facts;
    // Two daemons with one state directory may have chosen the same.
    const label = this.#entries.has(facts.label)
      ? `${facts.label}-${mark.slice(0, 8)}`
      : facts.label;
    const claim = resources.spools.take(owner, { amount });
    const changes = new EventEmitter();
    const entry: Entry = {
      ...{ label, facts, claim, changes, process: undefined },
      ...{ end: await this.#folders.end(mark).read(), over: Promise.resolve() },
    };
    const keeper = [...this.#keepers].find((each) => each.has(mark));
    const isElsewhere = keeper === undefined && processHost.isDaemonAlive(facts.keeper);
    if (entry.end === undefined && isElsewhere) {
      logger.error({ mark, label }, 'cannot take over a run: its keeper serves another daemon');
      claim?.release();
      return;
    }
    if (entry.end !== undefined || keeper === undefined) {
      this.#entries.set(label, entry);
      entry.end ??= await this.#recordLost(mark);
      if (entry.end.isTold !== true) await this.#tell(entry, entry.end);
      return;
    }
    const kept = keeper.adopt(facts, { written: () => changes.emit('more') });
    try {
      this.#follow(entry, this.#manager.adopt(facts.run, kept, lastingOwner(label, owner)));
      logger.info({ mark, label, pid: facts.pid }, 'took over a run that lasts');
    } catch (err) {
      logger.error({ err, mark, label }, 'cannot take over a run that lasts; it is ended');
      await kept.terminate('force');
      this.#entries.set(label, entry);
      entry.over = kept.exited.then(() => this.#ended(entry));
    }
  }

  #follow(entry: Entry, process: ManagedProcess): void {
    entry.process = process;
    this.#entries.set(entry.label, entry);
    entry.over = process.ended.then(() => this.#ended(entry));
  }

  async #ended(entry: Entry): Promise<void> {
    const { mark } = entry.facts.run;
    try {
      entry.end = (await this.#folders.end(mark).read()) ?? (await this.#recordLost(mark));
      await this.#setTold(entry, entry.end);
    } catch (err) {
      this.#kernel.logger.error({ err, mark }, 'cannot read how a run ended');
      entry.end = lostEnd(0);
    }
    entry.process = undefined;
    entry.changes.emit('more');
    for (const keeper of [...this.#keepers]) this.#leaveIfIdle(keeper);
  }

  /** Reports the end of a run that no daemon has seen, once. */
  async #tell(entry: Entry, end: KeptEnd): Promise<void> {
    const { run } = entry.facts;
    const { code, signal, reason, figures } = end;
    const exit = { code, ...(signal !== undefined && { signal }), reason };
    const output = figures?.output ?? { stdoutBytes: 0, stderrBytes: 0, pauses: 0 };
    this.#manager.reportEnded(run, exit, { usage: figures?.usage, output });
    const { mark, name, path } = run;
    this.#kernel.audit.note('endedWithoutDaemon', { mark, name, path, ...exit });
    await this.#setTold(entry, end);
  }

  /** A full disk has it told again. */
  async #setTold({ facts }: Entry, end: KeptEnd): Promise<void> {
    const file = this.#folders.end(facts.run.mark);
    await file.write({ ...end, isTold: true }).catch(() => undefined);
  }

  /** Records the end of a run whose keeper has died: nobody knows how it ended. */
  async #recordLost(mark: string): Promise<KeptEnd> {
    const end = lostEnd(await tailOffset(this.#folders.folderOf(mark), 0));
    await this.#folders
      .end(mark)
      .write(end)
      .catch((err: unknown) => {
        this.#kernel.logger.warn({ err, mark }, 'cannot write down how a run ended');
      });
    return end;
  }

  /** A keeper that keeps nothing ends when it has no daemon. */
  #leaveIfIdle(keeper: KeeperConnection): void {
    if (!keeper.isIdle) return;
    this.#keepers.delete(keeper);
    void this.#own?.then((own) => {
      if (own === keeper) this.#own = undefined;
    });
    keeper.close();
  }

  #keeper(): Promise<KeeperConnection> {
    if (this.#own === undefined) {
      const starting = this.#startKeeper();
      this.#own = starting;
      starting.catch(() => (this.#own = undefined));
    }
    return this.#own;
  }

  #connect(record: KeeperRecord): Promise<KeeperConnection> {
    const { processHost, system } = this.#kernel;
    const check = system.processesApart?.serverCheck(record.keeper);
    return KeeperConnection.open(record, processHost, check);
  }

  async #startKeeper(): Promise<KeeperConnection> {
    const { program, checksum, stateDirectory, processHost, system, logger } = this.#kernel;
    for (const folder of [stateDirectory, this.#folders.folder])
      processHost.ensurePrivateDirectory(folder);
    const record = await startKeeper({
      ...{ program, release: await checksum, stateDirectory, apart: system.processesApart },
    });
    const keeper = await this.#connect(record);
    this.#keepers.add(keeper);
    logger.info({ keeper: record.keeper }, 'started a keeper of runs');
    return keeper;
  }

  /** Takes the place of one more run on the disk; runs that have ended yield, the first that ended first. */
  async #makeRoom(program: string, grant: LastingGrant, client: ClientIdentity): Promise<Claim> {
    const ofEntry = (): readonly Entry[] =>
      [...this.#entries.values()].filter(({ facts }) => facts.run.path === program);
    while (ofEntry().length >= grant.maxRuns) {
      const oldest = oldestEnded(ofEntry());
      if (oldest === undefined)
        throw refusal('tooManyProcesses', `${grant.maxRuns} runs of its entry live; wanted fewer`);
      await this.#forget(oldest);
    }
    for (;;) {
      const claim = this.#kernel.resources.spools.take(client, { amount: grant.spoolBytes });
      if (claim !== undefined) return claim;
      const own = [...this.#entries.values()].filter(({ facts }) => facts.owner.key === client.key);
      const oldest = oldestEnded(own);
      if (oldest === undefined)
        throw refusal('tooManyProcesses', 'this client has its share of what is kept of runs');
      await this.#forget(oldest);
    }
  }

  async #forget(entry: Entry): Promise<void> {
    this.#entries.delete(entry.label);
    entry.claim?.release();
    await this.#folders.remove(entry.facts.run.mark);
  }

  async #sweep(): Promise<void> {
    const { logger } = this.#kernel;
    // Of one that is being started it is not held yet.
    if (this.#own === undefined)
      await removeCopies(this.#folders.folder).catch((error: unknown) => {
        logger.warn({ problem: messageOf(error) }, 'cannot remove the program of a keeper');
      });
    for (const entry of [...this.#entries.values()]) {
      const { end, facts } = entry;
      if (end === undefined || end.endedAtMs + facts.maxAgeMs > Date.now()) continue;
      await this.#forget(entry).catch((error: unknown) => {
        logger.warn({ problem: messageOf(error) }, 'cannot remove an old run');
      });
    }
  }
}

function isSeenBy(
  { facts: { owner } }: Entry,
  client: ClientIdentity,
  known: KeptRun['owner'] | undefined,
): boolean {
  if (client.isAdministrator) return true;
  return known !== undefined && owner.key === known.key && owner.since === known.since;
}

function oldestEnded(entries: readonly Entry[]): Entry | undefined {
  const ended = entries.filter(({ end }) => end !== undefined);
  return ended.sort((a, b) => (a.end?.endedAtMs ?? 0) - (b.end?.endedAtMs ?? 0))[0];
}

function ownerFacts(client: ClientIdentity): KeptRun['owner'] {
  const { key, isAdministrator, isEverybody, description, names } = client;
  return { key, isAdministrator, isEverybody, description: { ...description }, names: [...names] };
}

function lostEnd(outputBytes: number): KeptEnd {
  return { version: 1, code: 137, reason: 'hostFailed', endedAtMs: Date.now(), outputBytes };
}

function randomLabel(): string {
  return `run-${randomBytes(4).toString('hex')}`;
}

function refusal(code: ConstructorParameters<typeof ProcessError>[0], found: string): ProcessError {
  return new ProcessError(code, `cannot start a detached run: ${found}`);
}
