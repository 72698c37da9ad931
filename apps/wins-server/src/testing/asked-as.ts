import type { Decision } from '../kernel/audit/decision.js';
import { createWinsClient, type WinsClient } from '@wins/wins-api';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ClientIdentity } from '@wins/base';
import { serveCalls } from './serve-calls.js';

/** Calls services as different clients, each time over a new socket, and records what the services decide. */
export class AskedAs implements Disposable {
  readonly decisions: Decision[] = [];
  readonly audit = {
    decided: (decision: Decision): Promise<void> => {
      this.decisions.push(decision);
      return Promise.resolve();
    },
  };
  readonly #folder = mkdtempSync(path.join(tmpdir(), 'wins-asked-as-'));
  #sockets = 0;

  async ask<T>(
    client: ClientIdentity,
    addServices: Parameters<typeof serveCalls>[1],
    question: (daemon: WinsClient) => Promise<T>,
  ): Promise<T> {
    this.#sockets += 1;
    const address = path.join(this.#folder, `socket-${this.#sockets}`);
    await using _calls = await serveCalls(address, addServices, undefined, client);
    await using daemon = createWinsClient({ address });
    return await question(daemon);
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true });
  }
}
