import { ProcessStartRequest } from '@wins/wins-api/contract';
import { AnswerReader, recordedClient, type Answer } from '@wins/wins-api/testing';
import { once } from 'node:events';
import { connect } from 'node:net';

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

/**
 * Sends to a pipe what a client sent, part by part: after each part it waits, as the client did, for the answer to the
 * call on that stream. Gives the answers by stream.
 */
export async function replay(
  address: string,
  ...parts: [bytes: Buffer, stream: number][]
): Promise<Map<number, Answer>> {
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

/** Replays `prc run` with another program; gives the answers to Start, KeepAlive and Wait. */
export async function replayRun(
  address: string,
  program: Partial<ProcessStartRequest>,
): Promise<readonly (Answer | undefined)[]> {
  const frames = framesOf(recordedClient('prc-run'));
  const isData = (frame: Buffer, stream: number) =>
    frame[3] === 0 && frame.readUInt32BE(5) === stream;
  const start = frames.findIndex((frame, index) => index > 0 && isData(frame, 1));
  const request = withProgram(frames[start] ?? Buffer.alloc(0), program);
  // The Go client waited for Start, followed the output to its end, and then let go.
  const answers = await replay(
    address,
    [Buffer.concat([...frames.slice(0, start), request]), 1],
    [Buffer.concat(frames.slice(start + 1, -1)), 5],
    [frames.at(-1) ?? Buffer.alloc(0), 3],
  );
  return [1, 3, 5].map((stream) => answers.get(stream));
}
