import { AgentError } from '../agent-error.js';

/** Exceeds any Secret: etcd accepts 1.5 MiB, and the data has at most 1 MiB before base64. */
const MAX_BYTES = 4_194_304;
const KEPT_BYTES = 65_536;
const NEWLINE = 0x0a;

/** Reads a JSON body of at most 4 MiB. @throws AgentError `refused` for a larger or invalid body. */
export async function readJson(parts: AsyncIterable<Buffer>): Promise<unknown> {
  const body = new BoundedBytes();
  for await (const chunk of parts) body.append(chunk);
  return parse(body.take());
}

/** Accepts lines up to 4 MiB, and ignores an incomplete last line. @throws AgentError `refused` for a longer or invalid line. */
export async function* readJsonLines(parts: AsyncIterable<Buffer>, onBytes: () => void) {
  const line = new BoundedBytes();
  for await (const chunk of parts) {
    onBytes();
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, start);
      line.append(chunk.subarray(start, end < 0 ? undefined : end));
      if (end < 0) break;
      const bytes = line.take();
      if (bytes.length > 0) yield parse(bytes);
      start = end + 1;
    }
  }
}

/** Collects chunks in one buffer, because a list of small chunks takes a hundred times their size. */
class BoundedBytes {
  #buffer = Buffer.alloc(0);
  #size = 0;

  append(chunk: Buffer): void {
    const size = this.#size + chunk.length;
    if (size > MAX_BYTES) {
      const message = `cannot read what the API server sent: found more than ${MAX_BYTES} bytes`;
      throw new AgentError('refused', message);
    }
    if (size > this.#buffer.length) {
      const larger = Buffer.alloc(Math.min(MAX_BYTES, Math.max(4096, 2 * size)));
      this.#buffer.copy(larger, 0, 0, this.#size);
      this.#buffer = larger;
    }
    chunk.copy(this.#buffer, this.#size);
    this.#size = size;
  }

  /** The result is valid until the next append. */
  take(): Buffer {
    const bytes = this.#buffer.subarray(0, this.#size);
    this.#size = 0;
    // A watch lasts for minutes, so release the memory of one large plan.
    if (this.#buffer.length > KEPT_BYTES) this.#buffer = Buffer.alloc(0);
    return bytes;
  }
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8')) as unknown;
  } catch {
    // The parser's error quotes text, which may be secret.
    throw new AgentError('refused', 'cannot read what the API server sent: found no JSON');
  }
}
