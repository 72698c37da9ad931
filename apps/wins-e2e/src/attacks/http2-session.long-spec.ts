import { PREFACE } from '@wins/http2-connection/testing';
import { createWinsClient } from '@wins/wins-api';
import { connect } from 'node:net';
import abortingFrames from '../fixtures/attacks/http2-session-abort.json';
import { startProgram } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { nodeLines } from '../testing/packages/package-user.js';
import { Workspace, WINS } from '../testing/workspace.js';

/** Node's own HTTP/2 server aborts within 450 such connections on Node 20, 22 and 26. */
const CONNECTIONS = 3_000;
const AT_ONCE = 30;
const WRITES = [PREFACE, ...abortingFrames.map((hex) => Buffer.from(hex, 'hex'))];

describe.each([...nodeLines()])('an attacker at a daemon on Node %s', (_, node) => {
  const workspace = new Workspace();
  afterAll(() => workspace[Symbol.dispose]());

  /** Sends headers on a stream that the daemon has half closed. Ends the connection while the daemon still reads from it. */
  async function attack(address: string, index: number): Promise<void> {
    const socket = connect(address);
    socket.on('error', () => undefined).resume();
    for (const octets of WRITES) {
      socket.write(octets);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await new Promise((resolve) => setTimeout(resolve, 2 + (index % 5)));
    if (index % 2 === 0) socket.destroy();
    else socket.end();
    if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
  }

  it('cannot abort the process with frames that abort the HTTP/2 session of Node (A43)', async () => {
    // A small young generation causes frequent garbage collections, which make the session of Node abort sooner.
    const args = ['--max-semi-space-size=1', WINS, 'srv', 'app', 'run', '--config'];
    await using daemon = Daemon.of(
      startProgram(node, [...args, workspace.config([])], workspace.environment),
    );
    const address = String((await daemon.logged(({ msg }) => msg === 'ready'))['address']);
    let next = 0;
    const attacker = async (): Promise<void> => {
      while (next < CONNECTIONS) await attack(address, (next += 1));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, attacker));
    const client = createWinsClient({ address });
    expect((await client.info()).version).toMatch(/^v/);
    await client.close();
    expect(daemon.child.exitCode).toBeNull();
  });
});
