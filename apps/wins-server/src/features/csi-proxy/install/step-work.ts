import { messageOf, toldAddress } from '@wins/wins-program';
import { existsSync } from 'node:fs';
import type { Decision } from '../../../kernel/audit/record-policy.js';
import { FeatureError } from '../../../kernel/feature-error.js';
import { fetched, recorded, tidied } from '../decide/after-step.js';
import type { CsiProxyFacts, Step } from '../decide/decide.js';
import type { InstallRecord } from '../decide/install-record.js';
import type { KeeperOptions } from '../keeper-options.js';
import type { CsiProxyWish } from '../settings/judge-settings.js';
import { ServiceChange } from './change-service.js';
import { withFile } from './failures.js';
import { fetchRelease } from './fetch-release.js';
import type { RecordFile } from './record-file.js';
import { removePrograms, seenProgram } from './remove-programs.js';

/** `MZ`, as each program of Windows. */
const MZ = Uint8Array.of(0x4d, 0x5a);

type StepTo<Act extends Step['act']> = Extract<Step, { readonly act: Act }>;

/** Does what was decided. Each step begins from what was just found. */
export class StepWork {
  readonly #options: KeeperOptions;
  readonly #records: RecordFile;
  readonly #closing: AbortSignal;
  readonly #change: ServiceChange;

  constructor(options: KeeperOptions, records: RecordFile, closing: AbortSignal) {
    this.#options = options;
    this.#records = records;
    this.#closing = closing;
    this.#change = new ServiceChange(options, records, closing);
  }

  /**
   * Does one step.
   *
   * @param download - Gives up the download.
   * @returns Whether this is as far as it goes for now.
   * @throws FeatureError.
   */
  async perform(
    step: Step,
    facts: CsiProxyFacts,
    wish: CsiProxyWish | undefined,
    download: AbortSignal,
  ): Promise<boolean> {
    const { onState } = this.#options;
    const { record, service } = facts;
    const version = wish?.version ?? '';
    switch (step.act) {
      case 'rest':
      case 'leave': {
        const isWhole = facts.isServing && service?.isRunning === true;
        const isKept = wish !== undefined || step.act === 'leave';
        onState({ kind: isWhole && isKept ? 'serving' : 'absent', detail: step.reason });
        return true;
      }
      case 'fetch':
        if (wish !== undefined) await this.#fetch(step, wish, facts, download);
        return false;
      case 'switch':
        await this.#act('csiProxySwitch', { path: step.to.program });
        onState({ kind: 'verified', version });
        await this.#change.switch(step, record, version);
        onState({ kind: 'serving', detail: `${version} serves` });
        return false;
      case 'start':
        await this.#act('csiProxyStart', { path: step.command.program });
        onState({ kind: 'verified', version });
        await this.#change.start(step.command, service?.isRunning === true, version);
        onState({ kind: 'serving', detail: `${version} serves` });
        return false;
      case 'record':
        await this.#records.write(recorded(record, step.installed));
        return false;
      case 'tidy': {
        await this.#act('csiProxyTidy');
        const { done } = await this.#removePrograms(step.programs, record);
        await this.#records.write(tidied(record, done));
        return done.length < step.programs.length;
      }
      case 'remove':
        await this.#remove(step, facts);
        return false;
    }
  }

  async #fetch(
    { version, sha256 }: StepTo<'fetch'>,
    wish: CsiProxyWish,
    { record, service }: CsiProxyFacts,
    download: AbortSignal,
  ): Promise<void> {
    const { trust, programMagic = MZ, onState, service: manager } = this.#options;
    const known = sha256 !== undefined && { checksum: sha256 };
    await this.#act('csiProxyFetch', { name: version, address: toldAddress(wish.url), ...known });
    onState({ kind: 'fetching', version });
    const release = await fetchRelease(wish, sha256, {
      ...{ programMagic, trust, download: await this.#download(wish) },
      beforeReplacing: async (program) => {
        if (service?.command?.program === program && existsSync(program)) await manager.stop(0);
      },
      signal: AbortSignal.any([this.#closing, download]),
    });
    await this.#records.write(fetched(record, release));
    onState({ kind: 'verified', version });
  }

  async #download({ trust, url }: CsiProxyWish) {
    try {
      return await this.#options.downloadFor(trust);
    } catch (cause) {
      const message = `cannot fetch ${toldAddress(url)}: ${messageOf(cause)}`;
      throw new FeatureError('downloadFailed', message, { cause });
    }
  }

  async #remove(
    { service: isOurs }: StepTo<'remove'>,
    { record: before, service, goProgram }: CsiProxyFacts,
  ): Promise<void> {
    await this.#act('csiProxyRemove');
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
    if (obsolete !== known) await this.#records.write(record);
    if (isOurs) await this.#change.remove(service?.command);
    const programs = record.releases.map(({ program }) => program);
    if (obsolete !== undefined) programs.push(obsolete.path);
    const { done, problems } = await this.#removePrograms(programs, record);
    const { installed: _gone, trial: _over, ...left } = tidied(record, done);
    await this.#records.write({ ...left, pins: {} });
    if (done.length < programs.length) throw new FeatureError('fileFailed', problems.join('; '));
  }

  async #removePrograms(programs: readonly string[], record: InstallRecord) {
    const removed = await removePrograms(programs, record, this.#closing);
    removed.problems.forEach(this.#options.onWarning);
    return removed;
  }

  /** Records what is about to be done; what cannot be recorded is not done. */
  async #act(action: string, facts: Partial<Decision> = {}): Promise<void> {
    await this.#options.onAct({ action, verdict: 'allowed', requester: 'config', ...facts });
  }
}
