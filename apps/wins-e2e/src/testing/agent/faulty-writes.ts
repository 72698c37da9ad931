import { startApiServer, type ApiFault, type ApiServer } from '@wins/system-agent/testing';
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { base64, PlanNode } from './plan-node.js';
import { until } from '../process-table.js';
import type { PlanOfCrash } from './crashed-agent.js';

/** Nothing listens at this address, so each probe fails. The failures cause two writes after the write of the result. */
const NOWHERE = 'http://127.0.0.1:1/';
const PROBE = { failureCount: 3 };

export interface WriteFault {
  readonly title: string;
  readonly fault: ApiFault;
  readonly times?: number;
}

/** A daemon that applies plans while its writes fail. Each plan must run once, and the Secret must end as it does without faults. */
export class FaultyWrites implements AsyncDisposable {
  readonly #api: ApiServer;
  readonly #node = new PlanNode();
  readonly #rules: PlanOfCrash;
  readonly #say: string;
  #count = 0;

  private constructor(api: ApiServer, rules: PlanOfCrash) {
    this.#api = api;
    this.#rules = rules;
    const { workspace } = this.#node;
    const line = '"$1 $CATTLE_AGENT_ATTEMPT_NUMBER"';
    const runs = workspace.path('runs');
    const exit = rules.fails ? 3 : 0;
    this.#say = workspace.script('say', `echo ${line} >>${runs}; echo ${line}; exit ${exit}`);
    api.create({ 'max-failures': '1' });
  }

  static async create(rules: PlanOfCrash): Promise<FaultyWrites> {
    const faulty = new FaultyWrites(await startApiServer(), rules);
    await faulty.#node.start(faulty.#node.remoteConfig(faulty.#api));
    return faulty;
  }

  async countWrites(): Promise<number> {
    const before = this.#writes.length;
    await this.#applyNext();
    return this.#writes.length - before;
  }

  /** Applies a plan. The fault hits `times` writes in a row. The first is write number `write` (from 1). */
  async apply(write: number, { fault, times = 1 }: WriteFault): Promise<void> {
    let writes = 0;
    const when = ({ method }: { readonly method: string }) =>
      method === 'PUT' && (writes += 1) >= write;
    this.#api.fault(fault, { when, times });
    await this.#applyNext();
    assert.ok(writes >= write + times - 1, 'the fault was not met');
    this.#api.fault(undefined);
  }

  async #applyNext(): Promise<void> {
    this.#count += 1;
    const name = `plan-${this.#count}`;
    const { isPending, fails } = this.#rules;
    const before = this.#data;
    const written = this.#writes.length;
    const plan = JSON.stringify({
      instructions: [{ name, command: this.#say, args: [name], saveOutput: true }],
      probes: { [name]: { httpGet: { url: NOWHERE } } },
    });
    const checksum = createHash('sha256').update(plan).digest('hex');
    this.#api.update({ plan, ...(isPending && { 'plan-state': 'pending' }) });
    const ended = fails ? 'failed' : 'succeeded';
    const result = {
      [fails ? 'failed-checksum' : 'applied-checksum']: checksum,
      'plan-state': isPending ? ended : undefined,
      'plan-revision': isPending ? numberAfter(before['plan-revision']) : undefined,
      // Only the older protocol, without `plan-state`, adds up failures of different plans.
      'failure-count': !fails ? '0' : isPending ? '1' : numberAfter(before['failure-count']),
      'success-count': fails ? '0' : numberAfter(before['success-count']),
    };
    const found = () => {
      const data = this.#data;
      return Object.fromEntries(Object.keys(result).map((key) => [key, data[key]]));
    };
    await until(
      () =>
        found()[fails ? 'failed-checksum' : 'applied-checksum'] === checksum &&
        JSON.stringify(this.#probes[name]) === JSON.stringify(PROBE) &&
        !existsSync(path.join(this.#node.home, 'applied', 'state', 'unwritten.json')),
    );
    const attempt = fails ? result['failure-count'] : '1';
    assert.deepEqual(found(), result);
    const runs = readFileSync(this.#node.workspace.path('runs'), 'utf8').split('\n');
    assert.deepEqual(
      runs.filter((line) => line.startsWith(`${name} `)),
      [`${name} ${attempt}`],
    );
    assert.equal(this.#outputs[name], base64(`${name} ${attempt}\n`));
    // Every write since the update is for this plan, and the plan's state never goes back.
    const writes = this.#writes.slice(written).map(({ data = {} }) => data);
    assert.deepEqual(new Set(writes.map((data) => data['plan'])), new Set([base64(plan)]));
    const states = writes.map((data) => text(data['plan-state']));
    const announced = isPending ? ['in-progress'] : [];
    const wanted = isPending ? [...announced, ended] : [''];
    assert.deepEqual([...new Set(states)], wanted);
    assert.equal(states.filter((state) => state === 'in-progress').length, announced.length);
  }

  get #writes() {
    return this.#api.events.filter(({ manager }) => manager === 'wins').map(({ object }) => object);
  }

  get #data(): Readonly<Partial<Record<string, string>>> {
    const data = Object.entries(this.#api.data());
    return Object.fromEntries(data.map(([key, value]) => [key, value.toString()]));
  }

  get #probes(): Readonly<Record<string, unknown>> {
    return JSON.parse(this.#data['probe-statuses'] ?? '{}') as Record<string, unknown>;
  }

  get #outputs(): Readonly<Record<string, string>> {
    const packed = this.#api.data()[this.#rules.fails ? 'failed-output' : 'applied-output'];
    return JSON.parse(gunzipSync(packed ?? '').toString()) as Record<string, string>;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#node[Symbol.asyncDispose]();
    await this.#api.close();
  }
}

function numberAfter(count = '0'): string {
  return String(Number(count) + 1);
}

function text(value = ''): string {
  return Buffer.from(value, 'base64').toString();
}
