/** Detached runs: living ones in keepers, ended ones on disk. This module is long because all operations change the same list. */
import { messageOf, quoteText, type ClientIdentity, type ProcessHost } from '@wins/base';
import { systemClock, type Clock } from '@wins/time';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { GENTLE_MS } from '../keeper/end-keepers.js';
import type { KeeperConnection } from '../keeper/keeper-connection.js';
import { Keepers, type KeepersOptions } from '../keeper/keepers.js';
import type { KeptOutput } from '../keeper/kept-tree.js';
import { GRACE_MS, hostOf, type HostOf, type ProcessManagerOptions } from '../manager-options.js';
import type { OutputReadOptions } from '../output/output-log.js';
import { Spool, type SpoolOptions, type SpoolReader } from '../output/spool.js';
import type { DetachedGrant } from '../policy/executable-policy.js';
import { ProcessError } from '../process-error.js';
import type { ProcessManager } from '../process-manager.js';
import type { Keeping, RunFacts, StartRequest } from '../start-request.js';
import type { ManagedProcess, ProcessOwner } from '../supervision/managed-process.js';
import { markOf } from '../supervision/run-mark.js';
import { detachedOwner } from './detached-owner.js';
import {
  ageOf,
  inTurn,
  isBegun,
  hasLease,
  isKept,
  isWaiting,
  lastEndOf,
  lostEnd,
  newEntry,
  unbegunEntry,
  type Entry,
  type DetachedRun,
  type DetachedEvent,
  type Note,
} from './detached-run.js';
import { KeptPrograms, type WantedProgram } from './keep-programs.js';
import { RunPlaces, type SpoolShares } from './run-places.js';
import {
  afterEnd,
  afterRefusal,
  afterStart,
  newPlan,
  planFile,
  startedByHand,
  type RestartPlan,
} from './restart-plan.js';
import { RunFolders } from '../supervision/run-folders.js';
import {
  folderNameOf,
  type DetachedRecord,
  type RunEnd,
  type RunOwner,
} from '../supervision/run-record.js';
import {
  askerOf,
  assertLabel,
  findRun,
  findRunIfAny,
  fullName,
  HOST,
  isOwnedBy,
  isSeenBy,
  nameFor,
  ownerFacts,
  runKey,
  theOnly,
  type Asker,
} from './run-names.js';

const SWEEP_EACH_MS = 10 * 60_000;
/** Time that a run with a lease survives without a daemon. An upgrade takes less time. Clients wait equally long for the next daemon. */
const LEASE_MS = 60_000;
const REFUSED = /^cannot start a [a-z ]*run: /;

export interface DetachedRunsOptions {
  /** The same as the manager's. */
  readonly stateDirectory: string;
  /** The same as the manager's. */
  readonly host: HostOf;
  readonly keepers: KeepersOptions;
  /** Returns when a Windows session began, because the system gives its number again. Default: sessions are not told apart. */
  readonly sessionStart?: ((session: number) => string | undefined) | undefined;
  /** Default: only the bounds of the entries count. */
  readonly spools?: SpoolShares;
  /** Receives the decisions about runs that no process of the manager has, as the manager's option does. Default: none. */
  readonly onDecision?: ProcessManagerOptions['onDecision'];
  readonly onEvent?: (event: DetachedEvent) => void;
  /** Whether {@link DetachedRuns.close} closes the manager, too. Default false. */
  readonly ownsManager?: boolean;
  /** Time between asking a run to end and killing it, in milliseconds. Default 10,000. */
  readonly graceMs?: number;
  /** Default: the system clock. */
  readonly clock?: Clock;
  /** Time that no setting of the clock changes, in milliseconds. Default: `performance.now`. */
  readonly monotonicMs?: () => number;
  readonly random?: () => number;
}

/** Facts of a run that are chosen before its start. */
type Chosen = Omit<
  DetachedRecord,
  'version' | 'run' | 'supervisor' | 'pid' | 'startToken' | 'startedAtMs'
>;

/** Result of a start; `facts` is undefined if the run has no keeper. */
interface Spawned {
  readonly started: ManagedProcess;
  readonly facts: DetachedRecord | undefined;
}

type Spawning = Pick<Keeping, 'restarts' | 'lifetime'> & {
  readonly signal: AbortSignal;
  /** Called before the process starts. If it returns undefined, the attempt starts without a keeper. */
  readonly about: (
    run: RunFacts,
    grant: DetachedGrant,
  ) => Promise<{ readonly entry: Entry; readonly chosen: Chosen } | undefined>;
  /** Called when the process exists. If it rejects, the process ends. */
  readonly recorded?: (facts: DetachedRecord) => Promise<void>;
};

export interface AboutProcess {
  readonly detachedName?: string;
}

/** Client that requests an operation. */
export interface Requester {
  readonly client: ClientIdentity;
  /** Connection, for the audit log. */
  readonly requester: string;
  /** The client's own name for itself, unverified, for the audit log. */
  readonly clientSays?: string | undefined;
}

/** The program itself. */
const SELF: Requester = { client: HOST, requester: 'host' };

export interface StartDetachedOptions {
  /** 1 to 63 letters, digits, `.`, `_` and `-`. Default: one is chosen. */
  readonly name?: string;
  /** `no`, `always`, `on-failure` or `on-failure:N`; all but `no` need the entry's grant. Default `no`. */
  readonly restart?: string;
  /** Default: the program itself. */
  readonly by?: Requester;
  /** Aborts the start. */
  readonly signal?: AbortSignal;
}

/** Result of starting a run that its client wants to keep while the manager is replaced. */
export interface LeasedStart {
  readonly run: ManagedProcess;
  /** Time that the run waits for its client, in milliseconds; 0 if the run ends with the manager. */
  readonly leaseMs: number;
  /** Reason why the run ends with the manager although its entry grants more. */
  readonly warning: string | undefined;
}

interface Attempt {
  readonly signal: AbortSignal;
  readonly isRestart: boolean;
  readonly clientSays: string | undefined;
  /** How the living attempt ends before this one. */
  readonly replaces?: { readonly reason: 'stopped' | 'replaced'; readonly requester: string };
}

/** Runs that outlive their clients and the manager, and are started again as their policies say. */
export class DetachedRuns implements AsyncDisposable {
  readonly #host: ProcessHost;
  readonly #manager: ProcessManager;
  readonly #folders: RunFolders;
  /** All runs, by {@link runKey}; those with a lease by their marks. */
  readonly #entries = new Map<string, Entry>();
  readonly #programs: KeptPrograms;
  readonly #keepers: Keepers;
  readonly #places: RunPlaces;
  readonly #closing = new AbortController();
  /** Aborted when the system shuts down. This daemon then restarts no runs; the next daemon restarts them. */
  readonly #shutdown = new AbortController();
  readonly #options: DetachedRunsOptions;
  readonly #clock: Clock;
  readonly #monotonicMs: () => number;
  /** True once all runs of earlier daemons are known, except those of keepers that did not answer in time. */
  #isAdopted = false;
  #starts = 0;
  #sweeping: NodeJS.Timeout | undefined;

  constructor(manager: ProcessManager, options: DetachedRunsOptions) {
    const { stateDirectory, clock, monotonicMs, graceMs = GRACE_MS } = options;
    this.#options = options;
    this.#clock = clock ?? systemClock;
    this.#monotonicMs = monotonicMs ?? (() => performance.now());
    const host = (this.#host = hostOf(options.host));
    this.#manager = manager;
    const folders = (this.#folders = new RunFolders(stateDirectory));
    const note: Note = (level, text, facts) => this.#note(level, text, facts);
    const { signal: closing } = this.#closing;
    const { keepers } = options;
    const ofKeepers = { host, stateDirectory, folders, closing, graceMs, note };
    this.#keepers = new Keepers({ ...ofKeepers, options: keepers });
    this.#places = new RunPlaces({
      entries: () => this.#entries.values(),
      folders,
      spools: options.spools,
      forget: (entry) => this.#forget(entry),
      makesRoom: (entry) => this.#makesRoom(entry),
    });
    this.#programs = new KeptPrograms({
      entries: () => this.#entries.values(),
      note,
      closing,
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
    if (existsSync(all)) this.#host.ensurePrivateDirectory(all);
    const hasKeeper = await this.#keepers.adopt((keeper) => this.#reached(keeper));
    for (const folder of await this.#folders.marks()) {
      try {
        await this.#adoptRun(folder, hasKeeper);
      } catch (err) {
        // One unreadable run must not stop the other runs or the daemon.
        this.#note('error', 'cannot read the record of a run', { err, folder });
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
      if (isWaiting(entry) && entry.facts.supervisor === keeper.record.keeper)
        await this.#takeOver(entry, keeper);
    this.#leaveIdle();
  }

  /**
   * Starts a run. With `replaces`, ends the client's run of that name first, in any state, once the new one is admitted; without a name, its only
   * run of the same program.
   *
   * @returns The name.
   * @throws ProcessError.
   */
  async start(
    { replaces = false, ...request }: Omit<StartRequest, 'owner' | 'keeping'>,
    { name: label = '', restart = 'no', by = SELF, signal }: StartDetachedOptions = {},
  ): Promise<string> {
    const asker = this.#askerOf(by.client);
    const owner = assertMayOwn(request, asker);
    if (label !== '') assertLabel(label);
    const { path: program, args, envs, directory, sha1, sha256, limits } = request;
    const plan = newPlan(restart, {
      path: program,
      args: [...args],
      envs: [...envs],
      ...(directory !== undefined && { directory }),
      ...(sha1 !== undefined && { sha1 }),
      ...(sha256 !== undefined && { sha256 }),
      ...(limits && { limits: { ...limits } }),
    });
    const gone = signal ?? new AbortController().signal;
    const starting = { signal: gone, clientSays: by.clientSays };
    const earlier = this.#earlierRun(program, label, asker, replaces);
    if (earlier !== undefined) {
      const ends = { reason: 'replaced', requester: by.requester } as const;
      await inTurn(earlier, () =>
        this.#startByHand(earlier, plan, { ...starting, replaces: ends }),
      );
      return earlier.label;
    }
    const name = label === '' ? randomLabel() : label;
    const entry = this.#addUnbegun(name, owner, plan);
    try {
      await inTurn(entry, () => this.#startByHand(entry, plan, starting));
      return name;
    } catch (error) {
      if (!entry.isGone) await this.#forget(entry);
      throw error;
    }
  }

  /**
   * Starts a run that ends when its client leaves. A run in a keeper survives a replacement of the daemon, and waits for its client to reconnect.
   * A run without a keeper ends with the daemon. If a run has no keeper although its whitelist entry grants `detached`, `warning` tells why.
   *
   * @throws ProcessError.
   */
  async startWithLease(
    request: Omit<StartRequest, 'owner' | 'keeping'>,
    { owner, client }: { readonly owner: ProcessOwner; readonly client: ClientIdentity },
    signal: AbortSignal,
  ): Promise<LeasedStart> {
    let warning: string | undefined;
    let entry: Entry | undefined;
    try {
      const { started, facts } = await this.#spawn(
        { ...request, owner },
        {
          lifetime: 'lease',
          signal,
          about: async ({ path: program, mark }, grant) => {
            try {
              const known = assertMayOwn(request, this.#askerOf(client));
              const nowMs = nowOf(this.#clock);
              const plan = undefined;
              entry = unbegunEntry(mark, mark, { owner: known, path: program, plan, nowMs });
              await this.#places.makeRoom(entry, program, grant, hasLease);
              await this.#keepers.own();
              const lease = { maxAgeMs: LEASE_MS, leaseMs: LEASE_MS };
              const { spoolBytes } = grant;
              return { entry, chosen: { label: mark, owner: known, spoolBytes, ...lease } };
            } catch (error) {
              warning = `it ends with the daemon: ${messageOf(error).replace(REFUSED, '')}`;
              return undefined;
            }
          },
        },
      );
      if (facts === undefined || entry === undefined) entry?.claim?.release();
      else this.#follow(Object.assign(entry, { facts, end: undefined }), started);
      return { run: started, leaseMs: facts?.leaseMs ?? 0, warning };
    } catch (error) {
      entry?.claim?.release();
      throw error;
    }
  }

  /** Starts a run that was stopped, ended or given up; one that waits starts at once. Does nothing for a living run. @throws ProcessError. */
  startAgain(
    name: string,
    by: Requester = SELF,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<DetachedRun> {
    return this.#control(name, by, async (entry) => {
      if (entry.process?.state.kind === 'running') return;
      await this.#startByHand(entry, undefined, { signal, clientSays: by.clientSays });
    });
  }

  /** Starts a run anew. A living attempt ends first, once the new one is admitted. @throws ProcessError. */
  restart(
    name: string,
    by: Requester = SELF,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<DetachedRun> {
    const replaces = { reason: 'stopped', requester: by.requester } as const;
    return this.#control(name, by, (entry) =>
      this.#startByHand(entry, undefined, { signal, clientSays: by.clientSays, replaces }),
    );
  }

  async #control(
    name: string,
    by: Requester,
    work: (entry: Entry) => Promise<void>,
  ): Promise<DetachedRun> {
    const entry = findRun(this.#entries.values(), name, this.#askerOf(by.client));
    assertAnswers(entry, 'start');
    await this.#audit('start', entry, by);
    await inTurn(entry, () => work(entry));
    return entry;
  }

  /**
   * Ends a run for good, in any state: nothing but a request starts it again.
   *
   * @returns How it ended; undefined if no run that the client sees has this name.
   * @throws ProcessError.
   */
  async stop(
    name: string,
    by: Requester = SELF,
    { force = false }: { readonly force?: boolean } = {},
  ): Promise<RunEnd | undefined> {
    const entry = findRunIfAny(this.#entries.values(), name, this.#askerOf(by.client));
    return entry && this.#stopFor(entry, by, force);
  }

  /**
   * Ends a run for good that is known by the name of its process.
   *
   * @returns Undefined if no run that the client sees has a process of this name.
   * @throws ProcessError `invalidArgument` if there are several.
   */
  async stopProcess(
    name: string,
    by: Requester,
    { force = false }: { readonly force?: boolean } = {},
  ): Promise<RunEnd | undefined> {
    const asker = this.#askerOf(by.client);
    const named = this.#seenBy(asker).filter(
      (entry) => entry.facts.run.name === name && lastEndOf(entry) === undefined,
    );
    const entry = theOnly(named, name, asker);
    return entry && this.#stopFor(entry, by, force);
  }

  async #stopFor(entry: Entry, by: Requester, force: boolean): Promise<RunEnd> {
    // The process manager itself records the stop of a living run.
    if (entry.process === undefined) await this.#audit('stop', entry, by);
    return this.#stop(entry, by.requester, force);
  }

  async #audit(action: 'start' | 'stop', entry: Entry, by: Requester): Promise<void> {
    const { mark, name, path } = entry.facts.run;
    const { description: client } = by.client;
    const about = { action, mark, name, path, runName: entry.label, requester: by.requester };
    await this.#options.onDecision?.({ ...about, verdict: 'allowed', client: { ...client } });
  }

  /** Adds the run to the list before its first attempt, so that its name is taken and it can be stopped. */
  #addUnbegun(label: string, owner: RunOwner, plan: RestartPlan): Entry {
    const nowMs = nowOf(this.#clock);
    const { path } = plan.request;
    const mark = randomBytes(16).toString('hex');
    const entry = unbegunEntry(label, mark, { owner, path, plan, nowMs });
    this.#entries.set(runKey(owner, label), entry);
    return entry;
  }

  /** Returns the run that a start replaces. @throws ProcessError if its name is taken. */
  #earlierRun(program: string, label: string, asker: Asker, replaces: boolean): Entry | undefined {
    const own = [...this.#entries.values()].filter(
      (entry) => !hasLease(entry) && !isKept(entry.label) && isOwnedBy(entry, asker),
    );
    if (label !== '') {
      const named = own.find((entry) => entry.label === label);
      if (named === undefined || replaces) return named;
      const found = `there is a run named ${quoteText(label)}; remove it, replace it (--replace), or choose another name`;
      throw refusal('alreadyRunning', found);
    }
    if (!replaces) return undefined;
    return theOnly(
      own.filter(({ plan }) => plan?.request.path === program),
      program,
      asker,
    );
  }

  #begin(program: WantedProgram): void {
    const atMs = nowOf(this.#clock);
    const plan: RestartPlan = { ...program.plan, next: { kind: 'again', atMs } };
    this.#resume(this.#addUnbegun(program.label, ownerFacts(HOST), plan));
  }

  /**
   * Starts an attempt by request. If it is refused, the run stays as it was.
   *
   * @param other - Replaces the plan of the run. Undefined: the plan stays.
   * @throws ProcessError.
   */
  async #startByHand(
    entry: Entry,
    other: RestartPlan | undefined,
    { signal, ...how }: Omit<Attempt, 'isRestart'>,
  ): Promise<void> {
    assertAnswers(entry, 'start');
    await this.#settled(entry);
    const { plan: before, process: living, facts } = entry;
    const plan = other ?? before;
    if (plan === undefined) throw isIncomplete(entry);
    const attempt = (entry.attempt = new AbortController());
    entry.plan = startedByHand(plan, nowOf(this.#clock));
    try {
      const signals = [signal, attempt.signal];
      await this.#attempt(entry, { ...how, isRestart: false, signal: AbortSignal.any(signals) });
    } catch (error) {
      const isStopped = attempt.signal.aborted;
      const hasEnded = living !== undefined && entry.process === undefined;
      if (before === undefined) throw error;
      // The end of an attempt that was cancelled leads to nothing.
      const hasBegun = entry.facts !== facts;
      const same = hasBegun ? { ...before, counted: entry.facts.run.mark } : before;
      if (isStopped) entry.plan = { ...same, next: { kind: 'stopped' } };
      else if (hasEnded && entry.end?.reason === how.replaces?.reason)
        entry.plan = startedByHand(same, nowOf(this.#clock));
      else if (hasEnded) {
        const { next, counted, failures } = entry.plan;
        entry.plan = { ...same, next, failures, ...(!hasBegun && { counted }) };
      } else entry.plan = same;
      await this.#store(entry);
      if (!isStopped) this.#resume(entry);
      throw isStopped ? wasStopped(entry, error) : error;
    }
  }

  /** Starts the next attempt of a run, which the current config may refuse. @throws ProcessError. */
  async #attempt(
    entry: Entry,
    { signal, isRestart, clientSays, replaces }: Attempt,
  ): Promise<void> {
    const { label, changes } = entry;
    const { owner } = entry.facts;
    const wasBegun = isBegun(entry);
    const { plan } = entry;
    if (plan === undefined) throw new Error('cannot start a run with a lease again');
    const grantedBy = this.#programs.grantOf(label);
    const starting = {
      ...plan.request,
      owner: ownerOf(entry, clientSays),
      ...(isKept(label) && grantedBy && { grantedBy }),
    };
    let granted = plan;
    let started: DetachedRecord | undefined;
    entry.isStarting = entry.process === undefined;
    try {
      const spawned = await this.#spawn(starting, {
        lifetime: 'detached',
        restarts: plan.when !== 'never',
        signal,
        about: async ({ path }, grant) => {
          await this.#places.makeRoom(entry, path, grant);
          if (entry.process !== undefined && replaces)
            await this.#endForNext(entry, entry.process, replaces);
          entry.isStarting = true;
          granted = { ...plan, ...(grant.restart && { backoff: { ...grant.restart } }) };
          entry.plan = granted;
          const { spoolBytes, maxAgeMs } = grant;
          const same = { label, owner, spoolBytes, maxAgeMs };
          if (!wasBegun) return { entry, chosen: same };
          // If this daemon is killed now, the next one starts what was to be started.
          await this.#store(entry);
          const outputBytes = entry.end?.outputBytes ?? 0;
          const continues = { folder: folderNameOf(entry.facts), outputBytes };
          return { entry, chosen: { ...same, continues } };
        },
        recorded: async (facts) => {
          started = facts;
          const file = planFile(this.#folders.folderOf(facts.run.mark));
          if (!wasBegun) await file.write({ ...granted, next: { kind: 'none' } });
        },
      });
      if (spawned.facts === undefined) throw new Error('cannot follow a run: no keeper has it');
      entry.facts = spawned.facts;
      entry.end = undefined;
      entry.refused = undefined;
      entry.startedAtMonoMs = this.#monotonicMs();
      entry.plan = afterStart(granted, isRestart && wasBegun);
      this.#follow(entry, spawned.started);
      entry.isStarting = false;
      await this.#store(entry);
    } catch (error) {
      // The attempt began and was ended, because somebody stopped it meanwhile.
      if (started !== undefined && wasBegun) {
        entry.facts = started;
        entry.end = (await this.#folders.endOf(started)) ?? (await this.#recordLost(entry));
        entry.endedFrom = { monoMs: this.#monotonicMs(), agedMs: 0 };
      }
      this.#places.fit(entry);
      throw error;
    } finally {
      entry.isStarting = false;
      changes.emit('more');
    }
  }

  async #endForNext(
    entry: Entry,
    process: ManagedProcess,
    { reason, requester }: NonNullable<Attempt['replaces']>,
  ): Promise<void> {
    entry.isReplaced = true;
    try {
      await process.stop(requester, { runId: process.runId, reason });
      await entry.over;
    } finally {
      entry.isReplaced = false;
    }
  }

  /** Starts a process in a keeper. @throws ProcessError. */
  async #spawn(
    request: Omit<StartRequest, 'keeping'>,
    { about, recorded, signal, ...keeping }: Spawning,
  ): Promise<Spawned> {
    let facts: DetachedRecord | undefined;
    const start: Keeping['start'] = async (command, run, grant) => {
      const { entry, chosen } = (await about(run, grant)) ?? {};
      if (entry === undefined || chosen === undefined) return undefined;
      const known = { version: 1, run, ...chosen } as const;
      const tree = (entry.tree = await this.#keepers.start(command, known, this.#outputOf(entry)));
      const { pid, startToken, startedAtMs, supervisor } = tree;
      facts = { ...known, supervisor, pid, startToken, startedAtMs };
      try {
        await recorded?.(facts);
      } catch (error) {
        tree.end('hostFailed', true);
        throw error;
      }
      return tree;
    };
    this.#starts += 1;
    try {
      const started = await this.#manager.start(
        { ...request, keeping: { ...keeping, start } },
        { signal },
      );
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

  all(): readonly DetachedRun[] {
    return [...this.#entries.values()];
  }

  /** Lists the runs that a client may see, without those with a lease. */
  list(client: ClientIdentity = HOST): readonly DetachedRun[] {
    return this.#seenBy(this.#askerOf(client));
  }

  #seenBy(asker: Asker): Entry[] {
    return [...this.#entries.values()].filter(
      (entry) => !hasLease(entry) && isSeenBy(entry, asker),
    );
  }

  /** Returns the name of a run for a client that sees it. */
  nameFor(run: DetachedRun, client: ClientIdentity): string {
    return nameFor(run, this.#askerOf(client));
  }

  /** Returns what a client may know of a process; undefined if it may not know that the process exists. */
  aboutProcess(
    { mark, lifetime }: Pick<ManagedProcess, 'mark' | 'lifetime'>,
    client: ClientIdentity,
  ): AboutProcess | undefined {
    if (lifetime !== 'detached') return {};
    const asker = this.#askerOf(client);
    const entry = this.#seenBy(asker).find(({ facts }) => facts.run.mark === mark);
    if (entry !== undefined) return { detachedName: nameFor(entry, asker) };
    // An attempt that is still starting is in no entry.
    return client.isAdministrator ? {} : undefined;
  }

  /** Returns the living process of a detached run that the client sees. */
  processNamed(name: string, client: ClientIdentity): ManagedProcess | undefined {
    return findRunIfAny(this.#entries.values(), name, this.#askerOf(client))?.process;
  }

  /** @throws ProcessError `notFound`, also for a run of another client. */
  find(label: string, client: ClientIdentity = HOST): DetachedRun {
    const asker = this.#askerOf(client);
    const held = this.#entries.get(markOf(label));
    // A run with a lease is found by its id, which only its holder knows.
    if (held !== undefined && hasLease(held) && isSeenBy(held, asker)) return held;
    return findRun(this.#entries.values(), label, asker);
  }

  /** A follower receives output until the final end of the run. @throws ProcessError `notFound` for a removed run. */
  read(
    run: DetachedRun,
    options: OutputReadOptions = {},
    search?: SpoolOptions['search'],
  ): SpoolReader {
    const entry = [...this.#entries.values()].find((each) => each === run);
    if (entry === undefined)
      throw new ProcessError('notFound', `cannot read ${quoteText(run.label)}: it was removed`);
    const { changes, facts } = entry;
    changes.setMaxListeners(0);
    let told = 0;
    const spool = new Spool(this.#folders.folderOf(folderNameOf(facts)), {
      end: () => lastEndOf(entry)?.outputBytes,
      more: (signal) => once(changes, 'more', { signal }),
      ...(search && { search }),
      taken: (offset) => {
        if (!hasLease(entry) || offset - told < facts.spoolBytes / 32) return;
        told = offset;
        this.#keepers.find(entry.facts.supervisor)?.read(entry.facts.run.mark, told);
      },
    });
    const ends = [this.#closing.signal, ...(options.signal ? [options.signal] : [])];
    return spool.read({ ...options, signal: AbortSignal.any(ends) });
  }

  #outputOf(entry: Entry): KeptOutput {
    return {
      written: () => entry.changes.emit('more'),
      read: (options = {}) => this.read(entry, options),
    };
  }

  /** Ends a run if it is alive, and removes its record. @throws ProcessError `notFound`, `stateUnavailable`. */
  async remove(name: string, by: Requester = SELF): Promise<RunEnd | undefined> {
    const entry = findRun(this.#entries.values(), name, this.#askerOf(by.client));
    return this.#remove(entry, by.requester);
  }

  async #remove(entry: Entry, requester: string): Promise<RunEnd | undefined> {
    assertAnswers(entry, 'remove');
    return this.#end(entry, async () => {
      await this.#endProcess(entry, requester);
      // Followers no longer wait for another attempt.
      if (entry.plan !== undefined) entry.plan = { ...entry.plan, next: { kind: 'stopped' } };
      await this.#forget(entry);
      entry.changes.emit('more');
      return entry.end;
    });
  }

  async #stop(entry: Entry, requester: string, force: boolean): Promise<RunEnd> {
    assertAnswers(entry, 'stop');
    // The kill does not wait for operations that were requested before it.
    if (force) await entry.process?.stop(requester, { runId: entry.process.runId, force });
    return this.#end(entry, async () => {
      const wasOver = lastEndOf(entry) !== undefined && !entry.isGone;
      // The next daemon starts an ended program of `keep`, unless somebody has stopped it.
      const isToStop = !wasOver || entry.plan?.next.kind === 'gaveUp' || isKept(entry.label);
      if (entry.plan !== undefined && isToStop)
        await this.#plan(entry, { ...entry.plan, next: { kind: 'stopped' } });
      await this.#endProcess(entry, requester);
      this.#places.fit(entry);
      entry.changes.emit('more');
      this.#leaveIdle();
      const end = entry.end ?? lostEnd(entry.facts.run.mark, 0, nowOf(this.#clock));
      return wasOver ? end : { ...end, reason: 'stopped' };
    });
  }

  /** Cancels a wait or a start in progress, and then runs `work`. */
  #end<T>(entry: Entry, work: () => Promise<T>): Promise<T> {
    entry.stops += 1;
    entry.attempt.abort();
    const end = async (): Promise<T> => {
      await this.#settled(entry);
      return work();
    };
    return inTurn(entry, end, true);
  }

  /** Waits until the end of the last attempt is recorded, and cancels the restart that follows from it. */
  async #settled(entry: Entry): Promise<void> {
    if (entry.process?.state.kind !== 'running') await entry.over;
    entry.attempt.abort();
  }

  async #endProcess(entry: Entry, requester: string): Promise<void> {
    const { process } = entry;
    if (process === undefined) return;
    await process.stop(requester, { runId: process.runId });
    await entry.over;
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
    for (const entry of this.#entries.values()) if (hasLease(entry)) entry.tree?.leave();
    this.#closing.abort();
    clearInterval(this.#sweeping);
    await this.#programs.settled;
    await Promise.all([...this.#entries.values()].map(({ restarting }) => restarting));
    this.#keepers.close();
    if (this.#options.ownsManager === true) await this.#manager.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #askerOf(client: ClientIdentity): Asker {
    return askerOf(client, this.#options.sessionStart);
  }

  async #adoptRun(folder: string, hasKeeper: boolean): Promise<void> {
    const facts = await this.#folders.run(folder).read();
    if (facts === undefined || folderNameOf(facts) !== folder) {
      // The folder has no record, or a wrong one. If a keeper is alive, it may be starting the folder's run right now.
      if (!hasKeeper) await this.#folders.remove(folder);
      return;
    }
    const { owner, leaseMs } = facts;
    const { mark } = facts.run;
    // Two daemons with one state directory may have chosen the same label.
    const isTaken = this.#entries.has(runKey(owner, facts.label));
    const label = isTaken ? `${facts.label}-${mark.slice(0, 8)}` : facts.label;
    const plan = await planFile(this.#folders.folderOf(folder)).read();
    const entry = newEntry({ label, facts, plan: leaseMs === undefined ? plan : undefined });
    this.#places.claim(entry, facts.spoolBytes);
    entry.end = await this.#folders.endOf(entry.facts);
    const keeper = this.#keepers.find(facts.supervisor);
    const isBusy = keeper === undefined && this.#host.isDaemonAlive(facts.supervisor);
    if (isBusy && entry.end === undefined) {
      this.#add(entry);
      this.#note('warn', 'a detached run waits for its keeper, which is busy', { mark, label });
    } else await this.#takeOver(entry, keeper);
  }

  #add(entry: Entry): void {
    const { owner } = entry.facts;
    this.#entries.set(hasLease(entry) ? entry.label : runKey(owner, entry.label), entry);
  }

  async #takeOver(entry: Entry, keeper: KeeperConnection | undefined): Promise<void> {
    const { facts, label } = entry;
    const { mark } = facts.run;
    const end = await this.#folders.endOf(entry.facts);
    if (end !== undefined || keeper?.has(mark) !== true) {
      this.#add(entry);
      const known = end ?? (await this.#recordLost(entry));
      if (known.isTold !== true) await this.#tell(entry, known);
      await this.#settle(entry, known);
      return;
    }
    const tree = (entry.tree = keeper.adopt(facts, this.#outputOf(entry)));
    // The plan may still have the restart that led to this attempt.
    if (entry.plan?.next.kind === 'again') entry.plan = { ...entry.plan, next: { kind: 'none' } };
    try {
      const adopted = this.#manager.adopt(facts.run, tree, ownerOf(entry), lifetimeOf(entry));
      this.#follow(entry, adopted);
      if (hasLease(entry)) keeper.read(mark, 0);
      this.#note('info', 'took over a detached run', { mark, label, pid: facts.pid });
    } catch (err) {
      this.#note('error', 'cannot take over a detached run; it is ended', { err, mark, label });
      tree.end('hostFailed', true);
      this.#add(entry);
      entry.over = tree.ended.then(() => this.#ended(entry));
      return;
    }
    // The daemon that was asked to stop the run was killed before it could.
    if (entry.plan?.next.kind === 'stopped')
      this.#stop(entry, 'daemon', false).catch((err: unknown) => {
        this.#note('error', 'cannot stop a detached run', { err, mark, label });
      });
  }

  #follow(entry: Entry, process: ManagedProcess): void {
    entry.process = process;
    this.#add(entry);
    entry.over = process.ended.then(async () => {
      await this.#ended(entry);
      // The client can query the exit status until it disconnects.
      const { disconnected } = process.owner;
      const forget = (): void => {
        if (this.isClosed) return;
        this.#forget(entry).catch((error: unknown) => this.#cannotForget(error));
      };
      if (!hasLease(entry)) return;
      if (disconnected.aborted) forget();
      else disconnected.addEventListener('abort', forget, { once: true });
    });
  }

  async #ended(entry: Entry): Promise<void> {
    let end: RunEnd;
    try {
      end = (await this.#folders.endOf(entry.facts)) ?? (await this.#recordLost(entry));
      await this.#setTold(entry, end);
    } catch (err) {
      const { mark } = entry.facts.run;
      this.#note('error', 'cannot read how a run ended', { err, mark });
      end = lostEnd(mark, 0, nowOf(this.#clock));
    }
    await this.#settle(entry, end);
    this.#leaveIdle();
  }

  async #settle(entry: Entry, end: RunEnd): Promise<void> {
    const { facts, plan, startedAtMonoMs } = entry;
    const monoMs = this.#monotonicMs();
    const agedMs = Math.max(0, nowOf(this.#clock) - end.endedAtMs);
    entry.endedFrom = { monoMs, agedMs: startedAtMonoMs === undefined ? agedMs : 0 };
    const isToCount = plan !== undefined && plan.counted !== end.mark;
    let next = plan;
    if (isToCount && !entry.isReplaced && !entry.isGone) {
      // The clock may have jumped meanwhile.
      const seenMs =
        startedAtMonoMs === undefined
          ? end.endedAtMs - facts.startedAtMs
          : monoMs - startedAtMonoMs;
      const livedMs = end.livedMs ?? seenMs;
      const endedAtMs = startedAtMonoMs === undefined ? end.endedAtMs : nowOf(this.#clock);
      next = afterEnd(plan, { ...end, endedAtMs, livedMs }, this.#options.random);
      await this.#store({ facts, plan: next });
    }
    // All at once, so that nobody sees a state between the end and the wait.
    entry.process = undefined;
    entry.end = end;
    entry.startedAtMonoMs = undefined;
    if (next !== undefined && next !== plan) this.#apply(entry, next);
    this.#places.fit(entry);
    entry.changes.emit('more');
    if (!entry.isReplaced) this.#resume(entry);
  }

  /** Continues the restarts of a run that its plan asks for. */
  #resume(entry: Entry): void {
    entry.restarting = this.#restart(entry);
  }

  /** Never rejects. */
  async #restart(entry: Entry): Promise<void> {
    const attempt = (entry.attempt = new AbortController());
    const ends = [this.#closing, this.#shutdown, attempt].map((end) => end.signal);
    const signal = AbortSignal.any(ends);
    let isDone = false;
    while (!isDone && entry.plan?.next.kind === 'again') {
      const waitMs = this.#waitOf(entry, entry.plan.next.atMs, entry.plan.backoff.maxDelayMs);
      try {
        await this.#clock.wait(waitMs, signal);
        isDone = await inTurn(entry, () => this.#tryAgain(entry, signal));
      } catch {
        // Stopped or removed, or this daemon ends.
        return;
      }
    }
    // Informs followers that the run has ended.
    entry.changes.emit('more');
    this.#leaveIdle();
  }

  /** Returns the time until a planned restart. Once this daemon knows the plan, settings of the clock do not change that time. */
  #waitOf(entry: Entry, atMs: number, longestMs: number): number {
    const monoMs = this.#monotonicMs();
    if (entry.awaited?.atMs !== atMs) {
      // The clock may have been set by hours since an earlier daemon planned the restart.
      const leftMs = Math.min(longestMs, Math.max(0, atMs - nowOf(this.#clock)));
      entry.awaited = { atMs, monoMs: monoMs + leftMs };
    }
    return Math.max(0, entry.awaited.monoMs - monoMs);
  }

  /** @returns False if the start was refused, so that the plan says what follows. */
  async #tryAgain(entry: Entry, signal: AbortSignal): Promise<boolean> {
    const { plan } = entry;
    const isCancelled = (): boolean => signal.aborted;
    if (isCancelled() || plan?.next.kind !== 'again') return true;
    try {
      await this.#attempt(entry, { isRestart: true, clientSays: undefined, signal });
      return true;
    } catch (cause) {
      const isOurs = cause instanceof ProcessError;
      const error = isOurs ? cause : new ProcessError('unknown', messageOf(cause), { cause });
      entry.plan = plan;
      if (error.code === 'shuttingDown' || isCancelled()) return true;
      const next = afterRefusal(plan, error, nowOf(this.#clock), this.#options.random);
      await this.#plan(entry, next, error);
      return false;
    }
  }

  /** Reports, once, an end that happened while no daemon was connected. */
  async #tell(entry: Entry, end: RunEnd): Promise<void> {
    const { run } = entry.facts;
    const { code, signal, reason, figures } = end;
    const exit = { code, ...(signal !== undefined && { signal }), reason };
    const output = figures?.output ?? { stdoutBytes: 0, stderrBytes: 0, pauses: 0 };
    this.#manager.reportEnded(run, exit, { usage: figures?.usage, output }, ownerOf(entry));
    this.#options.onEvent?.({ type: 'runEndedUnattended', run: entry, exit });
    await this.#setTold(entry, end);
  }

  /** Records that the end was reported. If the disk is full, the record is lost, and the next daemon reports the end again. */
  async #setTold({ facts }: Entry, end: RunEnd): Promise<void> {
    const file = this.#folders.end(folderNameOf(facts));
    await file.write({ ...end, isTold: true }).catch(() => undefined);
  }

  /** Applies and reports the plan even if it cannot be stored, as on a full disk. */
  async #plan(entry: Entry, plan: RestartPlan, refused?: ProcessError): Promise<void> {
    entry.plan = plan;
    await this.#store(entry);
    this.#apply(entry, plan, refused);
  }

  #apply(entry: Entry, plan: RestartPlan, refused?: ProcessError): void {
    const { next } = (entry.plan = plan);
    entry.awaited = undefined;
    entry.refused = refused;
    const { onEvent } = this.#options;
    if (next.kind === 'gaveUp') onEvent?.({ type: 'runGaveUp', run: entry, next });
    if (next.kind !== 'again') return;
    const waitMs = Math.max(0, next.atMs - nowOf(this.#clock));
    onEvent?.({ type: 'runRestarts', run: entry, waitMs, ...(refused && { refused }) });
  }

  async #store({ facts, plan }: Pick<Entry, 'facts' | 'plan'>): Promise<void> {
    if (plan === undefined || facts.pid === 0) return;
    const file = planFile(this.#folders.folderOf(folderNameOf(facts)));
    await file.write(plan).catch((err: unknown) => {
      const { mark } = facts.run;
      this.#note('warn', 'cannot record when a run is started again', { err, mark });
    });
  }

  /** Records the end of a run whose keeper died. The run's exit is unknown. */
  async #recordLost({ facts }: Entry): Promise<RunEnd> {
    const { mark } = facts.run;
    const folder = folderNameOf(facts);
    const outputBytes = await new Spool(this.#folders.folderOf(folder)).size();
    const end = lostEnd(mark, outputBytes, nowOf(this.#clock));
    await this.#folders
      .end(folder)
      .write(end)
      .catch((err: unknown) => {
        this.#note('warn', 'cannot record how a run ended', { err, mark });
      });
    return end;
  }

  /** Disconnects from idle keepers. While a restart is planned, stays connected to this release's keeper. */
  #leaveIdle(): void {
    if (!this.#isAdopted || this.#starts > 0) return;
    const keepsOwn = [...this.#entries.values()].some(({ plan }) => plan?.next.kind === 'again');
    this.#keepers.leaveIdle({ keepsOwn });
  }

  /** Removes an ended run whose disk space another one needs. */
  #makesRoom(entry: Entry): void {
    const { label: name, facts } = entry;
    const { mark, path } = facts.run;
    this.#note('info', 'an ended run made room for another', { mark, name, path });
    this.#forget(entry).catch((error: unknown) => this.#cannotForget(error));
  }

  async #forget(entry: Entry): Promise<void> {
    for (const [key, each] of this.#entries) if (each === entry) this.#entries.delete(key);
    entry.isGone = true;
    entry.attempt.abort();
    entry.claim?.release();
    if (isBegun(entry)) await this.#folders.remove(folderNameOf(entry.facts));
  }

  async #sweep(): Promise<void> {
    const { removeUnused } = this.#options.keepers;
    // Only if this release has no keeper. A keeper that is still starting does not hold its program open, and could lose it.
    if (!this.#keepers.hasOwn)
      await removeUnused?.(this.#options.stateDirectory).catch((error: unknown) => {
        const problem = messageOf(error);
        this.#note('warn', 'cannot remove the program of a keeper', { problem });
      });
    for (const entry of [...this.#entries.values()]) {
      if (lastEndOf(entry) === undefined || entry.isStarting || isKept(entry.label)) continue;
      if (ageOf(entry, this.#monotonicMs()) < entry.facts.maxAgeMs) continue;
      await this.#forget(entry).catch((error: unknown) => this.#cannotForget(error));
    }
  }

  #cannotForget(error: unknown): void {
    this.#note('warn', 'cannot remove an old run', { problem: messageOf(error) });
  }

  #note(...[level, text, facts]: Parameters<Note>): void {
    this.#options.onEvent?.({ type: 'noted', level, text, facts });
  }
}

function lifetimeOf(run: DetachedRun): Keeping['lifetime'] {
  return hasLease(run) ? 'lease' : 'detached';
}

function ownerOf(run: DetachedRun, clientSays?: string): ProcessOwner {
  const { label, facts } = run;
  if (hasLease(run)) return detachedOwner(label, facts.owner);
  return detachedOwner(fullName(run), facts.owner, { clientSays, runName: label });
}

function nowOf(clock: Clock): number {
  return clock.now().getTime();
}

/** @throws ProcessError `stateUnavailable`. */
function assertAnswers(entry: Entry, verb: 'start' | 'stop' | 'remove'): void {
  if (!isWaiting(entry)) return;
  const why = 'its keeper does not answer, or serves another daemon';
  throw new ProcessError('stateUnavailable', `cannot ${verb} ${quoteText(entry.label)}: ${why}`);
}

function isIncomplete({ label }: Entry): ProcessError {
  const why = 'the record of its request is missing or damaged. Remove it, and start it anew';
  return new ProcessError('stateUnavailable', `cannot start ${quoteText(label)}: ${why}`);
}

function wasStopped({ label }: Entry, cause: unknown): ProcessError {
  const message = `cannot start ${quoteText(label)}: it was stopped meanwhile`;
  return new ProcessError('aborted', message, { cause });
}

/** Returns the owner of a run that a client starts. @throws ProcessError. */
function assertMayOwn(
  { exposes = [], files = [] }: Pick<StartRequest, 'exposes' | 'files'>,
  { owner }: Asker,
): RunOwner {
  if ('refused' in owner) throw refusal('callerNotAllowed', owner.refused);
  if (exposes.length > 0)
    throw refusal(
      'invalidArgument',
      'its ports cannot be exposed, because they close with the daemon',
    );
  if (files.length > 0)
    throw refusal('invalidArgument', 'its files could not be updated, because no client holds it');
  return owner;
}

function randomLabel(): string {
  return `run-${randomBytes(4).toString('hex')}`;
}

function refusal(code: ConstructorParameters<typeof ProcessError>[0], found: string): ProcessError {
  return new ProcessError(code, `cannot start a detached run: ${found}`);
}
