/** Detached runs: living ones in keepers, ended ones on disk. This module is long because all operations change the same list. */
import { messageOf, quoteText, UNIDENTIFIED, type ClientIdentity } from '@wins/base';
import { systemClock, type Clock } from '@wins/time';
import {
  markOf,
  ProcessError,
  Spool,
  type LastingGrant,
  type LastingRun,
  type LastingStart,
  type ManagedProcess,
  type OutputReadOptions,
  type ProcessExit,
  type ProcessManager,
  type ProcessOwner,
  type SpoolOptions,
  type SpoolReader,
  type StartRequest,
} from '@wins/process-manager';
import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { existsSync } from 'node:fs';
import type { Claim } from '../../kernel/admission/shares.js';
import type { Kernel } from '../../kernel/feature.js';
import { GENTLE_MS } from './keeper/end-keepers.js';
import type { KeeperConnection } from './keeper/keeper-connection.js';
import { removeCopies } from './keeper/keeper-program.js';
import { Keepers } from './keeper/keepers.js';
import type { startKeeper } from './keeper/start-keeper.js';
import { KeptPrograms } from './keep-programs.js';
import { isKept, newKept, type WantedProgram } from './kept-programs.js';
import {
  isBegun,
  isHeld,
  isSeenBy,
  isWaiting,
  lastEndOf,
  lostEnd,
  newEntry,
  oldestEnded,
  ownerFacts,
  type Entry,
  type Kept,
  type LastingEvent,
} from './kept-run.js';
import { lastingOwner } from './lasting-owner.js';
import { afterEnd, afterRefusal, newPlan, planFile, type RestartPlan } from './restart-plan.js';
import type { HeldStart } from '../runs/process-service.js';
import { folderNameOf, RunFolders, type KeptEnd, type KeptRun } from './run-folders.js';

const LABEL = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;
const SWEEP_EACH_MS = 10 * 60_000;
/** Time that a held run survives without a daemon. An upgrade takes less time. Clients wait equally long for the next daemon. */
const LEASE_MS = 60_000;
const REFUSED = /^cannot start a [a-z ]*run: /;

export interface LastingRunsOptions {
  readonly onEvent?: (event: LastingEvent) => void;
  /** Default: the system clock. */
  readonly clock?: Clock;
  readonly random?: () => number;
  /** Default: starts a process of this program. */
  readonly startKeeper?: typeof startKeeper;
}

/** Facts of a run that are chosen before its start. */
type Keeping = Omit<KeptRun, 'version' | 'run' | 'keeper' | 'pid' | 'startToken' | 'startedAtMs'>;

interface Launch extends Pick<Entry, 'plan' | 'changes'> {
  readonly signal: AbortSignal;
  /** Default false. */
  readonly isHeld?: boolean;
}

type LastingKernel = Pick<
  Kernel,
  'stateDirectory' | 'processHost' | 'system' | 'program' | 'checksum' | 'resources' | 'logger'
> & { readonly audit: Pick<Kernel['audit'], 'note'> };

export class LastingRuns {
  readonly #kernel: LastingKernel;
  readonly #manager: ProcessManager;
  readonly #folders: RunFolders;
  readonly #entries = new Map<string, Entry>();
  readonly #programs: KeptPrograms;
  readonly #keepers: Keepers;
  /** Labels of starts in progress. */
  readonly #labels = new Set<string>();
  readonly #closing = new AbortController();
  /** Aborted when the system shuts down. This daemon then restarts no runs; the next daemon restarts them. */
  readonly #shutdown = new AbortController();
  readonly #options: LastingRunsOptions;
  readonly #clock: Clock;
  /** True once all runs of earlier daemons are known, except those of keepers that did not answer in time. */
  #isAdopted = false;
  #starts = 0;
  #sweeping: NodeJS.Timeout | undefined;

  constructor(kernel: LastingKernel, manager: ProcessManager, options: LastingRunsOptions = {}) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#kernel = kernel;
    this.#manager = manager;
    this.#folders = new RunFolders(kernel.stateDirectory);
    const { signal: closing } = this.#closing;
    const { startKeeper: start } = options;
    this.#keepers = new Keepers({ kernel, folders: this.#folders, closing, start });
    this.#programs = new KeptPrograms({
      ...{ entries: this.#entries, logger: kernel.logger, closing },
      begin: (program) => this.#begin(program),
      remove: (entry) => this.#remove(entry, 'config'),
    });
  }

  /** Makes the kept runs match `programs`. Takes effect once {@link adopt} has found the earlier runs. */
  keep(programs: readonly WantedProgram[]): void {
    this.#programs.want(programs);
  }

  /** Takes over the runs of earlier daemons, from living keepers and from records on disk. */
  async adopt(): Promise<void> {
    const { folder: all } = this.#folders;
    // Refuses records that other accounts could have written.
    if (existsSync(all)) this.#kernel.processHost.ensurePrivateDirectory(all);
    const hasKeeper = await this.#keepers.adopt((keeper) => this.#reached(keeper));
    for (const folder of await this.#folders.marks()) {
      try {
        await this.#adoptRun(folder, hasKeeper);
      } catch (err) {
        // One unreadable run must not stop the other runs or the daemon.
        this.#kernel.logger.error({ err, folder }, 'cannot read the record of a run');
      }
    }
    this.#isAdopted = true;
    this.#programs.begin();
    this.#leaveIdle();
    await this.#sweep();
    this.#sweeping = setInterval(() => void this.#sweep(), SWEEP_EACH_MS).unref();
  }

  async #reached(keeper: KeeperConnection): Promise<void> {
    for (const entry of [...this.#entries.values()])
      if (isWaiting(entry) && entry.facts.keeper === keeper.record.keeper)
        await this.#takeOver(entry, keeper);
    this.#leaveIdle();
  }

  /**
   * @param label - Empty: the daemon chooses one.
   * @param restart - Policy in the form of {@link newPlan}.
   * @returns The label.
   * @throws ProcessError.
   */
  async start(
    request: Omit<StartRequest, 'owner' | 'lasting'>,
    from: { readonly owner: ProcessOwner; readonly client: ClientIdentity },
    label: string,
    restart: string,
    signal: AbortSignal,
  ): Promise<string> {
    const { client } = from;
    const known = this.#ownerOf(request, client);
    if (label !== '' && !LABEL.test(label))
      throw refusal(
        'invalidArgument',
        'its name is not valid; wanted 1 to 63 letters, digits, ".", "_" and "-"',
      );
    const name = label === '' ? randomLabel() : label;
    if (this.#entries.has(name) || this.#labels.has(name))
      throw refusal(
        'alreadyRunning',
        `there is a run named ${quoteText(name)}; remove it, or choose another name`,
      );
    const { path: program, args, envs, directory, sha1, sha256, limits } = request;
    const plan = newPlan(restart, {
      ...{ path: program, args: [...args], envs: [...envs] },
      ...(directory !== undefined && { directory }),
      ...(sha1 !== undefined && { sha1 }),
      ...(sha256 !== undefined && { sha256 }),
      ...(limits && { limits: { ...limits } }),
    });
    this.#labels.add(name);
    let claim: Claim | undefined;
    try {
      const changes = new EventEmitter();
      const { started, facts } = await this.#launch(
        { ...request, owner: lastingOwner(name, client, from.owner) },
        async ({ path: program }, grant) => {
          claim = await this.#makeRoom(program, grant, client);
          const { spoolBytes, maxAgeMs } = grant;
          return { label: name, owner: known, spoolBytes, maxAgeMs };
        },
        { plan, signal, changes },
      );
      if (facts === undefined) throw new Error('cannot follow a run: no keeper has it');
      const entry = newEntry({ label: name, facts, plan, claim, changes });
      this.#follow(entry, started);
      return name;
    } catch (error) {
      claim?.release();
      throw error;
    } finally {
      this.#labels.delete(name);
    }
  }

  /**
   * Starts a run that ends when its client leaves. A run in a keeper survives a replacement of the daemon, and waits for its client to reconnect.
   * A run without a keeper ends with the daemon. If a run has no keeper although its whitelist entry grants `lasting`, `warning` tells why.
   *
   * @throws ProcessError.
   */
  async startHeld(
    request: Omit<StartRequest, 'owner' | 'lasting'>,
    { owner, client }: { readonly owner: ProcessOwner; readonly client: ClientIdentity },
    signal: AbortSignal,
  ): Promise<HeldStart> {
    let warning: string | undefined;
    let claim: Claim | undefined;
    const changes = new EventEmitter();
    try {
      const { started, facts } = await this.#launch(
        { ...request, owner },
        async ({ path: program, mark }, grant) => {
          try {
            const known = this.#ownerOf(request, client);
            claim = await this.#makeRoom(program, grant, client, isHeld);
            await this.#keepers.own();
            const lease = { maxAgeMs: LEASE_MS, leaseMs: LEASE_MS };
            return { label: mark, owner: known, spoolBytes: grant.spoolBytes, ...lease };
          } catch (error) {
            warning = `it ends with the daemon: ${messageOf(error).replace(REFUSED, '')}`;
            return undefined;
          }
        },
        { plan: undefined, signal, changes, isHeld: true },
      );
      if (facts === undefined) claim?.release();
      else {
        const { label } = facts;
        this.#follow(newEntry({ label, facts, plan: undefined, claim, changes }), started);
      }
      return { run: started, leaseMs: facts?.leaseMs ?? 0, warning };
    } catch (error) {
      claim?.release();
      throw error;
    }
  }

  #begin(program: WantedProgram): void {
    const entry = newKept(program, this.#kernel.resources.spools, this.#clock.now().getTime());
    this.#entries.set(entry.label, entry);
    entry.restarting = this.#restart(entry);
  }

  /** Starts an attempt of a run in a keeper. If `about` returns undefined, the attempt starts without a keeper. @throws ProcessError. */
  async #launch(
    request: Omit<StartRequest, 'lasting'>,
    about: (run: LastingRun, grant: LastingGrant) => Promise<Keeping | undefined>,
    { plan, changes, signal, isHeld: isToBeHeld = false }: Launch,
  ): Promise<{ readonly started: ManagedProcess; readonly facts: KeptRun | undefined }> {
    let facts: KeptRun | undefined;
    const start: LastingStart['start'] = async (command, run, grant) => {
      const keeping = await about(run, grant);
      if (keeping === undefined) return undefined;
      const known = { version: 1, run, ...keeping } as const;
      const written = (): unknown => changes.emit('more');
      const kept = await this.#keepers.start(command, known, { written });
      const { pid, startToken } = kept;
      facts = { ...known, keeper: kept.keeper, pid, startToken, startedAtMs: Date.now() };
      try {
        if (known.continues === undefined && plan !== undefined)
          await planFile(this.#folders.folderOf(run.mark)).write(plan);
      } catch (error) {
        await kept.terminate('force');
        throw error;
      }
      return kept;
    };
    this.#starts += 1;
    try {
      const lasting = { restarts: plan !== undefined, isHeld: isToBeHeld, start };
      const started = await this.#manager.start({ ...request, lasting }, { signal });
      return { started, facts };
    } catch (error) {
      if (facts?.continues === undefined && facts !== undefined)
        await this.#folders.remove(facts.run.mark);
      throw error;
    } finally {
      this.#starts -= 1;
      this.#leaveIdle();
    }
  }

  all(): readonly Kept[] {
    return [...this.#entries.values()];
  }

  /** Lists the runs that a client may see, without held ones. */
  list(client: ClientIdentity): readonly Kept[] {
    const known = this.#knownOwner(client);
    return [...this.#entries.values()].filter(
      (entry) => !isHeld(entry) && isSeenBy(entry, client, known),
    );
  }

  /** @throws ProcessError `notFound`, also for a run of another client. */
  find(label: string, client: ClientIdentity): Kept {
    return this.#entryOf(label, client);
  }

  /** A follower receives output until the final end of the run. @throws ProcessError `notFound` for a removed run. */
  read({ label }: Kept, options: OutputReadOptions, search?: SpoolOptions['search']): SpoolReader {
    const entry = this.#entries.get(label);
    if (entry === undefined)
      throw new ProcessError('notFound', `cannot read ${quoteText(label)}: it was removed`);
    const { changes, facts } = entry;
    changes.setMaxListeners(0);
    let told = 0;
    const spool = new Spool(this.#folders.folderOf(folderNameOf(facts)), {
      end: () => lastEndOf(entry)?.outputBytes,
      more: (signal) => once(changes, 'more', { signal }),
      ...(search && { search }),
      taken: (offset) => {
        if (!isHeld(entry) || offset - told < facts.spoolBytes / 32) return;
        told = offset;
        this.#keepers.find(entry.facts.keeper)?.read(entry.facts.run.mark, told);
      },
    });
    const ends = [this.#closing.signal, ...(options.signal ? [options.signal] : [])];
    return spool.read({ ...options, signal: AbortSignal.any(ends) });
  }

  /** Ends a run if it is alive, and removes its record. @throws ProcessError `notFound`, `stateUnavailable`. */
  async remove(
    label: string,
    client: ClientIdentity,
    requester: string,
  ): Promise<KeptEnd | undefined> {
    return this.#remove(this.#entryOf(label, client), requester);
  }

  async #remove(entry: Entry, requester: string): Promise<KeptEnd | undefined> {
    if (isWaiting(entry))
      throw new ProcessError(
        'stateUnavailable',
        `cannot remove ${quoteText(entry.label)}: its keeper does not answer, or serves another daemon`,
      );
    entry.leaving.abort();
    await entry.restarting;
    const { process } = entry;
    if (process !== undefined) {
      await process.stop(requester, { runId: process.runId });
      await entry.over;
    }
    // Followers no longer wait for another attempt.
    if (entry.plan !== undefined) entry.plan = { ...entry.plan, next: { kind: 'none' } };
    entry.changes.emit('more');
    await this.#forget(entry);
    return entry.end;
  }

  /** True once followers receive no more output. */
  get isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** At a system shutdown, ends all runs, each with its grace period. Never rejects. */
  async endAll(): Promise<void> {
    this.#shutdown.abort();
    await this.#keepers.endAll(AbortSignal.timeout(GENTLE_MS));
  }

  /** Leaves living runs to their keepers. */
  async close(): Promise<void> {
    for (const entry of this.#entries.values()) if (isHeld(entry)) entry.process?.leave();
    this.#closing.abort();
    clearInterval(this.#sweeping);
    await this.#programs.settled;
    await Promise.all([...this.#entries.values()].map(({ restarting }) => restarting));
    this.#keepers.close();
  }

  /** @throws ProcessError. */
  #ownerOf(
    { exposes = [], files = [] }: Pick<StartRequest, 'exposes' | 'files'>,
    client: ClientIdentity,
  ): KeptRun['owner'] {
    const known = this.#knownOwner(client);
    if (known === undefined)
      throw refusal('callerNotAllowed', 'the system cannot identify the client');
    if (exposes.length > 0)
      throw refusal(
        'invalidArgument',
        'its ports cannot be exposed, because they close with the daemon',
      );
    if (files.length > 0)
      throw refusal(
        'invalidArgument',
        'its files could not be updated, because no client holds it',
      );
    return known;
  }

  /** Returns undefined for a client that the system cannot identify. */
  #knownOwner(client: ClientIdentity): KeptRun['owner'] | undefined {
    const { sessionStart } = this.#kernel.system;
    const { session } = client.description;
    // Session 0 contains the host's own services.
    const isOfHost = sessionStart === undefined || session === 0;
    if (client.isEverybody || client.key === UNIDENTIFIED) return undefined;
    if (isOfHost) return client.names.length === 0 ? undefined : ownerFacts(client);
    const since = typeof session === 'number' ? sessionStart(session) : undefined;
    return since === undefined ? undefined : { ...ownerFacts(client), since };
  }

  #entryOf(label: string, client: ClientIdentity): Entry {
    const named = this.#entries.get(label);
    // A held run is found by its id, which only its holder knows.
    const entry = named === undefined || isHeld(named) ? this.#heldEntry(label) : named;
    if (entry !== undefined && isSeenBy(entry, client, this.#knownOwner(client))) return entry;
    const message = `cannot find ${quoteText(label)}: no detached run of this client has that name; "wins cli prc ls --detached" lists them`;
    throw new ProcessError('notFound', message);
  }

  #heldEntry(runId: string): Entry | undefined {
    const entry = this.#entries.get(markOf(runId));
    return entry !== undefined && isHeld(entry) ? entry : undefined;
  }

  async #adoptRun(folder: string, hasKeeper: boolean): Promise<void> {
    const { logger, resources, processHost } = this.#kernel;
    const facts = await this.#folders.run(folder).read();
    if (facts === undefined || folderNameOf(facts) !== folder) {
      // The folder has no record, or a wrong one. If a keeper is alive, it may be starting the folder's run right now.
      if (!hasKeeper) await this.#folders.remove(folder);
      return;
    }
    const { owner, spoolBytes: amount } = facts;
    const { mark } = facts.run;
    // Two daemons with one state directory may have chosen the same label.
    const label = this.#entries.has(facts.label)
      ? `${facts.label}-${mark.slice(0, 8)}`
      : facts.label;
    const claim = resources.spools.take(owner, { amount });
    const plan = await planFile(this.#folders.folderOf(folder)).read();
    const entry = newEntry({ label, facts, plan, claim, changes: new EventEmitter() });
    entry.end = await this.#folders.endOf(entry.facts);
    const keeper = this.#keepers.find(facts.keeper);
    const isBusy = keeper === undefined && processHost.isDaemonAlive(facts.keeper);
    if (isBusy && entry.end === undefined) {
      this.#entries.set(label, entry);
      logger.warn({ mark, label }, 'a detached run waits for its keeper, which is busy');
    } else await this.#takeOver(entry, keeper);
  }

  async #takeOver(entry: Entry, keeper: KeeperConnection | undefined): Promise<void> {
    const { logger } = this.#kernel;
    const { facts, label, changes } = entry;
    const { owner } = facts;
    const { mark } = facts.run;
    const end = await this.#folders.endOf(entry.facts);
    if (end !== undefined || keeper?.has(mark) !== true) {
      this.#entries.set(label, entry);
      const known = end ?? (await this.#recordLost(entry));
      if (known.isTold !== true) await this.#tell(entry, known);
      await this.#settle(entry, known);
      return;
    }
    const kept = keeper.adopt(facts, { written: () => changes.emit('more') });
    try {
      const adopted = this.#manager.adopt(
        facts.run,
        kept,
        lastingOwner(label, owner),
        isHeld(entry),
      );
      this.#follow(entry, adopted);
      if (isHeld(entry)) keeper.read(mark, 0);
      logger.info({ mark, label, pid: facts.pid }, 'took over a detached run');
    } catch (err) {
      logger.error({ err, mark, label }, 'cannot take over a detached run; it is ended');
      await kept.terminate('force');
      this.#entries.set(label, entry);
      entry.over = kept.exited.then(() => this.#ended(entry, 'exited'));
    }
  }

  #follow(entry: Entry, process: ManagedProcess): void {
    entry.process = process;
    this.#entries.set(entry.label, entry);
    entry.over = process.ended.then(async ({ reason }) => {
      await this.#ended(entry, reason);
      // The client can query the exit status until it disconnects.
      const { disconnected } = process.owner;
      const forget = (): void => {
        if (this.isClosed) return;
        this.#forget(entry).catch((error: unknown) => this.#cannotForget(error));
      };
      if (!isHeld(entry)) return;
      if (disconnected.aborted) forget();
      else disconnected.addEventListener('abort', forget, { once: true });
    });
  }

  async #ended(entry: Entry, reason: ProcessExit['reason']): Promise<void> {
    let end: KeptEnd;
    try {
      end = (await this.#folders.endOf(entry.facts)) ?? (await this.#recordLost(entry));
      await this.#setTold(entry, end);
      // The keeper only knows that the end of the run was requested, not why.
      if (isHeld(entry) && end.reason === 'stopped' && reason !== 'exited')
        end = { ...end, reason };
    } catch (err) {
      const { mark } = entry.facts.run;
      this.#kernel.logger.error({ err, mark }, 'cannot read how a run ended');
      end = lostEnd(mark, 0);
    }
    entry.process = undefined;
    await this.#settle(entry, end);
    this.#leaveIdle();
  }

  async #settle(entry: Entry, end: KeptEnd): Promise<void> {
    const { facts, plan } = entry;
    if (plan !== undefined && plan.counted !== end.mark && !entry.leaving.signal.aborted) {
      const livedMs = end.endedAtMs - facts.startedAtMs;
      await this.#plan(entry, afterEnd(plan, { ...end, livedMs }, this.#options.random));
    }
    entry.end = end;
    entry.changes.emit('more');
    entry.restarting = this.#restart(entry);
  }

  /** Never rejects. */
  async #restart(entry: Entry): Promise<void> {
    const ends = [this.#closing, this.#shutdown, entry.leaving].map((end) => end.signal);
    const signal = AbortSignal.any(ends);
    while (entry.plan?.next.kind === 'again') {
      const waitMs = Math.max(0, entry.plan.next.atMs - this.#clock.now().getTime());
      try {
        await this.#clock.wait(waitMs, signal);
      } catch {
        return;
      }
      try {
        await this.#startAgain(entry, entry.plan);
        return;
      } catch (cause) {
        const isOurs = cause instanceof ProcessError;
        const error = isOurs ? cause : new ProcessError('unknown', messageOf(cause), { cause });
        if (error.code === 'shuttingDown' || entry.leaving.signal.aborted) return;
        const nowMs = this.#clock.now().getTime();
        await this.#plan(
          entry,
          afterRefusal(entry.plan, error, nowMs, this.#options.random),
          error,
        );
      }
    }
    // Informs followers that the run has ended.
    entry.changes.emit('more');
    this.#leaveIdle();
  }

  /** Reports, once, an end that happened while no daemon was connected. */
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

  /** Records that the end was reported. If the disk is full, the record is lost, and the next daemon reports the end again. */
  async #setTold({ facts }: Entry, end: KeptEnd): Promise<void> {
    const file = this.#folders.end(folderNameOf(facts));
    await file.write({ ...end, isTold: true }).catch(() => undefined);
  }

  /** Starts the next attempt, which the current config may refuse. @throws ProcessError. */
  async #startAgain(entry: Entry, plan: RestartPlan): Promise<void> {
    const { label, facts, changes, leaving, end } = entry;
    const { owner, spoolBytes, maxAgeMs } = facts;
    const continues = { folder: folderNameOf(facts), outputBytes: end?.outputBytes ?? 0 };
    const same = { label: facts.label, owner, spoolBytes, maxAgeMs };
    const grantedBy = this.#programs.grantOf(label);
    const next = await this.#launch(
      { ...plan.request, owner: lastingOwner(label, owner), ...(grantedBy && { grantedBy }) },
      () => Promise.resolve(isBegun(entry) ? { ...same, continues } : same),
      { plan, changes, signal: leaving.signal },
    );
    if (next.facts === undefined) throw new Error('cannot follow a run: no keeper has it');
    entry.facts = next.facts;
    entry.end = undefined;
    this.#follow(entry, next.started);
    changes.emit('more');
  }

  /** Applies and reports the plan even if it cannot be stored, as on a full disk. */
  async #plan(entry: Entry, plan: RestartPlan, refused?: ProcessError): Promise<void> {
    const { next } = (entry.plan = plan);
    entry.refused = refused;
    const file = planFile(this.#folders.folderOf(folderNameOf(entry.facts)));
    await (isBegun(entry) ? file.write(plan) : Promise.resolve()).catch((err: unknown) => {
      const { mark } = entry.facts.run;
      this.#kernel.logger.warn({ err, mark }, 'cannot record when a run is started again');
    });
    const { onEvent } = this.#options;
    if (next.kind === 'gaveUp') onEvent?.({ type: 'runGaveUp', run: entry, next });
    if (next.kind !== 'again') return;
    const waitMs = Math.max(0, next.atMs - this.#clock.now().getTime());
    onEvent?.({ type: 'runRestarts', run: entry, waitMs, ...(refused && { refused }) });
  }

  /** Records the end of a run whose keeper died. The run's exit is unknown. */
  async #recordLost({ facts }: Entry): Promise<KeptEnd> {
    const { mark } = facts.run;
    const folder = folderNameOf(facts);
    const end = lostEnd(mark, await new Spool(this.#folders.folderOf(folder)).size());
    await this.#folders
      .end(folder)
      .write(end)
      .catch((err: unknown) => {
        this.#kernel.logger.warn({ err, mark }, 'cannot record how a run ended');
      });
    return end;
  }

  /** Disconnects from idle keepers. While a restart is planned, stays connected to this release's keeper. */
  #leaveIdle(): void {
    if (!this.#isAdopted || this.#starts > 0) return;
    const keepsOwn = [...this.#entries.values()].some(({ plan }) => plan?.next.kind === 'again');
    this.#keepers.leaveIdle({ keepsOwn });
  }

  /**
   * Reserves disk space for one more run. If necessary, removes ended runs, beginning with the one that ended first.
   *
   * @param mayYield - Selects the ended runs that may be removed. Default: all.
   */
  async #makeRoom(
    program: string,
    grant: LastingGrant,
    client: ClientIdentity,
    mayYield: (entry: Entry) => boolean = () => true,
  ): Promise<Claim> {
    const ofEntry = (): readonly Entry[] =>
      [...this.#entries.values()].filter(
        ({ facts, label }) => facts.run.path === program && !isKept(label),
      );
    while (ofEntry().length >= grant.maxRuns) {
      const oldest = oldestEnded(ofEntry().filter(mayYield));
      if (oldest === undefined)
        throw refusal(
          'tooManyProcesses',
          `its entry allows ${grant.maxRuns} detached runs at once. Remove one`,
        );
      await this.#forget(oldest);
    }
    for (;;) {
      const claim = this.#kernel.resources.spools.take(client, { amount: grant.spoolBytes });
      if (claim !== undefined) return claim;
      const own = [...this.#entries.values()].filter(({ facts }) => facts.owner.key === client.key);
      const oldest = oldestEnded(own.filter(mayYield));
      if (oldest === undefined)
        throw refusal(
          'tooManyProcesses',
          'this client has used its share of the disk space for output. Remove a run',
        );
      await this.#forget(oldest);
    }
  }

  async #forget(entry: Entry): Promise<void> {
    this.#entries.delete(entry.label);
    entry.claim?.release();
    await this.#folders.remove(folderNameOf(entry.facts));
  }

  async #sweep(): Promise<void> {
    const { logger } = this.#kernel;
    // Remove copies only if this release has no keeper. A keeper that is still starting does not hold its copy open, and could lose the copy.
    if (!this.#keepers.hasOwn)
      await removeCopies(this.#folders.folder).catch((error: unknown) => {
        logger.warn({ problem: messageOf(error) }, 'cannot remove the program of a keeper');
      });
    for (const entry of [...this.#entries.values()]) {
      const end = lastEndOf(entry);
      const { facts } = entry;
      if (end === undefined || end.endedAtMs + facts.maxAgeMs > Date.now()) continue;
      await this.#forget(entry).catch((error: unknown) => this.#cannotForget(error));
    }
  }

  #cannotForget(error: unknown): void {
    this.#kernel.logger.warn({ problem: messageOf(error) }, 'cannot remove an old run');
  }
}

function randomLabel(): string {
  return `run-${randomBytes(4).toString('hex')}`;
}

function refusal(code: ConstructorParameters<typeof ProcessError>[0], found: string): ProcessError {
  return new ProcessError(code, `cannot start a detached run: ${found}`);
}
