import { ProcessStartRequest } from '@wins/wins-api/contract';
import { AnswerReader, recordedClient, type Answer } from '@wins/wins-api/testing';
import { once } from 'node:events';
import { connect } from 'node:net';

const PREFACE_BYTES = 24;
const FRAME_HEADER_BYTES = 9;
const GRPC_HEADER_BYTES = 5;

function framesOf(sent: Buffer): Buffer[] {
  const frames = [sent.subarray(0, PREFACE_BYTES)];
  for (let at = PREFACE_BYTES; at < sent.length;) {
    const end = at + FRAME_HEADER_BYTES + sent.readUIntBE(at, 3);
    frames.push(sent.subarray(at, end));
    at = end;
  }
  return frames;
}

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
 * Sends recorded bytes part by part. Waits after each part for the answer on the part's stream, as the Go client did.
 *
 * @returns Answers by stream.
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

/** Replays a recorded `prc run` with another program; returns the answers to Start, KeepAlive and Wait. */
export async function replayRun(
  address: string,
  program: Partial<ProcessStartRequest>,
): Promise<readonly (Answer | undefined)[]> {
  const frames = framesOf(recordedClient('prc-run'));
  const isData = (frame: Buffer, stream: number) =>
    frame[3] === 0 && frame.readUInt32BE(5) === stream;
  const start = frames.findIndex((frame, index) => index > 0 && isData(frame, 1));
  const request = withProgram(frames[start] ?? Buffer.alloc(0), program);
  // The Go client waited for Start, read the output to its end, and then disconnected.
  const answers = await replay(
    address,
    [Buffer.concat([...frames.slice(0, start), request]), 1],
    [Buffer.concat(frames.slice(start + 1, -1)), 5],
    [frames.at(-1) ?? Buffer.alloc(0), 3],
  );
  return [1, 3, 5].map((stream) => answers.get(stream));
}
