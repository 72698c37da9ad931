import {
  startApiServer,
  type ApiFault,
  type ApiServer,
  type ApiServerOptions,
} from '@wins/system-agent/testing';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { base64, PlanNode } from './plan-node.js';
import { until } from '../process-table.js';

/** A node whose API server cannot send the Secret at the start of a watch (`sendInitialEvents`). */
export class WatchedNode implements AsyncDisposable {
  readonly #api: ApiServer;
  readonly #node = new PlanNode();

  private constructor(api: ApiServer) {
    this.#api = api;
  }

  static async create(options: ApiServerOptions, fault?: ApiFault): Promise<WatchedNode> {
    const api = await startApiServer(options);
    api.fault(fault, { when: ({ query }) => query.has('sendInitialEvents') });
    return new WatchedNode(api);
  }

  async expectFollowed(): Promise<void> {
    const files = ['first', 'second'].map((name) => this.#node.workspace.path('etc', name));
    const [first = '', second = ''] = files.map((file) =>
      JSON.stringify({ files: [{ path: file, content: base64(file), uid: -1, gid: -1 }] }),
    );
    this.#api.create({ plan: first });
    const config = this.#node.remoteConfig(this.#api);
    await this.#node.start(config);
    await until(() => String(this.#api.data()['success-count']) === '1');
    this.#api.update({ plan: second });
    await until(() => String(this.#api.data()['success-count']) === '2');
    const written = files.map((file) => readFileSync(file, 'utf8'));
    assert.deepEqual(written, files);
    const { stdout } = await this.#node.wins('doctor', '--config', config);
    assert.match(String(stdout), /^ok +agent +remote: applied$/m);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#node[Symbol.asyncDispose]();
    await this.#api.close();
  }
}
