import { lstat } from 'node:fs/promises';
import type { ArchiveLimits } from '../archive/archive-limits.js';
import type { CsiProxyAct, CsiProxyOptions } from '../csi-proxy.js';
import { CsiProxyError } from '../csi-proxy-error.js';
import { recorded, tidied } from '../decide/after-step.js';
import type { CsiProxyState } from '../decide/component-state.js';
import type { CsiProxyFacts, Decision } from '../decide/decide.js';
import type { InstallRecord } from '../decide/install-record.js';
import { messageOf } from '@wins/wins-program';
import type { CsiProxyWish } from '../settings/judge-settings.js';
import { removeService, startService, switchService, type ChangeParts } from './change-service.js';
import { addressOf, fetchRelease } from './fetch-release.js';
import { withFile } from './file-failure.js';
import type { RecordFile } from './record-file.js';
import { removePrograms, seenProgram } from './remove-programs.js';

/** What the work is done with. */
export interface StepWorkParts {
  readonly options: CsiProxyOptions;
  readonly records: RecordFile;
  readonly limits: ArchiveLimits;
  readonly programMagic: Uint8Array;
  readonly closing: AbortSignal;
  readonly onState: (state: CsiProxyState) => void;
}

/** What a step is about. */
export interface StepSurroundings {
  readonly facts: CsiProxyFacts;
  readonly wish: CsiProxyWish | undefined;
  /** Gives up the download. */
  readonly download: AbortSignal;
}

const GRACE_MS = 5_000;

type Step<Act extends Decision['act']> = Extract<Decision, { readonly act: Act }>;

/** Does what was decided. Each step begins from what was just found. */
export class StepWork {
  readonly #parts: StepWorkParts;

  constructor(parts: StepWorkParts) {
    this.#parts = parts;
  }

  /**
   * Does one step.
   *
   * @returns Whether this is as far as it goes for now.
   * @throws CsiProxyError.
   */
  async perform(step: Decision, { facts, wish, download }: StepSurroundings): Promise<boolean> {
    const { records } = this.#parts;
    switch (step.act) {
      case 'rest':
      case 'leave':
        return true;
      case 'fetch':
        if (wish !== undefined) await this.#fetch(step, wish, facts, download);
        return false;
      case 'switch':
        return await this.#switch(step, wish?.version ?? '', facts);
      case 'start': {
        const version = wish?.version ?? '';
        await this.#record({ kind: 'start', reason: step.reason, program: step.command.program });
        this.#parts.onState({ kind: 'verified', version });
        await startService(step.command, facts.service?.isRunning === true, this.#change(version));
        this.#parts.onState({ kind: 'serving', detail: `${version} serves` });
        return false;
      }
      case 'record':
        await records.write(recorded(facts.record, step.installed));
        return false;
      case 'tidy':
        return await this.#tidy(step, facts.record);
      case 'remove':
        await this.#remove(step, facts);
        return false;
    }
  }

  async #fetch(
    { version, sha256 }: Step<'fetch'>,
    wish: CsiProxyWish,
    { record, service }: CsiProxyFacts,
    download: AbortSignal,
  ): Promise<void> {
    const { options, records, limits, programMagic, closing, onState } = this.#parts;
    const known = sha256 !== undefined && { sha256 };
    await this.#record({ kind: 'fetch', version, address: addressOf(wish.url), ...known });
    onState({ kind: 'fetching', version });
    const release = await fetchRelease(wish, sha256, {
      ...{ limits, programMagic, trust: options.trust },
      download: await this.#download(wish),
      beforeReplacing: async (program) => {
        if (service?.command?.program === program && (await isThere(program)))
          await options.service.stop(0);
      },
      signal: AbortSignal.any([closing, download]),
    });
    const others = record.releases.filter(({ program }) => program !== release.program);
    await records.write({
      ...record,
      pins: { ...record.pins, [version]: release.archiveSha256 },
      releases: [...others, release],
    });
    onState({ kind: 'verified', version });
  }

  async #download({ trust, url }: CsiProxyWish) {
    try {
      return await this.#parts.options.downloadFor(trust);
    } catch (cause) {
      const message = `cannot fetch ${addressOf(url)}: ${messageOf(cause)}`;
      throw new CsiProxyError('downloadFailed', message, { cause });
    }
  }

  async #switch(
    { to, from, reason }: Step<'switch'>,
    version: string,
    { record, goProgram }: CsiProxyFacts,
  ): Promise<boolean> {
    await this.#record({ kind: 'switch', reason, program: to.program });
    this.#parts.onState({ kind: 'verified', version });
    await switchService({ to, ...(from && { from }) }, record, goProgram, this.#change(version));
    this.#parts.onState({ kind: 'serving', detail: `${version} serves` });
    return false;
  }

  async #tidy({ programs, reason }: Step<'tidy'>, record: InstallRecord): Promise<boolean> {
    await this.#record({ kind: 'tidy', reason });
    const { done, problems } = await removePrograms(programs, record, this.#parts.closing);
    for (const message of problems) this.#parts.options.onEvent({ kind: 'warning', message });
    await this.#parts.records.write(tidied(record, done));
    return done.length < programs.length;
  }

  async #remove(
    { service: isOurs, reason }: Step<'remove'>,
    { record: before, service, goProgram }: CsiProxyFacts,
  ): Promise<void> {
    const { options, records, closing } = this.#parts;
    await this.#record({ kind: 'remove', reason });
    const { obsolete: known, ...others } = before;
    const isOfGo = goProgram !== undefined && service?.command?.program === goProgram;
    let obsolete = known;
    if (isOfGo)
      // While the service runs what was there before, that stays.
      obsolete = isOurs
        ? await withFile('read', goProgram, () => seenProgram(goProgram))
        : undefined;
    const record = { ...others, ...(obsolete && { obsolete }) };
    // Whoever comes after an end in the middle finds no service that tells of its program.
    if (obsolete !== known) await records.write(record);
    if (isOurs) await removeService(service?.command, this.#change(''));
    const programs = record.releases.map(({ program }) => program);
    if (obsolete !== undefined) programs.push(obsolete.path);
    const { done, problems } = await removePrograms(programs, record, closing);
    for (const message of problems) options.onEvent({ kind: 'warning', message });
    const { installed: _gone, trial: _over, ...left } = tidied(record, done);
    await records.write({ ...left, pins: {} });
    if (done.length < programs.length) throw new CsiProxyError('fileFailed', problems.join('; '));
  }

  #record(act: CsiProxyAct): Promise<void> {
    return this.#parts.options.onAct(act);
  }

  #change(version: string): ChangeParts {
    const { options, records, closing, onState } = this.#parts;
    const { service, clock, graceMs = GRACE_MS } = options;
    const onStarted = (): void => onState({ kind: 'installed', version });
    return { service, records, clock, graceMs, onStarted, signal: closing };
  }
}

async function isThere(file: string): Promise<boolean> {
  return lstat(file).then(
    () => true,
    () => false,
  );
}
