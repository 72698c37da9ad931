import type { WinsClient } from '@wins/wins-api';

/** Connections to the pipes of a daemon for several questions, one after another. The owner closes them. A question that fails closes its connection. */
export class DaemonConnections implements AsyncDisposable {
  readonly #clients = new Map<string, WinsClient>();

  async ask<Answer>(
    pipe: string,
    open: () => WinsClient,
    ask: (client: WinsClient) => Promise<Answer>,
  ): Promise<Answer> {
    const client = this.#clients.get(pipe) ?? open();
    this.#clients.set(pipe, client);
    try {
      return await ask(client);
    } catch (error) {
      this.#clients.delete(pipe);
      await client[Symbol.asyncDispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const clients = [...this.#clients.values()];
    this.#clients.clear();
    for (const client of clients) await client[Symbol.asyncDispose]();
  }
}
