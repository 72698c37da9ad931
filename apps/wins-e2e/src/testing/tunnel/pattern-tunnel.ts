import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { request, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import { Daemon } from '../daemon.js';
import { readPattern, writePattern } from './pattern.js';
import { until } from '../process-table.js';
import { freePorts, HostProgram, textOf, Tunnel } from './tunnel.js';
import { Workspace } from '../workspace.js';

const KIB = 1024;
const MIB = 1024 * KIB;

export function descriptorsOf(pid: number | undefined): number {
  return readdirSync(`/proc/${pid ?? 0}/fd`).length;
}

/** Answers a GET of `/1000` with 1000 bytes of the pattern. Answers a POST, whose body is the pattern, with the number of received bytes. */
export function answerPattern(incoming: IncomingMessage, response: ServerResponse): void {
  const url = incoming.url ?? '';
  if (incoming.method === 'POST') {
    void readPattern(incoming).then(
      (sizeBytes) => response.end(String(sizeBytes)),
      (error: unknown) => response.end(String(error)),
    );
    return;
  }
  const sizeBytes = Number(url.slice(1));
  response.setHeader('content-length', sizeBytes);
  void writePattern(response, sizeBytes).then(() => response.end());
}

export async function sendPattern(port: number, sizeBytes: number): Promise<string> {
  const sent = request({ host: '127.0.0.1', port, method: 'POST', agent: false });
  void writePattern(sent, sizeBytes).then(() => sent.end());
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return textOf(answer);
}

/** A host program that answers with {@link answerPattern}, behind a tunnel. */
export class PatternTunnel implements AsyncDisposable {
  readonly workspace: Workspace;
  readonly web: HostProgram;
  readonly port: number;

  private constructor(workspace: Workspace, web: HostProgram, port: number) {
    this.workspace = workspace;
    this.web = web;
    this.port = port;
  }

  static async make(): Promise<PatternTunnel> {
    const web = await HostProgram.http(answerPattern);
    const [port = 0] = await freePorts(1);
    return new PatternTunnel(new Workspace(), web, port);
  }

  get publish(): string {
    return `TCP:${this.port}:${this.web.port}`;
  }

  config(...others: number[]): string {
    return this.workspace.config([], { white_list: { proxyPorts: [this.web.port, ...others] } });
  }

  async begin(sizeBytes: number, port = this.port): Promise<IncomingMessage> {
    const sent = request({ host: '127.0.0.1', port, path: `/${sizeBytes}`, agent: false });
    sent.end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    sent.on('error', () => undefined); // the response reports the error too
    return answer;
  }

  async download(sizeBytes: number): Promise<number> {
    return readPattern(await this.begin(sizeBytes));
  }

  get sentBytes(): number {
    return this.web.openSockets.reduce((sum, socket) => sum + socket.bytesWritten, 0);
  }

  /** Waits until back pressure fills all buffers and no byte moves. */
  async stopped(readers: number): Promise<void> {
    let looks = 0;
    let last = 0;
    await until(() => {
      const waiting = this.web.openSockets.filter((each) => each.writableNeedDrain);
      looks = waiting.length === readers && this.sentBytes === last ? looks + 1 : 0;
      last = this.sentBytes;
      return looks > 20;
    });
  }

  async stallAndGoOn(sizeBytes: number): Promise<void> {
    await using _daemon = await Daemon.start(this.workspace, this.config());
    await using _tunnel = await Tunnel.start(this.workspace, this.publish);
    const answer = await this.begin(sizeBytes);
    await this.stopped(1);
    assert.equal(await this.download(MIB), MIB);
    assert.ok(this.sentBytes < 128 * MIB);
    assert.equal(await readPattern(answer), sizeBytes);
  }

  /** Makes `count` connections, eight at a time, each for 100 bytes. */
  async comeAndGo(count: number): Promise<void> {
    let left = count;
    const worker = async (): Promise<void> => {
      while (left > 0) {
        left -= 1;
        assert.equal(await this.download(100), 100);
      }
    };
    await Promise.all(Array.from({ length: 8 }, worker));
    await until(() => this.web.openSockets.length === 0);
  }

  /** Kills the daemon `deaths` times during four parallel downloads. No data may be wrong, and no descriptor may leak. */
  async surviveDeaths(deaths: number): Promise<void> {
    const file = this.config();
    let daemon = await Daemon.start(this.workspace, file);
    await using tunnel = await Tunnel.start(this.workspace, this.publish);
    const client = tunnel.program.child.pid;
    await this.download(MIB);
    const before = descriptorsOf(client);
    const load = { on: true, good: 0 };
    const worker = async (): Promise<void> => {
      while (load.on) {
        try {
          await this.download(256 * KIB);
          load.good += 1;
        } catch (error) {
          // An interrupted download may fail, but must never receive wrong data.
          if ((error as Error).message.includes('differ')) throw error;
        }
      }
    };
    const workers = [worker(), worker(), worker(), worker()];
    for (let death = 1; death <= deaths; death += 1) {
      await daemon.stop('SIGKILL');
      daemon = Daemon.launch(this.workspace, file);
      await tunnel.program.said('the tunnel is back', death);
      const good = load.good;
      await until(() => load.good > good);
    }
    load.on = false;
    await Promise.all(workers);
    assert.equal(await this.download(MIB), MIB);
    await until(() => descriptorsOf(client) <= before);
    assert.equal((await tunnel.stop()).code, 0);
    await daemon.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.web[Symbol.asyncDispose]();
    this.workspace[Symbol.dispose]();
  }
}
