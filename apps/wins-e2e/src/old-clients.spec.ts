import {
  ApplicationInfoResponse,
  HostGetVersionResponse,
  ProcessStartRequest,
  ProcessStartResponse,
  ProcessWaitResponse,
} from '@wins/wins-api';
import { AnswerReader, messagesOf, recordedClient, type Answer } from '@wins/wins-api/testing';
import { once } from 'node:events';
import { connect } from 'node:net';
import { release } from 'node:os';
import { Daemon } from './harness/daemon.js';
import { startRequest } from './harness/digests.js';
import { Workspace } from './harness/workspace.js';

const PREFACE_BYTES = 24;
const FRAME_HEADER_BYTES = 9;
const GRPC_HEADER_BYTES = 5;

/** Splits what an HTTP/2 client sent into its preface and its frames. */
function framesOf(sent: Buffer): Buffer[] {
  const frames = [sent.subarray(0, PREFACE_BYTES)];
  for (let at = PREFACE_BYTES; at < sent.length;) {
    const end = at + FRAME_HEADER_BYTES + sent.readUIntBE(at, 3);
    frames.push(sent.subarray(at, end));
    at = end;
  }
  return frames;
}

/** The DATA frame of Start with another program in its request; everything else stays. */
function withProgram(frame: Buffer, change: object): Buffer {
  const body = frame.subarray(FRAME_HEADER_BYTES + GRPC_HEADER_BYTES);
  const request = { ...ProcessStartRequest.decode(body), ...change };
  const message = Buffer.from(ProcessStartRequest.encode(request).finish());
  const head = Buffer.from(frame.subarray(0, FRAME_HEADER_BYTES + GRPC_HEADER_BYTES));
  head.writeUIntBE(message.length + GRPC_HEADER_BYTES, 0, 3);
  head.writeUInt32BE(message.length, FRAME_HEADER_BYTES + 1);
  return Buffer.concat([head, message]);
}

describe('the daemon and a Go client of release 0.1.1', () => {
  const workspace = new Workspace();
  // Its KeepAlive and Wait name "rancher-wins-ngin": the Go daemon cut the name of nginx.exe short.
  const program = workspace.script('ngin', 'printf out; printf err >&2; exit 7');
  let daemon: Daemon;
  let address: string;

  beforeAll(async () => {
    daemon = await Daemon.start(workspace, workspace.config([program]));
    address = String((await daemon.logged(({ msg }) => msg === 'ready'))['address']);
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  /**
   * Sends what the client sent, part by part: after each part it waits, as the client did, for the
   * answer to the call on that stream. Gives the answers by stream.
   */
  async function replay(...parts: [bytes: Buffer, stream: number][]): Promise<Map<number, Answer>> {
    const reader = new AnswerReader(parts.map(([, stream]) => stream));
    const socket = connect(address);
    socket.on('data', (chunk) => reader.feed(chunk));
    await once(socket, 'connect');
    const answers = new Map<number, Answer>();
    for (const [bytes, stream] of parts) {
      socket.write(bytes);
      answers.set(stream, await reader.ended(stream));
    }
    reader.close();
    socket.destroy();
    return answers;
  }

  it('answers app info', async () => {
    const answer = (await replay([recordedClient('app-info'), 1])).get(1);
    expect(answer?.status).toBe(0);
    const [message] = messagesOf(answer?.body ?? Buffer.alloc(0));
    expect(ApplicationInfoResponse.decode(message ?? Buffer.alloc(0)).Info?.Version).toMatch(/^v/);
  });

  it('refuses an unlisted program in the words that the client knows', async () => {
    const answer = (await replay([recordedClient('prc-run-denied'), 1])).get(1);
    expect(answer?.status).toBe(3);
    expect(answer?.message).toMatch(/^invalid path/);
  });

  it('runs a listed program: Start, KeepAlive and Wait, with both outputs', async () => {
    const { Path, Checksum } = startRequest(program);
    const frames = framesOf(recordedClient('prc-run'));
    const isData = (frame: Buffer, stream: number) =>
      frame[3] === 0 && frame.readUInt32BE(5) === stream;
    const start = frames.findIndex((frame, index) => index > 0 && isData(frame, 1));
    const request = withProgram(frames[start] ?? Buffer.alloc(0), {
      Path,
      Checksum,
      Dir: workspace.folder,
    });
    // The Go client waited for Start, followed the output to its end, and then let go.
    const answers = await replay(
      [Buffer.concat([...frames.slice(0, start), request]), 1],
      [Buffer.concat(frames.slice(start + 1, -1)), 5],
      [frames.at(-1) ?? Buffer.alloc(0), 3],
    );
    const [started, kept, waited] = [1, 3, 5].map((stream) => answers.get(stream));
    expect(kept).toMatchObject({ status: 0 });
    expect(started).toMatchObject({ status: 0 });
    const [response] = messagesOf(started?.body ?? Buffer.alloc(0));
    expect(ProcessStartResponse.decode(response ?? Buffer.alloc(0)).Data?.Value).toBe(
      'rancher-wins-ngin',
    );
    expect(waited).toMatchObject({ status: 0 });
    const messages = messagesOf(waited?.body ?? Buffer.alloc(0)).map((message) =>
      ProcessWaitResponse.decode(message),
    );
    const text = (arm: 'StdOut' | 'StdErr') =>
      messages
        .flatMap(({ Options }) => (Options?.$case === arm ? [String(Options.value)] : []))
        .join('');
    expect([text('StdOut'), text('StdErr')]).toEqual(['out', 'err']);
    expect(messages.at(-1)?.Options).toMatchObject({ $case: 'Exit', value: { Code: 7 } });
  });

  it('says which release of the system the host has', async () => {
    const answer = (await replay([recordedClient('host-get-version'), 1])).get(1);
    expect(answer?.status).toBe(0);
    const [message] = messagesOf(answer?.body ?? Buffer.alloc(0));
    const { Data } = HostGetVersionResponse.decode(message ?? Buffer.alloc(0));
    expect(release().startsWith(`${Data?.CurrentMajorVersionNumber}.`)).toBe(true);
  });

  it('says that there is no HNS, or no such network', async () => {
    const answer = (await replay([recordedClient('hns-get-network-error'), 1])).get(1);
    expect([5, 9]).toContain(answer?.status);
    expect(answer?.message).toMatch(/HNS|nat/);
  });
});
